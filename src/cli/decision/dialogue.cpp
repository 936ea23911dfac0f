#include "cli/decision/dialogue.hpp"

#include <fmt/format.h>

#include <memory>

#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "decision/brief.hpp"
#include "decision/chain/input.hpp"
#include "decision/chain/machine.hpp"
#include "decision/flow/flow.hpp"
#include "decision/text_block.hpp"
#include "decision/texts.hpp"

namespace sb::cli {
namespace {

using decision::Declaration;
using decision::SelectMode;
using inbox::Question;
using Kind = DialogueTurn::Kind;

bool is_cancel(const decision::Profile& profile, std::string_view line) {
  for (const std::string& command : profile.commands) {
    if (line == command) return true;
  }
  return false;
}

DialogueTurn answered(inbox::AnswerInput given) {
  DialogueTurn turn;
  turn.what = Kind::kAnswered;
  turn.given = std::move(given);
  return turn;
}

DialogueTurn ended(Kind what) {
  DialogueTurn turn;
  turn.what = what;
  return turn;
}

// One decision with options, page by page; input is parsed strictly by the profile.
class Choosing {
 public:
  Choosing(const Declaration& declaration, const Question& question)
      : profile_(declaration.profile),
        decision_(*declaration.decision()),
        question_(question),
        prompts_(prompts_of(decision_, profile_, declaration.hash)) {}

  DialogueTurn show(std::string_view error_line = {}) const {
    const decision::Prompt& prompt = prompts_[page_];
    const bool has_letters = profile_.grammar == decision::Grammar::kLetters;
    std::string output = has_letters ? render_brief(prompt) : render_block(prompt);
    if (!error_line.empty()) output = decision::render_retry(error_line, output);
    DialogueTurn turn;
    turn.output = printable(output) + "\n";
    return turn;
  }

  DialogueTurn take(std::string_view line) {
    const decision::ChainInput input = read_chain_input(line, prompts_[page_], profile_);
    if (std::holds_alternative<decision::CancelWord>(input)) return ended(Kind::kCancelled);
    if (std::holds_alternative<decision::ChainFreeText>(input)) {
      streak_ = 0;
      DialogueTurn turn = show();
      turn.free_text = line;
      return turn;
    }
    const auto* picked = std::get_if<decision::PickedOptions>(&input);
    return picked == nullptr ? refuse() : pick(*picked);
  }

 private:
  DialogueTurn refuse() {
    ++streak_;
    if (streak_ > profile_.max_invalid && profile_.on_exhausted == decision::OnExhausted::kEvent) {
      return ended(Kind::kSuspended);
    }
    const decision::Prompt& prompt = prompts_[page_];
    const int attempt = std::min(streak_, profile_.max_invalid);
    if (profile_.grammar == decision::Grammar::kLetters) {
      std::string letters;
      for (std::size_t i = 0; i < prompt.options.size(); ++i) letters += (i == 0 ? "" : ", ") + decision::letter_of(i);
      const bool is_many = prompt.select.mode == SelectMode::kMany;
      return show(
          decision::text_with(decision_.locale, is_many ? "chain.error.many" : "chain.error.one", "letters", letters));
    }
    return show(decision::retry_line(decision_.locale, attempt,
                                     format_hint(prompt.select, static_cast<int>(prompt.options.size()), false)));
  }

  DialogueTurn pick(const decision::PickedOptions& picked) {
    inbox::AnswerInput given;
    given.options = chosen_;
    for (const std::size_t index : picked.indexes) {
      const std::string& id = prompts_[page_].options[index].id;
      if (id == decision::kMoreId) {
        streak_ = 0;
        ++page_;
        return show();
      }
      if (id != decision::kNoneId) given.options.push_back(id);
    }
    if (decision_.select.mode == SelectMode::kMany && page_ + 1 < prompts_.size()) {
      streak_ = 0;
      chosen_ = given.options;
      ++page_;
      return show();
    }
    if (!check_answer(question_, given)) {
      chosen_.clear();
      page_ = 0;
      return refuse();
    }
    return answered(std::move(given));
  }

  const decision::Profile& profile_;
  const decision::Decision& decision_;
  const Question& question_;
  std::vector<decision::Prompt> prompts_;
  std::size_t page_ = 0;
  std::vector<std::string> chosen_;  // on earlier pages
  int streak_ = 0;
};

// Text, form and url decisions: one line per value.
class Writing {
 public:
  Writing(const Declaration& declaration, const Question& question)
      : profile_(declaration.profile), decision_(*declaration.decision()), question_(question) {}

  DialogueTurn show(std::string_view problem = {}) const {
    DialogueTurn turn;
    if (!problem.empty()) turn.output = printable(problem) + "\n\n";
    if (decision_.select.mode == SelectMode::kForm) {
      const decision::Field& field = decision_.fields[field_];
      turn.output +=
          printable(fmt::format("{}\n\n{}{}\n", decision_.instruction, field.title.empty() ? field.key : field.title,
                                field.required ? "" : " (optional; press Enter to skip)"));
    } else if (decision_.select.mode == SelectMode::kUrl) {
      turn.output +=
          printable(fmt::format("{}\n\nOpen {}\nWhen done, type accept\n", decision_.instruction, decision_.url));
    } else {
      turn.output += printable(decision_.instruction) + "\n";
    }
    return turn;
  }

  DialogueTurn take(std::string_view line) {
    if (is_cancel(profile_, line)) return ended(Kind::kCancelled);
    if (decision_.select.mode == SelectMode::kForm) return take_field(line);
    const auto given = parse_choice(question_, line);
    const auto checked = given ? check_answer(question_, *given) : given;
    return checked ? answered(*checked) : show(checked.error().message);
  }

 private:
  DialogueTurn take_field(std::string_view line) {
    const decision::Field& field = decision_.fields[field_];
    if (!is_utf8(line)) return show("The input is not UTF-8.");
    if (!is_blank(line)) {
      given_.values.set(field.key, Value(line));
    } else if (field.required) {
      return show(fmt::format("{} is required.", field.key));
    }
    if (++field_ < decision_.fields.size()) return show();
    const auto checked = check_answer(question_, given_);
    if (checked) return answered(*checked);
    field_ = 0;
    given_ = {};
    return show(checked.error().message);
  }

  const decision::Profile& profile_;
  const decision::Decision& decision_;
  const Question& question_;
  std::size_t field_ = 0;
  inbox::AnswerInput given_;
};

DialogueTurn turn_of(decision::FlowOutcome& outcome, const Declaration& declaration) {
  DialogueTurn turn;
  switch (outcome.event) {
    case decision::FlowEvent::kExecute:
      return answered({{}, std::move(outcome.values)});
    case decision::FlowEvent::kFlowCancel:
      return ended(Kind::kCancelled);
    case decision::FlowEvent::kStepAbort:
      return ended(Kind::kSuspended);
    case decision::FlowEvent::kFreeText:
      turn.free_text = outcome.payload.value_or("");
      turn.output = printable(flow_resume(declaration, outcome.state).output) + "\n";
      return turn;
    case decision::FlowEvent::kNone:
      break;
  }
  turn.output = printable(outcome.output) + "\n";
  return turn;
}

Dialogue flow_dialogue(const Declaration& declaration) {
  auto outcome = std::make_shared<decision::FlowOutcome>(flow_begin(declaration));
  return {turn_of(*outcome, declaration), [outcome, &declaration](std::string_view line) {
            *outcome = flow_step(declaration, outcome->state, line);
            return turn_of(*outcome, declaration);
          }};
}

DialogueTurn turn_of(decision::ChainTurn& chain) {
  DialogueTurn turn;
  switch (chain.event) {
    case decision::ChainEvent::kDone:
      turn = answered({{}, std::move(chain.values)});
      turn.waived = std::move(chain.waived);
      return turn;
    case decision::ChainEvent::kFlowCancel:
      return ended(Kind::kCancelled);
    case decision::ChainEvent::kStepAbort:
      return ended(Kind::kSuspended);
    case decision::ChainEvent::kHold:
      turn.free_text = chain.payload.value_or("");
      turn.output = printable(chain.output) + "On hold. Type continue, reset, or the key of an option.\n";
      return turn;
    case decision::ChainEvent::kNone:
      break;
  }
  turn.output = printable(chain.output) + "\n";
  return turn;
}

Result<Dialogue> chain_dialogue(const Declaration& declaration) {
  auto model = std::make_shared<decision::ChainModel>(declaration);
  auto turn = std::make_shared<decision::ChainTurn>(SB_TRY(chain_begin(*model, 0)));
  return Dialogue{turn_of(*turn), [model, turn](std::string_view line) {
                    *turn = chain_step(*model, turn->state, line);
                    return turn_of(*turn);
                  }};
}

template <class Machine>
Dialogue machine_dialogue(const Declaration& declaration, const Question& question) {
  auto machine = std::make_shared<Machine>(declaration, question);
  return {machine->show(), [machine](std::string_view line) { return machine->take(line); }};
}

}  // namespace

Result<Dialogue> begin_dialogue(const Declaration& declaration, const Question& question) {
  if (declaration.flow()) return flow_dialogue(declaration);
  if (declaration.chain()) return chain_dialogue(declaration);
  const SelectMode mode = declaration.decision()->select.mode;
  if (mode == SelectMode::kOne || mode == SelectMode::kMany) return machine_dialogue<Choosing>(declaration, question);
  return machine_dialogue<Writing>(declaration, question);
}

}  // namespace sb::cli
