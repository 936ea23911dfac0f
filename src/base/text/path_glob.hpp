// Globs over paths with `/`: `*` and `?` within a component, `[a-z]` and `[!a-z]`, `{a,b}`, `**` for any number of
// components. Pure.
//
// A glob without any of these also matches everything below the path it names; `dir/` and `dir/**` match the folder
// itself too. Work is bounded by the product of the two lengths.
#pragma once

#include <string>
#include <string_view>

namespace sb {

enum class GlobCase { kExact, kIgnored };  // for ASCII letters

// Both relative to the same folder, or both absolute; a leading `./` and doubled slashes are ignored.
bool glob_covers(std::string_view glob, std::string_view path, GlobCase letters = GlobCase::kExact);

// Removes `.`, `..` and doubled slashes without accessing the file system: `a/../b` is `b`, `../a` stays.
std::string lexically_normal(std::string_view path);

}  // namespace sb
