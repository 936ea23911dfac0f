// What child sessions left, for their parent: as a value in its context, and as text for its agent. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"

namespace sb::engine {

struct ChildResult {
  struct Artifact {
    std::string kind, hash;
    std::size_t bytes = 0;
    Value value;  // null if it is too large to be included
  };
  std::string id = {}, label = {}, session = {};
  std::string outcome = {}, reason = {};
  std::string notes = {};  // of its last delivery
  std::string recap = {};  // its newest notes, shortened; used if the last delivery had none
  std::vector<Artifact> artifacts = {};
};

inline constexpr std::size_t kIncludedArtifactBytes = 32u << 10;

// {outcome, [reason], [session], notes, artifacts}: what a parent captures. What does not fit into `bytes` is named
// instead of included, and notes of more than 8 KiB always are.
Value captured_value(const ChildResult& result, std::size_t bytes = std::string::npos);

// Notes and artifacts of each within its share of `budget`, the rest by reference. Their texts stand behind bars or are
// JSON on one line, so that none of them can pass as ours. Empty without results.
std::string results_text(const std::vector<ChildResult>& results, std::size_t budget, std::string_view where);

// One line each, as a reminder: how it ended and how its notes begin. At most `budget` bytes; `more`: how many others
// there are. Empty without results.
std::string results_brief(const std::vector<ChildResult>& results, std::size_t more, std::size_t budget);

// A text behind bars with at most so many bytes; says what is left out.
std::string quoted_part(std::string_view text, std::size_t bytes);

}  // namespace sb::engine
