// Signalbox as a Service: the tools, workflows as prompts, sessions and tags as resources.
//
// A Service belongs to one worker, and so does its WorkerContext.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mcp/service.hpp"
#include "mcp/tools/tool_context.hpp"
#include "mcp/tools/tools.hpp"

namespace sb::mcp {

class ToolService final : public Service {
 public:
  // The seams must outlive it.
  explicit ToolService(const Seams& seams) : worker_(seams), tools_(all_tools()) {}

  Value tools() override;
  HandlerResult call_tool(std::string_view name, const Value& arguments, Call& call) override;

  Value resources() override;
  Value resource_templates() override;
  std::optional<HandlerResult> read_resource(const std::string& uri, Call& call) override;
  bool has_resource(const std::string& uri) override;
  std::string fingerprint(const std::string& what) override;

  Value prompts() override;
  std::optional<HandlerResult> get_prompt(std::string_view name, const Value& arguments, Call& call) override;
  std::optional<Completion> complete(const Value& reference, std::string_view argument, std::string_view begun,
                                     const Value& context) override;

 private:
  WorkerContext worker_;
  std::vector<Tool> tools_;
};

}  // namespace sb::mcp
