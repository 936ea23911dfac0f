// The words of what keeps a step from being passed. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/advance/advance.hpp"

namespace sb::engine {

// `who` begins a sentence: `The loop "build"`; `kind` ends one: `a list`.
Blocker missing_key(std::string_view key, std::string_view who, std::string_view kind);
Blocker invalid_key(std::string_view key, std::string_view who, std::string_view kind, const Value& value);

// At most kBlockers, the rest counted; each key once, and all that are not set as one, with one example for all.
std::vector<Blocker> bounded(std::vector<Blocker> blockers);

// What decision, loop or step ahead needs, told by `who`: nothing when the context has it.
struct KeyNeed {
  enum class Kind { kAnything, kList, kCount, kOptions };
  std::string key;
  Kind kind = Kind::kAnything;
};
std::vector<Blocker> missing_needs(const KeyNeed& need, std::string_view who, const Value& context);
// What must be set before this step opens or this loop is entered.
std::vector<KeyNeed> needs_of(const workflow::Step& step);
std::string described(const workflow::Step& step);  // `The loop "build"`, `The step "plan"`

}  // namespace sb::engine
