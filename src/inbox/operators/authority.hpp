// Who may answer what. Pure.
//
// A decision that needs a signature (one-way door, human_approval, or any under `strict: true`) is answered only by a
// signature that counts; the channel it came through is then only recorded. The others go by channel.
#pragma once

#include <map>
#include <string>

#include "base/result.hpp"
#include "inbox/outcome.hpp"

namespace sb::inbox {

// What the user's configuration says about answering (inbox/config.hpp reads it).
struct Policy {
  bool strict = false;
  bool may_relay = false;                                       // confirmations: relay, for all
  std::map<std::string, bool, std::less<>> relay_by_workspace;  // by directory; what lies under it follows it

  bool may_relay_in(std::string_view workspace) const;
};

// Who answers, and over what.
struct Responder {
  Channel channel = Channel::kTerminal;
  std::string principal;
};

// What matters about the decision.
struct DecisionFacts {
  bool needs_signature = false;
  bool has_operators = false;  // when it was asked, someone could sign
  std::string workspace;
  std::string id = {};  // for the words of a refusal; empty where there is none yet
};

// `signer` is the operator's name when a signature was given and counts, else empty. kForbidden says why not and what
// would do.
Status may_answer(const DecisionFacts& facts, const Responder& from, std::string_view signer, const Policy& policy);

}  // namespace sb::inbox
