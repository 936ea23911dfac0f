// The built program on stdin and stdout, and clients with a person: one with sessions or a stateless one, whose dialog
// is answered as a test says.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>
#include <vector>

#include "base/document/document.hpp"

namespace sb::test_program {

namespace fs = std::filesystem;

inline constexpr int kPatienceMs = 60'000;

inline constexpr const char* kWorkflow =
    "id: gated\nname: Gated\ndescription: A gate and a step\nversion: 1.0.0\nsteps:\n"
    "  - {id: first, title: First, prompt: Do it., requireConfirmation: true}\n"
    "  - {id: second, title: Second, prompt: Do more.}\n";

inline Value json(std::string_view text) {
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
    EXPECT_EQ(status, is_killed_ ? SIGKILL : 0) << "how the server ended";
    close(output_);
  }

  // No farewell.
  void kill() {
    is_killed_ = true;
    ::kill(process_, SIGKILL);
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
  bool is_killed_ = false;
  int input_ = -1, output_ = -1, last_id_ = 0;
  std::string buffer_;
};

inline Value reply_to(const Value& question, std::string_view result) {
  return Value::object({{"jsonrpc", "2.0"}, {"id", question["id"]}, {"result", json(result)}});
}

// The JSON line at the end of a tool's result.
inline Value line_of(const Value& response) {
  const Value& content = response["result"]["content"];
  if (!content.is_array() || content.size() == 0) {
    ADD_FAILURE() << to_json(response);
    return {};
  }
  return json(content.items().back().string_at("text").value_or("null"));
}

inline constexpr const char* kApprove = R"({"action":"accept","content":{"choice":"approve"}})";

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
    return program(" '" SB_PROGRAMS "/signalbox' " + command + " 2>&1 </dev/null");
  }
  // An answer without a waiting call is handled without a response.
  void await_late(const std::string& decision) const {
    for (int i = 0; i < 600 && !shell("inbox show " + decision).contains("came late"); ++i) {
    }
  }
  // What the hook tells the agent before a prompt of the person.
  std::string note_at_prompt() const {
    std::ofstream(root_ / "event.json")
        << R"({"session_id":"c1","hook_event_name":"UserPromptSubmit","prompt":"go on",)"
        << R"("cwd":")" << (root_ / "work").string() << "\"}";
    return program(" '" SB_PROGRAMS "/signalbox-hook' <'" + (root_ / "event.json").string() + "'");
  }
  std::string program(const std::string& command) const {
    // The environment of the test's user must not look like an agent's.
    const std::string line =
        "env -i PATH=\"$PATH\" USER=ann SIGNALBOX_HOME='" + (root_ / "home").string() + "'" + command;
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

inline std::string message_of(const Value& params) {
  return params.string_at("message").value_or("");
}

// The options of a form, of any revision: id (or, of a checkbox, the field's name) and title.
inline std::vector<std::pair<std::string, std::string>> options_in(const Value& params) {
  std::vector<std::pair<std::string, std::string>> options;
  for (const Value::Member& field : params["requestedSchema"]["properties"].members()) {
    const Value& property = field.value;
    if (property.string_at("type") == "boolean") options.emplace_back(field.name, property["title"].as_string());
    const Value& list = property.find("oneOf") != nullptr ? property["oneOf"] : property["items"]["anyOf"];
    for (const Value& option : list.is_array() ? list.items() : Value::Array()) {
      options.emplace_back(option["const"].as_string(), option["title"].as_string());
    }
    for (std::size_t i = 0; i < property["enum"].size(); ++i) {
      options.emplace_back(property["enum"].items()[i].as_string(), property["enumNames"].items()[i].as_string());
    }
  }
  return options;
}

inline bool offers(const Value& params, std::string_view text) {
  return std::ranges::any_of(options_in(params), [&](const auto& option) { return option.second.contains(text); });
}

inline std::string option_with(const Value& params, std::string_view text) {
  for (const auto& [id, title] : options_in(params)) {
    if (title.contains(text)) return id;
  }
  ADD_FAILURE() << text << " is not offered in " << to_json(params);
  return {};
}

// Whether several may be chosen.
inline bool is_many(const Value& params) {
  const Value& first = params["requestedSchema"]["properties"].members().at(0).value;
  return first.string_at("type") != "string";
}

// The answer that chooses the options with these texts, joined by `+`; of a list none for an empty one.
inline Value choosing(const Value& params, const std::string& chosen) {
  Value content = Value::object();
  if (!is_many(params)) {
    content.set("choice", option_with(params, chosen));
    return content;
  }
  Value ids = Value::array();
  for (std::size_t at = 0; at < chosen.size();) {
    const std::size_t end = std::min(chosen.find('+', at), chosen.size());
    ids.push_back(option_with(params, chosen.substr(at, end - at)));
    at = end + 1;
  }
  for (const Value::Member& field : params["requestedSchema"]["properties"].members()) {
    if (field.value.string_at("type") != "boolean") {
      content.set(field.name, ids);
      return content;
    }
    content.set(field.name, std::ranges::find(ids.items(), Value(field.name)) != ids.items().end());
  }
  return content;
}

// Walks `ask` with a declaration, answer by answer (choosing()).
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
    reply(Value::object({{"action", "accept"}, {"content", choosing(params_, chosen)}}));
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

}  // namespace sb::test_program
