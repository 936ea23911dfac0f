#include "engine/answer/session_error.hpp"

namespace sb::engine {
namespace {

// Codes for agents are in capitals; other rules name faults in documents.
bool is_agent_code(std::string_view rule) {
  return !rule.empty() && rule.front() >= 'A' && rule.front() <= 'Z';
}

std::string_view code_for(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalid:
    case ErrorCode::kLimit:
      return "VALIDATION_ERROR";
    case ErrorCode::kNotFound:
      return "NOT_FOUND";
    case ErrorCode::kConflict:
    case ErrorCode::kForbidden:
      return "PRECONDITION_FAILED";
    case ErrorCode::kUnavailable:
      return "TOKEN_SESSION_LOCKED";
    case ErrorCode::kCorrupt:
      return "SESSION_NOT_HEALTHY";
    case ErrorCode::kUnsupported:
      return error.rule == "newer_version" ? "SESSION_NOT_HEALTHY" : "VALIDATION_ERROR";
    case ErrorCode::kIo:
    case ErrorCode::kInternal:
      return "INTERNAL_ERROR";
  }
  return "INTERNAL_ERROR";
}

}  // namespace

SessionError session_error(Error error) {
  const std::string code(is_agent_code(error.rule) ? error.rule : code_for(error));
  return {code, std::move(error), {}};
}

std::unexpected<Error> refuse(std::string_view code, Error error) {
  error.rule = code;
  return std::unexpected(std::move(error));
}

std::unexpected<Error> refuse(std::string_view code, ErrorCode kind, std::string message, std::string_view remedy) {
  return refuse(code, Error{kind, std::move(message), std::string(remedy)});
}

}  // namespace sb::engine
