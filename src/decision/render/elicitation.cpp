// MCP elicitation: form mode for choices, texts and forms, url mode for what must not pass through the client.
#include <algorithm>

#include "decision/render/drafts.hpp"
#include "decision/render/form.hpp"
#include "decision/render/shown_labels.hpp"

namespace sb::decision::drafts {
namespace {

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

}  // namespace

// No `default` anywhere in a choice: what is recommended is never what happens by itself.
void elicitation(const Prompt& prompt, const Profile& profile, Rendered& rendered, ShownFields& shown) {
  const bool is_choice = prompt.select.mode == SelectMode::kOne || prompt.select.mode == SelectMode::kMany;
  const std::string& title = prompt.header.empty() ? prompt.label : prompt.header;
  const std::string message = question_of(prompt, profile, is_choice ? std::string_view(title) : "", shown);
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

}  // namespace sb::decision::drafts
