#include "engine/state/tree_check.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/limits.hpp"
#include "base/text/unicode.hpp"

namespace sb::engine {
namespace {

enum class Finding { kFine, kDeep, kNotUtf8, kNotFinite };

Finding look(const Value& value, int levels_left) {
  const auto worse = [](Finding a, Finding b) { return a == Finding::kFine ? b : a; };
  if (levels_left == 0) return Finding::kDeep;
  Finding found = Finding::kFine;
  if (value.is_string()) {
    if (!is_utf8(value.as_string())) return Finding::kNotUtf8;
  } else if (value.kind() == Value::Kind::kNumber) {
    if (!std::isfinite(value.as_number())) return Finding::kNotFinite;
  } else if (value.is_array()) {
    for (const Value& item : value.items()) found = worse(found, look(item, levels_left - 1));
  } else if (value.is_object()) {
    for (const auto& [name, member] : value.members()) {
      if (!is_utf8(name)) return Finding::kNotUtf8;
      found = worse(found, look(member, levels_left - 1));
    }
  }
  return found;
}

}  // namespace

Status check_tree(const Value& value, std::string_view what) {
  switch (look(value, limits::kDocumentDepth)) {
    case Finding::kFine:
      return {};
    case Finding::kDeep:
      return fail(ErrorCode::kLimit, fmt::format("{} is nested deeper than {} levels", what, limits::kDocumentDepth),
                  "Flatten it.");
    case Finding::kNotUtf8:
      return fail(ErrorCode::kInvalid, fmt::format("{} contains text that is not UTF-8", what), "Send UTF-8.");
    case Finding::kNotFinite:
      return fail(ErrorCode::kInvalid, fmt::format("{} contains a number that JSON cannot represent", what));
  }
  return {};
}

}  // namespace sb::engine
