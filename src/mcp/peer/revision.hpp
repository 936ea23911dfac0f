// The protocol's revisions and their differences. Pure.
//
// Two eras. Session era: up to 2025-11-25 a client opens a session with `initialize`, and the server may send it
// requests. Stateless era: from 2026-07-28 on every request is independent, names its sender in `_meta`, and a question
// is a result.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/document/value.hpp"

namespace sb::mcp {

enum class Revision { k2024_11_05, k2025_03_26, k2025_06_18, k2025_11_25, k2026_07_28 };
inline constexpr std::array kRevisions{Revision::k2024_11_05, Revision::k2025_03_26, Revision::k2025_06_18,
                                       Revision::k2025_11_25, Revision::k2026_07_28};

std::string_view name_of(Revision revision);
std::optional<Revision> revision_of(std::string_view name);
// Newest first, as a JSON array of names: those of the stateless era, or all.
Value stateless_versions();
Value all_versions();

constexpr bool is_stateless(Revision revision) {
  return revision >= Revision::k2026_07_28;
}
constexpr bool has_batches(Revision revision) {
  return revision == Revision::k2025_03_26;
}
constexpr bool has_structured_content(Revision revision) {
  return revision >= Revision::k2025_06_18;
}

// The answer to `initialize`: the requested revision if it is of the session era, otherwise the newest of that era.
Revision negotiate(std::string_view wanted);

// MCP's own error codes.
namespace code {
inline constexpr int kResourceNotFound = -32002;         // session era
inline constexpr int kHeaderMismatch = -32020;           // stateless era
inline constexpr int kMissingClientCapability = -32021;  // stateless era
inline constexpr int kUnsupportedVersion = -32022;       // stateless era
inline constexpr int kUrlElicitationRequired = -32042;
}  // namespace code

}  // namespace sb::mcp
