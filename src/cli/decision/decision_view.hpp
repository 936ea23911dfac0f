// How the commands print decisions.
#pragma once

#include <optional>
#include <string>

#include "decision/declaration/declaration.hpp"
#include "inbox/decision_state.hpp"

namespace sb::cli {

// One line: id, declared id, first line of the question, status.
std::string summary_line(const inbox::DecisionState& state);
// The full decision as text, with warnings about rejected answers.
std::string full_text(const inbox::DecisionState& state);
// to_json_value plus asked (declared id), text, parts, opened_at, deadline, workspace, session, digest, render_hash,
// signed, free_texts, waived (chains only), warnings. For a damaged one only decision, state "damaged" and warnings.
Value full_view(const inbox::DecisionState& state);

// The declaration of a question asked by a workflow, a run or an agent; nothing for others.
std::optional<decision::Declaration> declaration_of(const inbox::DecisionState& state);

}  // namespace sb::cli
