// The tools, resources and prompts that the public conformance suite of MCP calls by name. Their names, texts and
// schemas are the suite's; the protocol around them is src/mcp's.
//
// Threads: one FixtureService per worker, one FixtureLists for all of them.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "mcp/service.hpp"

namespace sb::fixture {

// Lists that tools change while the server runs, so that clients can be notified.
class FixtureLists {
 public:
  void change(const std::string& list);
  int changes(const std::string& list) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, int> changes_;
};

struct FixtureTool {
  std::string description;
  Value input_schema;
  std::function<mcp::HandlerResult(const Value& arguments, mcp::Call& call)> call;
};
using FixtureTools = std::map<std::string, FixtureTool, std::less<>>;

struct FixturePrompt {
  Value described;  // {name, description, arguments}
  std::function<mcp::HandlerResult(const Value& arguments, mcp::Call& call)> get;
};
using FixturePrompts = std::map<std::string, FixturePrompt, std::less<>>;

inline constexpr std::string_view kPixelPng =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

Value no_arguments();                 // a schema
Value text_result(std::string text);  // of a tool
mcp::InputRequired ask(std::string key, std::string message, Value properties, std::vector<std::string> required,
                       Value state);
// What the client's user entered under the key; nothing unless it was accepted and is an object.
const Value* filled_in(const mcp::Call& call, std::string_view key);

void add_content_tools(FixtureTools& tools);  // what results can hold, progress, logs, errors
void add_asking_tools(FixtureTools& tools);   // sampling and elicitation, one question each
void add_round_tools(FixtureTools& tools);    // input_required in all its forms
void add_list_tools(FixtureTools& tools, FixtureLists& lists);
FixturePrompts fixture_prompts();

class FixtureService final : public mcp::Service {
 public:
  explicit FixtureService(FixtureLists& lists);

  Value tools() override;
  mcp::HandlerResult call_tool(std::string_view name, const Value& arguments, mcp::Call& call) override;
  Value resources() override;
  Value resource_templates() override;
  std::optional<mcp::HandlerResult> read_resource(const std::string& uri, mcp::Call& call) override;
  bool has_resource(const std::string& uri) override;
  std::string fingerprint(const std::string& what) override;
  Value prompts() override;
  std::optional<mcp::HandlerResult> get_prompt(std::string_view name, const Value& arguments, mcp::Call& call) override;
  std::optional<mcp::Completion> complete(const Value& reference, std::string_view argument, std::string_view begun,
                                          const Value& context) override;

 private:
  FixtureLists& lists_;
  FixtureTools tools_;
  FixturePrompts prompts_;
};

}  // namespace sb::fixture
