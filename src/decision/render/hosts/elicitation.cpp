// MCP elicitation: form mode for choices, texts and forms, URL mode for what must not pass through the client. The
// result is accept with content, decline, or cancel.
#include <fmt/format.h>

#include <algorithm>

#include "base/text/unicode.hpp"
#include "decision/render/drafts.hpp"
#include "decision/render/form.hpp"
#include "decision/render/hosts.hpp"
#include "decision/render/readers.hpp"
#include "decision/render/shown_labels.hpp"
#include "decision/texts.hpp"

namespace sb::decision::hosts {
namespace {

using namespace readers;

Value titled(const std::vector<ShownOption>& options, const std::vector<std::string>& titles) {
  Value list = Value::array();
  for (std::size_t i = 0; i < options.size(); ++i) {
    list.push_back(Value::object({{"const", options[i].shown}, {"title", titles[i]}}));
  }
  return list;
}

Value one_property(std::string_view name, Value property) {
  return Value::object({{"type", "object"},
                        {"properties", Value::object({{std::string(name), std::move(property)}})},
                        {"required", Value(Value::Array{Value(name)})}});
}

Value choice_property(const Prompt& prompt, Value list, ShownFields& shown) {
  Value property = Value::object();
  const bool is_many = prompt.select.mode == SelectMode::kMany;
  property.set("type", is_many ? "array" : "string");
  const std::string& title = prompt.header.empty() ? prompt.label : prompt.header;
  if (!title.empty()) {
    property.set("title", title);
    shown.add(prompt.header.empty() ? "decision_label" : "header");
  }
  if (!is_many) {
    property.set("oneOf", std::move(list));
    return property;
  }
  property.set("minItems", prompt.select.min);
  property.set("maxItems", prompt.select.max);
  property.set("items", Value::object({{"anyOf", std::move(list)}}));
  return property;
}

void draft_choice(const Prompt& prompt, const Profile& profile, Rendered& rendered, ShownFields& shown) {
  ShownLabels labels = shown_labels(prompt, profile);
  if (profile.recommended == RecommendedMark::kSuffix) shown.add("recommended");
  std::vector<std::string> titles;
  for (ShownOption& option : labels.options) {
    titles.push_back(std::move(option.shown));
    option.shown = option.id;  // the host answers with the id itself
  }
  ShownOption& last = labels.options.back();
  const bool has_twin = std::ranges::count(labels.options, last.id, &ShownOption::id) > 1;
  if (last.entry != EntryKind::kOption && has_twin) last.shown = "signalbox:" + last.id;
  const bool is_many = prompt.select.mode == SelectMode::kMany;
  rendered.shape.requested_schema =
      one_property(is_many ? "choices" : "choice", choice_property(prompt, titled(labels.options, titles), shown));
  rendered.shape.questions.push_back({is_many ? "choices" : "choice", "", is_many, std::move(labels.options)});
}

// A choice has no `default`: a recommendation never takes effect by itself.
void draft_elicitation(const Prompt& prompt, const Profile& profile, const RenderOptions&, Rendered& rendered,
                       ShownFields& shown) {
  const bool is_choice = prompt.select.mode == SelectMode::kOne || prompt.select.mode == SelectMode::kMany;
  const std::string& title = prompt.header.empty() ? prompt.label : prompt.header;
  const std::string message = drafts::question_of(prompt, profile, is_choice ? std::string_view(title) : "", shown);
  const Value meta = Value::object({{"signalbox/decision", prompt.decision_id}});
  if (prompt.select.mode == SelectMode::kUrl) {
    rendered.payload = Value::object({{"mode", "url"}, {"message", message}, {"url", prompt.url}, {"_meta", meta}});
    rendered.shape.questions.push_back({"", message, false, {}});
    return;
  }
  if (prompt.select.mode == SelectMode::kForm || prompt.select.mode == SelectMode::kText) {
    rendered.shape.requested_schema = prompt.select.mode == SelectMode::kForm
                                          ? schema_of(prompt.fields)
                                          : one_property("text", Value::object({{"type", "string"}, {"minLength", 1}}));
    rendered.shape.questions.push_back({"", message, false, {}});
  } else {
    draft_choice(prompt, profile, rendered, shown);
    rendered.shape.questions.back().text = message;
  }
  rendered.payload = Value::object(
      {{"mode", "form"}, {"message", message}, {"requestedSchema", rendered.shape.requested_schema}, {"_meta", meta}});
}

// In URL mode the host also gets the nonce as the id of the elicitation; it opens the URL, which is not changed.
void set_elicitation_message(Rendered& rendered, std::size_t index) {
  rendered.payload.set("message", rendered.shape.questions[index].text);
  const bool is_url = rendered.shape.select.mode == SelectMode::kUrl;
  if (is_url && !rendered.shape.nonce.empty()) rendered.payload.set("elicitationId", rendered.shape.nonce);
}

const ShownOption* option_with(const ShownQuestion& question, const Value& id) {
  if (!id.is_string()) return nullptr;
  const auto found = std::ranges::find(question.options, id.as_string(), &ShownOption::shown);
  return found == question.options.end() ? nullptr : &*found;
}

HostAnswer wrong_field(const AnswerShape& shape, const std::string& field, std::string_view what) {
  return invalid(fmt::format("{}: {}", field, text(shape.locale, fmt::format("wrong.{}", what))));
}

HostAnswer read_choice(const AnswerShape& shape, const Value& content) {
  const ShownQuestion& question = shape.questions.front();
  for (const Value::Member& member : content.members()) {
    if (member.name != question.key) return wrong_field(shape, member.name, "field");
  }
  const Value* given = content.find(question.key);
  if (!given || given->is_null()) return without_answer(HostAnswerKind::kEmpty);
  if (!question.is_many) {
    const ShownOption* entry = option_with(question, *given);
    return entry ? chosen(shape, {entry}) : wrong_field(shape, question.key, "option");
  }
  if (!given->is_array()) return wrong_field(shape, question.key, "list");
  std::vector<const ShownOption*> entries;
  for (const Value& id : given->items()) {
    const ShownOption* entry = option_with(question, id);
    if (!entry) return wrong_field(shape, question.key, "option");
    if (std::ranges::find(entries, entry) != entries.end()) return invalid("duplicate");
    entries.push_back(entry);
  }
  if (entries.empty() && shape.select.min == 0) return without_answer(HostAnswerKind::kNone);
  std::ranges::sort(entries);  // all in one array: by address is in shown order
  return chosen(shape, entries);
}

HostAnswer read_content(const AnswerShape& shape, const Value& content) {
  if (content.is_null()) return without_answer(HostAnswerKind::kEmpty);
  if (!content.is_object()) return invalid(std::string(text(shape.locale, "form.unfit")));
  if (content.size() == 0) return without_answer(HostAnswerKind::kEmpty);
  const bool is_form = shape.select.mode == SelectMode::kForm || shape.select.mode == SelectMode::kText;
  if (!is_form) return read_choice(shape, content);
  if (const Status fits = check_content(shape.requested_schema, content, shape.locale); !fits)
    return invalid(fits.error().message);
  HostAnswer answer = without_answer(HostAnswerKind::kFilled);
  answer.fields = content;
  if (shape.select.mode == SelectMode::kText) {
    answer.text = content.string_at("text").value_or("");
    if (is_blank(answer.text)) return without_answer(HostAnswerKind::kEmpty);
  }
  return answer;
}

HostAnswer read_elicitation(const AnswerShape& shape, const Value& given) {
  if (shape.questions.empty()) return invalid("shape");
  if (given.is_null()) return without_answer(HostAnswerKind::kEmpty);
  const std::string action = given.string_at("action").value_or("");
  if (action == "decline") return without_answer(HostAnswerKind::kDeclined);
  if (action == "cancel") return without_answer(HostAnswerKind::kCancelled);
  if (action != "accept") return invalid(std::string(text(shape.locale, "form.unfit")));
  if (shape.select.mode == SelectMode::kUrl) return without_answer(HostAnswerKind::kOpened);
  return read_content(shape, given["content"]);
}

}  // namespace

constinit const Host kElicitation = {
    .name = "elicitation",
    .takes_text = true,
    .takes_forms = true,
    .opens_urls = true,
    .shows_irreversible_note = true,
    .shows_bounds = true,
    .draft = draft_elicitation,
    .set_question = set_elicitation_message,
    .read = read_elicitation,
};

}  // namespace sb::decision::hosts
