// Decisions as the commands show them.
#pragma once

#include <optional>
#include <string>

#include "decision/declaration/declaration.hpp"
#include "inbox/decision_state.hpp"

namespace sb::cli {

// One line: id, declared id, how it stands.
std::string summary_line(const inbox::DecisionState& state);
// All of it for reading, with warnings about answers that were found and do not count.
std::string full_text(const inbox::DecisionState& state);
// to_json_value and: asked (declared id), text, parts, opened_at, deadline, workspace, session, digest, render_hash,
// signed, free_texts, of a chain waived, warnings. Of a damaged one only decision, state "damaged" and warnings.
Value full_view(const inbox::DecisionState& state);

// The declaration it was asked by, where that was a workflow, a run or an agent; nothing for others.
std::optional<decision::Declaration> declaration_of(const inbox::DecisionState& state);

}  // namespace sb::cli
