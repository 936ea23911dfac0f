// Globs over paths with `/`: `*` and `?` within a part, `[a-z]` and `[!a-z]`, `{a,b}`, `**` for any number of parts.
// Pure.
//
// A glob without any of these also covers what lies under the path it names, `dir/` and `dir/**` cover the folder
// itself too. Work is bounded by the product of the two lengths.
#pragma once

#include <string>
#include <string_view>

namespace sb {

enum class GlobCase { kExact, kIgnored };  // of ASCII letters

// Both relative to the same folder, or both absolute; `./` in front and doubled slashes do not matter.
bool glob_covers(std::string_view glob, std::string_view path, GlobCase letters = GlobCase::kExact);

// Without `.`, `..` and doubled slashes, as far as that can be told without looking: `a/../b` is `b`, `../a` stays.
std::string lexically_normal(std::string_view path);

}  // namespace sb
