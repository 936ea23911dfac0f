// A question of the inbox put to the person at this terminal, line by line, until it is answered, cancelled or left:
// here or, as is noticed within about a second, anywhere else.
//
// The question is in the inbox before it is shown, and the answer is one commit; so whatever ends this process leaves
// either an open question or an answered one. Not thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/command.hpp"
#include "cli/decision/dialogue.hpp"
#include "cli/signals.hpp"
#include "inbox/home.hpp"

namespace sb::cli {

// Both the input and one of the outputs are a terminal, and no known agent sits there; where one does, it is told why
// it may not.
bool is_person_here(const Context& context);

class Conversation {
 public:
  struct Options {
    std::string operator_name = {};
    bool uses_errors = false;              // the output is for a program, so people read the error stream
    std::function<bool()> is_wanted = {};  // false: nobody waits for the answer any more; asked once a second
  };
  Conversation(const Context& context, inbox::Home& home, const decision::Declaration& declaration, Options options)
      : context_(context), home_(home), declaration_(declaration), options_(std::move(options)) {}

  // Afterwards the inbox has it answered or cancelled, or open as before; what kept somebody from answering is said.
  Status ask(const inbox::DecisionState& state);
  // Whether anybody at all could sign an answer to it.
  Status check_signable(const inbox::DecisionState& state) const;

 private:
  void say(std::string_view text) const;
  std::string preface(const inbox::DecisionState& state) const;
  Status note(const std::string& id, const std::string& text);
  Status submit_answer(const inbox::DecisionState& state, const DialogueTurn& turn, const std::string& shown);
  // The next line; nothing where none is to come: the input is at its end, a signal came, nothing is asked any more.
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
