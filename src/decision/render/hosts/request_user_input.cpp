// Codex's request_user_input: one choice by label; it has no multi-select, so a multi-select question becomes one
// yes/no question per option.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text/unicode.hpp"
#include "decision/brief.hpp"
#include "decision/render/drafts.hpp"
#include "decision/render/hosts.hpp"
#include "decision/render/hosts/question_tool.hpp"
#include "decision/render/readers.hpp"
#include "decision/texts.hpp"

namespace sb::decision::hosts {
namespace {

using namespace readers;

// Codex requires snake_case; a decision's id is lower case with hyphens. The dot between flow and step becomes two
// underscores, so that `a-b.c` and `a.b-c` stay distinct.
std::string snake_case(std::string_view id) {
  std::string name;
  for (const char c : id) {
    if (c == '.') name += '_';
    name += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
  }
  return name.empty() ? "decision" : name;
}

void add_paragraph(std::string& text, std::string_view field, std::string_view paragraph, ShownFields& shown) {
  const std::string line = on_one_line(paragraph);
  if (line.empty()) return;
  text += "\n\n" + line;
  shown.add(field);
}

// The dialog has no other place for what a person must know: the explanation (a chain's with its dependencies), what is
// at stake, and what is recommended, if the profile explains at all.
std::string explanation_of(const Prompt& prompt, const Profile& profile, ShownFields& shown) {
  const Sections& sections = prompt.sections;
  std::string text;
  if (!drafts::explains(profile)) {
    add_paragraph(text, "sections.eli10", drafts::agreement_text(prompt), shown);
    add_paragraph(text, "sections.safety_notice", sections.safety_notice, shown);
    return text;
  }
  add_paragraph(text, "sections.context", sections.context, shown);
  add_paragraph(text, "sections.eli10", sections.eli10, shown);
  add_paragraph(text, "sections.stakes", sections.stakes, shown);
  add_paragraph(text, "sections.safety_notice", sections.safety_notice, shown);
  add_paragraph(text, "sections.recommendation", drafts::advice_of(prompt, " — "), shown);
  add_paragraph(text, "sections.net", sections.net, shown);
  return text;
}

// A host without multi-select is asked yes or no about each option; "none of these" is then no to all of them.
void yes_or_no_each(const Prompt& prompt, const Profile& profile, std::string_view header, Rendered& rendered,
                    ShownFields& shown) {
  const std::string sentence = drafts::sentence_of(prompt, header, shown);
  const std::string yes(decision::text(prompt.locale, "yes"));
  const std::string no(decision::text(prompt.locale, "no"));
  Value questions = Value::array();
  for (std::size_t i = 0; i < prompt.options.size(); ++i) {
    if (entry_of(prompt, i) == EntryKind::kNone) {
      rendered.shape.has_none = true;
      continue;
    }
    const Option& option = prompt.options[i];
    const std::string key = fmt::format("{}_{}", snake_case(prompt.decision_id), i + 1);
    const bool is_marked = option.recommended && profile.recommended == RecommendedMark::kSuffix;
    if (is_marked) shown.add("recommended");
    std::string question =
        fmt::format("{} — {}{}", sentence, option.label, is_marked ? kRecommendedSuffix : std::string_view());
    if (rendered.shape.questions.empty()) question += explanation_of(prompt, profile, shown);
    questions.push_back(Value::object(
        {{"id", key},
         {"header", header},
         {"question", question},
         {"options",
          Value(Value::Array{tool_option(yes, description_of(option, profile, shown)), tool_option(no, "")})}}));
    rendered.shape.questions.push_back(
        {key, question, false, {{option.id, option.label, yes, EntryKind::kOption}, {"", "", no, EntryKind::kNo}}});
  }
  rendered.payload = Value::object({{"questions", std::move(questions)}});
  rendered.omitted_fields.emplace_back("select.many");
}

void draft_request_user_input(const Prompt& prompt, const Profile& profile, const RenderOptions&, Rendered& rendered,
                              ShownFields& shown) {
  const std::string header = drafts::header_of(prompt, kRequestUserInput.limits.header, shown);
  rendered.header = header;
  if (prompt.select.mode == SelectMode::kMany) return yes_or_no_each(prompt, profile, header, rendered, shown);
  std::string question = drafts::sentence_of(prompt, header, shown);
  question += explanation_of(prompt, profile, shown);
  if (const std::string hint = drafts::page_hint(prompt); !hint.empty()) question += "\n\n" + hint;
  const std::string key = snake_case(prompt.decision_id);
  ShownLabels labels = shown_labels(prompt, profile);
  note_labels(labels, profile, rendered, shown);
  Value options = Value::array();
  for (std::size_t i = 0; i < prompt.options.size(); ++i) {
    options.push_back(tool_option(labels.options[i].shown, description_of(prompt.options[i], profile, shown)));
  }
  Value call =
      Value::object({{"id", key}, {"header", header}, {"question", question}, {"options", std::move(options)}});
  rendered.payload = Value::object({{"questions", Value(Value::Array{std::move(call)})}});
  rendered.shape.questions.push_back({key, question, false, std::move(labels.options)});
}

// What Codex returns for one question: the chosen label, and what the person typed next to it.
struct CodexAnswer {
  Value chosen = Value::array();
  std::string note;
};

// Nothing if the question was not answered.
std::optional<CodexAnswer> codex_answer(const Value& map, const ShownQuestion& question) {
  constexpr std::string_view kNote = "user_note: ";
  constexpr std::string_view kNoneOfThem = "None of the above";  // Codex adds this entry itself
  const Value* answer = map.find(question.key);
  const Value* list = answer && answer->is_object() ? answer->find("answers") : answer;
  if (!list || list->is_null()) return std::nullopt;
  CodexAnswer given;
  bool is_none_of_them = false;
  for (const Value& item : list->is_array() ? list->items() : Value::Array{*list}) {
    const std::string text = item.is_string() ? item.as_string() : "";
    const bool is_shown = item.is_string() && find_shown(question.options, text) != nullptr;
    if (!is_shown && text.starts_with(kNote)) {
      given.note += (given.note.empty() ? "" : "\n") + text.substr(kNote.size());
    } else if (is_shown || text != kNoneOfThem) {
      given.chosen.push_back(item);
    } else {
      is_none_of_them = true;
    }
  }
  if (is_none_of_them && given.note.empty()) given.note = kNoneOfThem;
  return given.chosen.size() == 0 && given.note.empty() ? std::nullopt : std::optional(std::move(given));
}

// Combines the yes/no rows into one choice. Every row must be answered: a missing row is neither yes nor no.
HostAnswer read_rows(const AnswerShape& shape, const Value& map) {
  std::vector<const ShownOption*> entries;
  std::size_t answered = 0;
  std::string notes;
  for (const ShownQuestion& row : shape.questions) {
    const auto given = codex_answer(map, row);
    if (!given) continue;
    if (given->chosen.size() == 0) return is_utf8(given->note) ? free_text(given->note) : invalid("encoding");
    const Value& item = given->chosen.items().front();
    if (!item.is_string() || given->chosen.size() != 1) return invalid("shape");
    const ShownOption* entry = find_shown(row.options, item.as_string());
    if (!entry) return is_utf8(item.as_string()) ? free_text(item.as_string()) : invalid("encoding");
    ++answered;
    if (entry->entry == EntryKind::kOption) entries.push_back(entry);
    if (!given->note.empty()) notes += (notes.empty() ? "" : "\n") + given->note;
  }
  if (answered == 0) return without_answer(HostAnswerKind::kEmpty);
  if (answered < shape.questions.size()) return invalid("arity");
  const bool may_be_none = shape.has_none || shape.select.min == 0;
  if (entries.empty() && !may_be_none) return invalid("arity");
  HostAnswer answer = entries.empty() ? without_answer(HostAnswerKind::kNone) : chosen(shape, entries);
  answer.notes = std::move(notes);
  return answer;
}

HostAnswer read_request_user_input(const AnswerShape& shape, const Value& given) {
  if (shape.questions.empty()) return invalid("shape");
  if (given.is_null()) return without_answer(HostAnswerKind::kEmpty);
  if (!given.is_object()) return invalid("shape");
  const Value* inner = given.find("answers");
  const Value& map = inner && inner->is_object() ? *inner : given;
  if (shape.select.mode == SelectMode::kMany) return read_rows(shape, map);
  const auto picked = codex_answer(map, shape.questions.front());
  if (!picked) return without_answer(HostAnswerKind::kEmpty);
  if (picked->chosen.size() == 0) return is_utf8(picked->note) ? free_text(picked->note) : invalid("encoding");
  const bool is_one = picked->chosen.size() == 1;
  HostAnswer answer = read_label_value(shape, is_one ? picked->chosen.items().front() : picked->chosen);
  answer.notes = picked->note;
  return answer;
}

}  // namespace

constinit const Host kRequestUserInput = {
    .name = "request_user_input",
    .limits = {.questions = 3, .options = 3, .header = 12},
    .answers_with_label = true,
    .draft = draft_request_user_input,
    .set_question = set_tool_question,
    .read = read_request_user_input,
};

}  // namespace sb::decision::hosts
