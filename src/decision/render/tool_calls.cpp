// The two question tools that answer with labels: Claude Code's AskUserQuestion and Codex's request_user_input.
#include <fmt/format.h>

#include "decision/render/drafts.hpp"
#include "decision/render/shown_labels.hpp"
#include "decision/texts.hpp"

namespace sb::decision::drafts {
namespace {

// Codex wants snake_case; a decision's id is lower case with hyphens. The dot between flow and step becomes two lines,
// so that `a-b.c` and `a.b-c` stay apart.
std::string snake_case(std::string_view id) {
  std::string name;
  for (const char c : id) {
    if (c == '.') name += '_';
    name += (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
  }
  return name.empty() ? "decision" : name;
}

// Tools demand a description; a profile that explains nothing sends an empty one.
std::string description_of(const Option& option, const Profile& profile, ShownFields& shown) {
  if (!explains(profile)) return {};
  shown.add("description");
  return option.description;
}

Value tool_option(std::string_view label, std::string description) {
  return Value::object({{"label", label}, {"description", std::move(description)}});
}

void note_labels(const ShownLabels& labels, const Profile& profile, Rendered& rendered, ShownFields& shown) {
  if (profile.recommended == RecommendedMark::kSuffix) shown.add("recommended");
  if (labels.has_ordinals) rendered.omitted_fields.emplace_back("label");
}

// A host without multi-select is asked yes or no about each option; "none of these" is then no to all of them.
void yes_or_no_each(const Prompt& prompt, const Profile& profile, std::string_view header, Rendered& rendered,
                    ShownFields& shown) {
  const std::string sentence = sentence_of(prompt, header, shown);
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
    const std::string question =
        fmt::format("{} — {}{}", sentence, option.label, is_marked ? kRecommendedSuffix : std::string_view());
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

}  // namespace

void ask_user_question(const Prompt& prompt, const Profile& profile, Rendered& rendered, ShownFields& shown) {
  const std::string header = header_of(prompt, limits_of(Host::kAskUserQuestion).header, shown);
  const std::string question = question_of(prompt, profile, header, shown);
  const bool is_many = prompt.select.mode == SelectMode::kMany;
  ShownLabels labels = shown_labels(prompt, profile);
  note_labels(labels, profile, rendered, shown);
  Value options = Value::array();
  for (std::size_t i = 0; i < prompt.options.size(); ++i) {
    Value option = tool_option(labels.options[i].shown, description_of(prompt.options[i], profile, shown));
    const bool has_preview = !is_many && explains(profile) && !prompt.options[i].preview.empty();
    if (has_preview) {
      option.set("preview", prompt.options[i].preview);
      shown.add("preview");
    }
    options.push_back(std::move(option));
  }
  Value call = Value::object(
      {{"question", question}, {"header", header}, {"options", std::move(options)}, {"multiSelect", is_many}});
  rendered.payload = Value::object({{"questions", Value(Value::Array{std::move(call)})},
                                    {"metadata", Value::object({{"source", prompt.decision_id}})}});
  rendered.shape.questions.push_back({"", question, is_many, std::move(labels.options)});
}

void request_user_input(const Prompt& prompt, const Profile& profile, Rendered& rendered, ShownFields& shown) {
  const std::string header = header_of(prompt, limits_of(Host::kRequestUserInput).header, shown);
  if (prompt.select.mode == SelectMode::kMany) return yes_or_no_each(prompt, profile, header, rendered, shown);
  std::string question = sentence_of(prompt, header, shown);
  if (const std::string list = agreement_text(prompt); !list.empty()) {
    question = fmt::format("{} {}", list, question);
    shown.add("sections.eli10");
  }
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

}  // namespace sb::decision::drafts
