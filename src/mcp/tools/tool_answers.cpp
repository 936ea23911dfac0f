#include "mcp/tools/tool_answers.hpp"

#include <fmt/format.h>

#include "mcp/service.hpp"
#include "mcp/tools/running_children.hpp"

namespace sb::mcp {
namespace {

constexpr int kBusyWaitMs = 200;

// Whether the input was at fault: once fixed, the call can be repeated immediately.
bool is_of_input(const engine::SessionError& error) {
  return error.code == "VALIDATION_ERROR" || error.code == "NOT_FOUND" || error.error.code == ErrorCode::kInvalid;
}

Value retry_of(const engine::SessionError& error) {
  if (error.error.code == ErrorCode::kUnavailable) {
    return Value::object({{"kind", "retryable_after_ms"}, {"afterMs", kBusyWaitMs}});
  }
  const bool helps = error.error.is_retryable || is_of_input(error);
  return Value::object({{"kind", helps ? "retryable_immediate" : "not_retryable"}});
}

}  // namespace

Value answer_result(const engine::SessionResponse& answer, std::string_view note, std::string_view client) {
  std::string text = note.empty() ? answer.text : fmt::format("{}\n\n{}", note, answer.text);
  text += how_to_run_children(answer.line, client);
  return tool_result({text_content(std::move(text)), text_content(to_json(answer.line))});
}

Value error_result(const engine::SessionError& error) {
  Value body = Value::object({{"code", error.code}, {"message", error.error.to_string()}, {"retry", retry_of(error)}});
  if (!error.details.is_null()) body.set("details", error.details);
  return tool_result({text_content(to_json(body))}, true);
}

Value error_result(Error error) {
  return error_result(engine::session_error(std::move(error)));
}

}  // namespace sb::mcp
