// Reading back JSON that Signalbox stored: typed members of one object, and which records are refused.
//
// A member that is missing or of another kind means that the stored bytes are not what was written. StoredReader keeps
// the first such fault and continues with empty values; `done` returns it as kCorrupt, with the names of the object and
// of the member. A reader refers to its object, which must outlive it. Not thread-safe.
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

namespace sb {

// Input from outside is wrapped before it is stored (a child's context in its node's row), so what is read back may be
// deeper and larger than what is read from outside.
inline constexpr JsonBounds kStoredBounds{limits::kStoreValueBytes, limits::kDocumentDepth + 16,
                                          4 * limits::kDocumentNodes};
// kCorrupt when the text is not JSON.
Result<Value> parse_stored(std::string_view text, const JsonBounds& bounds = kStoredBounds);

// Every reader of a stream refuses an event type it does not know instead of skipping it, because the state would be
// wrong without that event. kUnsupported.
std::unexpected<Error> unknown_event(std::string_view stream, std::int64_t seq, std::string_view type);
// The same for a record whose version number this program does not know. `what` names it: `the decision`.
std::unexpected<Error> newer_version(std::string_view what);

// `event 3 (turn) of agent/s-1`: an event as a StoredReader names it.
std::string event_name(std::string_view stream, std::int64_t seq, std::string_view type);

class StoredReader {
 public:
  // `what` names it in the fault: `a session's node`.
  StoredReader(const Value& value, std::string_view what);

  bool has(std::string_view name);
  std::string string(std::string_view name);
  std::string hash(std::string_view name);   // 64 hex digits
  std::string bytes(std::string_view name);  // base64url
  bool boolean(std::string_view name);
  std::int64_t integer(std::string_view name, std::int64_t min = std::numeric_limits<std::int64_t>::min(),
                       std::int64_t max = std::numeric_limits<std::int64_t>::max());
  int small(std::string_view name, int min = std::numeric_limits<int>::min()) {
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
    refuse(name, "has an unknown value");
    return names.front().second;
  }
  // `meaning_of` returns an optional: nothing for a word that it does not know.
  template <class MeaningOf>
  auto word(std::string_view name, const MeaningOf& meaning_of) {
    const auto meaning = meaning_of(string(name));
    if (!meaning) refuse(name, "has an unknown value");
    return meaning.value_or(typename decltype(meaning)::value_type{});
  }

  // Empty, 0 or false when absent.
  std::string optional_string(std::string_view name);
  std::int64_t optional_integer(std::string_view name);
  int optional_small(std::string_view name);
  bool optional_boolean(std::string_view name);
  std::vector<std::string> strings(std::string_view name);
  const Value& optional_object(std::string_view name);
  const Value& optional_array(std::string_view name);

  void refuse(std::string_view name, std::string_view why);
  // A fault when one was met; with `nothing_else`, also when there is a member that was not asked for.
  Status done(bool nothing_else = false);

 private:
  const Value* find(std::string_view name);

  const Value& value_;
  std::string what_, fault_;
  std::vector<std::string_view> known_;
};

}  // namespace sb
