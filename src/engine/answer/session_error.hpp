// An error an agent can act on, with the format's code: TOKEN_UNKNOWN_NODE, NOT_FOUND, PRECONDITION_FAILED, …
//
// Inside the engine the code travels in Error::rule (refuse); at the border session_error adds it to errors without
// one. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb::engine {

struct SessionError {
  std::string code;
  Error error;
  Value details;
};
template <class T>
using SessionResult = std::expected<T, SessionError>;

SessionError session_error(Error error);

// `code` must be a literal.
std::unexpected<Error> refuse(std::string_view code, Error error);
std::unexpected<Error> refuse(std::string_view code, ErrorCode kind, std::string message, std::string_view remedy);

}  // namespace sb::engine
