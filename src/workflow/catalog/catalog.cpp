#include "workflow/catalog/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/reader.hpp"
#include "workflow/catalog/assemble.hpp"
#include "workflow/catalog/tags.hpp"

namespace sb::workflow {

std::string_view to_string(SourceKind kind) {
  switch (kind) {
    case SourceKind::kBundled:
      return "bundled";
    case SourceKind::kUser:
      return "user";
    case SourceKind::kProject:
      return "project";
    case SourceKind::kManaged:
      return "managed";
    case SourceKind::kNamed:
      return "named";
  }
  return "";
}

std::string_view to_string(Staleness staleness) {
  switch (staleness) {
    case Staleness::kNone:
      return "none";
    case Staleness::kPossible:
      return "possible";
    case Staleness::kLikely:
      return "likely";
  }
  return "";
}

Result<Catalog> Catalog::open(const Files& files, const Environment& environment, const HomeDirectories& homes,
                              const CatalogOptions& options) {
  SourceCache own;
  Catalog catalog =
      SB_TRY(CatalogBuilder(files, options, options.cache != nullptr ? *options.cache : own).make(environment, homes));
  catalog.list_command_ = options.list_command;
  return catalog;
}

Result<Catalog> Catalog::open(const Files& files, const Environment& environment, const HomeDirectories& homes,
                              const std::string& workspace) {
  CatalogOptions options;
  options.workspace = workspace;
  return open(files, environment, homes, options);
}

std::vector<const CatalogEntry*> Catalog::list(bool all) const {
  std::vector<const CatalogEntry*> out;
  const auto add = [&](const CatalogEntry& entry) {
    if (all || (!entry.is_internal && !entry.is_hidden)) out.push_back(&entry);
  };
  for (const auto& [id, entry] : entries_) add(*entry);
  for (const auto& entry : refused_) add(*entry);
  std::ranges::stable_sort(out, {}, [](const CatalogEntry* entry) -> const std::string& { return entry->id; });
  return out;
}

Result<const CatalogEntry*> Catalog::find(std::string_view id) const {
  if (const auto found = entries_.find(id); found != entries_.end()) return found->second.get();
  const auto refused = std::ranges::find(refused_, id, [](const auto& entry) -> std::string_view { return entry->id; });
  if (refused != refused_.end()) return refused->get();
  for (const SourceReport& source : sources_) {
    if (source.stopped.empty()) continue;
    return fail(ErrorCode::kNotFound,
                fmt::format("no such workflow among those that were read: {}; {} was read only in part: {}",
                            quote_json(id), source.origin.folder, source.stopped),
                "Name a smaller folder");
  }
  std::vector<std::string> known;
  for (const auto& [name, entry] : entries_) known.push_back(name);
  const std::string nearest = nearest_name(id, known);
  return fail(
      ErrorCode::kNotFound, fmt::format("no such workflow: {}", quote_json(id)),
      nearest.empty() ? fmt::format("See {}", list_command_) : fmt::format("Did you mean {}?", quote_json(nearest)));
}

Value Catalog::tags() const {
  std::vector<std::string> used;
  for (const CatalogEntry* entry : list()) used.insert(used.end(), entry->tags.begin(), entry->tags.end());
  return tag_summary(used);
}

}  // namespace sb::workflow
