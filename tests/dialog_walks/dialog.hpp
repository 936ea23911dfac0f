// A conversation in Claude Code or Codex, without either: an agent that asks what the hook hands it, a person who
// answers in the dialog, and the events the real program sends around each call.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/document/value.hpp"

namespace sb {

class Dialog {
 public:
  enum class Client { kClaudeCode, kCodex };
  explicit Dialog(Client client = Client::kClaudeCode);
  ~Dialog();

  struct Ran {
    int code = 0;
    std::string output, errors;
  };
  Ran run(std::vector<std::string> arguments, const std::string& input = "",
          std::optional<std::int64_t> kill_after_us = {}) const;
  void write(const std::string& name, const std::string& text) const;

  // `signalbox render --def FILE --host …`: what the agent asks first.
  void begin(const std::string& file);
  // PreToolUse for the open call, and PostToolUse with this answer; returns what the agent reads. A call that the
  // hook refuses is a failure.
  std::string answer(const Value& given);
  // The same PostToolUse event again.
  std::string repeat() const;
  // The hook is killed so many microseconds after the answer was handed to it, and what it printed is lost. Returns
  // whether the agent, which then asks the same question again, may ask it; if not, the hook hands it the next one.
  bool is_asked_again_after_kill(const Value& given, std::int64_t after_us);
  // UserPromptSubmit with this message.
  std::string say(const std::string& message);
  // The hook's answer to an event, as it is printed.
  std::string fire(const Value& event) const;
  // PreToolUse for the question tool with this input.
  Value before(const Value& input) const;

  const Value& call() const { return call_; }  // the input of the next question tool; null when there is none
  std::string question() const;
  std::vector<std::string> labels() const;
  void set_call(Value call) { call_ = std::move(call); }
  Value event(const std::string& name) const;
  Value decision() const;  // `inbox list --all --json`: the newest one
  const std::string& directory() const { return directory_; }

  // The last JSON object in a text, which is how the next call is handed over; null if there is none.
  static Value call_in(const std::string& text);

 private:
  std::string told(const std::string& output);
  std::string host() const { return client_ == Client::kCodex ? "request_user_input" : "ask_user_question"; }
  std::string tool() const { return client_ == Client::kCodex ? host() : "AskUserQuestion"; }
  // PostToolUse for the open call.
  Value after(const Value& given) const;
  Value codex_response(const Value& given) const;

  Client client_;
  std::string directory_;
  Value call_;
  Value last_;
};

}  // namespace sb
