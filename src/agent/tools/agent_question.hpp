// A question that an agent asked a person with its `ask` tool, read back from the inbox. Pure.
#pragma once

#include <optional>
#include <string>

#include "decision/declaration/declaration.hpp"

namespace sb::agent {

// Nothing when the decision is not an agent's question.
std::optional<decision::Declaration> agent_question_declaration(const Value& source, const std::string& hash);

}  // namespace sb::agent
