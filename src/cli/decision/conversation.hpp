// Asks the person at this terminal a question from the inbox, line by line, until it is answered, cancelled or left. An
// answer given elsewhere is noticed within about a second and ends it too.
//
// The question is stored in the inbox before it is shown, and the answer is one commit. So whatever ends this process
// leaves either an open question or an answered one. Not thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/command.hpp"
#include "cli/decision/dialogue.hpp"
#include "cli/signals.hpp"
#include "inbox/home.hpp"

namespace sb::cli {

// True if stdin and one of the outputs are a terminal and no known agent started this process. For an agent, prints why
// it may not answer.
bool is_person_here(const Context& context);

class Conversation {
 public:
  struct Options {
    std::string operator_name = {};
    bool uses_errors = false;              // stdout is for a program, so texts for people go to stderr
    std::function<bool()> is_wanted = {};  // false: the answer is no longer needed; called once a second
  };
  Conversation(const Context& context, inbox::Home& home, const decision::Declaration& declaration, Options options)
      : context_(context), home_(home), declaration_(declaration), options_(std::move(options)) {}

  // Leaves the decision answered, cancelled, or open; prints why if it could not be answered. Returns FLOW_CANCEL or
  // STEP_ABORT where a person ended it that way: then this code is all that the caller prints.
  Result<std::string> ask(const inbox::DecisionState& state);
  // Whether any operator could sign an answer to it.
  Status check_signable(const inbox::DecisionState& state) const;

 private:
  void say(std::string_view text) const;
  std::string preface(const inbox::DecisionState& state) const;
  Status note(const std::string& id, const std::string& text);
  Status submit_answer(const inbox::DecisionState& state, const DialogueTurn& turn, const std::string& shown);
  Result<std::string> end(const inbox::DecisionState& state, const DialogueTurn& turn, const std::string& shown);
  // The next line; nothing at the end of input, after a signal, or when the question is closed.
  std::optional<std::string> read_next_line(const std::string& id, const SignalWatch& signals) const;
  bool is_asked(const std::string& id) const;
  Status refused(const std::string& id, const Error& error) const;
  Status leave_open(const std::string& id) const;

  const Context& context_;
  inbox::Home& home_;
  const decision::Declaration& declaration_;
  Options options_;
  std::string raw_;
};

}  // namespace sb::cli
