// What a call gives back, for the agent to read and for programs to act on.
//
// The text is short: the step's own words, and at most limits::kAnswerProseBytes of ours around them. The line is the
// one JSON line of the MCP tools: {kind: ok|blocked|awaiting_decision|complete, sessionId, continueToken,
// checkpointToken, isComplete, pending: {stepId, title, requires} | null, nextIntent, …}. Both are stored with the
// attempt and replayed byte for byte.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "engine/advance/advance.hpp"
#include "engine/advance/step_program.hpp"
#include "engine/state/session_state.hpp"

namespace sb::engine {

struct SessionResponse {
  std::string text;
  Value line;

  Value to_value() const;
  static SessionResponse from(const Value& value);
};

enum class RenderReason { kStart, kAdvance, kRehydrate };

// What a step's text is made of. Order: notices; (start and resume only) goal, preconditions, standing guidance,
// clarification prompts until something was delivered, references, recall; then title, loop banner, role, prompt,
// guidance, functions it refers to, fragments, requirements (notes, criteria, contract with its example, assessments,
// captures, command, gate), interlock, metrics footer.
struct StepView {
  const Program& program;
  const Node& node;
  const Value& context;  // context_at
  RenderReason render_reason = RenderReason::kAdvance;
  std::string goal = {};  // shown when a session is taken up again
  std::vector<std::string> notices = {};
  std::string recall = {};  // engine/recall/recall.hpp
  Value references = {};    // as session_started keeps them: [{id, path}], path null where the document was not found
};

std::string render_step(const StepView& view);
// What stands above a step when a session is taken up again; for those that wait for somebody then.
std::string render_opening(const StepView& view);
// The step's checks as the agent is told of them, one `- ` line each; empty when there are none.
std::string requirement_text(const Program& program, const Position& position, const Value& context);

// An attempt that was not counted may be made again with the token it came with.
std::string render_blocked(const Program& program, const Node& node, const std::vector<Blocker>& blockers,
                           bool is_token_spent = true);

// The sessions a step has handed out; one that ended has an outcome and needs no token.
struct ChildView {
  std::string id = {}, workflow_id = {}, goal = {}, token = {}, outcome = {}, reason = {};
};
// A person, or an evaluator, must move first.
struct AwaitingView {
  std::string_view why = {};  // what is waited for, in a sentence or none
  // The line's {id, text, options: [{id, label}], url, relay}; null where there is nothing for a person to answer.
  const Value& decision;
  std::string command = {};  // with which a person answers
  std::string shown = {};    // the question as it is shown; empty: the decision's own text
  bool is_signed = false;
  bool has_no_operator = false;          // asked before anybody could sign: it cannot be answered, only asked anew
  const ChildView* evaluator = nullptr;  // the session that judges, where there is one
};
std::string render_awaiting(const AwaitingView& view);

// `needed`: how many must end well before the step goes on; 0: all must end.
std::string render_children(const Program& program, const Node& node, const std::vector<ChildView>& children,
                            int needed = 0);

std::string render_complete(const Program& program, const std::vector<std::string>& notices);

// Notices for render_step.
// The node shown was delivered before, and work has gone on at `tip`.
std::string already_delivered_notice(const Summary& summary);

}  // namespace sb::engine
