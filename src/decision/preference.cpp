#include "decision/preference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "decision/gstack_literals.hpp"

namespace sb::decision {
namespace {

constexpr std::array<std::pair<Preference, std::string_view>, 3> kPreferences = {{
    {Preference::kAlwaysAsk, "always-ask"},
    {Preference::kNeverAsk, "never-ask"},
    {Preference::kAskOnlyForOneWay, "ask-only-for-one-way"},
}};

bool suppresses(std::string_view stored) {
  const auto preference = parse_preference(stored);
  return preference && *preference != Preference::kAlwaysAsk;
}

// A note is one line that other programs parse, so a stored value must not be able to add lines.
std::string shown(std::string_view stored) {
  constexpr std::size_t kLongest = 80;
  const bool is_plain = !stored.empty() && stored.size() <= kLongest &&
                        std::ranges::all_of(stored, [](unsigned char c) { return c > ' ' && c < 0x7f; });
  if (is_plain) return std::string(stored);
  std::string cut;
  if (is_utf8(stored)) {
    for (std::size_t at = 0; at < stored.size() && cut.size() < kLongest;) {
      append_code_point(cut, next_code_point(stored, at));
    }
  }
  return quote_json(cut);
}

}  // namespace

std::string_view to_string(Preference preference) {
  return std::ranges::find(kPreferences, preference, &std::pair<Preference, std::string_view>::first)->second;
}

std::optional<Preference> parse_preference(std::string_view text) {
  for (const auto& [preference, name] : kPreferences) {
    if (name == text) return preference;
  }
  return std::nullopt;
}

bool is_question_id(std::string_view id) {
  return !id.empty() && id.size() <= limits::kIdBytes &&
         std::ranges::all_of(id, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

bool is_split_id(std::string_view id) {
  return id.contains("-split-");
}

std::string_view to_string(VerdictReason reason) {
  switch (reason) {
    case VerdictReason::kOneWayDoor:
      return "one-way-door";
    case VerdictReason::kSplitChain:
      return "split-chain";
    case VerdictReason::kNoPreference:
      return "no-preference";
    case VerdictReason::kUnknownValue:
      return "unknown-value";
    case VerdictReason::kAskedTo:
      return "always-ask";
    case VerdictReason::kPreferred:
      return "preferred";
    case VerdictReason::kNoMarker:
      return "no-marker";
    case VerdictReason::kSeveralMarkers:
      return "several-markers";
    case VerdictReason::kNeedsPerson:
      return "needs-person";
    case VerdictReason::kNotSingleSelect:
      return "not-single-select";
    case VerdictReason::kNoRecommendation:
      return "no-recommendation";
    case VerdictReason::kSeveralRecommendations:
      return "several-recommendations";
  }
  return "";
}

std::string Verdict::note() const {
  const auto worded = [](std::string_view name, std::string_view value) {
    return fmt::format(fmt::runtime(gstack_literals()["notes"][name].as_string()), value);
  };
  switch (reason) {
    case VerdictReason::kOneWayDoor:
      // ask-only-for-one-way is honoured here, not overridden.
      return stored == to_string(Preference::kNeverAsk) ? worded("one_way", stored) : "";
    case VerdictReason::kSplitChain:
      return suppresses(stored) ? worded("split_chain", stored) : "";
    case VerdictReason::kUnknownValue:
      return worded("unknown_value", shown(stored));
    default:
      return "";
  }
}

Verdict preference_verdict(std::string_view question_id, Door door, std::optional<std::string_view> stored) {
  const auto because = [&](VerdictReason reason) { return Verdict{reason, std::string(stored.value_or(""))}; };
  if (door == Door::kOneWay) return because(VerdictReason::kOneWayDoor);
  if (is_split_id(question_id)) return because(VerdictReason::kSplitChain);
  if (!stored) return because(VerdictReason::kNoPreference);
  const auto preference = parse_preference(*stored);
  if (!preference) return because(VerdictReason::kUnknownValue);
  return because(*preference == Preference::kAlwaysAsk ? VerdictReason::kAskedTo : VerdictReason::kPreferred);
}

std::optional<std::string> stored_preference(const Value& preferences, std::string_view question_id) {
  const Value* value = preferences.find(question_id);
  if (!value || value->is_null()) return std::nullopt;
  return value->is_string() ? value->as_string() : to_json(*value);
}

Verdict may_auto_decide(Verdict verdict, const QuestionFacts& question) {
  if (!verdict.may_auto_decide()) return verdict;
  const auto because = [&](VerdictReason reason) { return Verdict{reason, std::move(verdict.stored)}; };
  if (question.markers < 1) return because(VerdictReason::kNoMarker);
  if (question.markers > 1) return because(VerdictReason::kSeveralMarkers);
  if (question.door == Door::kOneWay) return because(VerdictReason::kOneWayDoor);
  if (question.is_in_chain) return because(VerdictReason::kSplitChain);
  if (question.needs_person) return because(VerdictReason::kNeedsPerson);
  if (question.select != SelectMode::kOne) return because(VerdictReason::kNotSingleSelect);
  if (question.recommendations < 1) return because(VerdictReason::kNoRecommendation);
  if (question.recommendations > 1) return because(VerdictReason::kSeveralRecommendations);
  return verdict;
}

}  // namespace sb::decision
