// A conversation in Claude Code, without Claude Code: an agent that asks what the hook hands it, a person who answers
// in the dialog, and the events the real program sends around each call.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document/value.hpp"

namespace sb {

class Dialog {
 public:
  Dialog();
  ~Dialog();

  struct Ran {
    int code = 0;
    std::string output, errors;
  };
  Ran run(std::vector<std::string> arguments, const std::string& input = "") const;
  void write(const std::string& name, const std::string& text) const;

  // `signalbox render --def FILE --host ask_user_question`: what the agent asks first.
  void begin(const std::string& file);
  // PreToolUse for the open call, and PostToolUse with this answer; returns what the agent is told. A call that the
  // hook refuses is a failure.
  std::string answer(const Value& given);
  // The same PostToolUse event again.
  std::string repeat() const;
  // UserPromptSubmit with this message.
  std::string say(const std::string& message);
  // The hook's answer to an event, as it is printed.
  std::string fire(const Value& event) const;

  const Value& call() const { return call_; }  // the input of the next AskUserQuestion; null when there is none
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

  std::string directory_;
  Value call_;
  Value last_;
};

}  // namespace sb
