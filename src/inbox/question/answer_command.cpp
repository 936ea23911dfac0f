#include "inbox/question/answer_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/text/unicode.hpp"
#include "decision/brief.hpp"
#include "decision/render/shown_labels.hpp"

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

// Whether a number cannot be an id.
bool has_numbers(const Decision& decision) {
  if (decision.options.empty()) return false;
  if (decision.select.mode != SelectMode::kOne && decision.select.mode != SelectMode::kMany) return false;
  return std::ranges::none_of(decision.options, [](const Option& option) { return is_number(option.id); });
}

const Decision* numbered(const decision::Declaration& declaration) {
  const Decision* decision = declaration.decision();
  return decision != nullptr && has_numbers(*decision) ? decision : nullptr;
}

// 0 for `A` and `a`, also past Z; nothing for anything else.
std::optional<std::size_t> index_of_any_letter(std::string_view text) {
  std::string capital(text);
  for (char& c : capital) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return decision::index_of_letter(capital);
}

// The id of the option with this id, label, number or letter; the text itself where there is none.
std::string id_of(const Decision& decision, std::string_view text) {
  if (decision.find(text) != nullptr) return std::string(text);
  const auto labelled = std::ranges::find(decision.options, text, &Option::label);
  if (labelled != decision.options.end()) return labelled->id;
  std::size_t index = decision.options.size();
  if (is_number(text) && has_numbers(decision)) {
    std::size_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    index = number - 1;
  } else if (const auto letter = index_of_any_letter(text)) {
    index = *letter;
  }
  return index < decision.options.size() ? decision.options[index].id : std::string(text);
}

// The same for what becomes of a chain's option.
std::string bucket_of(std::string_view text) {
  constexpr std::array<std::string_view, 4> kBuckets = {"include", "defer", "cut", "hold"};
  const auto letter = index_of_any_letter(text);
  if (letter && *letter < kBuckets.size()) return std::string(kBuckets[*letter]);
  const bool is_ordinal = text.size() == 1 && text[0] >= '1' && text[0] <= '4';
  if (is_ordinal) return std::string(kBuckets[static_cast<std::size_t>(text[0] - '1')]);
  const auto named = std::ranges::find(kBuckets, case_fold(text));
  return std::string(named == kBuckets.end() ? text : *named);
}

template <class Change>
std::string each_piece(std::string_view text, char separator, const Change& change) {
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    out += change(text.substr(at, end - at));
    if (end == text.size()) return out;
    out += separator;
    at = end + 1;
  }
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
    std::string mark = decision::ordinal_mark(declaration.profile.ordinals, choices.size());
    choices.push_back(by_id ? option.id : mark.substr(0, mark.find(')')));
  }
  return fmt::format("{} {}", command, fmt::join(choices, "|"));
}

std::string numbers_to_ids(const decision::Declaration& declaration, std::string_view typed) {
  if (const Decision* decision = declaration.decision()) {
    return each_piece(typed, ',', [&](std::string_view piece) { return id_of(*decision, piece); });
  }
  return each_piece(typed, ',', [&](std::string_view pair) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return std::string(pair);
    const std::string_view key = pair.substr(0, equals), value = pair.substr(equals + 1);
    if (const decision::Chain* chain = declaration.chain()) {
      const bool is_known = std::ranges::find(chain->options, key, &decision::ChainOption::key) != chain->options.end();
      return fmt::format("{}={}", key, is_known ? bucket_of(value) : std::string(value));
    }
    for (const decision::FlowStep& step : declaration.flow()->steps) {
      if (step.key() != key) continue;
      return fmt::format("{}={}", key,
                         each_piece(value, '+', [&](std::string_view piece) { return id_of(step.decision, piece); }));
    }
    return std::string(pair);
  });
}

std::string answer_hint(const Question& question) {
  std::vector<std::string> pieces;
  if (question.shape != QuestionShape::kDecision) {
    for (const Part& part : question.parts) pieces.push_back(form_of(part));
    const bool is_chain = question.shape == QuestionShape::kChain;
    return fmt::format(
        "Type {}{}", fmt::join(pieces, ","),
        is_chain ? fmt::format("; or {}=hold alone, to stop and discuss it", question.parts.front().key) : "");
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
