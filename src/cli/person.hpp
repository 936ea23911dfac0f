// The person at the command line: their name, their passphrase, and whether it is a person at all.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.hpp"
#include "inbox/home.hpp"
#include "inbox/operators/signature.hpp"

namespace sb::cli {

// The name of the user this process runs as.
std::string user_name();

// kForbidden where a known coding agent started us: a courtesy, see inbox/operators/known_agents.hpp.
Status refuse_known_agents(const Context& context);

// One line without echo from the terminal. ScopeFilter the input is not a terminal, its next line, so that scripts can
// pipe it; when that has ended, the terminal behind it. kForbidden when there is neither.
Result<std::string> ask_passphrase(const Context& context, std::string_view prompt);
// Twice on a terminal, and both must be equal; of a piped input a second line is compared where there is one.
Result<std::string> ask_new_passphrase(const Context& context, std::string_view prompt);

// The operator who acts: the named one, else the only one, else the one called like the user.
Result<inbox::OperatorKey> choose_operator(const inbox::Operators& operators, const std::string& name);
// Their secret key, for a passphrase; on a terminal a wrong one may be typed twice.
Result<std::string> unlock_operator(const Context& context, const HomeDirectories& homes,
                                    const inbox::Operators& operators, const std::string& name);

// Who answers `state` with `given`, and the signature where one is needed: by the token in SIGNALBOX_OPERATOR_TOKEN,
// else by an operator's passphrase. Expects the question to have been shown.
struct Signing {
  inbox::Responder from;
  std::optional<inbox::AnswerSignature> signature;
};
Result<Signing> sign_for(const Context& context, inbox::Home& home, const inbox::DecisionState& state,
                         const inbox::AnswerInput& given, const std::string& operator_name);

// Who does something else to `state` that needs no signature: the token's operator, within its scope, else the user.
Result<inbox::Responder> credentials_for(const Context& context, const inbox::Home& home,
                                         const inbox::DecisionState& state);

// For answers that were refused: who was first, or who may. These end with 1, everything else as report() says.
int report_answer(const Context& context, const Error& error);

}  // namespace sb::cli
