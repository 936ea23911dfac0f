// The planned part of a question call: the prompt its marker names, the decision that prompt asks, and how the call
// differs from what the host was given.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/seams.hpp"
#include "decision/render/render.hpp"
#include "hook/events/event.hpp"
#include "inbox/home.hpp"

namespace sb::hook {

// The user's inbox as a hook opens it: it does not wait long and does no maintenance. Null with kReadOnly when nothing
// was ever asked here.
Result<std::unique_ptr<inbox::Home>> open_home(const Seams& seams, store::Access access);

// Only its store, which can be read whatever the configuration says. Null when there is none.
Result<std::unique_ptr<store::SqliteStore>> open_store(const Seams& seams, store::Access access);

// The name of the profile it was declared under.
std::string profile_of(const inbox::DecisionState& state);

struct PlannedQuestion {
  inbox::PlannedPrompt prompt;
  inbox::DecisionState decision;
  std::optional<decision::Declaration> declaration = {};  // nothing if another version would read it differently
  std::optional<decision::Rendered> shown = {};           // as its host was given it, if it is still the open question

  // No preference may answer it: it needs a signature, is part of a chain or flow, is asked in pages, or its profile is
  // not gstack, the only one with preferences (AMB-21).
  bool needs_person() const;

  // Under gstack the recommended option may be moved to the front; elsewhere the order is the declared one
  // (REQ-INT-68).
  bool is_order_fixed() const;
};

// The planned prompt each question names by its marker; nothing where it names no known one. A question that names
// several is kInvalid.
Result<std::vector<std::optional<PlannedQuestion>>> find_planned(inbox::Home& home,
                                                                 const std::vector<CallQuestion>& questions,
                                                                 const Seams& seams);

// The newest of these open prompts that is wanted and belongs to this folder (absolute, free of links) or a parent.
using PromptFilter = std::function<bool(const inbox::PlannedPrompt&)>;
Result<std::optional<PlannedQuestion>> newest_in(inbox::Home& home, const std::string& directory,
                                                 const std::vector<inbox::PlannedPrompt>& open,
                                                 const PromptFilter& wanted);

// Every difference between the question and the plan, one sentence each: options that are missing, new, renamed or out
// of order, multi-select allowed or not, another question text, another gstack id, another host's tool. Header and
// descriptions are up to the caller. None if it is no longer the open question. Pure.
std::vector<std::string> differences(const PlannedQuestion& planned, const CallQuestion& question,
                                     const decision::Host& host);

// Whether an unmarked question offers at least two options of the prompt. Pure.
bool overlaps(const inbox::PlannedPrompt& planned, const CallQuestion& question);

}  // namespace sb::hook
