// The built program on stdin and stdout, driven like a client with sessions and like a stateless one: a workflow
// starts, a person answers in the client's dialog or in the terminal, and the session continues.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/document/document.hpp"

namespace sb {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kPatienceMs = 60'000;

constexpr const char* kWorkflow =
    "id: gated\nname: Gated\ndescription: A gate and a step\nversion: 1.0.0\nsteps:\n"
    "  - {id: first, title: First, prompt: Do it., requireConfirmation: true}\n"
    "  - {id: second, title: Second, prompt: Do more.}\n";

Value json(std::string_view text) {
  auto value = parse_json(text);
  EXPECT_TRUE(value) << text;
  return value ? *value : Value();
}

// One `signalbox mcp`, and the client it talks to. `secret`: what `signalbox mcp install` gave the client, if anything.
class Client {
 public:
  Client(const fs::path& home, const fs::path& workspace, const std::string& secret) {
    int to_server[2], from_server[2];
    if (pipe2(to_server, O_CLOEXEC) != 0 || pipe2(from_server, O_CLOEXEC) != 0) std::abort();
    process_ = fork();
    if (process_ == 0) {
      dup2(to_server[0], STDIN_FILENO);
      dup2(from_server[1], STDOUT_FILENO);
      setenv("SIGNALBOX_HOME", home.c_str(), 1);
      unsetenv("SIGNALBOX_CLIENT_SECRET");
      if (!secret.empty()) setenv("SIGNALBOX_CLIENT_SECRET", secret.c_str(), 1);
      if (chdir(workspace.c_str()) == 0) execl(SB_PROGRAMS "/signalbox", "signalbox", "mcp", nullptr);
      _exit(127);
    }
    close(to_server[0]);
    close(from_server[1]);
    input_ = to_server[1];
    output_ = from_server[0];
  }
  ~Client() {
    close(input_);
    int status = 0;
    EXPECT_EQ(waitpid(process_, &status, 0), process_);
    EXPECT_EQ(status, 0) << "the server did not exit with 0";
    close(output_);
  }

  pid_t process() const { return process_; }
  void send(const Value& message) {
    const std::string line = to_json(message) + "\n";
    ASSERT_EQ(write(input_, line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  // The next response or question; skips notifications.
  Value receive() {
    for (;;) {
      const Value message = json(line());
      if (message.find("id") != nullptr || message.is_null()) return message;
    }
  }
  Value ask(const Value& message) {
    send(message);
    return receive();
  }

  void open(std::string_view version) {
    Value params = json(R"({"capabilities":{"elicitation":{}},"clientInfo":{"name":"driver","version":"1"}})");
    params.set("protocolVersion", version);
    const Value answer = ask(request("initialize", std::move(params)));
    EXPECT_EQ(answer["result"].string_at("protocolVersion"), version);
    send(json(R"({"jsonrpc":"2.0","method":"notifications/initialized"})"));
  }
  Value request(std::string_view method, Value params) {
    return Value::object({{"jsonrpc", "2.0"}, {"id", ++last_id_}, {"method", method}, {"params", std::move(params)}});
  }
  Value call(std::string_view tool, Value arguments) {
    return request("tools/call", Value::object({{"name", tool}, {"arguments", std::move(arguments)}}));
  }

 private:
  std::string line() {
    for (;;) {
      if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
        std::string found = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return found;
      }
      pollfd waiting{output_, POLLIN, 0};
      char bytes[65'536];
      const ssize_t count = poll(&waiting, 1, kPatienceMs) == 1 ? read(output_, bytes, sizeof bytes) : 0;
      if (count <= 0) {
        ADD_FAILURE() << "no message arrived";
        return "null";
      }
      buffer_.append(bytes, static_cast<std::size_t>(count));
    }
  }

  pid_t process_ = 0;
  int input_ = -1, output_ = -1, last_id_ = 0;
  std::string buffer_;
};

Value reply_to(const Value& question, std::string_view result) {
  return Value::object({{"jsonrpc", "2.0"}, {"id", question["id"]}, {"result", json(result)}});
}

// The JSON line at the end of a tool's result.
Value line_of(const Value& response) {
  const Value& content = response["result"]["content"];
  if (!content.is_array() || content.size() == 0) {
    ADD_FAILURE() << to_json(response);
    return {};
  }
  return json(content.items().back().string_at("text").value_or("null"));
}

constexpr const char* kApprove = R"({"action":"accept","content":{"choice":"approve"}})";

class McpAsking : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "sb-asking-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
    fs::create_directories(root_ / "work/workflows");
    std::ofstream(root_ / "work/workflows/gated.yaml") << kWorkflow;
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  // A client that was set up for the user, as a real one is, and one that was not.
  Client client() {
    if (secret_.empty()) secret_ = installed_secret("driver-client");
    return with_secret(secret_);
  }
  Client with_secret(const std::string& secret) { return Client(root_ / "home", root_ / "work", secret); }
  std::string installed_secret(const std::string& name) const {
    const std::string printed = shell("mcp install --client other --name " + name + " 2>/dev/null");
    const auto config = parse_json(printed.substr(std::min(printed.find('{'), printed.size())));
    EXPECT_TRUE(config) << printed;
    return config ? (*config)["mcpServers"]["signalbox"]["env"].string_at("SIGNALBOX_CLIENT_SECRET").value_or("") : "";
  }
  std::string shell(const std::string& command) const {
    // The environment of the test's user must not look like an agent's.
    const std::string line = "env -i PATH=\"$PATH\" USER=ann SIGNALBOX_HOME='" + (root_ / "home").string() +
                             "' '" SB_PROGRAMS "/signalbox' " + command + " 2>&1 </dev/null";
    std::string output;
    FILE* pipe = popen(line.c_str(), "r");
    char bytes[4096];
    for (std::size_t count = 0; (count = fread(bytes, 1, sizeof bytes, pipe)) > 0;) output.append(bytes, count);
    pclose(pipe);
    return output;
  }
  Value start() const {
    return Value::object({{"workflowId", "gated"}, {"goal", "Try it"}, {"workspacePath", (root_ / "work").string()}});
  }
  static Value deliver(const Value& line) {
    return Value::object({{"continueToken", line["continueToken"]},
                          {"output", Value::object({{"notesMarkdown", "I did it, and it works."}})}});
  }
  static Value look(const Value& line) { return Value::object({{"continueToken", line["continueToken"]}}); }

  fs::path root_;
  std::string secret_;
};

TEST_F(McpAsking, InTheDialogOfAClientWithSessions) {
  for (const auto* version : {"2025-06-18", "2025-11-25"}) {
    Client client = this->client();
    client.open(version);
    const Value first = line_of(client.ask(client.call("start_workflow", start())));
    EXPECT_EQ(first["pending"].string_at("stepId"), "first");
    const Value question = client.ask(client.call("continue_workflow", deliver(first)));
    ASSERT_EQ(question.string_at("method"), "elicitation/create") << to_json(question);
    EXPECT_THAT(question["params"]["message"].as_string(), HasSubstr("I did it, and it works."));
    const Value next = line_of(client.ask(reply_to(question, kApprove)));
    EXPECT_EQ(next["pending"].string_at("stepId"), "second");
    EXPECT_THAT(shell("inbox list --all"), HasSubstr("driver (driver-client)"));
  }
}

TEST_F(McpAsking, InAResultOfAStatelessClient) {
  Client client = this->client();
  const auto stateless = [](Value request) {
    request.find("params")->set("_meta", json(R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientInfo":{"name":"driver","version":"1"},
        "io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}})"));
    return request;
  };
  const Value first = line_of(client.ask(stateless(client.call("start_workflow", start()))));
  const Value arguments = deliver(first);
  const Value asked = client.ask(stateless(client.call("continue_workflow", arguments)));
  ASSERT_EQ(asked["result"].string_at("resultType"), "input_required") << to_json(asked);
  Value again = stateless(client.call("continue_workflow", arguments));
  const std::string key = asked["result"]["inputRequests"].members().front().name;
  again.find("params")->set("inputResponses", Value::object({{key, json(kApprove)}}));
  again.find("params")->set("requestState", asked["result"]["requestState"]);
  EXPECT_EQ(line_of(client.ask(again))["pending"].string_at("stepId"), "second");
  // The state can be used once.
  Value used = stateless(client.call("continue_workflow", arguments));
  used.find("params")->set("inputResponses", again["params"]["inputResponses"]);
  used.find("params")->set("requestState", again["params"]["requestState"]);
  EXPECT_NE(client.ask(used).find("error"), nullptr);
}

// What an agent sees that starts `signalbox mcp` itself, with whatever it may have as a secret.
TEST_F(McpAsking, AClientThatWasNotSetUpIsNotAsked) {
  std::string plain = shell("serve token script 2>/dev/null");
  plain = plain.substr(plain.find("sbs_"), 56);
  const std::string revoked = installed_secret("gone");
  shell("mcp uninstall --client other --name gone");
  for (const std::string& secret : {std::string(), std::string("sbs_guess"), plain, revoked}) {
    Client client = with_secret(secret);
    client.open("2025-11-25");
    const Value first = line_of(client.ask(client.call("start_workflow", start())));
    const Value answer = client.ask(client.call("continue_workflow", deliver(first)));
    EXPECT_EQ(answer.find("method"), nullptr) << to_json(answer);
    EXPECT_EQ(line_of(answer).string_at("kind"), "awaiting_decision");
    EXPECT_THAT(to_json(answer), HasSubstr("signalbox mcp install --client other --name NAME"));
    const Value asked = client.ask(client.call(
        "ask", json(R"({"declaration": {"decision": "env", "instruction": "Which?", "options": ["a", "b"]}})")));
    EXPECT_EQ(line_of(asked).string_at("kind"), "awaiting");
    EXPECT_THAT(to_json(asked), HasSubstr("signalbox mcp install"));
  }
}

TEST_F(McpAsking, WhereTheUserAllowsItTheAnswerOfSuchAClientIsRelayed) {
  fs::create_directories(root_ / "home");
  std::ofstream(root_ / "home/config.yaml") << "confirmations: relay\n";
  Client client = with_secret("");
  client.open("2025-11-25");
  const Value first = line_of(client.ask(client.call("start_workflow", start())));
  const Value question = client.ask(client.call("continue_workflow", deliver(first)));
  ASSERT_EQ(question.string_at("method"), "elicitation/create") << to_json(question);
  EXPECT_EQ(line_of(client.ask(reply_to(question, kApprove)))["pending"].string_at("stepId"), "second");
  EXPECT_THAT(shell("inbox list --all --json"), HasSubstr(R"("resolved_by":"relayed")"));
}

TEST_F(McpAsking, UninstallingEndsDialogsOfARunningServer) {
  Client client = this->client();
  client.open("2025-11-25");
  const Value first = line_of(client.ask(client.call("start_workflow", start())));
  shell("mcp uninstall --client other --name driver-client");
  const Value answer = client.ask(client.call("continue_workflow", deliver(first)));
  EXPECT_EQ(line_of(answer).string_at("kind"), "awaiting_decision") << to_json(answer);
}

// Nothing that the server starts, and no one who lists processes, needs it.
TEST_F(McpAsking, TheSecretIsNotInTheServersEnvironmentOrArguments) {
  Client client = this->client();
  client.open("2025-11-25");
  for (const char* name : {"environ", "cmdline"}) {
    std::ifstream file("/proc/" + std::to_string(client.process()) + "/" + name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find(secret_), std::string::npos) << name;
  }
}

TEST_F(McpAsking, CancelledInTheDialogAndAnsweredInTheTerminal) {
  Value parked;
  {
    Client client = this->client();
    client.open("2025-11-25");
    const Value first = line_of(client.ask(client.call("start_workflow", start())));
    const Value question = client.ask(client.call("continue_workflow", deliver(first)));
    parked = line_of(client.ask(reply_to(question, R"({"action":"cancel"})")));
    EXPECT_EQ(parked.string_at("kind"), "awaiting_decision");
  }
  const std::string id = parked["decision"].string_at("id").value_or("none");
  EXPECT_THAT(shell("inbox list"), HasSubstr(id));
  // An answer given between two servers is used by the next call of any client.
  Client other = client();
  other.open("2025-03-26");
  const Value waiting = line_of(other.ask(other.call("continue_workflow", look(parked))));
  EXPECT_EQ(waiting.string_at("kind"), "awaiting_decision");
  shell("inbox answer " + id + " approve");
  const Value next = line_of(other.ask(other.call("continue_workflow", look(parked))));
  EXPECT_EQ(next["pending"].string_at("stepId"), "second") << to_json(next);
}

TEST_F(McpAsking, AnAnswerInTheTerminalEndsTheDialog) {
  Client client = this->client();
  client.open("2025-11-25");
  const Value first = line_of(client.ask(client.call("start_workflow", start())));
  const Value question = client.ask(client.call("continue_workflow", deliver(first)));
  ASSERT_EQ(question.string_at("method"), "elicitation/create");
  const std::string listed = shell("inbox list");
  const std::string id = listed.substr(0, listed.find(' '));
  EXPECT_THAT(shell("inbox answer " + id + " approve"), HasSubstr("approve"));
  EXPECT_EQ(line_of(client.receive())["pending"].string_at("stepId"), "second");
}

TEST_F(McpAsking, AskPutsADecisionIntoTheInbox) {
  Client client = this->client();
  client.open("2025-03-26");
  const Value arguments =
      json(R"({"declaration":"decision: env\ninstruction: Which?\noptions: [staging, production]"})");
  const Value waiting = line_of(client.ask(client.call("ask", arguments)));
  EXPECT_EQ(waiting.string_at("kind"), "awaiting");
  shell("inbox answer " + waiting.string_at("decision").value_or("none") + " production");
  const Value outcome = line_of(client.ask(client.call("ask", arguments)));
  EXPECT_EQ(to_json(outcome["options"]), R"(["production"])");
  EXPECT_EQ(outcome.string_at("outcome"), "answered");
}

}  // namespace
}  // namespace sb
