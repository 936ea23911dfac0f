// What an agent asked a person with its tool `ask`, read back from what the inbox keeps of it. Pure.
#pragma once

#include <optional>
#include <string>

#include "decision/declaration/declaration.hpp"

namespace sb::agent {

// Nothing when it is not an agent's question.
std::optional<decision::Declaration> agent_question_declaration(const Value& source, const std::string& hash);

}  // namespace sb::agent
