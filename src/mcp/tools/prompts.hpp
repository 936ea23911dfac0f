// Workflows as prompts, so that clients show them to people as commands: one each, and `workflow` for any.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mcp/call.hpp"
#include "mcp/tools/tool_context.hpp"

namespace sb::mcp {

Value listed_prompts(ToolBench& bench);
std::optional<Outcome> prompt_messages(ToolBench& bench, std::string_view name, const Value& arguments);
// Nothing where there is no such prompt or argument.
std::optional<std::vector<std::string>> prompt_completions(ToolBench& bench, std::string_view prompt,
                                                           std::string_view argument, std::string_view begun);

}  // namespace sb::mcp
