// For tests: the Service with its own home and workspace. Checks every result against the tool's promises: a structured
// result against its outputSchema, an error against the format of errors.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "mcp/tools/tool_service.hpp"
#include "workflow/schema/json_schema.hpp"

namespace sb::mcp {

inline constexpr const char* kTwoSteps = R"({
  "id": "two-steps", "name": "Two steps", "description": "For tests.", "version": "1.0.0",
  "steps": [{"id": "one", "title": "First", "prompt": "Do one.", "captures": {"size": {"type": "integer"}}},
            {"id": "two", "title": "Second", "prompt": "Do two."}]
})";

// Records what a call sent besides its result.
class RecordingSink final : public CallSink {
 public:
  void progress(double, std::optional<double>, std::string message) override {
    messages.push_back(std::move(message));
    if (on_progress) on_progress();
  }
  void log(LogLevel, std::string, Value) override {}
  void close_stream() override {}
  std::vector<std::string> messages;
  std::function<void()> on_progress;
};

class ToolFixture : public testing::Test {
 protected:
  ToolFixture() {
    std::string pattern = testing::TempDir() + "sb-tools-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    directory = pattern;
    workspace = directory + "/ws";
    EXPECT_TRUE(files.make_directories(workspace + "/.signalbox/workflows"));
    environment = Environment({{"SIGNALBOX_HOME", directory + "/own"}, {"PATH", "/usr/bin:/bin"}});
    add_workflow("two-steps", kTwoSteps);
    service = std::make_unique<ToolService>(Seams{files, clock, random, process, environment, streams});
    call.sink = &sink;
    cancelled = std::make_shared<std::atomic<bool>>(false);
    call.is_cancelled = cancelled;
    call.caller.is_installed_client = true;
  }
  ~ToolFixture() override {
    service.reset();
    std::filesystem::remove_all(directory);
  }

  void add_workflow(const std::string& id, const std::string& json) {
    EXPECT_TRUE(files.write_atomic(workspace + "/.signalbox/workflows/" + id + ".json", json));
  }

  // `W` in the text stands for the workspace's path.
  Value arguments(std::string json) const {
    for (std::size_t at = json.find("\"W\""); at != std::string::npos; at = json.find("\"W\"")) {
      json.replace(at, 3, quote_json(workspace));
    }
    auto value = parse_json(json);
    EXPECT_TRUE(value) << json;
    return value ? *value : Value();
  }

  Value result(std::string_view tool, const std::string& given) {
    HandlerResult outcome = service->call_tool(tool, arguments(given), call);
    Value* value = std::get_if<Value>(&outcome);
    if (value == nullptr) {
      ADD_FAILURE() << tool << " returned no result";
      return {};
    }
    check(tool, *value);
    return std::move(*value);
  }

  // For a tool with a structured result.
  Value structured(std::string_view tool, const std::string& given) {
    const Value got = result(tool, given);
    EXPECT_EQ(got.find("isError"), nullptr) << to_json(got);
    return got["structuredContent"];
  }
  Value error(std::string_view tool, const std::string& given) {
    const Value got = result(tool, given);
    EXPECT_NE(got.find("isError"), nullptr) << to_json(got);
    return *parse_json(text_of(got));
  }
  // The last line of start_workflow and continue_workflow.
  Value line(std::string_view tool, const std::string& given) {
    const Value got = result(tool, given);
    EXPECT_EQ(got.find("isError"), nullptr) << to_json(got);
    text = text_of(got);
    const auto read = parse_json(got["content"].items().back()["text"].as_string());
    EXPECT_TRUE(read);
    return read ? *read : Value();
  }
  Value start(const std::string& id = "two-steps") {
    return line("start_workflow", R"({"workflowId": ")" + id + R"(", "workspacePath": "W", "goal": "Make it faster"})");
  }
  static std::string text_of(const Value& got) { return got["content"].items().front()["text"].as_string(); }
  static std::string token_of(const Value& line) { return line.string_at("continueToken").value_or("none"); }

  std::string directory, workspace, text;
  SystemFiles files;
  FakeClock clock;
  FakeRandom random;
  SystemProcess process;
  Environment environment;
  FakeStreams streams;
  std::unique_ptr<ToolService> service;
  RecordingSink sink;
  std::shared_ptr<std::atomic<bool>> cancelled;
  Call call;

 private:
  void check(std::string_view tool, const Value& got) {
    const Value all = service->tools();
    for (const Value& item : all.items()) {
      if (item.string_at("name") != tool) continue;
      if (got.find("isError") != nullptr) return check_error(got);
      const Value* schema = item.find("outputSchema");
      if (schema == nullptr) return;
      const auto rules = workflow::JsonSchema::compile(*schema);
      ASSERT_TRUE(rules) << rules.error().to_string();
      for (const auto& violation : rules->check(got["structuredContent"])) {
        ADD_FAILURE() << tool << " " << violation.pointer << " " << violation.message;
      }
      EXPECT_EQ(to_json(got["structuredContent"]), text_of(got));
    }
  }
  static void check_error(const Value& got) {
    const auto body = parse_json(text_of(got));
    ASSERT_TRUE(body) << text_of(got);
    EXPECT_TRUE((*body)["code"].is_string()) << text_of(got);
    EXPECT_TRUE((*body)["message"].is_string()) << text_of(got);
    EXPECT_TRUE((*body)["retry"].string_at("kind")) << text_of(got);
    EXPECT_EQ(got.find("structuredContent"), nullptr);
  }
};

}  // namespace sb::mcp
