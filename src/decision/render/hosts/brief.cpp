// The brief: a person reads the whole explanation and answers by letter.
#include "decision/brief.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text/unicode.hpp"
#include "decision/render/brief_parts.hpp"
#include "decision/render/drafts.hpp"
#include "decision/render/hosts.hpp"
#include "decision/render/hosts/typed_answer.hpp"
#include "decision/render/readers.hpp"

namespace sb::decision::hosts {
namespace {

using namespace readers;

// The profile's requirements for a brief apply only here: other hosts show no brief.
Status check_parts(const Prompt& prompt, const Profile& profile) {
  const auto lacks = missing_brief_parts(prompt, profile);
  if (lacks.empty()) return {};
  return fail(
      ErrorCode::kInvalid,
      fmt::format("{} is not a complete {} brief: {}", drafts::name_of(prompt), profile.id, fmt::join(lacks, "; ")),
      fmt::format("Complete the declaration, or use a host that does not show a brief, such as {}", kText.name));
}

void draft_brief(const Prompt& prompt, const Profile& profile, const RenderOptions&, Rendered& rendered,
                 ShownFields& shown) {
  rendered.text = drafts::brief_of(prompt, profile, shown);
  rendered.shape.commands = profile.commands;
  rendered.shape.questions.push_back(answered_by(OrdinalStyle::kLetterParen, prompt, rendered.text));
}

void set_brief_question(Rendered& rendered, std::size_t index) {
  rendered.text = rendered.shape.questions[index].text;
}

struct Letters {
  std::string label;    // of the brief, without its D; empty if none is named
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

// Nothing if the text is not a list of letters.
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

// `b`, `B)`, `(B)`, `A, C`: meant as a choice, but not typed as one. Never treated as a choice, nor as free text.
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

HostAnswer read_brief_answer(const AnswerShape& shape, const Value& given) {
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

}  // namespace

constinit const Host kBrief = {
    .name = "brief",
    .shows_irreversible_note = true,
    .check = check_parts,
    .draft = draft_brief,
    .set_question = set_brief_question,
    .read = read_brief_answer,
};

}  // namespace sb::decision::hosts
