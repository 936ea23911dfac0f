#include "inbox/operators/authority.hpp"

#include <fmt/format.h>

#include "base/files.hpp"

namespace sb::inbox {

Confirmations Policy::confirmations_in(std::string_view workspace) const {
  // The nearest configured directory decides.
  std::size_t longest = 0;
  Confirmations nearest = confirmations;
  for (const auto& [directory, says] : confirmations_by_workspace) {
    if (!workspace.empty() && is_within(workspace, directory) && directory.size() >= longest) {
      longest = directory.size();
      nearest = says;
    }
  }
  return nearest;
}

Status may_answer(const DecisionFacts& facts, const Responder& from, std::string_view signer, const Policy& policy) {
  if (facts.needs_signature) {
    if (!signer.empty()) return {};
    if (!facts.has_operators) {
      return fail(ErrorCode::kForbidden,
                  "this requires an operator's signature, and there was no operator key when it was asked",
                  "Run signalbox operator init, then ask again");
    }
    return fail(ErrorCode::kForbidden, "this requires an operator's signature",
                "Answer it in a terminal: run signalbox inbox answer and enter your passphrase");
  }
  switch (from.channel) {
    case Channel::kTerminal:
    case Channel::kCommand:
    case Channel::kConsole:
    case Channel::kElicitation:
    case Channel::kHook:
    case Channel::kLink:
    case Channel::kProgram:
      return {};
    case Channel::kToken:
      if (!signer.empty()) return {};
      return fail(ErrorCode::kForbidden, "the operator token does not cover this decision");
    case Channel::kRelay:
      if (policy.may_relay_in(facts.workspace)) return {};
      return fail(
          ErrorCode::kForbidden, "an agent may not relay answers here",
          fmt::format("A person must answer it: signalbox inbox answer {}", facts.id.empty() ? "ID" : facts.id));
  }
  return fail(ErrorCode::kInternal, "an unknown channel");
}

}  // namespace sb::inbox
