// The words of settings with a closed set of values, for reading and printing.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "pipeline/settings/run_settings.hpp"

namespace sb::pipeline {

inline constexpr std::array<std::pair<std::string_view, MergePolicy>, 3> kMerges{
    {{"ask", MergePolicy::kAsk}, {"auto", MergePolicy::kAuto}, {"never", MergePolicy::kNever}}};
inline constexpr std::array<std::pair<std::string_view, OnPartial>, 3> kOnPartial{
    {{"proceed", OnPartial::kProceed}, {"retry_once", OnPartial::kRetryOnce}, {"escalate", OnPartial::kEscalate}}};
inline constexpr std::array<std::pair<std::string_view, agent::IsolationMode>, 5> kIsolationModes{
    {{"full", agent::IsolationMode::kFull},
     {"task-only", agent::IsolationMode::kTaskOnly},
     {"challenger", agent::IsolationMode::kChallenger},
     {"blind", agent::IsolationMode::kBlind},
     {"custom", agent::IsolationMode::kCustom}}};
inline constexpr std::array<std::pair<std::string_view, Phase>, 7> kPhases{{{"discovery", Phase::kDiscovery},
                                                                            {"shaping", Phase::kShaping},
                                                                            {"design", Phase::kDesign},
                                                                            {"coding", Phase::kCoding},
                                                                            {"review", Phase::kReview},
                                                                            {"fix", Phase::kFix},
                                                                            {"audit", Phase::kAudit}}};

// The built-in workflow of each phase.
std::map<Phase, std::string> bundled_phases();

template <class E, std::size_t N>
std::string_view word_of(const std::array<std::pair<std::string_view, E>, N>& words, E meaning) {
  return std::ranges::find(words, meaning, &std::pair<std::string_view, E>::second)->first;
}

}  // namespace sb::pipeline
