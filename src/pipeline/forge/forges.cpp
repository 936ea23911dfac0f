#include "pipeline/forge/forges.hpp"

#include <algorithm>
#include <array>

#include "pipeline/forge/github_forge.hpp"
#include "pipeline/forge/local_forge.hpp"
#include "pipeline/settings/run_settings.hpp"

namespace sb::pipeline {
namespace {

bool is_owner_and_name(std::string_view repository) {
  const std::size_t slash = repository.find('/');
  return slash != repository.npos && slash > 0 && slash + 1 < repository.size() &&
         repository.find_first_of(" ?#%") == repository.npos && repository.find('/', slash + 1) == repository.npos;
}

constexpr std::array kForgeKinds = {
    ForgeKind{.name = "local", .make = make_local_forge},
    ForgeKind{.name = "github",
              .is_hosted = true,
              .repository_form = "owner/name",
              .is_repository = is_owner_and_name,
              .is_ticket_name = is_github_issue,
              .checks_folder = ".github/workflows",
              .make = make_github_forge},
};

}  // namespace

std::span<const ForgeKind> forge_kinds() {
  return kForgeKinds;
}

const ForgeKind* forge_kind_named(std::string_view name, std::span<const ForgeKind> kinds) {
  const auto found = std::ranges::find(kinds, name, &ForgeKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

std::string_view ticket_reference(std::string_view id, const ForgeKind& own) {
  const std::size_t colon = id.find(':');
  if (colon == id.npos) return {};
  const ForgeKind* kind = id.substr(0, colon) == own.name ? &own : forge_kind_named(id.substr(0, colon));
  return kind != nullptr && kind->is_hosted ? id.substr(colon + 1) : std::string_view();
}

Result<std::unique_ptr<Forge>> make_forge(const ForgeParts& parts) {
  return parts.settings.kind->make(parts);
}

}  // namespace sb::pipeline
