// Answers a whole call from the person's stored preferences, only if every question in it may be answered so.
//
// The rule itself is decision::preference_verdict and decision::may_auto_decide; this file only collects their inputs.
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
  std::string option;      // the label without "(recommended)"
  std::string preference;  // the stored value
};

// One entry per question in call order, or nothing when any of them must be asked. `planned` is empty or as long as
// `questions`.
Result<std::optional<std::vector<DecidedQuestion>>> decide_by_preference(
    const std::vector<CallQuestion>& questions, std::span<const std::optional<PlannedQuestion>> planned,
    const Files& files, const gstack::PreferencePaths& place);

// Records the decisions: closes planned prompts, logs each question, and writes a marker file for this call. Returns
// whether each question is now decided. A question that could not be recorded is not decided, and the person is asked.
// A question whose prompt was closed is decided even if the log cannot be written: a later answer would be too late.
Result<std::vector<bool>> record_decided(const HookEvent& event, const std::vector<CallQuestion>& questions,
                                         std::span<const std::optional<PlannedQuestion>> planned,
                                         const std::vector<DecidedQuestion>& decided,
                                         const gstack::PreferencePaths& place, const HookContext& hook_context);

}  // namespace sb::hook
