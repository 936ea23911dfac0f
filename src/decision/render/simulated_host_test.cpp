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

std::vector<std::string> labels_at(const Rendered& rendered, const std::vector<std::size_t>& places) {
  std::vector<std::string> labels;
  for (const std::size_t place : places) {
    labels.push_back(question_at(rendered, 0)["options"].items().at(place)["label"].as_string());
  }
  return labels;
}

Value pick_for_claude(const Rendered& rendered, const Prompt&, const std::vector<std::size_t>& places) {
  const std::string question = question_at(rendered, 0)["question"].as_string();
  return Value::object({{"questions", rendered.payload["questions"]},
                        {"answers", Value::object({{question, joined(labels_at(rendered, places), ", ")}})}});
}

Value pick_for_codex(const Rendered& rendered, const Prompt& prompt, const std::vector<std::size_t>& places) {
  if (prompt.select.mode == SelectMode::kMany) return pick_rows(rendered, places);
  const Value answer = Value::object({{"answers", Value::array(labels_at(rendered, places))}});
  return Value::object({{"answers", Value::object({{question_at(rendered, 0)["id"].as_string(), answer}})}});
}

std::string label_seen(const Rendered& rendered, const Prompt&, std::size_t place) {
  return labels_at(rendered, {place}).front();
}

std::string label_or_row_seen(const Rendered& rendered, const Prompt& prompt, std::size_t place) {
  if (prompt.select.mode != SelectMode::kMany) return label_seen(rendered, prompt, place);
  const auto& rows = rendered.payload["questions"].items();
  return place < rows.size() ? rows[place]["question"].as_string() : prompt.options[place].label;
}

Value pick_constants(const Rendered& rendered, const Prompt&, const std::vector<std::size_t>& places) {
  const Value::Member& property = rendered.payload["requestedSchema"]["properties"].members().at(0);
  Value given = Value::array();
  for (const std::size_t place : places) given.push_back(enum_at(rendered, place)["const"]);
  if (property.value["type"] == Value("string")) given = given.items().at(0);
  return Value::object({{"action", "accept"}, {"content", Value::object({{property.name, std::move(given)}})}});
}

std::string title_seen(const Rendered& rendered, const Prompt&, std::size_t place) {
  return enum_at(rendered, place)["title"].as_string();
}

Value type_numbers(const Rendered&, const Prompt&, const std::vector<std::size_t>& places) {
  std::vector<std::string> numbers;
  for (const std::size_t place : places) numbers.push_back(std::to_string(place + 1));
  return joined(numbers, ",");
}

std::string block_line_seen(const Rendered& rendered, const Prompt&, std::size_t place) {
  return parse_block(rendered.text)->options.at(place);
}

Value type_letters(const Rendered& rendered, const Prompt&, const std::vector<std::size_t>& places) {
  std::vector<std::string> letters;
  for (const std::size_t place : places) {
    const std::string line = lettered_lines(rendered.text).at(place);
    letters.push_back(line.substr(0, line.find(')')));
  }
  return joined(letters, ",");
}

std::string brief_line_seen(const Rendered& rendered, const Prompt&, std::size_t place) {
  const std::string line = lettered_lines(rendered.text).at(place);
  return line.substr(line.find(") ") + 2);
}

struct SimulatedHost {
  const Host* host;
  Value (*pick)(const Rendered& rendered, const Prompt& prompt, const std::vector<std::size_t>& places);
  std::string (*seen_at)(const Rendered& rendered, const Prompt& prompt, std::size_t place);
};

constexpr SimulatedHost kSimulated[] = {
    {&hosts::kText, type_numbers, block_line_seen},
    {&hosts::kBrief, type_letters, brief_line_seen},
    {&hosts::kAskUserQuestion, pick_for_claude, label_seen},
    {&hosts::kRequestUserInput, pick_for_codex, label_or_row_seen},
    {&hosts::kElicitation, pick_constants, title_seen},
};

const SimulatedHost& simulated(const Rendered& rendered) {
  const auto found = std::ranges::find(kSimulated, rendered.shape.host, &SimulatedHost::host);
  SB_ASSERT(found != std::end(kSimulated));  // a new host needs a row above
  return *found;
}

}  // namespace

Value pick(const Rendered& rendered, const Prompt& prompt, const std::vector<std::size_t>& places) {
  return simulated(rendered).pick(rendered, prompt, places);
}

std::string seen_at(const Rendered& rendered, const Prompt& prompt, std::size_t place) {
  return simulated(rendered).seen_at(rendered, prompt, place);
}

}  // namespace sb::decision
