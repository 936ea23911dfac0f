// What a call returns, for the agent to read and for programs to parse.
//
// The text is short: the step's own text plus at most limits::kAnswerProseBytes around it, and sections of what is
// known (context values, notes, results of child sessions, earlier iterations), each with a limit of its own. The line
// is the one JSON line of the MCP tools: {kind: ok|blocked|awaiting_decision|complete, sessionId, continueToken,
// checkpointToken, isComplete, pending: {stepId, title, requires} | null, nextIntent, …}. Both are stored with the
// attempt and replayed byte for byte.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "engine/advance/advance.hpp"
#include "engine/advance/step_program.hpp"
#include "engine/answer/remedy.hpp"
#include "engine/state/session_state.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {

struct SessionResponse {
  std::string text;
  Value line;

  Value to_value() const;
  static SessionResponse from(const Value& value);
};

enum class RenderReason { kStart, kAdvance, kRehydrate };

// The parts of a step's text, in order: notices; (start and resume only) goal, preconditions, standing guidance,
// clarification prompts until something is delivered, references, context values, recall; results of child sessions,
// earlier iterations; then title, loop banner, role, prompt, guidance, functions it refers to, fragments, requirements
// (notes, criteria, contract with its example, assessments, captures, command, gate), interlock, metrics footer.
struct StepView {
  const Program& program;
  const Node& node;
  const Value& context;  // context_at
  RenderReason render_reason = RenderReason::kAdvance;
  std::string goal = {};  // shown when a session is resumed
  std::vector<std::string> notices = {};
  std::string values = {};    // shown_values(…) of the context
  std::string recall = {};    // engine/recall/recall.hpp
  std::string results = {};   // results_text(…)
  std::string iterated = {};  // earlier_iterations_text(…)
  workflow::Braces braces = workflow::Braces::kText;
  std::string where = {};  // all context values can be read; shown with those that are cut
  Value references = {};   // as stored in session_started: [{id, path}]; path is null if the document was not found
};

std::string render_step(const StepView& view);
// The text above a step when a session is resumed; used on its own while the session waits for someone.
std::string render_opening(const StepView& view);
// `Fix each issue: iteration 2 of 5`, and the item if there is one: a paragraph for each loop around the step.
std::string loop_banners(const StepView& view);
// The step's checks as the agent sees them, one `- ` line each; empty if there are none.
std::string requirement_text(const Program& program, const Position& position, const Value& context,
                             workflow::Braces braces = workflow::Braces::kText);
// The context keys whose whole values the step's own text shows.
std::set<std::string, std::less<>> keys_shown_by(const StepView& view);

// An attempt that was not counted may be repeated with the same token.
std::string render_blocked(const Program& program, const Node& node, const std::vector<Blocker>& blockers,
                           bool is_token_spent = true);

// The sessions a step has started; one that ended has an outcome and needs no token.
struct ChildView {
  std::string id = {}, workflow_id = {}, goal = {}, token = {}, outcome = {}, reason = {}, label = {}, tier = {};
  std::string decision = {};  // it waits for a person to answer
};
// The session waits for a person or an evaluator.
struct AwaitingView {
  std::string_view why = {};  // what the session waits for, as a sentence; may be empty
  // The line's {id, text, options: [{id, label}], url, relay}; null if a person has nothing to answer.
  const Value& decision;
  std::string command = {};  // the command with which a person answers
  std::string shown = {};    // the question as it is shown; empty: the decision's own text
  bool is_signed = false;
  std::string unsigned_options = {};     // of a signed one: `reject, stop`, which need no signature
  bool has_no_operator = false;          // asked before there was an operator to sign: it can only be asked again
  const ChildView* evaluator = nullptr;  // the judging session, if there is one
};
std::string render_awaiting(const AwaitingView& view);

// `needed`: how many must succeed before the step continues; 0: all must end. How an agent of a certain client runs
// them is added where the client is known (mcp/tools/running_children.hpp).
std::string render_children(const StepView& view, const std::vector<ChildView>& children, int needed = 0,
                            Surface surface = Surface::kCommands);

std::string render_complete(std::string_view workflow_name, const std::vector<std::string>& notices,
                            const std::string& results = {});

// Notices for render_step.
// The node shown was already delivered, and work has continued at `tip`.
std::string already_delivered_notice(const Summary& summary);

}  // namespace sb::engine
