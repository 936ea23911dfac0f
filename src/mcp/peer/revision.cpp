#include "mcp/peer/revision.hpp"

#include <algorithm>

namespace sb::mcp {

std::string_view name_of(Revision revision) {
  switch (revision) {
    case Revision::k2024_11_05:
      return "2024-11-05";
    case Revision::k2025_03_26:
      return "2025-03-26";
    case Revision::k2025_06_18:
      return "2025-06-18";
    case Revision::k2025_11_25:
      return "2025-11-25";
    case Revision::k2026_07_28:
      return "2026-07-28";
  }
  return "";
}

std::optional<Revision> revision_of(std::string_view name) {
  const auto found = std::ranges::find_if(kRevisions, [&](Revision known) { return name_of(known) == name; });
  return found == kRevisions.end() ? std::nullopt : std::optional(*found);
}

namespace {

Value names_of(bool (*is_wanted)(Revision)) {
  Value names = Value::array();
  for (auto revision = kRevisions.rbegin(); revision != kRevisions.rend(); ++revision)
    if (is_wanted(*revision)) names.push_back(name_of(*revision));
  return names;
}

}  // namespace

Value stateless_versions() {
  return names_of([](Revision revision) { return is_stateless(revision); });
}

Value all_versions() {
  return names_of([](Revision) { return true; });
}

Revision negotiate(std::string_view wanted) {
  const auto known = revision_of(wanted);
  return known && !is_stateless(*known) ? *known : Revision::k2025_11_25;
}

}  // namespace sb::mcp
