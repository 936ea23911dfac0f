#include "mcp/service.hpp"

namespace sb::mcp {

Value text_content(std::string text) {
  return Value::object({{"type", "text"}, {"text", std::move(text)}});
}

Value tool_result(std::vector<Value> content, bool is_error) {
  Value result = Value::object({{"content", std::move(content)}});
  if (is_error) result.set("isError", true);
  return result;
}

Value structured_result(Value structured) {
  Value result = tool_result({text_content(to_json(structured))});
  result.set("structuredContent", std::move(structured));
  return result;
}

}  // namespace sb::mcp
