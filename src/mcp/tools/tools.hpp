// All tools: their descriptions for clients, and their implementations. One file per tool.
#pragma once

#include <vector>

#include "mcp/call.hpp"
#include "mcp/tools/tool_context.hpp"
#include "mcp/tools/tool_spec.hpp"

namespace sb::mcp {

struct Tool {
  ToolSpec spec;
  HandlerResult (*run)(WorkerContext& worker, const ToolSpec& spec, const Inputs& inputs, Call& call);
};

Tool list_workflows_tool();
Tool inspect_workflow_tool();
Tool validate_workflow_tool();
Tool start_workflow_tool();
Tool continue_workflow_tool();
Tool checkpoint_workflow_tool();
Tool resume_session_tool();
Tool manage_workflow_source_tool();
Tool ask_tool();

std::vector<Tool> all_tools();

// The workspace a call names, links resolved; kNotFound if it is not a folder.
Result<std::string> workspace_of(const WorkerContext& worker, const Inputs& inputs);
// The workspacePath field.
Field workspace_field(bool is_required);

// `structured` with the inputs' notes added to its `warnings`.
Value structured_answer(Value structured, const Inputs& inputs);

}  // namespace sb::mcp
