// Who may answer what. Pure.
//
// A decision that needs a signature (one-way door, human_approval, or any under `strict: true`) is answered only by a
// valid signature; the channel is then only recorded. For other decisions the channel decides.
#pragma once

#include <map>
#include <string>

#include "base/result.hpp"
#include "inbox/outcome.hpp"

namespace sb::inbox {

// The user's policy for answering (read by inbox/config.hpp).
struct Policy {
  bool strict = false;
  bool may_relay = false;                                       // confirmations: relay, for all workspaces
  std::map<std::string, bool, std::less<>> relay_by_workspace;  // by directory; applies to subdirectories

  bool may_relay_in(std::string_view workspace) const;
};

// Who answers, and through which channel.
struct Responder {
  Channel channel = Channel::kTerminal;
  std::string principal;
};

// The relevant facts about the decision.
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
