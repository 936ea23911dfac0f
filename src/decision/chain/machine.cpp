#include "decision/chain/machine.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/text/unicode.hpp"
#include "decision/brief.hpp"
#include "decision/chain/chain_prompt.hpp"
#include "decision/chain/input.hpp"
#include "decision/chain/phrases.hpp"
#include "decision/chain/plan.hpp"
#include "decision/text_block.hpp"
#include "decision/texts.hpp"

namespace sb::decision {
namespace {

constexpr std::string_view kReset = "reset";

// Whether this is a word for "continue", in any language: people do not always write in that of the question.
bool is_continue(std::string_view folded) {
  return std::ranges::any_of(locales(), [&](std::string_view locale) {
    for (std::string_view words = text(locale, "hold.words"); !words.empty();) {
      const std::size_t end = std::min(words.find(", "), words.size());
      if (case_fold(words.substr(0, end)) == folded) return true;
      words.remove_prefix(std::min(end + 2, words.size()));
    }
    return false;
  });
}

// One chain with its current state; each method is one row of the transition table.
class Machine {
 public:
  Machine(const ChainModel& model, ChainState state) : model_(model), chain_(model.chain), state_(std::move(state)) {
    SB_ASSERT(state_.dispositions.size() == model.count());
  }

  ChainTurn begin() {
    start_over();
    return show();
  }

  ChainTurn resume() {
    state_.is_held = false;
    state_.picker_page = 0;
    state_.stage = 1;
    return show();
  }

  ChainTurn take(std::string_view input) {
    SB_ASSERT(state_.end == ChainEnd::kNo);
    if (state_.is_held) return take_while_held(input);
    const Prompt prompt = chain_prompt(model_, state_);
    if (const auto named = named_in_picker(input)) return choose_in_picker(*named);
    const auto read = read_chain_input(input, prompt, model_.profile);
    return std::visit([&](const auto& what) { return on(what, prompt, input); }, read);
  }

  ChainState with_cap(int cap) {
    if (cap == state_.cap) return state_;
    const ChainState before = state_;
    state_.cap = cap;
    start_over();
    state_.dispositions = before.dispositions;
    state_.pairs = before.pairs;
    // What led to questions about single options was answered already.
    if (before.phase == ChainPhase::kChildren) state_.phase = ChainPhase::kChildren;
    state_.needs_final = state_.needs_final || before.needs_final;
    advance();
    const bool asks_option = before.open == OpenPrompt::kChild || before.open == OpenPrompt::kRevise;
    if (asks_option && state_.phase == ChainPhase::kChildren) {
      state_.open = before.open;
      state_.option = before.option;
    }
    state_.is_held = before.is_held;
    return state_;
  }

  Result<ChainState> hold_at(std::string_view key) {
    const auto named = named_option(key);
    if (!named) return fail(ErrorCode::kInvalid, "there is no option \"" + std::string(key) + "\"");
    const Prompt prompt = chain_prompt(model_, ask_named(*named).state);
    return hold(prompt).state;
  }

  Result<ChainTurn> answer(const std::vector<std::string>& ids) {
    if (state_.is_held) return fail(ErrorCode::kConflict, "the chain is on hold", "Resume it first.");
    const Prompt prompt = chain_prompt(model_, state_);
    std::vector<std::size_t> indexes;
    for (const auto& id : ids) {
      const auto found = std::find_if(prompt.options.begin(), prompt.options.end(),
                                      [&](const Option& option) { return option.id == id; });
      if (found == prompt.options.end()) {
        return fail(ErrorCode::kInvalid, "\"" + id + "\" is not among the options of " + prompt.label,
                    "Answer with an id that was shown.");
      }
      indexes.push_back(static_cast<std::size_t>(found - prompt.options.begin()));
    }
    std::sort(indexes.begin(), indexes.end());
    const bool is_many = prompt.select.mode == SelectMode::kMany;
    const bool is_none = !indexes.empty() && prompt.options[indexes.back()].id == kNoneId &&
                         prompt.options[indexes.back()].role == kOwnRole;
    const bool is_repeated = std::adjacent_find(indexes.begin(), indexes.end()) != indexes.end();
    const bool is_too_few = indexes.empty() && !(is_many && prompt.select.min == 0);
    if (is_too_few || is_repeated || (!is_many && indexes.size() > 1) || (is_none && indexes.size() > 1)) {
      return fail(ErrorCode::kInvalid, "that is not an answer to " + prompt.label,
                  is_many ? "Give at least one id, each once." : "Give exactly one id.");
    }
    return on(PickedOptions{std::move(indexes)}, prompt, {});
  }

 private:
  // What is shown -------------------------------------------------------------------------------------------------

  ChainTurn turn(ChainEvent event, std::string output) const {
    ChainTurn turn;
    turn.state = state_;
    turn.event = event;
    turn.output = std::move(output);
    return turn;
  }

  ChainTurn show(std::string_view error_line = {}) const {
    if (state_.end == ChainEnd::kDone) return finished();
    const Prompt prompt = chain_prompt(model_, state_);
    std::string output = render_chain_prompt(model_, state_, prompt);
    if (!error_line.empty()) output = render_retry(error_line, output);
    ChainTurn shown = labelled(turn(ChainEvent::kNone, std::move(output)), prompt);
    shown.error = error_line;
    return shown;
  }

  ChainTurn labelled(ChainTurn turn, const Prompt& prompt) const {
    turn.label = prompt.label;
    turn.question_id = prompt.question_id;
    return turn;
  }

  ChainTurn finished() const {
    ChainTurn last = turn(ChainEvent::kDone, "");
    for (std::size_t i = 0; i < model_.count(); ++i) {
      SB_ASSERT(state_.dispositions[i].has_value());
      last.values.members().push_back({chain_.options[i].key, to_string(*state_.dispositions[i])});
    }
    for (const auto& violation : waived_violations(model_, state_)) {
      last.waived.push_back(Value::array({chain_.options[violation.first].key, chain_.options[violation.second].key}));
    }
    return last;
  }

  // Input ---------------------------------------------------------------------------------------------------------

  // Nothing is chosen here, so capital letters and the language do not matter.
  ChainTurn take_while_held(std::string_view input) {
    const std::string word = is_utf8(input) ? case_fold(input) : std::string();
    if (is_continue(word)) return resume();
    if (word == kReset) return begin();
    const auto is_word = [&](const std::string& other) { return case_fold(other) == word; };
    if (std::ranges::any_of(model_.profile.commands, is_word)) return cancel();
    if (const auto named = named_option(input)) return ask_named(*named);
    const auto key = std::ranges::find_if(chain_.options, is_word, &ChainOption::key);
    if (key != chain_.options.end()) return ask_named(static_cast<std::size_t>(key - chain_.options.begin()));
    ChainTurn held = turn(ChainEvent::kHold, Phrases(model_)("chain.held"));
    if (is_utf8(input)) held.payload = std::string(input);
    return labelled(std::move(held), chain_prompt(model_, state_));
  }

  // By its key, or by its label in this chain: 3.2, D3.2.
  std::optional<std::size_t> named_option(std::string_view input) const {
    for (std::size_t i = 0; i < model_.count(); ++i) {
      if (chain_.options[i].key == input) return i;
    }
    if (!is_label(input)) return std::nullopt;
    for (std::size_t i = 0; i < model_.count(); ++i) {
      if (same_label(input, child_label(chain_, i)) || same_label(input, revise_label(chain_, i))) return i;
    }
    return std::nullopt;
  }

  std::optional<std::size_t> named_in_picker(std::string_view input) const {
    if (state_.open != OpenPrompt::kPickRevise && state_.open != OpenPrompt::kCutMore) return std::nullopt;
    // A key that is also a letter of the list means the letter, as everywhere else.
    if (index_of_letter(input) || reads_as_ordinal(input)) return std::nullopt;
    const auto named = named_option(input);
    if (named && state_.open == OpenPrompt::kCutMore && state_.dispositions[*named] != Bucket::kInclude)
      return std::nullopt;
    return named;
  }

  bool reads_as_ordinal(std::string_view input) const {
    return model_.profile.grammar == Grammar::kStrictNumbers && !input.empty() &&
           std::all_of(input.begin(), input.end(), [](char c) { return c >= '0' && c <= '9'; });
  }

  ChainTurn on(const CancelWord&, const Prompt&, std::string_view) { return cancel(); }

  ChainTurn cancel() {
    state_.end = ChainEnd::kCancelled;
    state_.open = OpenPrompt::kNothing;
    state_.is_held = false;
    return turn(ChainEvent::kFlowCancel, std::string(kFlowCancel));
  }

  ChainTurn on(const ChainFreeText&, const Prompt& prompt, std::string_view input) {
    if (is_doc_page()) {
      // Here declining in any words shows the next options.
      ++state_.page;
      state_.attempts = 0;
      ChainTurn next = show();
      next.payload = std::string(input);
      return next;
    }
    ChainTurn held = hold(prompt);
    held.payload = std::string(input);
    return held;
  }

  bool is_doc_page() const {
    if (state_.open != OpenPrompt::kPhase || state_.phase != ChainPhase::kChoice) return false;
    const auto pages = pages_of(chain_, model_.profile, state_.cap);
    return state_.page + 1 < pages.size() && !pages[state_.page].has_own_option;
  }

  ChainTurn on(const WrongLabel& wrong, const Prompt& prompt, std::string_view) {
    return ask_again(prompt, Phrases(model_)("chain.error.label", {{"label", wrong.label}, {"open", prompt.label}}));
  }

  ChainTurn on(const NotAnAnswer&, const Prompt& prompt, std::string_view) {
    if (model_.profile.grammar == Grammar::kStrictNumbers) {
      const auto format = format_hint(prompt.select, static_cast<int>(prompt.options.size()), false);
      return ask_again(prompt, retry_line(chain_.locale, state_.attempts + 1, format));
    }
    std::string letters;
    for (std::size_t i = 0; i < prompt.options.size(); ++i) letters += (i == 0 ? "" : ", ") + letter_of(i);
    const auto key = prompt.select.mode == SelectMode::kMany ? "chain.error.many"
                     : is_doc_page()                         ? "chain.error.doc"
                                                             : "chain.error.one";
    return ask_again(prompt, Phrases(model_)(key, {{"letters", letters}}));
  }

  ChainTurn ask_again(const Prompt& prompt, const std::string& error_line) {
    if (model_.profile.on_exhausted == OnExhausted::kReask) return show(error_line);
    if (++state_.attempts <= model_.profile.max_invalid) return show(error_line);
    ChainTurn held = hold(prompt);
    held.event = ChainEvent::kStepAbort;
    held.output = kStepAbort;
    return held;
  }

  ChainTurn on(const PickedOptions& picked, const Prompt& prompt, std::string_view) {
    state_.attempts = 0;
    switch (state_.open) {
      case OpenPrompt::kPhase:
        return on_phase(picked, prompt);
      case OpenPrompt::kChild:
      case OpenPrompt::kRevise:
        return on_bucket(only(picked, prompt).id, prompt);
      case OpenPrompt::kConflict:
        return on_conflict(only(picked, prompt).id);
      case OpenPrompt::kFinal:
        return on_final(only(picked, prompt).id);
      case OpenPrompt::kPickRevise:
      case OpenPrompt::kCutMore:
        return on_picker(only(picked, prompt));
      case OpenPrompt::kNothing:
        break;
    }
    SB_ASSERT(false);
    return show();
  }

  static const Option& only(const PickedOptions& picked, const Prompt& prompt) {
    SB_ASSERT(picked.indexes.size() == 1);
    return prompt.options[picked.indexes[0]];
  }

  // Transitions ---------------------------------------------------------------------------------------------------

  void start_over() {
    ChainState fresh;
    fresh.definition_hash = model_.declaration.hash;
    fresh.nonce = state_.nonce;
    fresh.cap = state_.cap;
    fresh.dispositions.resize(model_.count());
    const auto shape = shape_of(chain_, model_.profile, fresh.cap);
    if (shape == ChainShape::kSplit) {
      fresh.phase = asks_meta(chain_, model_.profile, fresh.cap) ? ChainPhase::kMeta : ChainPhase::kChildren;
    } else {
      fresh.phase = chooses_many(chain_) ? ChainPhase::kGroups : ChainPhase::kChoice;
    }
    fresh.needs_final = shape == ChainShape::kSplit || (shape == ChainShape::kBatch && chooses_many(chain_));
    state_ = std::move(fresh);
    advance();
  }

  // The next question follows from the dispositions, never from a stored list.
  void advance() {
    state_.stage = 1;
    state_.picker_page = 0;
    if (state_.phase == ChainPhase::kGroups) skip_decided_groups();
    const std::size_t undecided = first_undecided(state_);
    const bool has_nothing_left = undecided == model_.count();
    if (has_nothing_left || (state_.phase == ChainPhase::kNarrow && proposed_to_drop(model_, state_).empty())) {
      state_.phase = ChainPhase::kChildren;
      state_.page = 0;
    }
    if (state_.phase != ChainPhase::kChildren) {
      state_.open = OpenPrompt::kPhase;
    } else if (has_nothing_left) {
      validate();
    } else {
      state_.open = OpenPrompt::kChild;
      state_.option = undecided;
      state_.needs_final = true;
    }
  }

  void skip_decided_groups() {
    const auto pages = group_pages_of(chain_, model_.profile, state_.cap);
    const auto has_undecided = [&](const PageRange& page) {
      for (std::size_t i = page.first; i < page.last; ++i) {
        if (!state_.dispositions[i]) return true;
      }
      return false;
    };
    while (state_.page < pages.size() && !has_undecided(pages[state_.page])) ++state_.page;
    if (state_.page < pages.size()) return;
    state_.phase = ChainPhase::kRest;
    state_.page = 0;
  }

  void validate() {
    if (const auto violation = violation_to_ask(model_, state_)) {
      state_.open = OpenPrompt::kConflict;
      state_.conflict = {violation->first, violation->second};
      ++state_.pairs[state_.conflict].asked;
      state_.needs_final = true;
    } else if (state_.needs_final) {
      state_.open = OpenPrompt::kFinal;
    } else {
      end();
    }
  }

  void end() {
    state_.end = ChainEnd::kDone;
    state_.open = OpenPrompt::kNothing;
  }

  ChainTurn hold(const Prompt& prompt) {
    state_.is_held = true;
    state_.attempts = 0;
    // An option being asked again has no disposition until it is answered.
    if (state_.open == OpenPrompt::kRevise) state_.dispositions[state_.option].reset();
    return labelled(turn(ChainEvent::kHold, ""), prompt);
  }

  ChainTurn ask_named(std::size_t index) {
    state_.is_held = false;
    state_.stage = 1;
    if (state_.phase == ChainPhase::kChoice) {
      const auto pages = pages_of(chain_, model_.profile, state_.cap);
      state_.open = OpenPrompt::kPhase;
      state_.page = 0;
      while (index >= pages[state_.page].last) ++state_.page;
      return show();
    }
    state_.option = index;
    state_.open = state_.dispositions[index] ? OpenPrompt::kRevise : OpenPrompt::kChild;
    state_.needs_final = true;
    return show();
  }

  ChainTurn on_bucket(const std::string& id, const Prompt& prompt) {
    if (id == "hold") return hold(prompt);
    if (id == kNotNowId) {
      state_.stage = 2;
      return show();
    }
    state_.dispositions[state_.option] = id == "include" ? Bucket::kInclude
                                         : id == "defer" ? Bucket::kDefer
                                                         : Bucket::kCut;
    advance();
    return show();
  }

  ChainTurn on_phase(const PickedOptions& picked, const Prompt& prompt) {
    switch (state_.phase) {
      case ChainPhase::kChoice:
        return on_choice(only(picked, prompt));
      case ChainPhase::kMeta:
        return on_meta(only(picked, prompt).id);
      case ChainPhase::kNarrow:
        return on_narrow(only(picked, prompt).id, prompt);
      case ChainPhase::kGroups:
        return on_group(picked, prompt);
      case ChainPhase::kRest:
        return on_rest(only(picked, prompt).id);
      case ChainPhase::kChildren:
        break;
    }
    SB_ASSERT(false);
    return show();
  }

  ChainTurn on_choice(const Option& option) {
    const auto chosen = declared_index(model_, option);
    if (!chosen) {
      ++state_.page;
      return show();
    }
    // Among alternatives, choosing one rejects the others.
    for (std::size_t i = 0; i < model_.count(); ++i) {
      state_.dispositions[i] = i == *chosen ? Bucket::kInclude : Bucket::kCut;
    }
    advance();
    return show();
  }

  ChainTurn on_meta(const std::string& id) {
    state_.page = 0;
    if (id == "narrow") {
      state_.phase = ChainPhase::kNarrow;
      // With nothing to drop, the proposal to keep all is still asked.
      if (proposed_to_drop(model_, state_).empty()) return show();
    } else {
      state_.phase = id == "groups" ? ChainPhase::kGroups : ChainPhase::kChildren;
    }
    advance();
    return show();
  }

  ChainTurn on_narrow(const std::string& id, const Prompt& prompt) {
    if (id == "hold") return hold(prompt);
    if (id == "approve") {
      for (const std::size_t i : proposed_to_drop(model_, state_)) {
        state_.dispositions[i] = chain_.options[i].recommended;
      }
    }
    state_.phase = id == "groups" ? ChainPhase::kGroups : ChainPhase::kChildren;
    advance();
    return show();
  }

  ChainTurn on_group(const PickedOptions& picked, const Prompt& prompt) {
    for (const std::size_t at : picked.indexes) {
      if (const auto index = declared_index(model_, prompt.options[at])) {
        state_.dispositions[*index] = Bucket::kInclude;
      }
    }
    ++state_.page;
    advance();
    return show();
  }

  ChainTurn on_rest(const std::string& id) {
    if (id != "one-by-one") {
      for (auto& disposition : state_.dispositions) {
        if (!disposition) disposition = id == "defer-all" ? Bucket::kDefer : Bucket::kCut;
      }
    }
    state_.phase = ChainPhase::kChildren;
    advance();
    return show();
  }

  ChainTurn on_conflict(const std::string& id) {
    const auto violation = violation_asked(model_, state_);
    SB_ASSERT(violation.has_value());
    if (id == "waive") {
      waive(*violation);
    } else if (violation->kind == Violation::Kind::kGroup) {
      settle_group(violation->first, id == "keep");
    } else if (id == "keep") {
      state_.dispositions[violation->second] = Bucket::kInclude;
    } else {
      const bool is_first_cut = id == "cut" || id == "keep-second";
      state_.dispositions[is_first_cut ? violation->first : violation->second] = Bucket::kCut;
    }
    advance();
    return show();
  }

  // All or none: included members keep their disposition, the others are included too.
  void settle_group(std::size_t member, bool keeps) {
    for (const std::size_t i : model_.graph.members_of(member)) {
      const bool is_in = state_.dispositions[i] == Bucket::kInclude;
      if (keeps && !is_in && !chain_.options[i].shipped) state_.dispositions[i] = Bucket::kInclude;
      if (!keeps && is_in) state_.dispositions[i] = Bucket::kCut;
    }
  }

  void waive(const Violation& violation) {
    for (const auto& open : open_violations(model_, state_)) {
      const bool is_same_group = violation.kind == Violation::Kind::kGroup && open.kind == violation.kind &&
                                 model_.graph.group[open.first] == model_.graph.group[violation.first];
      if (is_same_group || open == violation) state_.pairs[{open.first, open.second}].is_waived = true;
    }
  }

  ChainTurn on_final(const std::string& id) {
    if (id == "reset") return begin();
    state_.picker_page = 0;
    if (id == "ship" || id == "close") {
      SB_ASSERT(open_violations(model_, state_).empty());
      end();
    } else if (id == "revise") {
      state_.open = OpenPrompt::kPickRevise;
    } else if (id == "cut-more") {
      state_.open = OpenPrompt::kCutMore;
    } else {
      for (const auto& violation : open_violations(model_, state_)) {
        state_.pairs[{violation.first, violation.second}].is_waived = true;
      }
      validate();
    }
    return show();
  }

  ChainTurn on_picker(const Option& option) {
    if (const auto index = declared_index(model_, option)) return choose_in_picker(*index);
    if (option.id == kMoreId) {
      ++state_.picker_page;
    } else {
      validate();
    }
    return show();
  }

  ChainTurn choose_in_picker(std::size_t index) {
    state_.attempts = 0;
    state_.picker_page = 0;
    if (state_.open == OpenPrompt::kPickRevise) {
      state_.open = OpenPrompt::kRevise;
      state_.option = index;
      state_.stage = 1;
    } else {
      state_.dispositions[index] = Bucket::kCut;
      advance();
    }
    return show();
  }

  const ChainModel& model_;
  const Chain& chain_;
  ChainState state_;
};

}  // namespace

std::string_view to_string(ChainEvent event) {
  switch (event) {
    case ChainEvent::kNone:
      return "";
    case ChainEvent::kHold:
      return "HOLD";
    case ChainEvent::kDone:
      return "DONE";
    case ChainEvent::kFlowCancel:
      return kFlowCancel;
    case ChainEvent::kStepAbort:
      return kStepAbort;
  }
  return "";
}

Result<ChainTurn> chain_begin(const ChainModel& model, int host_cap) {
  ChainState state;
  state.cap = SB_TRY(effective_cap(model.profile, host_cap));
  state.dispositions.resize(model.count());
  return Machine(model, std::move(state)).begin();
}

ChainTurn chain_resume(const ChainModel& model, ChainState state) {
  return Machine(model, std::move(state)).resume();
}

ChainTurn chain_step(const ChainModel& model, ChainState state, std::string_view input) {
  return Machine(model, std::move(state)).take(input);
}

Result<ChainState> chain_hold(const ChainModel& model, ChainState state, std::string_view key) {
  return Machine(model, std::move(state)).hold_at(key);
}

ChainState chain_with_cap(const ChainModel& model, ChainState state, int cap) {
  return Machine(model, std::move(state)).with_cap(cap);
}

Result<ChainTurn> chain_answer(const ChainModel& model, ChainState state, const std::vector<std::string>& ids) {
  return Machine(model, std::move(state)).answer(ids);
}

}  // namespace sb::decision
