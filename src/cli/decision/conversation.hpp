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
  Conversation(const Context& context, inbox::Desk& desk, const decision::Declaration& declaration, Options options)
      : context_(context), desk_(desk), declaration_(declaration), options_(std::move(options)) {}

  // Afterwards the inbox has it answered or cancelled, or open as before; what kept somebody from answering is said.
  Status hold(const inbox::DecisionState& state);
  // Whether anybody at all could sign an answer to it.
  Status check_signable(const inbox::DecisionState& state) const;

 private:
  void say(std::string_view text) const;
  std::string preface(const inbox::DecisionState& state) const;
  Status note(const std::string& id, const std::string& text);
  Status conclude(const inbox::DecisionState& state, const Turn& turn, const std::string& shown);
  // The next line; nothing where none is to come: the input is at its end, a signal came, nothing is asked any more.
  std::optional<std::string> listen(const std::string& id, const SignalWatch& signals) const;
  bool is_asked(const std::string& id) const;
  Status refused(const std::string& id, const Error& error) const;
  Status leave_open(const std::string& id) const;

  const Context& context_;
  inbox::Desk& desk_;
  const decision::Declaration& declaration_;
  Options options_;
  std::string raw_;
};

}  // namespace sb::cli
