// The return type of functions that can fail, and the error they return.
//
// Result<T> is std::expected<T, Error>. An Error has a closed code for programs, and for people a message (what
// happened), a location (where) and a remedy (what to do). No exception crosses a folder boundary.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sb {

enum class ErrorCode {
  kInvalid,      // the input is wrong: type, syntax, value, unknown name
  kLimit,        // the input is over a limit of base/limits.hpp
  kNotFound,     // what was named does not exist
  kConflict,     // another writer was first (expected head, second answer, duplicate)
  kForbidden,    // not allowed to do this here
  kUnavailable,  // busy or unreachable; trying again may help
  kIo,           // the operating system refused: disk full, read-only, permission
  kCorrupt,      // stored bytes are not what was written
  kUnsupported,  // a newer format, or something this host does not support
  kInternal,     // a bug in this program
};

std::string_view to_string(ErrorCode code);

// Location of a fault. Any part may be missing: line 0 means unknown.
struct SourceLocation {
  std::string file;
  std::string pointer;  // RFC 6901
  int line = 0;
  int column = 0;  // in code points, from 1

  bool operator==(const SourceLocation&) const = default;
};

// Copies, moves and the destructor are in result.cpp: every SB_TRY uses them, and inlining them was slow to compile.
struct Error {
  Error();
  Error(ErrorCode code, std::string message, std::string remedy = {}, SourceLocation location = {},
        bool is_retryable = false, std::string_view rule = {});
  Error(const Error&);
  Error(Error&&) noexcept;
  Error& operator=(const Error&);
  Error& operator=(Error&&) noexcept;
  ~Error();

  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::string remedy;
  SourceLocation location;
  bool is_retryable = false;
  std::string_view rule = {};  // for a document fault: stable name of the violated rule, for programs; a literal

  // One line for people: `release.yaml:14:3: /steps/0: message. Remedy.`
  std::string to_string() const;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

// All faults of one document, in document order. Never empty when returned as an error.
using Faults = std::vector<Error>;
template <class T>
using Checked = std::expected<T, Faults>;

std::unexpected<Error> fail(ErrorCode code, std::string message, std::string remedy = {}, SourceLocation location = {});

// The exit code of a command: 2 for wrong usage or bad input, 3 for an internal error (1 is a negative result and never
// comes from an Error).
int exit_code_for(ErrorCode code);

namespace detail {
template <class T>
T take(Result<T>&& result) {
  return std::move(*result);
}
inline void take(Status&&) {}
}  // namespace detail

}  // namespace sb

// The value of a Result, or a return from the enclosing function with its error. May be nested.
#define SB_TRY(expression) SB_TRY_NAMED_(expression, __COUNTER__)
#define SB_TRY_NAMED_(expression, number) SB_TRY_NUMBERED_(expression, number)
#define SB_TRY_NUMBERED_(expression, number) SB_TRY_AS_(expression, sb_try_result_##number)
#define SB_TRY_AS_(expression, result)                              \
  ({                                                                \
    auto result = (expression);                                     \
    if (!result) return std::unexpected(std::move(result).error()); \
    ::sb::detail::take(std::move(result));                          \
  })
