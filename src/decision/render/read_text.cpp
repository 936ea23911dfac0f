// Lines typed by a person: numbers against a block, letters against a brief.
#include <algorithm>

#include "base/text/unicode.hpp"
#include "decision/brief.hpp"
#include "decision/classify.hpp"
#include "decision/render/readers.hpp"

namespace sb::decision::readers {
namespace {

// The entries behind these ordinals, in shown order; the ordinals are known to be in range and distinct.
std::vector<const ShownOption*> entries_at(const ShownQuestion& question, const std::vector<std::size_t>& indexes) {
  std::vector<bool> is_chosen(question.options.size(), false);
  for (const std::size_t index : indexes) is_chosen[index] = true;
  std::vector<const ShownOption*> entries;
  for (std::size_t i = 0; i < question.options.size(); ++i) {
    if (is_chosen[i]) entries.push_back(&question.options[i]);
  }
  return entries;
}

std::vector<std::string> all_labels(const AnswerShape& shape) {
  std::vector<std::string> labels = shape.elsewhere;
  for (const ShownOption& option : shape.questions.front().options) labels.push_back(option.label);
  return labels;
}

HostAnswer read_free_line(const std::string& line) {
  if (!is_utf8(line)) return invalid("encoding");
  if (is_blank(line)) return without_answer(HostAnswerKind::kEmpty);
  HostAnswer answer = without_answer(HostAnswerKind::kFilled);
  answer.text = line;
  answer.fields = Value::object({{"text", line}});
  return answer;
}

struct Letters {
  std::string label;    // of the brief addressed, without its D; empty when none is named
  std::string choices;  // `B`, `A,C`
};

// `B`, or `3.2: B`, or `D3.2: B`.
Letters address_of(std::string_view line) {
  const std::size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return {"", std::string(line)};
  std::string_view label = line.substr(0, colon);
  if (label.starts_with('D')) label.remove_prefix(1);
  const bool is_label = !label.empty() && label.front() >= '0' && label.front() <= '9' &&
                        label.find_first_not_of("0123456789.-abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
  if (!is_label) return {"", std::string(line)};
  return {std::string(label), std::string(line.substr(colon + 2))};
}

// Nothing when the text is no list of letters at all.
std::optional<HostAnswer> read_letters(const AnswerShape& shape, std::string_view choices) {
  const ShownQuestion& question = shape.questions.front();
  std::vector<std::size_t> indexes;
  for (std::size_t at = 0; at <= choices.size();) {
    const std::size_t end = std::min(choices.find(',', at), choices.size());
    const auto index = index_of_letter(choices.substr(at, end - at));
    if (!index) return std::nullopt;
    if (*index >= question.options.size()) return invalid("range");
    if (std::ranges::find(indexes, *index) != indexes.end()) return invalid("duplicate");
    indexes.push_back(*index);
    at = end + 1;
  }
  return chosen(shape, entries_at(question, indexes));
}

// `b`, `B)`, `(B)`, `A, C`: meant as a choice, not typed as one. Never taken for one, and not passed on as free text.
bool looks_like_letters(const ShownQuestion& question, std::string_view line) {
  if (line.size() > 64) return false;
  const std::string folded = case_fold(nfkc(line));
  const std::size_t known = std::min<std::size_t>(question.options.size(), 26);
  bool has_letter = false;
  bool is_in_token = false;
  for (std::size_t at = 0; at < folded.size();) {
    const char32_t c = next_code_point(folded, at);
    if (is_space(c) || is_punctuation(c) || is_invisible(c)) {
      is_in_token = false;
      continue;
    }
    if (is_in_token || c < U'a' || c >= U'a' + known) return false;
    has_letter = is_in_token = true;
  }
  return has_letter;
}

bool is_label(const AnswerShape& shape, std::string_view line) {
  const std::string folded = case_fold(line);
  return std::ranges::any_of(all_labels(shape), [&](const std::string& label) { return case_fold(label) == folded; });
}

HostAnswer read_ordinals(const AnswerShape& shape, const Selection& selection) {
  std::vector<std::size_t> indexes;
  for (const int ordinal : selection.ordinals) indexes.push_back(static_cast<std::size_t>(ordinal) - 1);
  return chosen(shape, entries_at(shape.questions.front(), indexes));
}

HostAnswer invalid_line(InvalidReason reason) {
  if (reason == InvalidReason::kEmpty) return without_answer(HostAnswerKind::kEmpty);
  return invalid(std::string(to_string(reason)));
}

}  // namespace

HostAnswer text(const AnswerShape& shape, const Value& given) {
  if (given.is_null()) return without_answer(HostAnswerKind::kEmpty);
  if (!given.is_string() || shape.questions.empty()) return invalid("shape");
  const std::string& line = given.as_string();
  const bool is_command = std::ranges::find(shape.commands, line) != shape.commands.end();
  if (shape.select.mode != SelectMode::kOne && shape.select.mode != SelectMode::kMany) {
    return is_command ? without_answer(HostAnswerKind::kCancelled) : read_free_line(line);
  }
  const std::vector<std::string> labels = all_labels(shape);
  const Input input = classify(line, {.option_count = static_cast<int>(shape.questions.front().options.size()),
                                      .select = shape.select,
                                      .labels = labels,
                                      .pending_keys = {},
                                      .other_keys = {},
                                      .commands = shape.commands,
                                      .command_case_fold = false});
  if (const auto* selection = std::get_if<Selection>(&input)) return read_ordinals(shape, *selection);
  if (std::holds_alternative<CancelCommand>(input)) return without_answer(HostAnswerKind::kCancelled);
  if (const auto* wrong = std::get_if<Invalid>(&input)) return invalid_line(wrong->reason);
  return free_text(line);
}

HostAnswer brief(const AnswerShape& shape, const Value& given) {
  if (given.is_null()) return without_answer(HostAnswerKind::kEmpty);
  if (!given.is_string() || shape.questions.empty()) return invalid("shape");
  const std::string& line = given.as_string();
  if (!is_utf8(line)) return invalid("encoding");
  if (is_blank(line)) return without_answer(HostAnswerKind::kEmpty);
  if (std::ranges::find(shape.commands, line) != shape.commands.end())
    return without_answer(HostAnswerKind::kCancelled);
  const Letters letters = address_of(line);
  if (!letters.label.empty() && "D" + letters.label != shape.label) return invalid("other_brief");
  if (letters.choices == "none" && shape.questions.front().is_many && shape.select.min == 0) {
    return without_answer(HostAnswerKind::kNone);
  }
  if (auto answer = read_letters(shape, letters.choices)) return std::move(*answer);
  const bool is_near = looks_like_letters(shape.questions.front(), letters.choices) || is_label(shape, letters.choices);
  return is_near ? invalid("shape") : free_text(line);
}

}  // namespace sb::decision::readers
