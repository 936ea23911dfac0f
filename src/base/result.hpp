// What a function that can fail returns, and what a failure says.
//
// Result<T> is std::expected<T, Error>. An Error has a closed code that programs act on, and for people a message (what
// happened), a place (where) and a remedy (what to do). No exception crosses a folder's border.
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
  kConflict,     // someone else was first (expected head, second answer, duplicate)
  kForbidden,    // not allowed to do this here
  kUnavailable,  // busy or unreachable; trying again may help
  kIo,           // the operating system refused: disk full, read-only, permission
  kCorrupt,      // stored bytes are not what was written
  kUnsupported,  // a newer format, or something this host cannot carry
  kInternal,     // a fault of ours
};

std::string_view to_string(ErrorCode code);

// Where a fault is. Any part may be missing: line 0 means unknown.
struct SourceLocation {
  std::string file;
  std::string pointer;  // RFC 6901
  int line = 0;
  int column = 0;  // in code points, from 1

  bool operator==(const SourceLocation&) const = default;
};

// Copies, moves and the destructor are in result.cpp: every SB_TRY has them, and inlined they were slow to compile.
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
  std::string_view rule = {};  // of a document's fault: a stable name of the rule it breaks, for programs; a literal

  // One line for people: `release.yaml:14:3: /steps/0: message. Remedy.`
  std::string to_string() const;
};

template <class T>
using Result = std::expected<T, Error>;
using Status = Result<void>;

// Every fault of one document, in document order. Never empty when returned as an error.
using Faults = std::vector<Error>;
template <class T>
using Checked = std::expected<T, Faults>;

std::unexpected<Error> fail(ErrorCode code, std::string message, std::string remedy = {}, SourceLocation location = {});

// The exit code a command ends with: 2 for wrong use or bad input, 3 when something broke (1 is "the answer is no" and
// never comes from an Error).
int exit_code_for(ErrorCode code);

namespace detail {
template <class T>
T take(Result<T>&& result) {
  return std::move(*result);
}
inline void take(Status&&) {}
}  // namespace detail

}  // namespace sb

// The value of a Result, or a return from the enclosing function with its error. May stand inside another.
#define SB_TRY(expression) SB_TRY_NAMED_(expression, __COUNTER__)
#define SB_TRY_NAMED_(expression, number) SB_TRY_NUMBERED_(expression, number)
#define SB_TRY_NUMBERED_(expression, number) SB_TRY_AS_(expression, sb_try_result_##number)
#define SB_TRY_AS_(expression, result)                              \
  ({                                                                \
    auto result = (expression);                                     \
    if (!result) return std::unexpected(std::move(result).error()); \
    ::sb::detail::take(std::move(result));                          \
  })
