// What a stored preference allows. Two steps, both taken by every path that could skip a person (hook, command line,
// engine, MCP): preference_verdict, before anyone looks at the question's text, then may_auto_decide.
//
// Pure and thread-safe. Anything unclear asks.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/document/value.hpp"
#include "decision/declaration/declaration.hpp"

namespace sb::decision {

enum class Preference { kAlwaysAsk, kNeverAsk, kAskOnlyForOneWay };

std::string_view to_string(Preference preference);  // always-ask, never-ask, ask-only-for-one-way
std::optional<Preference> parse_preference(std::string_view text);

// Lower-case letters, digits and `-`, 1 to 64 of them.
bool is_question_id(std::string_view id);
// One option of a chain, or the chain's own questions; these are never decided by a preference.
bool is_split_id(std::string_view id);

enum class VerdictReason {
  // of preference_verdict, in the order they are checked
  kOneWayDoor,
  kSplitChain,
  kNoPreference,
  kUnknownValue,
  kAskedTo,    // always-ask
  kPreferred,  // the only one that does not ask
  // of may_auto_decide
  kNoMarker,
  kSeveralMarkers,
  kNeedsPerson,
  kNotSingleSelect,
  kNoRecommendation,
  kSeveralRecommendations,
};

std::string_view to_string(VerdictReason reason);  // one-way-door, split-chain, ...

struct Verdict {
  VerdictReason reason = VerdictReason::kNoPreference;
  std::string stored;  // the value the verdict is based on; empty when there was none

  bool may_auto_decide() const { return reason == VerdictReason::kPreferred; }
  // A one-line explanation for a person whose preference does not apply here; empty when there is nothing to explain.
  std::string note() const;

  bool operator==(const Verdict&) const = default;
};

// `stored` is the value in the preference files for this id, unchanged.
Verdict preference_verdict(std::string_view question_id, Door door, std::optional<std::string_view> stored);

// The value stored for an id as preference_verdict takes it: only a member of the object itself. Null counts as absent;
// a non-string is returned as its JSON, which is not a known value.
std::optional<std::string> stored_preference(const Value& preferences, std::string_view question_id);

// What is known about a question besides its id.
struct QuestionFacts {
  int markers = 1;  // ids found in the text; a caller that knows the id by other means leaves 1
  int recommendations = 0;
  SelectMode select = SelectMode::kOne;
  Door door = Door::kTwoWay;
  bool is_in_chain = false;
  bool needs_person = false;  // a signature, a human approval, a secret
};

// The verdict, changed to one that asks when the question must not be decided without a person.
Verdict may_auto_decide(Verdict verdict, const QuestionFacts& question);

}  // namespace sb::decision
