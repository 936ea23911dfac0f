// Assertions that stay on in release builds. SB_ASSERT is for impossible states, never for bad input.
#pragma once

namespace sb::detail {
[[noreturn]] void assertion_failed(const char* expression, const char* file, int line);
}

#define SB_ASSERT(expression) \
  ((expression) ? static_cast<void>(0) : ::sb::detail::assertion_failed(#expression, __FILE__, __LINE__))
