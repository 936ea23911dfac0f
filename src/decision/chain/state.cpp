#include "decision/chain/state.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.hpp"
#include "decision/chain/plan.hpp"

namespace sb::decision {
namespace {

template <class Enum, std::size_t size>
using Names = std::array<std::pair<Enum, std::string_view>, size>;

constexpr Names<ChainPhase, 6> kPhases = {{{ChainPhase::kChoice, "choice"},
                                           {ChainPhase::kMeta, "meta"},
                                           {ChainPhase::kNarrow, "narrow"},
                                           {ChainPhase::kGroups, "groups"},
                                           {ChainPhase::kRest, "rest"},
                                           {ChainPhase::kChildren, "children"}}};
constexpr Names<OpenPrompt, 8> kOpens = {{{OpenPrompt::kPhase, "course"},
                                          {OpenPrompt::kChild, "child"},
                                          {OpenPrompt::kRevise, "revise"},
                                          {OpenPrompt::kConflict, "conflict"},
                                          {OpenPrompt::kFinal, "final"},
                                          {OpenPrompt::kPickRevise, "pick-revise"},
                                          {OpenPrompt::kCutMore, "cut-more"},
                                          {OpenPrompt::kNothing, "nothing"}}};
constexpr Names<ChainEnd, 3> kChainEnds = {
    {{ChainEnd::kNo, "no"}, {ChainEnd::kDone, "done"}, {ChainEnd::kCancelled, "cancelled"}}};
constexpr Names<Bucket, 3> kBucketMarks = {{{Bucket::kInclude, "i"}, {Bucket::kDefer, "d"}, {Bucket::kCut, "c"}}};

template <class Enum, std::size_t size>
std::string_view name_of(const Names<Enum, size>& names, Enum value) {
  for (const auto& [candidate, name] : names) {
    if (candidate == value) return name;
  }
  SB_ASSERT(false);
  return {};
}

template <class Enum, std::size_t size>
std::optional<Enum> value_of(const Names<Enum, size>& names, std::string_view text) {
  for (const auto& [candidate, name] : names) {
    if (name == text) return candidate;
  }
  return std::nullopt;
}

// Reads members and records whether one was invalid; the error is reported once, at the end.
class StateReader {
 public:
  explicit StateReader(const Value& value) : value_(value) {}

  std::int64_t integer(std::string_view name, std::int64_t least, std::int64_t most) {
    const Value& member = value_[name];
    if (member.is_integer() && member.as_integer() >= least && member.as_integer() <= most) return member.as_integer();
    is_sound_ = false;
    return least;
  }
  std::size_t index(std::string_view name, std::size_t most) {
    return static_cast<std::size_t>(integer(name, 0, static_cast<std::int64_t>(most)));
  }
  bool boolean(std::string_view name) {
    const Value& member = value_[name];
    if (member.is_bool()) return member.as_bool();
    is_sound_ = false;
    return false;
  }
  std::string string(std::string_view name) {
    auto text = value_.string_at(name);
    if (!text) is_sound_ = false;
    return text.value_or("");
  }
  template <class Enum, std::size_t size>
  Enum one_of(std::string_view name, const Names<Enum, size>& names) {
    const auto found = value_of(names, string(name));
    if (!found) is_sound_ = false;
    return found.value_or(names[0].first);
  }
  Dispositions decided(std::size_t count) {
    Dispositions dispositions(count);
    const std::string marks = string("decided");
    if (marks.size() != count) {
      is_sound_ = false;
      return dispositions;
    }
    for (std::size_t i = 0; i < count; ++i) {
      dispositions[i] = value_of(kBucketMarks, std::string_view(marks).substr(i, 1));
      if (!dispositions[i] && marks[i] != '-') is_sound_ = false;
    }
    return dispositions;
  }
  OptionPair pair(const Value& row, std::size_t count) {
    if (!row.is_array() || row.size() < 2) return unsound_pair();
    const auto& first = row.items()[0];
    const auto& second = row.items()[1];
    if (!first.is_integer() || !second.is_integer()) return unsound_pair();
    const auto end = static_cast<std::int64_t>(count);
    if (first.as_integer() < 0 || first.as_integer() >= end) return unsound_pair();
    if (second.as_integer() < 0 || second.as_integer() >= end) return unsound_pair();
    return {static_cast<std::size_t>(first.as_integer()), static_cast<std::size_t>(second.as_integer())};
  }
  OptionPair pair_at(std::string_view name, std::size_t count) { return pair(value_[name], count); }

  std::map<OptionPair, PairRecord> pairs(const ChainModel& model) {
    std::map<OptionPair, PairRecord> records;
    const Value& list = value_["pairs"];
    is_sound_ = is_sound_ && list.is_array();
    for (std::size_t i = 0; is_sound_ && i < list.size(); ++i) {
      const Value& row = list.items()[i];
      const auto key = pair(row, model.count());
      is_sound_ = is_sound_ && row.size() == 4 && row.items()[2].is_integer() && row.items()[3].is_bool() &&
                  row.items()[2].as_integer() >= 0 && row.items()[2].as_integer() <= kPromptsPerPair &&
                  model.graph.is_pair(key.first, key.second);
      if (is_sound_) records[key] = {static_cast<int>(row.items()[2].as_integer()), row.items()[3].as_bool()};
    }
    return records;
  }
  bool is_sound() const { return is_sound_; }

 private:
  OptionPair unsound_pair() {
    is_sound_ = false;
    return {};
  }

  const Value& value_;
  bool is_sound_ = true;
};

bool has_undecided_on_page(const ChainModel& model, const ChainState& state) {
  const auto pages = group_pages_of(model.chain, model.profile, state.cap);
  if (state.page >= pages.size()) return false;
  const auto& page = pages[state.page];
  return std::any_of(state.dispositions.begin() + static_cast<std::ptrdiff_t>(page.first),
                     state.dispositions.begin() + static_cast<std::ptrdiff_t>(page.last),
                     [](const std::optional<Bucket>& disposition) { return !disposition; });
}

bool has_shape_for(const ChainModel& model, const ChainState& state) {
  const auto shape = shape_of(model.chain, model.profile, state.cap);
  const bool has_meta = asks_meta(model.chain, model.profile, state.cap);
  switch (state.phase) {
    case ChainPhase::kChoice:
      return shape != ChainShape::kSplit && !chooses_many(model.chain) &&
             state.page < pages_of(model.chain, model.profile, state.cap).size();
    case ChainPhase::kMeta:
      return has_meta;
    case ChainPhase::kNarrow:
      return has_meta && first_undecided(state) < model.count();
    case ChainPhase::kGroups:
      return chooses_many(model.chain) && (shape != ChainShape::kSplit || has_meta) &&
             has_undecided_on_page(model, state);
    case ChainPhase::kRest:
      return (has_meta || shape != ChainShape::kSplit) && chooses_many(model.chain) &&
             first_undecided(state) < model.count();
    case ChainPhase::kChildren:
      return true;
  }
  return false;
}

// Whether the open question is reachable: a final with an undecided option, for example, is not.
bool is_reachable(const ChainModel& model, const ChainState& state) {
  if (!has_shape_for(model, state)) return false;
  const bool is_complete = first_undecided(state) == model.count();
  const bool is_over = state.phase == ChainPhase::kChildren && is_complete;
  if (state.stage == 2 && state.cap >= 4) return false;
  const bool asks_option = state.open == OpenPrompt::kChild || state.open == OpenPrompt::kRevise;
  const bool is_split = shape_of(model.chain, model.profile, state.cap) == ChainShape::kSplit;
  if ((asks_option || is_split) && !state.needs_final) return false;
  if (state.end != ChainEnd::kNo) {
    return state.open == OpenPrompt::kNothing && !state.is_held && (state.end == ChainEnd::kCancelled || is_over);
  }
  switch (state.open) {
    case OpenPrompt::kPhase:
      return state.phase != ChainPhase::kChildren;
    case OpenPrompt::kChild:
      return !state.dispositions[state.option] && (chooses_many(model.chain) || state.phase == ChainPhase::kChildren);
    case OpenPrompt::kRevise:
      return true;
    case OpenPrompt::kConflict:
      return is_over && state.needs_final && violation_asked(model, state).has_value();
    case OpenPrompt::kFinal:
      return is_over && state.needs_final && !violation_to_ask(model, state).has_value();
    case OpenPrompt::kPickRevise:
      return is_over && state.needs_final;
    case OpenPrompt::kCutMore:
      return is_over && state.needs_final &&
             std::count(state.dispositions.begin(), state.dispositions.end(), Bucket::kInclude) > 0;
    case OpenPrompt::kNothing:
      return false;
  }
  return false;
}

}  // namespace

ChainModel::ChainModel(const Declaration& what)
    : declaration(what),
      chain([&]() -> const Chain& {
        SB_ASSERT(what.chain() != nullptr);
        return *what.chain();
      }()),
      profile(what.profile),
      ids(chain),
      graph(chain) {}

Value to_value(const ChainState& state) {
  std::string decided;
  for (const auto& disposition : state.dispositions) {
    decided += disposition ? name_of(kBucketMarks, *disposition) : std::string_view("-");
  }
  Value pairs = Value::array();
  for (const auto& [pair, record] : state.pairs) {
    pairs.push_back(Value(Value::Array{pair.first, pair.second, record.asked, record.is_waived}));
  }
  return Value::object({{"kind", "chain"},
                        {"v", 1},
                        {"hash", state.definition_hash},
                        {"nonce", state.nonce},
                        {"cap", state.cap},
                        {"course", name_of(kPhases, state.phase)},
                        {"page", state.page},
                        {"open", name_of(kOpens, state.open)},
                        {"option", state.option},
                        {"stage", state.stage},
                        {"picker", state.picker_page},
                        {"held", state.is_held},
                        {"end", name_of(kChainEnds, state.end)},
                        {"confirm", state.needs_final},
                        {"attempts", state.attempts},
                        {"decided", decided},
                        {"conflict", Value(Value::Array{state.conflict.first, state.conflict.second})},
                        {"pairs", std::move(pairs)}});
}

Result<ChainState> chain_state_from(const Value& value, const ChainModel& model) {
  if (value.string_at("kind") != "chain") {
    return fail(ErrorCode::kInvalid, "the state does not belong to a chain",
                "Give the state that the last call printed.");
  }
  if (!value["v"].is_integer() || value["v"].as_integer() != 1) {
    return fail(ErrorCode::kUnsupported, "the state was written by another version", "Start the chain again.");
  }
  StateReader reader(value);
  ChainState state;
  state.definition_hash = reader.string("hash");
  if (state.definition_hash != model.declaration.hash) {
    return fail(ErrorCode::kInvalid, "the state belongs to another definition, or the definition has changed",
                "Start the chain again with the current definition.");
  }
  state.nonce = reader.string("nonce");
  state.cap = static_cast<int>(reader.integer("cap", 3, model.profile.max_options));
  state.phase = reader.one_of("course", kPhases);
  state.page = reader.index("page", model.count());
  state.open = reader.one_of("open", kOpens);
  state.option = reader.index("option", model.count() - 1);
  state.stage = static_cast<int>(reader.integer("stage", 1, 2));
  state.picker_page = reader.index("picker", model.count());
  state.is_held = reader.boolean("held");
  state.end = reader.one_of("end", kChainEnds);
  state.needs_final = reader.boolean("confirm");
  state.attempts = static_cast<int>(reader.integer("attempts", 0, 1'000'000));
  state.dispositions = reader.decided(model.count());
  state.conflict = reader.pair_at("conflict", model.count());
  state.pairs = reader.pairs(model);
  if (!reader.is_sound() || !is_reachable(model, state)) {
    return fail(ErrorCode::kInvalid, "the state cannot be reached by any answers", "Start the chain again.");
  }
  return state;
}

std::size_t first_undecided(const ChainState& state) {
  const auto found = std::find(state.dispositions.begin(), state.dispositions.end(), std::nullopt);
  return static_cast<std::size_t>(found - state.dispositions.begin());
}

bool is_waived(const ChainState& state, const Violation& violation) {
  const auto record = state.pairs.find({violation.first, violation.second});
  return record != state.pairs.end() && record->second.is_waived;
}

std::vector<Violation> open_violations(const ChainModel& model, const ChainState& state) {
  auto all = violations_of(model.chain, model.graph, state.dispositions);
  std::erase_if(all, [&](const Violation& violation) { return is_waived(state, violation); });
  return all;
}

std::vector<Violation> waived_violations(const ChainModel& model, const ChainState& state) {
  auto all = violations_of(model.chain, model.graph, state.dispositions);
  std::erase_if(all, [&](const Violation& violation) { return !is_waived(state, violation); });
  return all;
}

std::optional<Violation> violation_to_ask(const ChainModel& model, const ChainState& state) {
  for (const auto& violation : open_violations(model, state)) {
    const auto record = state.pairs.find({violation.first, violation.second});
    if (record == state.pairs.end() || record->second.asked < kPromptsPerPair) return violation;
  }
  return std::nullopt;
}

std::optional<Violation> violation_asked(const ChainModel& model, const ChainState& state) {
  for (const auto& violation : open_violations(model, state)) {
    if (OptionPair(violation.first, violation.second) == state.conflict) return violation;
  }
  return std::nullopt;
}

std::vector<std::size_t> proposed_to_drop(const ChainModel& model, const ChainState& state) {
  std::vector<std::size_t> leaving;
  for (std::size_t i = 0; i < model.count(); ++i) {
    const auto& recommended = model.chain.options[i].recommended;
    if (!state.dispositions[i] && (recommended == Bucket::kDefer || recommended == Bucket::kCut)) leaving.push_back(i);
  }
  return leaving;
}

}  // namespace sb::decision
