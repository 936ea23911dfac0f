#include "decision/lint/payload.hpp"

#include "base/document/document.hpp"
#include "base/document/value.hpp"

namespace sb::decision::linting {
namespace {

// The position of a payload string in its text. Payloads are written in reading order, so the search goes forward.
std::string_view place(std::string_view text, const std::string& value, std::size_t& from) {
  const std::string quoted = quote_json(value);
  const std::string_view inner = std::string_view(quoted).substr(1, quoted.size() - 2);
  std::size_t at = text.find(quoted, from);
  if (at == std::string_view::npos) at = text.find(quoted);
  if (at == std::string_view::npos) return {};
  from = at + quoted.size();
  return text.substr(at + 1, inner.size());
}

Span span_or_all(std::string_view text, std::string_view part) {
  if (part.data() == nullptr) return {0, text.size()};
  const auto begin = static_cast<std::size_t>(part.data() - text.data());
  return {begin, begin + part.size()};
}

AskedQuestion read_question(std::string_view text, const Value& question, std::size_t& from) {
  AskedQuestion asked;
  if (const auto instruction = question.string_at("question")) asked.instruction = place(text, *instruction, from);
  asked.span = span_or_all(text, asked.instruction);
  const Value* options = question.find("options");
  if (options == nullptr || !options->is_array()) return asked;
  for (const Value& item : options->items()) {
    const auto label = item.is_string() ? std::optional(item.as_string()) : item.string_at("label");
    if (!label) continue;
    OptionLine option;
    option.text = place(text, *label, from);
    option.span = span_or_all(text, option.text);
    asked.options.push_back(option);
  }
  return asked;
}

}  // namespace

std::vector<AskedQuestion> read_payload(std::string_view text) {
  std::vector<AskedQuestion> out;
  const auto json = text.find_first_not_of(" \t\r\n") == text.find('{') ? parse_json(text) : Result<Value>(Value());
  if (json && json->is_object()) {
    std::size_t from = 0;
    const Value* questions = json->find("questions");
    if (questions == nullptr || !questions->is_array()) {
      out.push_back(read_question(text, *json, from));
      return out;
    }
    for (const Value& question : questions->items()) out.push_back(read_question(text, question, from));
    return out;
  }
  for (Block& block : parse_blocks(text, {0, text.size()}, {}).blocks) {
    AskedQuestion asked;
    if (!block.before.empty()) asked.instruction = block.before.back().text;
    asked.span = block.span();
    asked.options = std::move(block.options);
    out.push_back(std::move(asked));
  }
  return out;
}

}  // namespace sb::decision::linting
