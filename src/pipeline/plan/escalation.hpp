// The questions a run puts to people, with everything they need to answer. Pure.
//
// Under a profile of its own: that of `interaction` without its word limits and with a section for context. Names hold
// the run and the number of the event that asks, so that no two questions are taken for one.
#pragma once

#include <string>

#include "decision/declaration/declaration.hpp"
#include "pipeline/plan/next_action.hpp"

namespace sb::pipeline {

// What is known outside of the log when a question comes up.
struct QuestionContext {
  std::string question, reason;
  std::string diff_stat = {};
  Value more = {};  // ticket_changed: {ticket, hash}
};

// Kept in the `asked` event: {goal, reason, phase, round, findings, diff_stat, request, url, work_tree, branch, …}
Value packet_for(const RunState& state, const QuestionContext& about);
Checked<decision::Declaration> question_for(const RunState& state, const QuestionContext& about,
                                            const RunSettings& settings);
// From what the inbox keeps of it; nothing when it is not one of ours.
std::optional<decision::Declaration> run_declaration(const Value& source, const std::string& hash);

}  // namespace sb::pipeline
