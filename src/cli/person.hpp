// The person at the command line: their name, their passphrase, and whether it is a person rather than an agent.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.hpp"
#include "inbox/home.hpp"
#include "inbox/operators/signature.hpp"

namespace sb::cli {

// The name of the user this process runs as.
std::string user_name();

// The user this process runs as, and whether they are at a terminal: input that is not one comes from a script, a pipe
// or a program.
inbox::Responder user_at(const Context& context);

// kForbidden when a known coding agent started this process. Not a security boundary: see
// inbox/operators/known_agents.hpp.
Status refuse_known_agents(const Context& context, std::string_view what = "answer");

// Reads one line without echo from the terminal. If stdin is not a terminal, reads its next line, so that scripts can
// pipe it; at the end of stdin, asks on the controlling terminal. kForbidden when there is neither.
Result<std::string> ask_passphrase(const Context& context, std::string_view prompt);
// Asks twice on a terminal, and both must match. From a pipe, a second line is compared if there is one.
Result<std::string> ask_new_passphrase(const Context& context, std::string_view prompt);

// The operator who acts: the named one, else the only one, else the one with the user's name.
Result<inbox::OperatorKey> choose_operator(const inbox::Operators& operators, const std::string& name);
// Their secret key, unlocked with a passphrase; on a terminal there are three tries.
Result<std::string> unlock_operator(const Context& context, const HomeDirectories& homes,
                                    const inbox::Operators& operators, const std::string& name);

// Who answers `state` with `given`, and the signature if one is needed: made with the token in
// SIGNALBOX_OPERATOR_TOKEN, else with an operator's passphrase. The question must have been shown before.
struct Signing {
  inbox::Responder from;
  std::optional<inbox::AnswerSignature> signature;
};
Result<Signing> sign_for(const Context& context, inbox::Home& home, const inbox::DecisionState& state,
                         const inbox::AnswerInput& given, const std::string& operator_name);

// Who acts on `state` where no signature is needed (withdraw, decline, cancel): the token's operator, within its scope,
// else the user.
Result<inbox::Responder> credentials_for(const Context& context, const inbox::Home& home,
                                         const inbox::DecisionState& state);

// For rejected answers (already answered, or not allowed): exit code 1. Other errors as in report().
int report_answer(const Context& context, const Error& error);

}  // namespace sb::cli
