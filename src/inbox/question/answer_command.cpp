#include "inbox/question/answer_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/text/unicode.hpp"
#include "decision/prompt.hpp"

namespace sb::inbox {
namespace {

using decision::Decision;
using decision::Field;
using decision::Option;
using decision::SelectMode;

constexpr std::size_t kNamed = 7;  // options in a command

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The decision whose options are in one numbered block; null where numbers would be ambiguous.
const Decision* numbered(const decision::Declaration& declaration) {
  const Decision* decision = declaration.decision();
  if (decision == nullptr || decision->options.empty()) return nullptr;
  if (decision->select.mode != SelectMode::kOne && decision->select.mode != SelectMode::kMany) return nullptr;
  if (std::ranges::any_of(decision->options, [](const Option& option) { return is_number(option.id); })) return nullptr;
  return decision::prompts_of(*decision, declaration.profile, "").size() == 1 ? decision : nullptr;
}

std::string folded(std::string_view text) {
  std::string plain;
  for (const char c : case_fold(text)) {
    if (c != '-' && c != '_' && c != ' ') plain += c;
  }
  return plain;
}

// `db=x|y,region=…` for the parts of a flow, `E1=include|defer|cut` for those of a chain.
std::string form_of(const Part& part) {
  if (part.options.empty()) return part.key + "=…";
  std::vector<std::string> ids;
  for (const Choice& choice : part.options) ids.push_back(choice.id);
  return fmt::format("{}={}", part.key, fmt::join(ids, part.select.mode == SelectMode::kMany ? "+" : "|"));
}

}  // namespace

std::string answer_command(std::string_view id, const decision::Declaration& declaration) {
  const std::string command = fmt::format("signalbox inbox answer {}", id);
  const Decision* decision = numbered(declaration);
  if (decision == nullptr || decision->select.mode != SelectMode::kOne || decision->options.size() > kNamed) {
    return command;
  }
  const bool by_id = std::ranges::all_of(
      decision->options, [](const Option& option) { return folded(option.id) == folded(option.label); });
  std::vector<std::string> choices;
  for (const Option& option : decision->options) {
    choices.push_back(by_id ? option.id : std::to_string(choices.size() + 1));
  }
  return fmt::format("{} {}", command, fmt::join(choices, "|"));
}

std::string numbers_to_ids(const decision::Declaration& declaration, std::string_view typed) {
  const Decision* decision = numbered(declaration);
  if (decision == nullptr) return std::string(typed);
  std::string ids;
  for (std::size_t at = 0;;) {
    const std::size_t comma = std::min(typed.find(',', at), typed.size());
    const std::string_view piece = typed.substr(at, comma - at);
    std::size_t number = 0;
    if (is_number(piece)) std::from_chars(piece.data(), piece.data() + piece.size(), number);
    ids += number >= 1 && number <= decision->options.size() ? decision->options[number - 1].id : std::string(piece);
    if (comma == typed.size()) return ids;
    ids += ',';
    at = comma + 1;
  }
}

std::string answer_hint(const Question& question) {
  std::vector<std::string> pieces;
  if (question.shape != QuestionShape::kDecision) {
    for (const Part& part : question.parts) pieces.push_back(form_of(part));
    return fmt::format("Type {}", fmt::join(pieces, ","));
  }
  const Part& part = question.parts.front();
  switch (part.select.mode) {
    case SelectMode::kText:
      return "Type the text";
    case SelectMode::kUrl:
      return "Type accept when you are done there";
    case SelectMode::kForm:
      for (const Field& field : part.fields) pieces.push_back(field.key + "=…");
      return fmt::format("Type {} (write a comma inside a value twice)", fmt::join(pieces, ","));
    case SelectMode::kOne:
    case SelectMode::kMany:
      break;
  }
  for (const Choice& choice : part.options) pieces.push_back(choice.id);
  if (part.select.mode == SelectMode::kOne) return fmt::format("Type one of: {}", fmt::join(pieces, ", "));
  return fmt::format("Type your choices, separated by commas: {}", fmt::join(pieces, ","));
}

}  // namespace sb::inbox
