// Who may answer what. Pure.
//
// A decision that needs a signature (one-way door, human_approval, a gate under `confirmations: signed`, or any under
// `strict: true`) is answered only by a valid signature, unless the answer chooses only safe options; the channel is
// then only recorded. For other answers the channel decides.
#pragma once

#include <map>
#include <string>

#include "base/result.hpp"
#include "inbox/outcome.hpp"

namespace sb::inbox {

// The user's policy for answering (read by inbox/config.hpp).
enum class Confirmations {
  kAsk,
  kRelay,   // an agent may pass on a person's answer to an unsigned decision
  kSigned,  // every gate needs an operator's signature
};

struct Policy {
  bool strict = false;
  Confirmations confirmations = Confirmations::kAsk;                             // for all workspaces
  std::map<std::string, Confirmations, std::less<>> confirmations_by_workspace;  // by directory; also for those below

  Confirmations confirmations_in(std::string_view workspace) const;
  bool may_relay_in(std::string_view workspace) const { return confirmations_in(workspace) == Confirmations::kRelay; }
};

// Who answers, and through which channel.
struct Responder {
  Channel channel = Channel::kTerminal;
  std::string principal;
};

// The relevant facts about the decision and the answer to it.
struct DecisionFacts {
  bool needs_signature = false;
  bool has_operators = false;  // an operator existed when it was asked
  std::string workspace;
  std::string id = {};  // for error messages; empty when there is none yet
};

// `signer` is the operator's name when a valid signature was given, else empty. kForbidden says why not and what is
// required.
Status may_answer(const DecisionFacts& facts, const Responder& from, std::string_view signer, const Policy& policy);

}  // namespace sb::inbox
