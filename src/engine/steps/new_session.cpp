#include "engine/steps/new_session.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "engine/state/lineage_proof.hpp"
#include "engine/state/rows.hpp"
#include "engine/transaction/session_events.hpp"

namespace sb::engine {
namespace {

Value origins_value(const std::vector<workflow::Origin>& origins) {
  Value all = Value::array();
  for (const workflow::Origin& origin : origins) {
    all.push_back(Value::object({{"kind", workflow::to_string(origin.kind)},
                                 {"folder", origin.folder},
                                 {"file", origin.file},
                                 {"digest", origin.digest}}));
  }
  return all;
}

workflow::Origin origin_from(const Value& value) {
  workflow::Origin origin;
  // An unknown kind counts as a project's: the kind whose commands need the user's trust.
  origin.kind = workflow::SourceKind::kProject;
  for (const auto kind : {workflow::SourceKind::kBundled, workflow::SourceKind::kUser, workflow::SourceKind::kManaged,
                          workflow::SourceKind::kNamed}) {
    if (value.string_at("kind") == workflow::to_string(kind)) origin.kind = kind;
  }
  origin.folder = value.string_at("folder").value_or("");
  origin.file = value.string_at("file").value_or("");
  origin.digest = value.string_at("digest").value_or("");
  return origin;
}

}  // namespace

NewSession NewSession::below(const Summary& parent, NodeNo node, std::string child) {
  NewSession made;
  made.workspace = parent.workspace;
  made.is_autonomous = parent.is_autonomous;
  made.run = parent.run;
  made.parent_session = parent.id;
  made.parent_child = std::move(child);
  made.parent_node = node;
  made.depth = parent.depth + 1;
  return made;
}

Value started_value(const NewSession& new_session, const std::string& context, const TokenKey& key) {
  const workflow::Definition& definition = new_session.program->definition();
  Value value = Value::object({{"v", 1},
                               {"session", new_session.id},
                               {"workflow", definition.id},
                               {"name", new_session.name.empty() ? definition.name : new_session.name},
                               {"hash", new_session.program->hash()},
                               {"origins", origins_value(new_session.origins)},
                               {"goal", new_session.goal},
                               {"context", context},
                               {"autonomous", new_session.is_autonomous},
                               {"workspace", new_session.workspace},
                               {"depth", new_session.depth}});
  const auto add = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) value.set(name, text);
  };
  add("repository", new_session.repository);
  add("git_branch", new_session.git_branch);
  add("git_head", new_session.git_head);
  add("run", new_session.run);
  add("braces", new_session.braces);
  if (!new_session.parent_session.empty()) {
    value.set("parent", Value::object({{"session", new_session.parent_session},
                                       {"node", new_session.parent_node},
                                       {"child", new_session.parent_child}}));
    value.set("lineage", sign_lineage({new_session.parent_session, new_session.id, new_session.depth}, key));
  }
  if (!new_session.references.is_null()) value.set("references", new_session.references);
  if (!new_session.out_of_scope.empty()) value.set("out_of_scope", Value::array(new_session.out_of_scope));
  return value;
}

std::vector<workflow::Origin> origins_from(const Value& started) {
  std::vector<workflow::Origin> all;
  if (started["origins"].is_array()) {
    for (const Value& origin : started["origins"].items()) all.push_back(origin_from(origin));
  }
  if (all.empty()) all.push_back(origin_from({}));
  return all;
}

Result<std::vector<workflow::Origin>> origins_of(store::Snapshot& snapshot, Summary summary) {
  for (int up = 0; !summary.parent_session.empty() && up <= limits::kChildDepth; ++up) {
    auto parent = SB_TRY(read_summary(snapshot, summary.parent_session));
    if (!parent) return fail(ErrorCode::kCorrupt, fmt::format("the parent of session {} is missing", summary.id));
    summary = std::move(*parent);
  }
  return origins_from(SB_TRY(read_event(snapshot, summary.id, 1, "session_started")));
}

}  // namespace sb::engine
