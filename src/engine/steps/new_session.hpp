// A session to start, by a caller or by a step of another session, and its first event: written and read here.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/advance/step_program.hpp"
#include "engine/state/session_state.hpp"
#include "engine/state/token.hpp"
#include "store/store.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::engine {

struct NewSession {
  std::string id;  // empty: a new one
  std::shared_ptr<const Program> program;
  std::vector<workflow::Origin> origins;  // its own first; none for a child session
  std::string name = {};                  // empty: that of its workflow
  std::string goal;
  Value context;
  std::string workspace, repository, git_branch, git_head;
  bool is_autonomous = false;
  std::string run;  // that drives it; of a child session, that of its parent
  Value references;
  std::string parent_session, parent_child;
  NodeNo parent_node = 0;
  int depth = 0;
  std::string braces;  // session_node.hpp
  std::vector<std::string> out_of_scope;

  // A session that a node of `parent` starts, in the same workspace; `child` is its name there.
  static NewSession below(const Summary& parent, NodeNo node, std::string child);
};

// The payload of `session_started`. `context`: the hash of its initial context; `key` signs its lineage.
Value started_value(const NewSession& new_session, const std::string& context, const TokenKey& key);

// Of a root session's `session_started`. Never empty.
std::vector<workflow::Origin> origins_from(const Value& started);
// Where a session's workflow came from; for a child session, that of the root session, because its commands are pinned
// with it. Never empty.
Result<std::vector<workflow::Origin>> origins_of(store::Snapshot& snapshot, Summary summary);

}  // namespace sb::engine
