#include "base/result.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "base/assert.hpp"

namespace sb {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return "invalid";
    case ErrorCode::kLimit:
      return "limit";
    case ErrorCode::kNotFound:
      return "not-found";
    case ErrorCode::kConflict:
      return "conflict";
    case ErrorCode::kForbidden:
      return "forbidden";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kInternal:
      return "internal";
  }
  return "internal";
}

Error::Error() = default;
Error::Error(ErrorCode code_, std::string message_, std::string remedy_, SourceLocation location_, bool retry_helps_,
             std::string_view rule_)
    : code(code_),
      message(std::move(message_)),
      remedy(std::move(remedy_)),
      location(std::move(location_)),
      is_retryable(retry_helps_),
      rule(rule_) {}
Error::Error(const Error&) = default;
Error::Error(Error&&) noexcept = default;
Error& Error::operator=(const Error&) = default;
Error& Error::operator=(Error&&) noexcept = default;
Error::~Error() = default;

std::unexpected<Error> fail(ErrorCode code, std::string message, std::string remedy, SourceLocation location) {
  return std::unexpected(Error(code, std::move(message), std::move(remedy), std::move(location)));
}

std::string Error::to_string() const {
  std::string line;
  if (!location.file.empty()) {
    line += location.file;
    if (location.line > 0) line += fmt::format(":{}:{}", location.line, location.column);
    line += ": ";
  }
  if (!location.pointer.empty()) line += location.pointer + ": ";
  line += message;
  if (!line.empty() && std::string_view(".!?").find(line.back()) == std::string_view::npos) line += '.';
  if (!remedy.empty()) {
    line += ' ' + remedy;
    if (std::string_view(".!?`").find(line.back()) == std::string_view::npos) line += '.';
  }
  return line;
}

int exit_code_for(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
    case ErrorCode::kLimit:
    case ErrorCode::kNotFound:
    case ErrorCode::kConflict:
    case ErrorCode::kForbidden:
    case ErrorCode::kUnsupported:
      return 2;
    case ErrorCode::kUnavailable:
    case ErrorCode::kIo:
    case ErrorCode::kCorrupt:
    case ErrorCode::kInternal:
      return 3;
  }
  return 3;
}

namespace detail {
void assertion_failed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, expression);
  std::abort();
}
}  // namespace detail

}  // namespace sb
