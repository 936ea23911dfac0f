// One `signalbox mcp` and the client it talks to, with sessions or stateless; several may use one home.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "base/document/value.hpp"

namespace sb::test_program {

class McpClient {
 public:
  enum class Era { kSessions, kStateless };
  // `name`: what the client calls itself.
  McpClient(const std::filesystem::path& home, const std::filesystem::path& workspace, Era era, std::string name);
  ~McpClient();
  McpClient(const McpClient&) = delete;
  McpClient& operator=(const McpClient&) = delete;

  // The result of a request; null with a test failure if none arrives.
  Value request(std::string_view method, Value params);
  struct ToolResult {
    std::string text;  // all blocks but the last
    Value line;        // the JSON of the last one
  };
  ToolResult call(std::string_view tool, Value arguments);
  // As if its host had been killed: no farewell.
  void kill();

 private:
  std::string next_line();
  void send(const Value& message);

  const Era era_;
  const std::string name_;
  pid_t process_ = 0;
  int input_ = -1, output_ = -1, last_id_ = 0;
  std::string buffer_;
};

}  // namespace sb::test_program
