// What a host is to show next for an open decision: rendered from where its walk is, and recorded as planned.
//
// Used by `signalbox render`, by the hook after each answer, and by nothing else, so that what one of them plans the
// other recognizes.
#pragma once

#include <optional>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "decision/declaration/declaration.hpp"
#include "decision/render/render.hpp"
#include "decision/walk/walk.hpp"
#include "inbox/inbox.hpp"

namespace sb::inbox {

// The declaration an open question was made from; nothing if this version of the program, or today's profiles, would
// read it differently.
std::optional<decision::Declaration> asked_declaration(const OpenedDecision& opened, const Files& files,
                                                       const Environment& environment);

// Where the decision's walk is, for a host.
Result<decision::Walk> walk_of(const DecisionState& state, const decision::Declaration& declaration,
                               const decision::Host& host);

struct NextPrompt {
  decision::Rendered rendered;
  decision::Prompt prompt;
};
struct NextPromptOptions {
  std::optional<int> page = {};
  // The same question planned before for this host, and still open, is returned again.
  bool may_reuse = false;
};
// kConflict while a chain is on hold.
Result<NextPrompt> plan_next_prompt(Inbox& inbox, const DecisionState& state, const decision::Declaration& declaration,
                                    const decision::Host& host, const NextPromptOptions& options = {});

}  // namespace sb::inbox
