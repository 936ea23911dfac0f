#include "mcp/call.hpp"

#include <algorithm>
#include <array>

namespace sb::mcp {

namespace {

constexpr std::array<std::string_view, 8> kLevels{"debug", "info",     "notice", "warning",
                                                  "error", "critical", "alert",  "emergency"};

bool has_object(const Value& value, std::string_view name) {
  const Value* member = value.find(name);
  return member != nullptr && member->is_object();
}

}  // namespace

ClientCapabilities ClientCapabilities::of(const Value& capabilities, Revision revision) {
  ClientCapabilities read;
  read.has_sampling = has_object(capabilities, "sampling");
  read.has_roots = has_object(capabilities, "roots");
  if (revision < Revision::k2025_06_18 || !has_object(capabilities, "elicitation")) return read;
  const Value& elicitation = capabilities["elicitation"];
  const bool says_url = has_object(elicitation, "url");
  read.has_url_elicitation = says_url && revision >= Revision::k2025_11_25;
  read.has_form_elicitation = !says_url || has_object(elicitation, "form");
  return read;
}

std::optional<LogLevel> log_level_of(std::string_view name) {
  const auto found = std::ranges::find(kLevels, name);
  if (found == kLevels.end()) return std::nullopt;
  return static_cast<LogLevel>(found - kLevels.begin());
}

std::string_view name_of(LogLevel level) {
  return kLevels[static_cast<std::size_t>(level)];
}

}  // namespace sb::mcp
