// What a call gives back, for the agent to read and for programs to act on.
//
// The text is short: the step's own words, and at most limits::kAnswerProseBytes of ours around them. The line is the
// one JSON line of the MCP tools: {kind: ok|blocked|awaiting_decision|complete, sessionId, continueToken,
// checkpointToken, isComplete, pending: {stepId, title, requires} | null, nextIntent, …}. Both are stored with the
// attempt and replayed byte for byte.
#pragma once

#include <string>
#include <vector>

#include "base/value.hpp"
#include "engine/advance.hpp"
#include "engine/program.hpp"
#include "engine/state.hpp"

namespace sb::engine {

struct Answer {
  std::string text;
  Value line;

  Value to_value() const;
  static Answer from(const Value& value);
};

enum class Occasion { kStart, kAdvance, kRehydrate };

// What a step's text is made of. Order: (start and resume only) preconditions, standing guidance, clarification
// prompts, references, recall; then role, loop banner, prompt, guidance, functions it refers to, fragments,
// requirements (criteria, contract with its example, assessments, captures, notes), interlock, metrics footer; notices
// first.
struct StepView {
  const Program& program;
  const Node& node;
  const Value& context;  // context_at
  Occasion occasion = Occasion::kAdvance;
  std::vector<std::string> notices;
  std::string recall;  // recall.hpp
  Value references;    // resolved at start
};

std::string render_step(const StepView& view);
std::string render_blocked(const Program& program, const Node& node, const std::vector<Blocker>& blockers);

}  // namespace sb::engine
