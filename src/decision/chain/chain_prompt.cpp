#include "decision/chain/chain_prompt.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "decision/brief.hpp"
#include "decision/chain/phrases.hpp"
#include "decision/chain/plan.hpp"
#include "decision/text_block.hpp"

namespace sb::decision {
namespace {

using Indexes = std::vector<std::size_t>;

// Builds the prompt for one state; one method per kind of question.
class PromptMaker {
 public:
  PromptMaker(const ChainModel& model, const ChainState& state)
      : model_(model), chain_(model.chain), state_(state), say_(model) {
    prompt_.decision_id = chain_.id;
    prompt_.profile = model.profile.id;
    prompt_.locale = chain_.locale;
    prompt_.definition_hash = model.declaration.hash;
    prompt_.sections.kind_note = kKindNote;
  }

  Prompt make() {
    switch (state_.open) {
      case OpenPrompt::kPhase:
        make_phase();
        break;
      case OpenPrompt::kChild:
      case OpenPrompt::kRevise:
        make_child();
        break;
      case OpenPrompt::kConflict:
        make_conflict();
        break;
      case OpenPrompt::kFinal:
        make_final();
        break;
      case OpenPrompt::kPickRevise:
        make_pick_revise();
        break;
      case OpenPrompt::kCutMore:
        make_cut_more();
        break;
      case OpenPrompt::kNothing:
        SB_ASSERT(false);
    }
    if (prompt_.title.empty()) prompt_.title = prompt_.instruction;
    if (prompt_.label.size() <= static_cast<std::size_t>(model_.profile.header_max)) prompt_.header = prompt_.label;
    return std::move(prompt_);
  }

 private:
  void make_phase() {
    switch (state_.phase) {
      case ChainPhase::kChoice:
        return make_choice();
      case ChainPhase::kMeta:
        return make_meta();
      case ChainPhase::kNarrow:
        return make_narrow();
      case ChainPhase::kGroups:
        return make_group();
      case ChainPhase::kRest:
        return make_rest();
      case ChainPhase::kChildren:
        SB_ASSERT(false);
    }
  }

  // Questions before the children are labelled as the meta question if there was one, else as the parent.
  std::string phase_label() const {
    return asks_meta(chain_, model_.profile, state_.cap) ? meta_label(chain_) : parent_label(chain_);
  }

  void head(DecisionKind kind, std::string label, const std::string& id, std::string instruction) {
    prompt_.kind = kind;
    prompt_.label = std::move(label);
    prompt_.question_id = id;
    prompt_.instruction = std::move(instruction);
  }

  void add_own(std::string_view id, std::string label) {
    Option option;
    option.id = id;
    option.label = std::move(label);
    option.role = kOwnRole;
    prompt_.options.push_back(std::move(option));
  }

  void add_declared(std::size_t index, std::string description) {
    Option option;
    option.id = chain_.options[index].key;
    option.label = chain_.options[index].label;
    option.description = std::move(description);
    prompt_.options.push_back(std::move(option));
  }

  void recommend(std::string_view id, std::string reason) {
    for (auto& option : prompt_.options) {
      if (option.id != id) continue;
      option.recommended = true;
      break;
    }
    prompt_.sections.recommendation = Recommendation{std::string(id), std::move(reason)};
  }

  // An option of a page: its own text and its dependencies.
  std::string description_of(std::size_t index) const {
    const auto& option = chain_.options[index];
    return join_sentences(option.eli10.empty() ? option.description : option.eli10,
                          say_.dependencies(index, state_.dispositions));
  }

  // A choice of one; the first option recommended to be included counts as the recommended one.
  void make_choice() {
    const auto pages = pages_of(chain_, model_.profile, state_.cap);
    const auto& page = pages[state_.page];
    prompt_.page = static_cast<int>(state_.page) + 1;
    prompt_.pages = static_cast<int>(pages.size());
    head(DecisionKind::kChoice, parent_label(chain_), model_.ids.whole(),
         chain_.instruction.empty() ? say_.paged("chain.one", prompt_.page, prompt_.pages) : chain_.instruction);
    prompt_.sections.eli10 = say_("chain.one.eli10");
    for (std::size_t i = page.first; i < page.last; ++i) add_declared(i, description_of(i));
    const bool is_doc = page.last < model_.count() && !page.has_own_option;
    if (page.has_own_option)
      add_own(kMoreId, say_(model_.profile.option_max_words > 0 ? "more_options" : "chain.more"));
    if (is_doc) {
      for (std::size_t i = page.last; i < model_.count(); ++i) {
        prompt_.shown_elsewhere.push_back(chain_.options[i].label);
      }
      prompt_.asked_next = prompt_.shown_elsewhere;
      prompt_.sections.eli10 = join_sentences(prompt_.sections.eli10, say_("chain.one.doc"));
    }
    recommend_choice(page);
  }

  // The brief marks exactly one option: the first remaining one recommended to be included; if there is none, the first
  // one recommended to be deferred rather than cut, with a remark that nothing speaks for it.
  void recommend_choice(const PageRange& page) {
    std::size_t best = page.first;
    for (std::size_t i = page.first; i < model_.count(); ++i) {
      if (!chain_.options[i].recommended) return;
      if (*chain_.options[i].recommended < *chain_.options[best].recommended) best = i;
    }
    const auto& option = chain_.options[best];
    const bool is_backed = option.recommended == Bucket::kInclude;
    if (best >= page.last) {
      if (page.has_own_option) mark_last(kMoreId, say_("chain.one.later", {{"option", say_.name_of(best)}}));
      return;
    }
    recommend(option.key, is_backed ? option.reason : say_("chain.one.neutral"));
  }

  void mark_last(std::string_view id, std::string reason) {
    prompt_.options.back().recommended = true;
    prompt_.sections.recommendation = Recommendation{std::string(id), std::move(reason)};
  }

  void make_meta() {
    head(DecisionKind::kMeta, meta_label(chain_), model_.ids.meta(),
         say_("chain.meta", {{"count", std::to_string(model_.count())}}));
    prompt_.sections.eli10 = say_("chain.meta.eli10", {{"options", say_.names_of(all())}});
    add_own("split", say_.sized("chain.meta.split"));
    add_own("narrow", say_.sized("chain.meta.narrow"));
    add_own("groups", say_.sized("chain.meta.groups", {{"cap", std::to_string(state_.cap)}}));
    const bool is_independent = chain_.relation == Relation::kIndependent && !model_.graph.has_edges();
    if (is_independent) return recommend("split", say_("chain.meta.because.independent"));
    const bool is_narrowable = !proposed_to_drop(model_, state_).empty();
    recommend("narrow", say_(is_narrowable ? "chain.meta.because.linked" : "chain.meta.because.whole"));
  }

  void make_narrow() {
    const auto leaving = proposed_to_drop(model_, state_);
    if (leaving.empty()) return make_narrow_to_all();
    std::string list;
    Indexes staying;
    for (std::size_t i = 0; i < model_.count(); ++i) {
      if (state_.dispositions[i]) continue;
      if (!std::binary_search(leaving.begin(), leaving.end(), i)) {
        staying.push_back(i);
        continue;
      }
      const auto& option = chain_.options[i];
      if (!list.empty()) list += "; ";
      list += say_.name_of(i) + ": " + std::string(to_string(*option.recommended));
      if (!option.reason.empty()) list += " (" + option.reason + ")";
    }
    head(DecisionKind::kMeta, meta_label(chain_), model_.ids.narrow(),
         say_("chain.narrow", {{"count", std::to_string(leaving.size())}}));
    prompt_.sections.eli10 = say_("chain.narrow.eli10", {{"leaving", list}, {"staying", say_.names_of(staying)}});
    add_own("approve", say_.sized("chain.narrow.approve"));
    add_own("ask-each", say_.sized("chain.narrow.ask_each"));
    add_own("hold", say_.sized("chain.hold"));
    recommend("approve", say_("chain.narrow.because"));
  }

  // No option is recommended to leave: the proposal is to keep all of them, asked like any other question.
  void make_narrow_to_all() {
    head(DecisionKind::kMeta, meta_label(chain_), model_.ids.narrow(), say_("chain.narrow.all"));
    prompt_.sections.eli10 = say_("chain.narrow.all.eli10", {{"staying", say_.names_of(undecided())}});
    add_own("ask-each", say_.sized("chain.narrow.ask_each"));
    add_own("groups", say_.sized("chain.meta.groups", {{"cap", std::to_string(state_.cap)}}));
    add_own("hold", say_.sized("chain.hold"));
    recommend("groups", say_("chain.narrow.all.because"));
  }

  void make_group() {
    const bool is_split = shape_of(chain_, model_.profile, state_.cap) == ChainShape::kSplit;
    const auto pages = group_pages_of(chain_, model_.profile, state_.cap);
    const auto& page = pages[state_.page];
    prompt_.page = static_cast<int>(state_.page) + 1;
    prompt_.pages = static_cast<int>(pages.size());
    const bool is_whole = pages.size() == 1 && !chain_.instruction.empty();
    head(DecisionKind::kChoice, phase_label(), model_.ids.whole(),
         is_whole ? chain_.instruction : say_.paged("chain.which", prompt_.page, prompt_.pages));
    prompt_.sections.eli10 = say_("chain.which.eli10");
    std::string reasons;
    for (std::size_t i = page.first; i < page.last; ++i) {
      if (state_.dispositions[i]) continue;
      const auto& option = chain_.options[i];
      add_declared(i, description_of(i));
      if (option.recommended != Bucket::kInclude) continue;
      prompt_.options.back().recommended = true;
      if (!reasons.empty()) reasons += "; ";
      reasons += option.key + ": " + option.reason;
    }
    prompt_.select = {SelectMode::kMany, 0, static_cast<int>(prompt_.options.size())};
    // A group with room left has "none" as an option; for a full one a host has its own way, or it is typed.
    const bool has_room = is_split && prompt_.options.size() < static_cast<std::size_t>(state_.cap);
    if (page.has_own_option || has_room) add_own(kNoneId, say_("none_of_these"));
    if (!reasons.empty()) {
      prompt_.sections.recommendation = Recommendation{"", reasons};
      return;
    }
    prompt_.sections.recommendation = Recommendation{"none", say_("chain.which.because.none")};
    if (prompt_.options.back().role == kOwnRole) prompt_.options.back().recommended = true;
  }

  void make_rest() {
    const auto rest = undecided();
    head(DecisionKind::kChoice, phase_label(), model_.ids.rest(),
         say_.instruction("chain.rest", {{"options", say_.keys_of(rest)}}));
    prompt_.sections.eli10 = say_("chain.rest.eli10", {{"options", say_.names_of(rest)}});
    add_own("defer-all", say_("chain.rest.defer_all"));
    add_own("cut-all", say_("chain.rest.cut_all"));
    add_own("one-by-one", say_("chain.rest.one_by_one"));
    recommend("one-by-one", say_("chain.rest.because"));
  }

  void make_child() {
    const auto& option = chain_.options[state_.option];
    const bool is_revise = state_.open == OpenPrompt::kRevise;
    head(DecisionKind::kCherryPick,
         is_revise ? revise_label(chain_, state_.option) : child_label(chain_, state_.option),
         model_.ids.of_option(state_.option), say_("chain.child", {{"option", option.label}}));
    prompt_.title = option.label;
    prompt_.sections.eli10 = description_of(state_.option);
    const bool is_whole = state_.cap >= 4;
    if (is_whole || state_.stage == 1) add_own("include", say_.sized("chain.include"));
    if (!is_whole && state_.stage == 1) add_own(kNotNowId, say_.sized("chain.not_now"));
    if (is_whole || state_.stage == 2) {
      add_own("defer", say_.sized("chain.defer"));
      add_own("cut", say_.sized("chain.cut"));
    }
    if (is_whole || state_.stage == 1) add_own("hold", say_.sized("chain.hold"));
    if (!option.recommended) return;
    const bool is_included = option.recommended == Bucket::kInclude;
    if (!is_whole && state_.stage == 2 && is_included) {
      // Including it was declined; of the remaining choices, deferring comes closest.
      return recommend("defer", say_("chain.not_now.because", {{"reason", option.reason}}));
    }
    recommend(to_string(*option.recommended), option.reason);
    if (!is_whole && state_.stage == 1 && !is_included) prompt_.options[1].recommended = true;
  }

  void make_conflict() {
    const auto violation = violation_asked(model_, state_);
    SB_ASSERT(violation.has_value());
    const Phrases::Slots pair = {{"first", chain_.options[violation->first].key},
                                 {"second", chain_.options[violation->second].key}};
    const auto id = model_.ids.of_conflict(violation->first, violation->second);
    switch (violation->kind) {
      case Violation::Kind::kMissing:
        return make_missing(*violation, pair, id);
      case Violation::Kind::kClash:
        return make_clash(*violation, pair, id);
      case Violation::Kind::kGroup:
        return make_broken_group(*violation, id);
    }
  }

  void make_missing(const Violation& violation, Phrases::Slots pair, const std::string& id) {
    const auto& first = chain_.options[violation.first];
    const auto& second = chain_.options[violation.second];
    pair.push_back({"was", say_.was(state_.dispositions[violation.second])});
    head(DecisionKind::kConflict, final_label(chain_), id,
         say_.instruction("chain.missing", pair, labels_of(violation)));
    prompt_.sections.eli10 = say_(
        "chain.missing.eli10", {{"first", say_.name_of(violation.first)}, {"second", say_.name_of(violation.second)}});
    add_own("keep", say_.option("chain.missing.keep", pair));
    add_own("cut", say_.option("chain.missing.cut", pair));
    add_own("waive", say_("chain.missing.waive"));
    const bool keeps = second.recommended == Bucket::kInclude || first.recommended == Bucket::kInclude;
    recommend(keeps ? "keep" : "cut", say_("chain.missing.because", pair));
  }

  void make_clash(const Violation& violation, const Phrases::Slots& pair, const std::string& id) {
    head(DecisionKind::kConflict, final_label(chain_), id, say_.instruction("chain.clash", pair, labels_of(violation)));
    prompt_.sections.eli10 =
        join_sentences(say_("chain.clash.eli10"), say_.names_of({violation.first, violation.second}) + ".");
    add_own("keep-first", say_.option("chain.clash.keep", pair));
    add_own("keep-second", say_.option("chain.clash.keep_second", pair));
    add_own("waive", say_("chain.clash.waive"));
    const bool is_second_better = chain_.options[violation.first].recommended != Bucket::kInclude &&
                                  chain_.options[violation.second].recommended == Bucket::kInclude;
    recommend(is_second_better ? "keep-second" : "keep-first", say_("chain.clash.because"));
  }

  void make_broken_group(const Violation& violation, const std::string& id) {
    Indexes included, excluded;
    for (const std::size_t i : model_.graph.members_of(violation.first)) {
      const bool is_in = state_.dispositions[i] == Bucket::kInclude;
      if (is_in) included.push_back(i);
      if (!is_in && !chain_.options[i].shipped) excluded.push_back(i);
    }
    head(DecisionKind::kConflict, final_label(chain_), id,
         say_.instruction("chain.group", {{"included", say_.keys_of(included)}, {"excluded", say_.keys_of(excluded)}},
                          {{"first", chain_.options[included.empty() ? violation.first : included.front()].label}}));
    prompt_.sections.eli10 =
        say_("chain.group.eli10", {{"included", say_.names_of(included)}, {"excluded", say_.names_of(excluded)}});
    add_own("keep", say_("chain.group.keep"));
    add_own("cut", say_("chain.group.cut"));
    add_own("waive", say_("chain.missing.waive"));
    recommend("keep", say_("chain.group.because"));
  }

  void make_final() {
    head(DecisionKind::kFinal, final_label(chain_), model_.ids.final(), say_("chain.final"));
    const bool is_blocked = !open_violations(model_, state_).empty();
    const bool is_empty = indexes_in(Bucket::kInclude).empty();
    prompt_.sections.eli10 = summary();
    if (!is_blocked && model_.profile.end == FlowEnd::kConfirmRestartEdit) {
      prompt_.kind = DecisionKind::kConfirmation;
      add_own("ship", std::string(kConfirmOptions[0]));
      add_own("reset", std::string(kConfirmOptions[1]));
      add_own("revise", std::string(kConfirmOptions[2]));
      return;
    }
    if (is_blocked) {
      add_own("waive", say_("chain.final.waive"));
    } else if (is_empty) {
      add_own("close", say_("chain.final.close"));
    } else {
      add_own("ship", say_("chain.final.ship"));
    }
    add_own("revise", say_("chain.final.revise"));
    if (!is_empty) add_own("cut-more", say_("chain.final.cut_more"));
    if (is_blocked || is_empty) {
      recommend("revise", say_(is_blocked ? "chain.final.because.open" : "chain.final.because.empty"));
    } else {
      const bool is_whole = waived_violations(model_, state_).empty();
      recommend("ship", say_(is_whole ? "chain.final.because.ship" : "chain.final.because.waived"));
    }
  }

  std::string summary() const {
    std::string text = say_("chain.final.included", {{"options", say_.names_of(indexes_in(Bucket::kInclude))}});
    const auto add = [&](std::string_view key, const Indexes& list) {
      if (!list.empty()) text = join_sentences(text, say_(key, {{"options", say_.names_of(list)}}));
    };
    add("chain.final.deferred", indexes_in(Bucket::kDefer));
    add("chain.final.cut", indexes_in(Bucket::kCut));
    const auto add_pairs = [&](std::string_view key, const std::vector<Violation>& list) {
      if (!list.empty()) text = join_sentences(text, say_(key, {{"pairs", say_.pairs_of(list)}}));
    };
    add_pairs("chain.final.waived", waived_violations(model_, state_));
    add_pairs("chain.final.open", open_violations(model_, state_));
    return text;
  }

  void make_pick_revise() {
    head(DecisionKind::kRevise, final_label(chain_), model_.ids.pick_revise(), say_("chain.pick"));
    std::size_t differing = model_.count();
    for (std::size_t i = model_.count(); i-- > 0;) {
      const auto& recommended = chain_.options[i].recommended;
      if (recommended && recommended != state_.dispositions[i]) differing = i;
    }
    const auto example = child_label(chain_, std::min(differing, model_.count() - 1)).substr(1);
    prompt_.sections.eli10 = say_("chain.pick.eli10", {{"example", example}});
    make_picker(all(), differing, "chain.pick.because");
  }

  void make_cut_more() {
    head(DecisionKind::kRevise, final_label(chain_), model_.ids.cut_more(), say_("chain.cut_more"));
    prompt_.sections.eli10 = say_("chain.cut_more.eli10");
    const auto included = indexes_in(Bucket::kInclude);
    const auto unwanted = std::find_if(included.begin(), included.end(), [&](std::size_t i) {
      return chain_.options[i].recommended && chain_.options[i].recommended != Bucket::kInclude;
    });
    make_picker(included, unwanted == included.end() ? model_.count() : *unwanted, "chain.cut_more.because");
  }

  // Pages over the listed options with "back" as the very last entry; `best` is the option to mark, if any.
  void make_picker(const Indexes& list, std::size_t best, const std::string& because) {
    const auto pages = paginate(list.size() + 1, static_cast<std::size_t>(state_.cap), false);
    const auto& page = pages[std::min(state_.picker_page, pages.size() - 1)];
    prompt_.page = static_cast<int>(std::min(state_.picker_page, pages.size() - 1)) + 1;
    prompt_.pages = static_cast<int>(pages.size());
    for (std::size_t at = page.first; at < page.last && at < list.size(); ++at) {
      add_declared(list[at], say_("chain.pick.now", {{"was", say_.was(state_.dispositions[list[at]])}}));
      if (list[at] != best) continue;
      prompt_.options.back().recommended = true;
      prompt_.sections.recommendation = Recommendation{chain_.options[best].key, say_(because)};
    }
    const bool is_last = page.last == list.size() + 1;
    if (is_last) {
      add_own("back", say_("chain.pick.back"));
    } else {
      add_own(kMoreId, say_("more_options"));
    }
    if (prompt_.sections.recommendation) return;
    const bool is_behind = best < model_.count();
    mark_last(prompt_.options.back().id,
              is_behind ? say_("chain.one.later", {{"option", say_.name_of(best)}}) : say_(because + ".back"));
  }

  Indexes all() const {
    Indexes list(model_.count());
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = i;
    return list;
  }

  Indexes undecided() const {
    Indexes list;
    for (std::size_t i = 0; i < model_.count(); ++i) {
      if (!state_.dispositions[i]) list.push_back(i);
    }
    return list;
  }

  // For an instruction without room for the keys: labels are short where the profile limits words.
  Phrases::Slots labels_of(const Violation& violation) const {
    return {{"first", chain_.options[violation.first].label}, {"second", chain_.options[violation.second].label}};
  }

  Indexes indexes_in(Bucket bucket) const {
    Indexes list;
    for (std::size_t i = 0; i < model_.count(); ++i) {
      if (state_.dispositions[i] == bucket) list.push_back(i);
    }
    return list;
  }

  const ChainModel& model_;
  const Chain& chain_;
  const ChainState& state_;
  Phrases say_;
  Prompt prompt_;
};

}  // namespace

Prompt chain_prompt(const ChainModel& model, const ChainState& state) {
  return PromptMaker(model, state).make();
}

std::string render_chain_prompt(const ChainModel& model, const ChainState& state, const Prompt& prompt) {
  if (model.profile.ordinals == OrdinalStyle::kLetterParen) return render_brief(prompt);
  if (prompt.kind != DecisionKind::kConfirmation) return render_block(prompt);
  SummaryFields fields;
  const Phrases say(model);
  for (std::size_t i = 0; i < model.count(); ++i) {
    fields.emplace_back(model.chain.options[i].key, say.was(state.dispositions[i]));
  }
  return render_confirmation(fields);
}

std::optional<std::size_t> declared_index(const ChainModel& model, const Option& option) {
  if (option.role == kOwnRole) return std::nullopt;
  for (std::size_t i = 0; i < model.count(); ++i) {
    if (model.chain.options[i].key == option.id) return i;
  }
  return std::nullopt;
}

}  // namespace sb::decision
