// What a call returns about a session, put together from its rows: the texts are engine/answer/answer.hpp's, the tokens
// and the open question are added here. Reads only. Refers to its parts.
#pragma once

#include <string>
#include <vector>

#include "engine/answer/answer.hpp"
#include "engine/state/session_node.hpp"
#include "engine/transaction/session_tokens.hpp"
#include "inbox/inbox.hpp"
#include "store/store.hpp"

namespace sb::engine {

class ResponseWriter {
 public:
  ResponseWriter(const SessionTokens& tokens, const inbox::Inbox& inbox, Surface surface)
      : tokens_(tokens), inbox_(inbox), surface_(surface) {}

  struct Occasion {
    RenderReason reason = RenderReason::kAdvance;
    std::vector<std::string> notices = {};
    Value references = {};                   // of a session that starts or is resumed
    const Node* from = nullptr;              // the node that was just left
    const AdvanceResult* outcome = nullptr;  // of leaving it: not in the rows yet
  };
  // For an open node: its step, its question, its children, or the end.
  Result<SessionResponse> open(store::Snapshot& snapshot, const SessionNode& at, Occasion occasion) const;
  // The node waits for a person or an evaluator.
  Result<SessionResponse> awaiting(store::Snapshot& snapshot, const SessionNode& at) const;
  // The open attempt is refused. `ends_attempt`: it counts, and only the next one's token continues.
  Result<SessionResponse> blocked(store::Snapshot& snapshot, const SessionNode& at,
                                  const std::vector<Blocker>& blockers, bool ends_attempt) const;
  // A person stopped the session.
  SessionResponse stopped(const Summary& summary) const;

  // The child sessions of a node; those that can continue have a token.
  Result<std::vector<ChildView>> children(store::Snapshot& snapshot, const Node& node) const;

 private:
  struct Question;  // as it is shown
  // Empty for an empty id.
  Result<Question> question(store::Snapshot& snapshot, const std::string& id) const;
  Result<SessionResponse> step(store::Snapshot& snapshot, const SessionNode& at, const StepView& view) const;
  // The members that all open nodes have. `context`: what the step sees; `attempt`: the one its tokens are for.
  Value line(const SessionNode& at, const Value& context, std::string_view kind, int attempt,
             std::string_view next_intent) const;

  const SessionTokens& tokens_;
  const inbox::Inbox& inbox_;
  const Surface surface_;
};

}  // namespace sb::engine
