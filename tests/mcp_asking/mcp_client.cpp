#include "mcp_asking/mcp_client.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/document/document.hpp"

namespace sb::test_program {
namespace {

constexpr int kPatienceMs = 60'000;

}  // namespace

McpClient::McpClient(const std::filesystem::path& home, const std::filesystem::path& workspace, Era era,
                     std::string name)
    : era_(era), name_(std::move(name)) {
  int to_server[2], from_server[2];
  if (pipe2(to_server, O_CLOEXEC) != 0 || pipe2(from_server, O_CLOEXEC) != 0) std::abort();
  process_ = fork();
  if (process_ == 0) {
    dup2(to_server[0], STDIN_FILENO);
    dup2(from_server[1], STDOUT_FILENO);
    setenv("SIGNALBOX_HOME", home.c_str(), 1);
    if (chdir(workspace.c_str()) == 0) execl(SB_PROGRAMS "/signalbox", "signalbox", "mcp", nullptr);
    _exit(127);
  }
  close(to_server[0]);
  close(from_server[1]);
  input_ = to_server[1];
  output_ = from_server[0];
  if (era_ == Era::kStateless) return;
  request("initialize", Value::object({{"protocolVersion", "2025-11-25"},
                                       {"capabilities", Value::object()},
                                       {"clientInfo", Value::object({{"name", name_}, {"version", "1"}})}}));
  send(Value::object({{"jsonrpc", "2.0"}, {"method", "notifications/initialized"}}));
}

McpClient::~McpClient() {
  close(input_);
  if (process_ != 0) {
    int status = 0;
    EXPECT_EQ(waitpid(process_, &status, 0), process_);
    EXPECT_EQ(status, 0) << "the server did not exit with 0";
  }
  close(output_);
}

void McpClient::kill() {
  ::kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
  process_ = 0;
}

void McpClient::send(const Value& message) {
  const std::string line = to_json(message) + "\n";
  ASSERT_EQ(write(input_, line.data(), line.size()), static_cast<ssize_t>(line.size()));
}

std::string McpClient::next_line() {
  for (;;) {
    if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
      std::string found = buffer_.substr(0, end);
      buffer_.erase(0, end + 1);
      return found;
    }
    pollfd waiting{output_, POLLIN, 0};
    char bytes[65'536];
    const ssize_t count = poll(&waiting, 1, kPatienceMs) == 1 ? read(output_, bytes, sizeof bytes) : 0;
    if (count <= 0) return {};
    buffer_.append(bytes, static_cast<std::size_t>(count));
  }
}

Value McpClient::request(std::string_view method, Value params) {
  if (era_ == Era::kStateless) {
    params.set("_meta", Value::object(
                            {{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                             {"io.modelcontextprotocol/clientInfo", Value::object({{"name", name_}, {"version", "1"}})},
                             {"io.modelcontextprotocol/clientCapabilities", Value::object()}}));
  }
  const int id = ++last_id_;
  send(Value::object({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}}));
  for (;;) {
    const std::string line = next_line();
    const auto message = line.empty() ? Result<Value>(std::unexpected(Error{})) : parse_json(line);
    if (!message) {
      ADD_FAILURE() << "no answer to " << method;
      return {};
    }
    if ((*message)["id"] != Value(id)) continue;
    EXPECT_EQ(message->find("error"), nullptr) << line;
    return (*message)["result"];
  }
}

McpClient::ToolResult McpClient::call(std::string_view tool, Value arguments) {
  const Value result = request("tools/call", Value::object({{"name", tool}, {"arguments", std::move(arguments)}}));
  ToolResult read;
  if (!result["content"].is_array()) return read;
  const Value::Array& blocks = result["content"].items();
  for (std::size_t i = 0; i + 1 < blocks.size(); ++i) read.text += blocks[i].string_at("text").value_or("");
  const std::string last = blocks.empty() ? "" : blocks.back().string_at("text").value_or("");
  if (auto line = parse_json(last)) read.line = std::move(*line);
  return read;
}

}  // namespace sb::test_program
