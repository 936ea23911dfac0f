#include "decision/render/simulated_host.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "decision/text_block.hpp"

namespace sb::decision {
namespace {

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

const Value& question_at(const Rendered& rendered, std::size_t index) {
  return rendered.payload["questions"].items().at(index);
}

const Value& enum_at(const Rendered& rendered, std::size_t place) {
  const Value& property = rendered.payload["requestedSchema"]["properties"].members().at(0).value;
  const Value& list = property.find("oneOf") ? property["oneOf"] : property["items"]["anyOf"];
  return list.items().at(place);
}

// The lines of a brief that are options: `A) ...`.
std::vector<std::string> lettered_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const std::size_t paren = line.find(") ");
    const bool is_option = paren != std::string::npos && paren > 0 && paren < 3 &&
                           std::ranges::all_of(line.substr(0, paren), [](char c) { return c >= 'A' && c <= 'Z'; });
    if (is_option) lines.push_back(line);
    at = end + 1;
  }
  return lines;
}

// Codex, asked yes or no about each option; "none of these" has no row.
Value pick_rows(const Rendered& rendered, const std::vector<std::size_t>& places) {
  Value answers = Value::object();
  const auto& rows = rendered.payload["questions"].items();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_yes = std::ranges::find(places, i) != places.end();
    const Value& label = rows[i]["options"].items().at(is_yes ? 0 : 1)["label"];
    answers.set(rows[i]["id"].as_string(), Value::object({{"answers", Value(Value::Array{label})}}));
  }
  return Value::object({{"answers", std::move(answers)}});
}

Value pick_labels(const Rendered& rendered, const std::vector<std::size_t>& places) {
  const Value& question = question_at(rendered, 0);
  std::vector<std::string> labels;
  for (const std::size_t place : places) labels.push_back(question["options"].items().at(place)["label"].as_string());
  if (rendered.host == Host::kRequestUserInput) {
    const Value answer = Value::object({{"answers", Value::array(labels)}});
    return Value::object({{"answers", Value::object({{question["id"].as_string(), answer}})}});
  }
  return Value::object({{"questions", rendered.payload["questions"]},
                        {"answers", Value::object({{question["question"].as_string(), joined(labels, ", ")}})}});
}

Value pick_constants(const Rendered& rendered, const std::vector<std::size_t>& places) {
  const Value::Member& property = rendered.payload["requestedSchema"]["properties"].members().at(0);
  Value given = Value::array();
  for (const std::size_t place : places) given.push_back(enum_at(rendered, place)["const"]);
  if (property.value["type"] == Value("string")) given = given.items().at(0);
  return Value::object({{"action", "accept"}, {"content", Value::object({{property.name, std::move(given)}})}});
}

}  // namespace

Value pick(const Rendered& rendered, const Prompt& prompt, const std::vector<std::size_t>& places) {
  std::vector<std::string> ordinals;
  switch (rendered.host) {
    case Host::kText:
      for (const std::size_t place : places) ordinals.push_back(std::to_string(place + 1));
      return joined(ordinals, ",");
    case Host::kBrief:
      for (const std::size_t place : places) {
        const std::string line = lettered_lines(rendered.text).at(place);
        ordinals.push_back(line.substr(0, line.find(')')));
      }
      return joined(ordinals, ",");
    case Host::kAskUserQuestion:
      return pick_labels(rendered, places);
    case Host::kRequestUserInput:
      return prompt.select.mode == SelectMode::kMany ? pick_rows(rendered, places) : pick_labels(rendered, places);
    case Host::kElicitation:
      return pick_constants(rendered, places);
  }
  return {};
}

std::string seen_at(const Rendered& rendered, const Prompt& prompt, std::size_t place) {
  switch (rendered.host) {
    case Host::kText:
      return parse_block(rendered.text)->options.at(place);
    case Host::kBrief: {
      const std::string line = lettered_lines(rendered.text).at(place);
      return line.substr(line.find(") ") + 2);
    }
    case Host::kRequestUserInput:
      if (prompt.select.mode == SelectMode::kMany) {
        const auto& rows = rendered.payload["questions"].items();
        return place < rows.size() ? rows[place]["question"].as_string() : prompt.options[place].label;
      }
      [[fallthrough]];
    case Host::kAskUserQuestion:
      return question_at(rendered, 0)["options"].items().at(place)["label"].as_string();
    case Host::kElicitation:
      return enum_at(rendered, place)["title"].as_string();
  }
  return {};
}

}  // namespace sb::decision
