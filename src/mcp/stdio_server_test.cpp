// The server on two pipes: lines in, lines out, and how it ends.
#include "mcp/stdio_server.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "mcp/limits.hpp"
#include "mcp/testing.hpp"
#include "net/limits.hpp"

namespace sb::mcp {
namespace {

constexpr std::string_view kOpen =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
    R"("capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"1"}}})";

ServerParts parts_of(std::shared_ptr<ScriptedService::Script> script, Clock& clock, Random& random) {
  return {.facts = {.info = json(R"({"name":"test","version":"1"})")},
          .make_service = [script] { return std::make_unique<ScriptedService>(script); },
          .seal_key = [] { return std::string("key"); },
          .is_first_use = [](std::string_view, TimestampMs) { return true; },
          .clock = clock,
          .random = random};
}

// serve_stdio on a thread, with the client's ends of its pipes.
class Server {
 public:
  Server() {
    EXPECT_EQ(::pipe(in_.data()), 0);
    EXPECT_EQ(::pipe(out_.data()), 0);
    script->tools["echo"] = [](const Value& arguments, Call&) -> HandlerResult {
      return tool_result({text_content(arguments.string_at("text").value_or(""))});
    };
    thread_ = std::thread([this] {
      code_ = serve_stdio(parts_of(script, clock_, random_), in_[0], out_[1]);
      ::close(out_[1]);
    });
  }
  ~Server() {
    end_input();
    if (thread_.joinable()) thread_.join();
    for (const int end : {in_[0], out_[0]}) ::close(end);
  }

  void write(std::string_view text) {
    while (!text.empty()) {
      const ssize_t count = ::write(in_[1], text.data(), text.size());
      ASSERT_GT(count, 0);
      text.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void say(std::string_view line) { write(std::string(line) + "\n"); }
  void end_input() {
    if (in_[1] >= 0) ::close(in_[1]);
    in_[1] = -1;
  }
  void break_output() {
    ::close(out_[0]);
    out_[0] = -1;
  }
  // The next line; nothing at the end of output or after a timeout.
  std::optional<Value> hear() {
    for (;;) {
      if (const auto end = buffer_.find('\n'); end != std::string::npos) {
        const std::string line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return json(line);
      }
      pollfd ready{out_[0], POLLIN, 0};
      if (::poll(&ready, 1, 20'000) <= 0) return std::nullopt;
      std::array<char, 65536> bytes;
      const ssize_t count = ::read(out_[0], bytes.data(), bytes.size());
      if (count <= 0) return std::nullopt;
      buffer_.append(bytes.data(), static_cast<std::size_t>(count));
    }
  }
  int wait() {
    thread_.join();
    return code_;
  }

  std::shared_ptr<ScriptedService::Script> script = std::make_shared<ScriptedService::Script>();

 private:
  std::array<int, 2> in_{}, out_{};
  std::string buffer_;
  SystemClock clock_;
  SystemRandom random_;
  int code_ = -1;
  std::thread thread_;
};

std::string text_of(const std::optional<Value>& response) {
  if (!response || !(*response)["result"]["content"].is_array()) return "";
  return (*response)["result"]["content"].items()[0].string_at("text").value_or("");
}

TEST(StdioServer, AnswersLinesAndEndsWithItsInput) {
  Server server;
  server.say(kOpen);
  EXPECT_EQ((*server.hear())["result"].string_at("protocolVersion"), "2025-11-25");
  server.say(to_json(PeerFixture::call(1, "echo", json(R"({"text":"hi"})"))));
  EXPECT_EQ(text_of(server.hear()), "hi");
  server.end_input();
  EXPECT_EQ(server.hear(), std::nullopt);
  EXPECT_EQ(server.wait(), 0);
}

TEST(StdioServer, AnswersRequestsReceivedBeforeTheEndOfInput) {
  Server server;
  server.say(kOpen);
  for (int i = 1; i <= 40; ++i)
    server.say(to_json(PeerFixture::call(i, "echo", Value::object({{"text", std::to_string(i)}}))));
  server.write(to_json(PeerFixture::call("last", "echo", json(R"({"text":"no newline"})"))));
  server.end_input();
  std::size_t answers = 0;
  while (server.hear()) ++answers;
  EXPECT_EQ(answers, 42u);
  EXPECT_EQ(server.wait(), 0);
}

TEST(StdioServer, ParksAQuestionWhenTheInputEnds) {
  Server server;
  server.script->tools["ask"] = [](const Value&, Call& call) -> HandlerResult {
    if (const Input* input = call.input("a"))
      return tool_result({text_content(input->kind == Input::Kind::kUnanswered ? "parked" : "?")});
    return InputRequired{{{"a", "elicitation/create", json(R"({"message":"?","requestedSchema":{"type":"object"}})")}}};
  };
  server.say(kOpen);
  server.hear();
  server.say(to_json(PeerFixture::call(1, "ask")));
  EXPECT_EQ(server.hear()->string_at("method"), "elicitation/create");
  server.end_input();
  std::optional<Value> last;
  while (auto message = server.hear()) last = std::move(message);
  EXPECT_EQ(text_of(last), "parked");
  EXPECT_EQ(server.wait(), 0);
}

TEST(StdioServer, ContinuesAfterInvalidLines) {
  Server server;
  for (const std::string_view line :
       {"{", "null", "[]", "\"x\"", R"({"jsonrpc":"2.0"})", "\xff\xfe", R"({"jsonrpc":"2.0","id":1}{"a":1})",
        R"([{"jsonrpc":"2.0","id":1,"method":"ping"}])"}) {
    server.say(line);
    const auto answer = server.hear();
    ASSERT_TRUE(answer) << line;
    EXPECT_TRUE((*answer)["error"]["code"].is_integer()) << line;
  }
  server.say(R"({"jsonrpc":"2.0","id":"still","method":"ping"})");
  EXPECT_EQ(server.hear()->string_at("id"), "still");
}

TEST(StdioServer, RejectsATooLongLineAndContinues) {
  Server server;
  const std::string piece(1u << 20, 'x');
  server.write("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"");
  for (std::size_t sent = 0; sent <= net::limits::kMessageBytes; sent += piece.size()) server.write(piece);
  server.say("\"}");
  EXPECT_EQ((*server.hear())["error"]["code"], Value(net::rpc::kInvalidRequest));
  server.say(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  EXPECT_EQ((*server.hear())["id"], Value(2));
}

TEST(StdioServer, EndsWhenTheReaderIsGone) {
  Server server;
  server.say(kOpen);
  server.hear();
  server.break_output();
  server.say(R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
  EXPECT_EQ(server.wait(), 0);
}

TEST(StdioServer, FinishesRunningCallsAndExitsCleanlyOnASignal) {
  std::array<int, 2> in{}, out{};
  ASSERT_EQ(::pipe(in.data()), 0);
  ASSERT_EQ(::pipe(out.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    SystemClock clock;
    SystemRandom random;
    const auto script = std::make_shared<ScriptedService::Script>();
    script->tools["greet"] = greet;
    ::_exit(serve_stdio(parts_of(script, clock, random), in[0], out[1]));
  }
  ::close(in[0]);
  ::close(out[1]);
  const std::string lines = std::string(kOpen) + "\n" + to_json(PeerFixture::call(1, "greet")) + "\n";
  ASSERT_EQ(::write(in[1], lines.data(), lines.size()), static_cast<ssize_t>(lines.size()));
  std::string heard;
  const auto hear_until = [&](std::string_view text) {
    std::array<char, 4096> bytes;
    while (heard.find(text) == std::string::npos) {
      const ssize_t count = ::read(out[0], bytes.data(), bytes.size());
      if (count <= 0) return false;
      heard.append(bytes.data(), static_cast<std::size_t>(count));
    }
    return true;
  };
  EXPECT_TRUE(hear_until("elicitation/create"));
  ::kill(child, SIGTERM);
  EXPECT_TRUE(hear_until("parked"));
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  for (const int end : {in[1], out[0]}) ::close(end);
}

TEST(StdioServer, AnswersProbesWhileAllWorkersAreBusy) {
  Server server;
  std::atomic<bool> may_end = false;
  server.script->tools["block"] = [&](const Value&, Call&) -> HandlerResult {
    while (!may_end) std::this_thread::yield();
    return tool_result({text_content("done")});
  };
  server.say(kOpen);
  server.hear();
  const int calls = static_cast<int>(limits::kWorkers) + 1;
  for (int i = 1; i <= calls; ++i) server.say(to_json(PeerFixture::call(i, "block")));
  server.say(to_json(PeerFixture::stateless(net::rpc_request("probe", "server/discover", Value::object()))));
  EXPECT_EQ(server.hear()->string_at("id"), "probe");
  server.say(R"({"jsonrpc":"2.0","id":"ping","method":"ping"})");
  EXPECT_EQ(server.hear()->string_at("id"), "ping");
  may_end = true;
  for (int i = 1; i <= calls; ++i) EXPECT_EQ(text_of(server.hear()), "done");
}

}  // namespace
}  // namespace sb::mcp
