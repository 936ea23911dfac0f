// Workflows as prompts, so that clients show them as commands: one each, and `workflow` for any.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/call.hpp"
#include "mcp/tools/tool_context.hpp"

namespace sb::mcp {

Value listed_prompts(WorkerContext& worker);
std::optional<HandlerResult> prompt_messages(WorkerContext& worker, std::string_view name, const Value& arguments);
// Nothing if there is no such prompt or argument.
std::optional<std::vector<std::string>> prompt_completions(WorkerContext& worker, std::string_view prompt,
                                                           std::string_view argument, std::string_view begun);

}  // namespace sb::mcp
