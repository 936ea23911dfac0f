// Messages for what blocks a step. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/advance/advance.hpp"

namespace sb::engine {

// `who` begins a sentence: `The loop "build"`; `kind` ends one: `a list`.
Blocker missing_key(std::string_view key, std::string_view who, std::string_view kind);
Blocker invalid_key(std::string_view key, std::string_view who, std::string_view kind, const Value& value);

// At most kBlockers, with the number of omitted ones; each key once; all unset keys as one blocker with one example.
std::vector<Blocker> bounded(std::vector<Blocker> blockers);

// A context key that a decision, loop or step ahead needs; `who` names it in the message. Empty if the context has it.
struct KeyNeed {
  enum class Kind { kAnything, kList, kCount, kOptions };
  std::string key;
  Kind kind = Kind::kAnything;
};
std::vector<Blocker> missing_needs(const KeyNeed& need, std::string_view who, const Value& context);
// The keys that must be set before this step opens or this loop starts.
std::vector<KeyNeed> needs_of(const workflow::Step& step);
std::string described(const workflow::Step& step);  // `The loop "build"`, `The step "plan"`

}  // namespace sb::engine
