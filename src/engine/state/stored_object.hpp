// Reads back what this folder stored: typed members of one JSON object. A member that is missing or of another type
// means that the stored bytes are not what was written: the first such fault is kept, later reads return empty values,
// and `done` reports it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document/document.hpp"
#include "base/document/value.hpp"
#include "base/limits.hpp"
#include "base/result.hpp"

namespace sb::engine {

// Values from agents are wrapped before they are stored (a child's context in its node's row), so stored values may be
// deeper and larger than what is accepted from outside.
inline constexpr JsonBounds kStoredBounds{limits::kStoreValueBytes, limits::kDocumentDepth + 16,
                                          4 * limits::kDocumentNodes};
Result<Value> parse_stored(std::string_view text);

class StoredReader {
 public:
  // `what` names it in the fault: `a session's node`.
  StoredReader(const Value& value, std::string_view what);

  bool has(std::string_view name);
  std::string string(std::string_view name);
  std::string optional_string(std::string_view name);  // empty when absent
  std::string hash(std::string_view name);             // 64 hex digits
  bool boolean(std::string_view name);
  std::int64_t integer(std::string_view name, std::int64_t min,
                       std::int64_t max = std::numeric_limits<std::int64_t>::max());
  int small(std::string_view name, int min) {
    return static_cast<int>(integer(name, min, std::numeric_limits<int>::max()));
  }
  const Value& object(std::string_view name);
  const Value& array(std::string_view name);
  const Value& any(std::string_view name);
  template <class E>
  E choice(std::string_view name, std::span<const std::pair<std::string_view, E>> names) {
    const std::string word = string(name);
    for (const auto& [known, meaning] : names) {
      if (known == word) return meaning;
    }
    refuse(name, "has no known value");
    return names.front().second;
  }

  void refuse(std::string_view name, std::string_view why);
  // Returns the first fault, if any; with `nothing_else`, an unread member is a fault too.
  Status done(bool nothing_else = false);

 private:
  const Value* find(std::string_view name);

  const Value& value_;
  std::string what_, fault_;
  std::vector<std::string_view> known_;
};

}  // namespace sb::engine
