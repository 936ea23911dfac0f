// A whole call answered by the person's stored preferences: only when every question of it may be.
//
// The rule itself is decision::preference_verdict and decision::may_auto_decide; here are only the facts they need.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gstack/preference_files.hpp"
#include "hook/events/event_answers.hpp"
#include "hook/events/planned_call.hpp"

namespace sb::hook {

struct DecidedQuestion {
  std::string id;
  std::string option;      // the label without its mark
  std::string preference;  // the value that is stored
};

// One a question in the call's order, or nothing when any of them has to be asked. `planned` is empty or as long as
// `questions`.
Result<std::optional<std::vector<DecidedQuestion>>> decide_by_preference(
    const std::vector<CallQuestion>& questions, std::span<const std::optional<PlannedQuestion>> planned,
    const Files& files, const gstack::PreferencePaths& place);

// Records it: planned prompts are closed, each question is logged, and a marker says that this call was decided so.
// Gives back whether each question is decided now. One that could not be recorded is not, and the person is asked; one
// whose prompt was closed is, even where the log cannot be written: its answer would come too late.
Result<std::vector<bool>> record_decided(const HookEvent& event, const std::vector<CallQuestion>& questions,
                                         std::span<const std::optional<PlannedQuestion>> planned,
                                         const std::vector<DecidedQuestion>& decided,
                                         const gstack::PreferencePaths& place, const HookContext& hook_context);

}  // namespace sb::hook
