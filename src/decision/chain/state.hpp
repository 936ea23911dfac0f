// The state of a chain, as a value and as the JSON inside its state blob.
//
// Format, canonical JSON, an object:
//   kind "chain"; v 1; hash (the definition's); nonce; cap (the effective one);
//   course (what is asked apart from children: choice, meta, narrow, groups, rest, children); page (of choice, groups);
//   open (course, child, revise, conflict, final, pick-revise, cut-more, nothing); option, stage (of child, revise);
//   picker (page of pick-revise, cut-more); held (bool); end (no, done, cancelled); confirm (bool); attempts;
//   decided: one character per option, i include, d defer, c cut, - nothing yet;
//   conflict: [first, second], the pair an open conflict prompt is about, else [0, 0];
//   pairs: [first, second, asked, waived] for each pair a conflict prompt was shown for, indexes from 0.
//
// It contains no queue of questions: the next question is always computed from the dispositions, so nothing can be
// pending during a Hold.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"
#include "decision/chain/dependencies.hpp"
#include "decision/chain/ids.hpp"
#include "decision/declaration/declaration.hpp"

namespace sb::decision {

enum class ChainPhase { kChoice, kMeta, kNarrow, kGroups, kRest, kChildren };
enum class OpenPrompt { kPhase, kChild, kRevise, kConflict, kFinal, kPickRevise, kCutMore, kNothing };
enum class ChainEnd { kNo, kDone, kCancelled };

// The two options of a conflict prompt: dependant and required, or for a clash in declared order.
using OptionPair = std::pair<std::size_t, std::size_t>;

struct PairRecord {
  int asked = 0;
  bool is_waived = false;
};

struct ChainState {
  std::string definition_hash;
  std::string nonce;
  int cap = 4;
  ChainPhase phase = ChainPhase::kChildren;
  std::size_t page = 0;
  OpenPrompt open = OpenPrompt::kNothing;
  std::size_t option = 0;
  int stage = 1;
  std::size_t picker_page = 0;
  bool is_held = false;
  ChainEnd end = ChainEnd::kNo;
  bool needs_final = false;  // more than the single question was asked
  int attempts = 0;          // wrong answers in a row, if the profile counts them
  Dispositions dispositions;
  OptionPair conflict;  // the pair of an open conflict prompt
  std::map<OptionPair, PairRecord> pairs;
};

// A chain and everything derived from its declaration.
struct ChainModel {
  const Declaration& declaration;
  const Chain& chain;
  const Profile& profile;
  ChainIds ids;
  ChainGraph graph;

  explicit ChainModel(const Declaration& declaration);  // asserts that it declares a chain
  std::size_t count() const { return chain.options.size(); }
};

Value to_value(const ChainState& state);
// Rejects another definition's state, and any state that no sequence of answers reaches.
Result<ChainState> chain_state_from(const Value& value, const ChainModel& model);

// The first option without a disposition; count() when there is none.
std::size_t first_undecided(const ChainState& state);
bool is_waived(const ChainState& state, const Violation& violation);
// Violations that were not waived, and those that were waived and still exist.
std::vector<Violation> open_violations(const ChainModel& model, const ChainState& state);
std::vector<Violation> waived_violations(const ChainModel& model, const ChainState& state);
// The violation to ask about next; nothing when none is open or each was asked the maximum number of times.
std::optional<Violation> violation_to_ask(const ChainModel& model, const ChainState& state);
// The violation of the open conflict prompt; nothing when it is already resolved.
std::optional<Violation> violation_asked(const ChainModel& model, const ChainState& state);
// The options that narrowing proposes to drop: undecided ones recommended to be deferred or cut.
std::vector<std::size_t> proposed_to_drop(const ChainModel& model, const ChainState& state);

inline constexpr int kPromptsPerPair = 3;

}  // namespace sb::decision
