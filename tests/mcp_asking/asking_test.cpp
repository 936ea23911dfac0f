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

// Flows and chains in the client's dialog ---------------------------------------------------------------------------

std::string message_of(const Value& params) {
  return params.string_at("message").value_or("");
}

// The id of the form's option whose title contains this text.
std::string option_with(const Value& params, std::string_view text) {
  const Value& property = params["requestedSchema"]["properties"].members().at(0).value;
  for (const Value& option : property["oneOf"].items()) {
    if (option.string_at("title").value_or("").contains(text)) return option.string_at("const").value_or("");
  }
  ADD_FAILURE() << text << " is not offered in " << to_json(params);
  return {};
}

// Walks `ask` with a declaration: each answer is the text of an option, for a list `+` between them.
class Asked {
 public:
  Asked(Client& client, const std::string& yaml, bool is_stateless) : client_(client), is_stateless_(is_stateless) {
    arguments_ = Value::object({{"declaration", yaml}});
    take(client_.ask(request()));
  }

  const Value& params() const { return params_; }  // of the open form; null when the call has ended
  Value line() const { return line_of(last_); }
  std::string text() const { return last_["result"]["content"].items().at(0).string_at("text").value_or(""); }

  void answer(const std::string& chosen) {
    const Value& property = params_["requestedSchema"]["properties"].members().at(0).value;
    Value content = Value::object();
    if (property.string_at("type") == "array") {
      Value ids = Value::array();
      for (std::size_t at = 0; at <= chosen.size();) {
        const std::size_t end = std::min(chosen.find('+', at), chosen.size());
        ids.push_back(chosen.substr(at, end - at));
        at = end + 1;
      }
      content.set("choices", ids);
    } else {
      content.set("choice", option_with(params_, chosen));
    }
    reply(Value::object({{"action", "accept"}, {"content", content}}));
  }
  void reply(const Value& result) {
    if (!is_stateless_) return take(client_.ask(reply_to(last_, to_json(result))));
    Value again = request();
    const std::string key = last_["result"]["inputRequests"].members().front().name;
    again.find("params")->set("inputResponses", Value::object({{key, result}}));
    again.find("params")->set("requestState", last_["result"]["requestState"]);
    take(client_.ask(again));
  }
  void call_again() { take(client_.ask(request())); }

 private:
  Value request() {
    Value call = client_.call("ask", arguments_);
    if (is_stateless_) {
      call.find("params")->set("_meta", json(R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientInfo":{"name":"driver","version":"1"},
        "io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}})"));
    }
    return call;
  }
  void take(Value message) {
    last_ = std::move(message);
    params_ = Value();
    if (last_.string_at("method") == "elicitation/create") params_ = last_["params"];
    const Value& requests = last_["result"]["inputRequests"];
    if (requests.is_object()) params_ = requests.members().front().value["params"];
  }

  Client& client_;
  bool is_stateless_;
  Value arguments_, last_, params_;
};

constexpr const char* kRelease = R"(
flow: release
steps:
  - {key: branch, instruction: "Какую ветку выпускаем?", options: [main, hotfix]}
  - {key: env, instruction: "В какие среды?", select: many, options: [staging, production]}
)";

std::string chain_of_five() {
  std::string yaml = "chain: bots\nskill: roadmap\nnumber: 3\nrelation: independent\noptions:\n";
  for (int i = 1; i <= 5; ++i) {
    const std::string key = std::to_string(i);
    yaml += "  - {key: E" + key + ", label: \"Bot " + key +
            "\", eli10: \"It answers.\", recommend: {choice: include, "
            "reason: often asked for}" +
            (i == 2 ? ", requires: [E1]" : "") + "}\n";
  }
  return yaml;
}

TEST_F(McpAsking, AFlowIsWalkedToItsConfirmationInBothEras) {
  for (const bool is_stateless : {false, true}) {
    Client client = this->client();
    if (!is_stateless) client.open("2025-11-25");
    Asked asked(client, is_stateless ? std::string(kRelease) + "confirm: always\n" : kRelease, is_stateless);
    EXPECT_THAT(message_of(asked.params()), HasSubstr("Какую ветку выпускаем?"));
    EXPECT_THAT(to_json(asked.params()), HasSubstr("branch"));
    asked.answer("hotfix");
    asked.answer("staging+production");
    EXPECT_THAT(message_of(asked.params()), testing::StartsWith("Summary: branch: hotfix; env: staging, production\n"));
    asked.answer("Edit specific step");
    asked.answer("branch");
    asked.answer("main");
    asked.answer("Restart");
    asked.answer("main");
    asked.answer("staging");
    asked.answer("Confirm");
    EXPECT_EQ(to_json(asked.line()["values"]), R"({"branch":"main","env":["staging"]})");
    EXPECT_EQ(asked.line().string_at("channel"), "elicitation");
  }
}

TEST_F(McpAsking, AChainIsWalkedWithHoldReviseAndWaive) {
  for (const bool is_stateless : {false, true}) {
    Client client = this->client();
    if (!is_stateless) client.open("2025-11-25");
    Asked asked(client, chain_of_five() + (is_stateless ? "instruction: Which bots?\n" : ""), is_stateless);
    EXPECT_THAT(message_of(asked.params()), testing::StartsWith("D3.1 — What about Bot 1?\n"));
    asked.answer("Cut");
    EXPECT_THAT(message_of(asked.params()), HasSubstr("Needs E1 (Bot 1), which you cut."));
    asked.answer("Hold");
    EXPECT_TRUE(asked.params().is_null());
    EXPECT_EQ(asked.line().string_at("kind"), "awaiting");
    EXPECT_THAT(asked.text(), HasSubstr("On hold at D3.2"));
    asked.call_again();
    asked.answer("Ask about E4");
    EXPECT_THAT(message_of(asked.params()), testing::StartsWith("D3.4"));
    asked.answer("Defer");
    for (const char* label : {"D3.2", "D3.3", "D3.5"}) {
      EXPECT_THAT(message_of(asked.params()), testing::StartsWith(label));
      asked.answer("Include");
    }
    asked.answer("Leave it broken on purpose");
    asked.answer("Revise one option");
    asked.answer("More options");
    asked.answer("Back to the options before");
    asked.answer("Bot 3");
    EXPECT_THAT(message_of(asked.params()), testing::StartsWith("D3.revise-3"));
    asked.answer("Cut");
    asked.answer("Ship");
    EXPECT_EQ(to_json(asked.line()["values"]), R"({"E1":"cut","E2":"include","E3":"cut","E4":"defer","E5":"include"})");
  }
}

TEST_F(McpAsking, AWalkSurvivesTheServerAndContinuesInTheInbox) {
  {
    Client client = this->client();
    client.open("2025-11-25");
    Asked asked(client, kRelease, false);
    asked.answer("hotfix");
  }
  Client client = this->client();
  Asked asked(client, kRelease, true);
  EXPECT_THAT(message_of(asked.params()), HasSubstr("В какие среды?"));
  shell("inbox answer release branch=main,env=staging");
  asked.answer("production");
  EXPECT_EQ(to_json(asked.line()["values"]), R"({"branch":"main","env":["staging"]})");
  EXPECT_THAT(asked.text(), HasSubstr("does not count"));
  EXPECT_THAT(shell("inbox show release"), HasSubstr("came late"));
}

}  // namespace
}  // namespace sb
