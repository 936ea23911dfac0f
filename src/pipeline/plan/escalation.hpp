// The questions that a run asks people, with everything they need to answer. Pure.
//
// They have their own profile: `interaction` without its word limits and with a section for context. Ids contain the
// run and the number of the asking event, so that no two questions are confused.
#pragma once

#include <string>

#include "decision/declaration/declaration.hpp"
#include "pipeline/plan/next_action.hpp"

namespace sb::pipeline {

// What is known outside the log when a question is asked.
struct QuestionContext {
  std::string question, reason;
  std::string diff_stat = {};
  std::string judges = {};        // the change to files that judge later changes
  bool has_all_of_judges = true;  // otherwise it is too long to be shown, and not merged from here
  Value more = {};                // ticket_changed: {ticket, hash}
};

// Stored in the `asked` event: {goal, reason, phase, round, findings, diff_stat, judges, request, url, work_tree,
// branch, …}
Value packet_for(const RunState& state, const QuestionContext& about);
Checked<decision::Declaration> question_for(const RunState& state, const QuestionContext& about,
                                            const RunSettings& settings);
// Reads a question back from the inbox; nothing when it is not a run's question.
std::optional<decision::Declaration> run_declaration(const Value& source, const std::string& hash);

}  // namespace sb::pipeline
