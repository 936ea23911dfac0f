#include "cli/decision/dialogue.hpp"

#include <fmt/format.h>

#include <memory>

#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "decision/text_block.hpp"
#include "decision/texts.hpp"
#include "decision/walk/walk.hpp"

namespace sb::cli {
namespace {

using decision::Declaration;
using decision::SelectMode;
using decision::Walk;
using decision::WalkTurn;
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

DialogueTurn shown(const Walk& walk, std::string_view error) {
  DialogueTurn turn;
  if (walk.is_held()) {
    turn.output = fmt::format("{}\n", decision::text(walk.prompt().locale, "chain.held"));
  } else {
    turn.output = printable(error.empty() ? walk.text() : decision::render_retry(error, walk.text())) + "\n";
  }
  return turn;
}

DialogueTurn turn_of(const Walk& walk, WalkTurn&& taken) {
  switch (taken.kind) {
    case WalkTurn::Kind::kAnswered: {
      DialogueTurn turn = answered({std::move(taken.options), std::move(taken.values)});
      turn.waived = std::move(taken.waived);
      return turn;
    }
    case WalkTurn::Kind::kCancelled:
      return ended(Kind::kCancelled);
    case WalkTurn::Kind::kSuspended:
      return ended(Kind::kSuspended);
    case WalkTurn::Kind::kAsk:
    case WalkTurn::Kind::kHeld:
      break;
  }
  DialogueTurn turn = shown(walk, taken.error);
  turn.free_text = taken.free_text.value_or("");
  return turn;
}

}  // namespace

Result<Dialogue> begin_dialogue(const Declaration& declaration, const Question& question, const Value& position) {
  const decision::Decision* decision = declaration.decision();
  const bool has_options =
      decision == nullptr || decision->select.mode == SelectMode::kOne || decision->select.mode == SelectMode::kMany;
  if (!has_options) {
    auto writing = std::make_shared<Writing>(declaration, question);
    return Dialogue{writing->show(), [writing](std::string_view line) { return writing->take(line); }, nullptr};
  }
  auto walk = std::make_shared<Walk>(SB_TRY(Walk::at(declaration, position, 0)));
  return Dialogue{shown(*walk, ""),
                  [walk](std::string_view line) {
                    WalkTurn taken = walk->take(line);
                    return turn_of(*walk, std::move(taken));
                  },
                  [walk] { return walk->position(); }};
}

}  // namespace sb::cli
