#include "decision/walk/walk.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/text/unicode.hpp"
#include "decision/brief.hpp"
#include "decision/chain/chain_prompt.hpp"
#include "decision/chain/plan.hpp"
#include "decision/text_block.hpp"
#include "decision/texts.hpp"

namespace sb::decision {
namespace {

// `b`, `a,c`, `3.2: b` as `B`, `A,C`, `3.2: B`; any other text unchanged.
std::string with_capital_letters(std::string_view line) {
  const std::size_t colon = line.find(':');
  std::size_t begin = colon == std::string_view::npos ? 0 : colon + 1;
  if (begin > 0 && begin < line.size() && line[begin] == ' ') ++begin;
  const std::string_view choice = line.substr(begin);
  bool is_after_letter = false;
  for (const char c : choice) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_letter == is_after_letter || (!is_letter && c != ',')) return std::string(line);
    is_after_letter = is_letter;
  }
  std::string capital(line);
  for (std::size_t i = begin; i < capital.size(); ++i) {
    if (capital[i] >= 'a' && capital[i] <= 'z') capital[i] = static_cast<char>(capital[i] - 'a' + 'A');
  }
  return capital;
}

bool is_same_question(const Prompt& one, const Prompt& other) {
  return one.decision_id == other.decision_id && one.label == other.label && one.kind == other.kind &&
         one.page == other.page && one.instruction == other.instruction &&
         std::ranges::equal(one.options, other.options, {}, &Option::id, &Option::id);
}

bool is_way_back(const Prompt& open, std::string_view line) {
  return open.page > 1 && (line == "back" || line == text(open.locale, "page.back"));
}

// A number or letter as shown.
bool is_ordinal(const Prompt& prompt, const Profile& profile, std::string_view typed) {
  if (typed.size() != 1) return false;
  const char first = profile.grammar == Grammar::kLetters ? (typed[0] >= 'a' ? 'a' : 'A') : '1';
  return typed[0] >= first && static_cast<std::size_t>(typed[0] - first) < prompt.options.size();
}

// The option that is named exactly: by its label, with or without its mark, or by its id.
const Option* option_named(const Prompt& prompt, std::string_view name) {
  constexpr std::string_view kMark = " (recommended)";
  std::string_view plain = name;
  if (plain.ends_with(kMark)) plain.remove_suffix(kMark.size());
  for (const Option& option : prompt.options) {
    if (option.label == name || option.label == plain) return &option;
  }
  const auto found = std::ranges::find(prompt.options, name, &Option::id);
  return found == prompt.options.end() ? nullptr : &*found;
}

bool has_none_entry(const Prompt& open) {
  return std::ranges::find(open.options, kNoneId, &Option::id) != open.options.end();
}

// Typed into a dialog that has no entry for it, where nothing may be chosen.
bool says_none(const Prompt& open, std::string_view typed) {
  if (open.select.mode != SelectMode::kMany || (open.select.min > 0 && !has_none_entry(open))) return false;
  const std::string folded = case_fold(typed);
  return folded == "none" || folded == case_fold(text(open.locale, "none_of_these")) ||
         folded == case_fold(text(open.locale, "chain.none"));
}

std::vector<std::string> none_of(const Prompt& open) {
  return has_none_entry(open) ? std::vector{std::string(kNoneId)} : std::vector<std::string>{};
}

WalkTurn turn_of(WalkTurn::Kind kind) {
  WalkTurn turn;
  turn.kind = kind;
  return turn;
}

}  // namespace

std::string_view WalkTurn::code() const {
  if (kind == Kind::kCancelled) return kFlowCancel;
  return kind == Kind::kSuspended ? kStepAbort : std::string_view();
}

Prompt for_person(Prompt prompt) {
  prompt.question_id.clear();
  if (prompt.sections.kind_note == kKindNote) prompt.sections.kind_note.clear();
  return prompt;
}

Result<Walk> Walk::at(const Declaration& declared, const Value& position, int host_cap) {
  auto capped = std::make_shared<Declaration>(declared);
  int& cap = capped->profile.max_options;
  const int profile_cap = cap;
  if (host_cap > 0) cap = std::min(cap, host_cap);
  const bool is_new = position.is_null();
  if (!is_new && !position.is_object()) return fail(ErrorCode::kInvalid, "the position is not an object");
  if (const Flow* flow = capped->flow()) {
    FlowState state;
    state.answers.resize(flow->steps.size());
    if (is_new) return Walk(std::move(capped), nullptr, std::move(state));
    Value here = position;
    // The pages of another host are not this one's.
    const bool is_other_host = position["cap"] != Value(cap);
    if (is_other_host) {
      here.set("page", 0);
      here.set("chosen", Value::array());
    }
    auto stored = flow_state_from(*capped, here);
    if (!stored) return fail(ErrorCode::kInvalid, "the position does not belong to this flow");
    if (stored->phase == FlowPhase::kSuspended) stored->phase = stored->suspended_from;
    return Walk(std::move(capped), nullptr, std::move(*stored));
  }
  if (capped->chain()) {
    cap = profile_cap;  // a chain's state has its own
    auto model = std::make_shared<const ChainModel>(*capped);
    const int wanted = SB_TRY(effective_cap(capped->profile, host_cap));
    ChainState state = is_new ? SB_TRY(chain_begin(*model, host_cap)).state
                              : chain_with_cap(*model, SB_TRY(chain_state_from(position, *model)), wanted);
    if (state.end != ChainEnd::kNo) return fail(ErrorCode::kInvalid, "the chain has ended");
    return Walk(std::move(capped), std::move(model), std::move(state));
  }
  PagedChoice choice;
  if (!is_new && position["cap"] == Value(cap)) choice = SB_TRY(paged_choice_from(position, *capped));
  return Walk(std::move(capped), nullptr, std::move(choice));
}

Value Walk::position() const {
  return std::visit(
      [&](const auto& place) {
        Value value = to_value(place);
        if (declaration_->chain() == nullptr) value.set("cap", declaration_->profile.max_options);
        return value;
      },
      place_);
}

bool Walk::is_held() const {
  const auto* chain = std::get_if<ChainState>(&place_);
  return chain != nullptr && chain->is_held;
}

Prompt Walk::prompt() const {
  if (const auto* chain = std::get_if<ChainState>(&place_)) return chain_prompt(*model_, *chain);
  if (const auto* choice = std::get_if<PagedChoice>(&place_)) return choice->pages(*declaration_)[choice->page];
  const auto& state = std::get<FlowState>(place_);
  const Flow& flow = *declaration_->flow();
  Prompt prompt = flow_prompt(*declaration_, state);
  if (const std::string key = part(); !key.empty()) {
    prompt.decision_id = fmt::format("{}.{}", flow.id, key);
    const std::string& title = flow.steps[state.step].title;
    const auto fits = static_cast<std::size_t>(std::max(declaration_->profile.header_max, 0));
    if (prompt.header.empty() && count_code_points(title) <= fits) prompt.header = title;
  }
  return prompt;
}

Prompt Walk::hold_prompt() const {
  const auto& state = std::get<ChainState>(place_);
  const Chain& chain = *declaration_->chain();
  Prompt prompt = for_person(this->prompt());
  const std::string locale = prompt.locale;
  prompt.kind = DecisionKind::kRouting;
  prompt.instruction = decision::text(locale, "hold.question");
  prompt.title = prompt.header = "";
  prompt.sections = {};
  prompt.select = {};
  prompt.page = prompt.pages = 1;
  prompt.options.clear();
  const auto add = [&](std::string id, std::string label) {
    Option option;
    option.id = std::move(id);
    option.label = std::move(label);
    option.role = kOwnRole;
    prompt.options.push_back(std::move(option));
  };
  const std::string held = part();
  add("continue", text_with(locale, "hold.continue", "option", held.empty() ? place() : held));
  for (std::size_t i = 0; i < chain.options.size(); ++i) {
    const ChainOption& option = chain.options[i];
    const bool is_other = option.key != held && !state.dispositions[i];
    if (is_other)
      add(option.key, text_with(locale, "hold.ask", "option", fmt::format("{} ({})", option.key, option.label)));
  }
  add("reset", std::string(decision::text(locale, "hold.reset")));
  return prompt;
}

std::string Walk::part() const {
  if (const auto* state = std::get_if<FlowState>(&place_)) {
    const bool is_step = state->phase == FlowPhase::kStep || state->phase == FlowPhase::kEdit;
    return is_step ? declaration_->flow()->steps[state->step].key() : "";
  }
  const auto* chain = std::get_if<ChainState>(&place_);
  const bool asks_option =
      chain != nullptr && (chain->open == OpenPrompt::kChild || chain->open == OpenPrompt::kRevise);
  return asks_option ? declaration_->chain()->options[chain->option].key : "";
}

const Decision* Walk::step() const {
  const auto* state = std::get_if<FlowState>(&place_);
  if (state == nullptr) return declaration_->decision();
  return part().empty() ? nullptr : &declaration_->flow()->steps[state->step].decision;
}

std::string Walk::place() const {
  if (std::holds_alternative<ChainState>(place_)) return prompt().label;
  const auto* state = std::get_if<FlowState>(&place_);
  if (state == nullptr || part().empty()) return "";
  return fmt::format("{} of {}", state->step + 1, declaration_->flow()->steps.size());
}

std::string Walk::text() const {
  const Prompt shown = for_person(prompt());
  if (const auto* chain = std::get_if<ChainState>(&place_)) return render_chain_prompt(*model_, *chain, shown);
  if (!shown.summary.empty()) return render_confirmation(shown.summary);
  const bool is_brief =
      std::holds_alternative<PagedChoice>(place_) && declaration_->profile.grammar == Grammar::kLetters;
  return is_brief ? render_brief(shown) : render_block(shown);
}

Status Walk::turn_to(int page) {
  const Prompt open = prompt();
  if (page == open.page) return {};
  if (page < 1 || page > open.pages) {
    return fail(ErrorCode::kInvalid, fmt::format("there is no page {}", page),
                open.pages == 1 ? "All options fit on one page" : fmt::format("Use --page 1 to {}", open.pages));
  }
  const std::size_t index = static_cast<std::size_t>(page) - 1;
  if (auto* choice = std::get_if<PagedChoice>(&place_)) {
    choice->page = index;
    return {};
  }
  if (auto* chain = std::get_if<ChainState>(&place_)) {
    const bool is_picker = chain->open == OpenPrompt::kPickRevise || chain->open == OpenPrompt::kCutMore;
    const bool is_choice = chain->open == OpenPrompt::kPhase && chain->phase == ChainPhase::kChoice;
    if (!is_picker && !is_choice) {
      return fail(ErrorCode::kInvalid, fmt::format("page {} must be answered first", open.page), "Leave out --page");
    }
    (is_picker ? chain->picker_page : chain->page) = index;
    return {};
  }
  auto& state = std::get<FlowState>(place_);
  const bool is_many = open.select.mode == SelectMode::kMany;
  if (is_many && page > open.page) {
    return fail(ErrorCode::kInvalid, fmt::format("page {} must be answered first", open.page), "Leave out --page");
  }
  state.page = index;
  if (!is_many) return {};
  // What was chosen on this page and later ones is chosen again.
  const auto& options = declaration_->flow()->steps[state.step].decision.options;
  const std::string first_id = prompt().options.front().id;
  const auto earlier = std::ranges::find(options, first_id, &Option::id) - options.begin();
  std::erase_if(state.chosen, [&](int ordinal) { return ordinal > earlier; });
  return {};
}

Status Walk::hold_at(std::string_view key) {
  auto* chain = std::get_if<ChainState>(&place_);
  if (chain == nullptr) return fail(ErrorCode::kInvalid, "only a chain can be put on hold");
  *chain = SB_TRY(chain_hold(*model_, *chain, key));
  return {};
}

WalkTurn Walk::answer(const HostAnswer& given) {
  const Prompt before = prompt();
  WalkTurn turn = [&] {
    switch (given.result) {
      case HostAnswerKind::kSelected:
        return answer_ids(given.option_ids);
      case HostAnswerKind::kNone:
        return answer_ids(none_of(before));
      case HostAnswerKind::kMore:
        return answer_ids({std::string(kMoreId)});
      case HostAnswerKind::kFilled: {
        WalkTurn filled = turn_of(WalkTurn::Kind::kAnswered);
        filled.values = given.fields;
        return filled;
      }
      case HostAnswerKind::kFreeText: {
        if (!is_held() && says_none(before, given.text)) return answer_ids(none_of(before));
        auto named = answer_by_name(given.text);
        return named ? std::move(*named) : take(given.text);
      }
      case HostAnswerKind::kInvalid:
        return reject();
      default:
        return WalkTurn{};
    }
  }();
  turn.is_same = turn.kind == WalkTurn::Kind::kAsk && is_same_question(before, prompt());
  return turn;
}

WalkTurn Walk::take(std::string_view line) {
  const Prompt before = prompt();
  WalkTurn turn = [&] {
    if (!is_held()) {
      if (is_way_back(before, line) && turn_to(before.page - 1)) return WalkTurn{};
    }
    const bool has_letters = declaration_->profile.grammar == Grammar::kLetters && !is_held();
    const std::string typed = has_letters ? with_capital_letters(line) : std::string(line);
    if (auto* choice = std::get_if<PagedChoice>(&place_)) return on(choice->take(*declaration_, typed));
    if (auto* flow = std::get_if<FlowState>(&place_)) return on(flow_step(*declaration_, *flow, typed));
    return on(chain_step(*model_, std::get<ChainState>(place_), typed));
  }();
  turn.is_same = turn.kind == WalkTurn::Kind::kAsk && is_same_question(before, prompt());
  return turn;
}

// A dialog has a row for other text; the exact name of an option typed there means that option. Only where one is
// chosen: a list of names is the host's to split. What a terminal reads has its own grammar, in which a label is not an
// answer.
std::optional<WalkTurn> Walk::answer_by_name(const std::string& text) {
  const Prompt open = prompt();
  if (is_held() || open.select.mode != SelectMode::kOne || text.empty()) return std::nullopt;
  if (is_ordinal(open, declaration_->profile, text)) return std::nullopt;
  if (is_way_back(open, text)) return std::nullopt;
  if (const Option* option = option_named(open, text)) return answer_ids({option->id});
  Walk elsewhere = *this;
  for (int page = 1; page <= open.pages; ++page) {
    if (page == open.page || !elsewhere.turn_to(page)) continue;
    const Prompt other = elsewhere.prompt();
    const Option* option = option_named(other, text);
    if (option == nullptr || option->id == kMoreId) continue;
    place_ = elsewhere.place_;
    return answer_ids({option->id});
  }
  return std::nullopt;
}

WalkTurn Walk::answer_ids(const std::vector<std::string>& ids) {
  if (auto* choice = std::get_if<PagedChoice>(&place_)) return on(choice->answer(*declaration_, ids));
  if (auto* flow = std::get_if<FlowState>(&place_)) return on(flow_answer(*declaration_, *flow, ids));
  auto turn = chain_answer(*model_, std::get<ChainState>(place_), ids);
  return turn ? on(std::move(*turn)) : reject();
}

// What no option, text or event means: asked again.
WalkTurn Walk::reject() {
  if (auto* choice = std::get_if<PagedChoice>(&place_)) return on(choice->reject(*declaration_));
  if (auto* flow = std::get_if<FlowState>(&place_)) return on(flow_step(*declaration_, *flow, ""));
  if (is_held()) return turn_of(WalkTurn::Kind::kHeld);
  return on(chain_step(*model_, std::get<ChainState>(place_), ""));
}

WalkTurn Walk::on(PagedChoice::Turn choice) {
  constexpr std::array kKinds = {WalkTurn::Kind::kAsk, WalkTurn::Kind::kAnswered, WalkTurn::Kind::kCancelled,
                                 WalkTurn::Kind::kSuspended};
  WalkTurn turn = turn_of(kKinds[static_cast<std::size_t>(choice.kind)]);
  turn.error = std::move(choice.error);
  turn.free_text = std::move(choice.free_text);
  turn.options = std::move(choice.options);
  return turn;
}

WalkTurn Walk::on(FlowOutcome outcome) {
  place_ = std::move(outcome.state);
  WalkTurn turn;
  turn.error = std::move(outcome.error);
  turn.free_text = std::move(outcome.payload);
  turn.values = std::move(outcome.values);
  switch (outcome.event) {
    case FlowEvent::kNone:
    case FlowEvent::kFreeText:
      break;
    case FlowEvent::kExecute:
      turn.kind = WalkTurn::Kind::kAnswered;
      break;
    case FlowEvent::kFlowCancel:
      turn.kind = WalkTurn::Kind::kCancelled;
      break;
    case FlowEvent::kStepAbort:
      turn.kind = WalkTurn::Kind::kSuspended;
      // What is shown after it resumes.
      std::get<FlowState>(place_).phase = std::get<FlowState>(place_).suspended_from;
      break;
  }
  return turn;
}

WalkTurn Walk::on(ChainTurn chain) {
  place_ = std::move(chain.state);
  WalkTurn turn;
  turn.error = std::move(chain.error);
  turn.free_text = std::move(chain.payload);
  turn.values = std::move(chain.values);
  switch (chain.event) {
    case ChainEvent::kNone:
      break;
    case ChainEvent::kHold:
      turn.kind = WalkTurn::Kind::kHeld;
      break;
    case ChainEvent::kDone:
      turn.kind = WalkTurn::Kind::kAnswered;
      turn.waived = std::move(chain.waived);
      break;
    case ChainEvent::kFlowCancel:
      turn.kind = WalkTurn::Kind::kCancelled;
      break;
    case ChainEvent::kStepAbort:
      turn.kind = WalkTurn::Kind::kSuspended;
      break;
  }
  return turn;
}

}  // namespace sb::decision
