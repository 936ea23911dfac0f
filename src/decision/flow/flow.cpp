#include "decision/flow/flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/assert.hpp"
#include "base/text/unicode.hpp"
#include "decision/classify.hpp"
#include "decision/text_block.hpp"
#include "decision/texts.hpp"

namespace sb::decision {
namespace {

// One flow with its current state; each method is one row of the transition table.
class FlowMachine {
 public:
  FlowMachine(const Declaration& declaration, FlowState state)
      : profile_(declaration.profile), hash_(declaration.hash), flow_(*declaration.flow()), state_(std::move(state)) {
    SB_ASSERT(state_.answers.size() == flow_.steps.size());
  }

  FlowOutcome show() { return {.state = state_, .output = current_output()}; }

  FlowOutcome take(std::string_view input) {
    const Prompt prompt = current_prompt();
    collect_question_facts(prompt);
    InputContext question;
    question.option_count = static_cast<int>(prompt.options.size());
    question.select = prompt.select;
    question.labels = labels_;
    question.pending_keys = pending_keys_;
    question.other_keys = other_keys_;
    question.commands = profile_.commands;
    question.command_case_fold = flow_.command_case_fold;
    const Input read = classify(input, question);
    return std::visit([&](const auto& what) { return on(what, prompt, input); }, read);
  }

  // Ids that were not shown are an invalid input like any other.
  FlowOutcome answer(const std::vector<std::string>& ids) {
    const Prompt prompt = current_prompt();
    std::string ordinals;
    for (const std::string& id : ids) {
      const auto found = std::ranges::find(prompt.options, id, &Option::id);
      const auto ordinal = found == prompt.options.end() ? 0 : found - prompt.options.begin() + 1;
      ordinals += fmt::format("{}{}", ordinals.empty() ? "" : ",", ordinal);
    }
    return take(ordinals);
  }

  Prompt current_prompt() const {
    switch (state_.phase) {
      case FlowPhase::kStep:
      case FlowPhase::kEdit:
        return step_prompts(state_.step)[state_.page];
      case FlowPhase::kEditPick:
        return picker_prompts()[state_.page];
      default:
        return confirmation_prompt();
    }
  }

 private:
  std::vector<Prompt> step_prompts(std::size_t index) const {
    return prompts_of(flow_.steps[index].decision, profile_, hash_);
  }

  std::vector<Prompt> picker_prompts() const {
    Decision picker;
    picker.id = flow_.id;
    picker.locale = flow_.locale;
    picker.kind = DecisionKind::kRevise;
    picker.instruction = text(flow_.locale, "edit_pick");
    for (const FlowStep& step : flow_.steps) {
      Option option;
      option.id = step.key();
      option.label = step.title;
      picker.options.push_back(std::move(option));
    }
    return prompts_of(picker, profile_, hash_);
  }

  Prompt confirmation_prompt() const {
    Prompt prompt;
    prompt.decision_id = flow_.id;
    prompt.profile = flow_.profile;
    prompt.locale = flow_.locale;
    prompt.definition_hash = hash_;
    prompt.kind = DecisionKind::kConfirmation;
    prompt.summary = summary();
    for (const auto label : kConfirmOptions) {
      Option option;
      option.id = slug_of(label);
      option.label = label;
      prompt.options.push_back(std::move(option));
    }
    return prompt;
  }

  std::string current_output() const {
    if (state_.phase == FlowPhase::kConfirm) return render_confirmation(summary());
    return render_block(current_prompt());
  }

  SummaryFields summary() const {
    SummaryFields fields;
    for (std::size_t i = 0; i < flow_.steps.size(); ++i) {
      const Decision& decision = flow_.steps[i].decision;
      std::string value;
      for (const int ordinal : state_.answers[i]) {
        if (!value.empty()) value += ", ";
        value += decision.secret ? "***" : decision.options[static_cast<std::size_t>(ordinal - 1)].label;
      }
      fields.emplace_back(decision.id, std::move(value));
    }
    return fields;
  }

  void collect_question_facts(const Prompt& prompt) {
    const bool is_question = state_.phase == FlowPhase::kStep || state_.phase == FlowPhase::kEdit;
    if (is_question) {
      for (const Option& option : flow_.steps[state_.step].decision.options) labels_.push_back(option.label);
    }
    for (const Option& option : prompt.options) {
      if (!is_question || option.id == kMoreId || option.id == kNoneId) labels_.push_back(option.label);
    }
    const bool takes_compact = state_.phase == FlowPhase::kStep && profile_.compact;
    for (std::size_t i = 0; i < flow_.steps.size(); ++i) {
      const bool is_pending = takes_compact && state_.answers[i].empty();
      // Where compact input is not accepted, an answer to any step is rejected rather than passed through as free text.
      if (is_pending)
        pending_keys_.push_back(flow_.steps[i].key());
      else if (!takes_compact)
        other_keys_.push_back(flow_.steps[i].key());
    }
  }

  FlowOutcome on(const CancelCommand&, const Prompt&, std::string_view) {
    state_ = {};
    state_.phase = FlowPhase::kCancelled;
    state_.answers.resize(flow_.steps.size());
    return {.state = state_, .output = std::string(kFlowCancel), .event = FlowEvent::kFlowCancel};
  }

  FlowOutcome on(const FreeText&, const Prompt&, std::string_view input) {
    state_.streak = 0;
    return {.state = state_, .event = FlowEvent::kFreeText, .payload = std::string(input)};
  }

  FlowOutcome on(const Invalid& invalid, const Prompt& prompt, std::string_view) {
    const std::string format =
        format_hint(prompt.select, static_cast<int>(prompt.options.size()), flow_.literal_format);
    return reject(error_line(format, invalid.reason == InvalidReason::kNearCommand));
  }

  // The error line for this invalid input. For a near-command it shows how to stop.
  std::string error_line(std::string format, bool is_near_command) const {
    const int attempt = state_.streak + 1;
    if (!is_near_command) return retry_line(flow_.locale, attempt, format);
    if (attempt == 1) return std::string(text(flow_.locale, "retry.near_command"));
    for (const std::string& command : profile_.commands) format += " / " + command;
    return retry_line(flow_.locale, attempt, format);
  }

  FlowOutcome reject(const std::string& error_line) {
    ++state_.streak;
    if (state_.streak > profile_.max_invalid) {
      if (profile_.on_exhausted == OnExhausted::kEvent) return suspend();
      state_.streak = profile_.max_invalid;
    }
    return with_error(show(), error_line);
  }

  static FlowOutcome with_error(FlowOutcome outcome, const std::string& error_line) {
    outcome.output = render_retry(error_line, outcome.output);
    outcome.error = error_line;
    return outcome;
  }

  FlowOutcome suspend() {
    state_.suspended_from = state_.phase;
    state_.phase = FlowPhase::kSuspended;
    state_.streak = 0;
    return {.state = state_, .output = std::string(kStepAbort), .event = FlowEvent::kStepAbort};
  }

  FlowOutcome on(const CompactAnswer& compact, const Prompt& prompt, std::string_view) {
    std::unordered_map<std::string, std::size_t> index;
    for (std::size_t i = 0; i < flow_.steps.size(); ++i) index.emplace(flow_.steps[i].key(), i);
    std::unordered_map<std::string, int> times;
    for (const auto& [key, value] : compact.fields) ++times[key];
    std::vector<std::string> rejected;
    bool is_any_valid = false;
    for (const auto& [key, value] : compact.fields) {
      const auto found = index.find(key);
      std::vector<int> ordinals;
      const bool is_valid = found != index.end() && times[key] == 1 && state_.answers[found->second].empty() &&
                            read_compact_value(flow_.steps[found->second].decision, value, ordinals);
      if (is_valid) {
        state_.answers[found->second] = std::move(ordinals);
        is_any_valid = true;
      } else if (std::ranges::find(rejected, key) == rejected.end()) {
        rejected.push_back(key);
      }
    }
    const std::string line =
        rejected.empty() ? ""
                         : text_with(flow_.locale, "rejected", "fields", fmt::format("{}", fmt::join(rejected, ", ")));
    // Nothing valid counts as an invalid input, and the lines get shorter as for any other.
    if (!is_any_valid) return state_.streak == 0 ? reject(line) : on(Invalid{InvalidReason::kShape}, prompt, {});
    state_.streak = 0;
    if (!state_.answers[state_.step].empty()) state_.chosen.clear();
    FlowOutcome outcome = advance();
    return line.empty() || outcome.event != FlowEvent::kNone ? outcome : with_error(std::move(outcome), line);
  }

  // N of `key=N` counts over the whole declared list.
  bool read_compact_value(const Decision& decision, std::string_view value, std::vector<int>& ordinals) const {
    int number = 0;
    bool has_digit = false;
    const auto finish_number = [&] {
      if (!has_digit || number > static_cast<int>(decision.options.size())) return false;
      ordinals.push_back(number);
      number = 0;
      has_digit = false;
      return true;
    };
    for (const char c : value) {
      if (c == ',') {
        if (!flow_.compact_multi || !finish_number()) return false;
      } else if (c >= '0' && c <= '9' && (c != '0' || has_digit) && number < 10'000) {
        number = number * 10 + (c - '0');
        has_digit = true;
      } else {
        return false;
      }
    }
    if (!finish_number()) return false;
    std::ranges::sort(ordinals);
    const int count = static_cast<int>(ordinals.size());
    return std::ranges::adjacent_find(ordinals) == ordinals.end() && count >= decision.select.min &&
           count <= decision.select.max && !is_contradictory(ids_of(decision, ordinals));
  }

  FlowOutcome on(const Selection& selection, const Prompt& prompt, std::string_view) {
    if (state_.phase == FlowPhase::kConfirm) return confirm(selection.ordinals[0]);
    const std::string& first_id = prompt.options[static_cast<std::size_t>(selection.ordinals[0] - 1)].id;
    if (first_id == kMoreId) {
      state_.streak = 0;
      ++state_.page;
      return show();
    }
    if (state_.phase == FlowPhase::kEditPick) return begin_edit(first_id);
    return answer(selection, prompt);
  }

  FlowOutcome confirm(int ordinal) {
    state_.streak = 0;
    if (ordinal == 1) return execute();
    if (ordinal == 2) {
      state_ = {};
      state_.answers.resize(flow_.steps.size());
    } else if (flow_.steps.size() == 1) {
      return begin_edit(flow_.steps[0].key());  // one option is not a choice
    } else {
      state_.phase = FlowPhase::kEditPick;
      state_.page = 0;
    }
    return show();
  }

  FlowOutcome begin_edit(std::string_view key) {
    for (std::size_t i = 0; i < flow_.steps.size(); ++i) {
      if (flow_.steps[i].key() == key) state_.step = i;
    }
    state_.phase = FlowPhase::kEdit;
    state_.page = 0;
    state_.streak = 0;
    state_.chosen.clear();
    return show();
  }

  FlowOutcome answer(const Selection& selection, const Prompt& prompt) {
    const Decision& decision = flow_.steps[state_.step].decision;
    const auto pages = step_prompts(state_.step);
    std::vector<int> ordinals;
    bool is_none = false;
    for (const int ordinal : selection.ordinals) {
      const Option& option = prompt.options[static_cast<std::size_t>(ordinal - 1)];
      if (option.id == kNoneId) {
        is_none = true;
      } else {
        ordinals.push_back(static_cast<int>(decision.find(option.id) - decision.options.data()) + 1);
      }
    }
    if (pages.size() > 1 && decision.select.mode == SelectMode::kMany) {
      const int total = static_cast<int>(state_.chosen.size() + ordinals.size());
      if ((is_none && !ordinals.empty()) || total > decision.select.max) {
        return on(Invalid{InvalidReason::kArity}, prompt, {});
      }
      if (state_.page + 1 == pages.size() && total < decision.select.min) {
        // Too few, and no page is left: start again from the first page.
        state_.page = 0;
        state_.chosen.clear();
        return on(Invalid{InvalidReason::kArity}, pages[0], {});
      }
      state_.chosen.insert(state_.chosen.end(), ordinals.begin(), ordinals.end());
      if (state_.page + 1 < pages.size()) {
        state_.streak = 0;
        ++state_.page;
        return show();
      }
      ordinals = state_.chosen;
    }
    if (is_contradictory(ids_of(decision, ordinals))) return on(Invalid{InvalidReason::kArity}, prompt, {});
    return store(std::move(ordinals));
  }

  static std::vector<std::string> ids_of(const Decision& decision, const std::vector<int>& ordinals) {
    std::vector<std::string> ids;
    for (const int ordinal : ordinals) ids.push_back(decision.options[static_cast<std::size_t>(ordinal - 1)].id);
    return ids;
  }

  FlowOutcome store(std::vector<int> ordinals) {
    std::ranges::sort(ordinals);
    state_.streak = 0;
    state_.answers[state_.step] = std::move(ordinals);
    if (state_.phase == FlowPhase::kEdit) drop_dependents(flow_.steps[state_.step].key());
    return advance();
  }

  // Answers that depend on the edited one are asked again, and those that depend on them.
  void drop_dependents(const std::string& key) {
    std::vector<std::string> dropped = {key};
    for (std::size_t i = 0; i < flow_.steps.size(); ++i) {
      const auto& needed = flow_.steps[i].depends_on;
      const bool depends = std::ranges::any_of(
          needed, [&](const std::string& other) { return std::ranges::find(dropped, other) != dropped.end(); });
      if (!depends) continue;
      state_.answers[i].clear();
      dropped.push_back(flow_.steps[i].key());
    }
  }

  // The first open step, or the confirmation.
  FlowOutcome advance() {
    for (std::size_t i = 0; i < flow_.steps.size(); ++i) {
      if (!state_.answers[i].empty()) continue;
      const bool is_same = state_.phase == FlowPhase::kStep && state_.step == i;
      if (!is_same) {
        state_.page = 0;
        state_.chosen.clear();
      }
      state_.phase = FlowPhase::kStep;
      state_.step = i;
      return show();
    }
    state_.page = 0;
    state_.chosen.clear();
    if (is_own_confirmation()) return execute();
    state_.phase = FlowPhase::kConfirm;
    return show();
  }

  // A single yes-or-no is its own confirmation.
  bool is_own_confirmation() const {
    if (flow_.confirm == Confirm::kAlways || flow_.steps.size() != 1) return false;
    const Decision& only = flow_.steps[0].decision;
    return only.select.mode == SelectMode::kOne &&
           (only.kind == DecisionKind::kApproval ||
            (only.options.size() == 2 && reads_as_approval(only.options[0].label) &&
             reads_as_approval(only.options[1].label)));
  }

  FlowOutcome execute() {
    Value values = Value::object();
    for (std::size_t i = 0; i < flow_.steps.size(); ++i) {
      const Decision& decision = flow_.steps[i].decision;
      Value ids = Value::array();
      for (const int ordinal : state_.answers[i])
        ids.push_back(decision.options[static_cast<std::size_t>(ordinal - 1)].id);
      SB_ASSERT(ids.size() > 0);
      const bool is_many = decision.select.mode == SelectMode::kMany;
      values.members().push_back({decision.id, is_many ? ids : ids.items()[0]});
    }
    state_.phase = FlowPhase::kDone;
    return {.state = state_, .event = FlowEvent::kExecute, .values = std::move(values)};
  }

  const Profile& profile_;
  const std::string& hash_;
  const Flow& flow_;
  FlowState state_;
  std::vector<std::string> labels_, pending_keys_, other_keys_;
};

}  // namespace

std::string_view to_string(FlowEvent event) {
  switch (event) {
    case FlowEvent::kNone:
      return "";
    case FlowEvent::kFreeText:
      return "FREE_TEXT";
    case FlowEvent::kStepAbort:
      return kStepAbort;
    case FlowEvent::kFlowCancel:
      return kFlowCancel;
    case FlowEvent::kExecute:
      return "EXECUTE";
  }
  return "";
}

FlowOutcome flow_begin(const Declaration& declaration) {
  FlowState state;
  state.answers.resize(declaration.flow()->steps.size());
  return FlowMachine(declaration, std::move(state)).show();
}

FlowOutcome flow_resume(const Declaration& declaration, FlowState state) {
  if (state.phase == FlowPhase::kSuspended) state.phase = state.suspended_from;
  return FlowMachine(declaration, std::move(state)).show();
}

FlowOutcome flow_step(const Declaration& declaration, FlowState state, std::string_view input) {
  return FlowMachine(declaration, std::move(state)).take(input);
}

FlowOutcome flow_answer(const Declaration& declaration, FlowState state, const std::vector<std::string>& ids) {
  return FlowMachine(declaration, std::move(state)).answer(ids);
}

Prompt flow_prompt(const Declaration& declaration, const FlowState& state) {
  return FlowMachine(declaration, state).current_prompt();
}

}  // namespace sb::decision
