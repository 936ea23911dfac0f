// Results of tools: the response of a session, and errors an agent can act on.
#pragma once

#include <string>
#include <string_view>

#include "base/document/value.hpp"
#include "base/result.hpp"
#include "engine/answer/answer.hpp"
#include "engine/session/sessions.hpp"

namespace sb::mcp {

// The text for the agent, then one line of JSON. `note`: how the input was interpreted, before the text. `client`: the
// program that the agent runs in, as it names itself; it decides how child sessions are to be run.
Value answer_result(const engine::SessionResponse& answer, std::string_view note, std::string_view client);

// {code, message, retry, details?} as text, with isError. The message includes the remedy.
Value error_result(const engine::SessionError& error);
Value error_result(Error error);

}  // namespace sb::mcp
