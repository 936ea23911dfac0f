#include "workflow/catalog/assemble.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "workflow/catalog/bindings.hpp"
#include "workflow/catalog/tags.hpp"
#include "workflow/compile/builtin_texts.hpp"

namespace sb::workflow {
namespace {

constexpr std::string_view kTemplates = "wr.templates.routine.";
constexpr std::string_view kRoutinePrefixes[] = {"wr.routine-", "routine-"};

bool is_reserved(std::string_view id) {
  return id.starts_with("wr.");
}

// Projects and user folders cannot use our names; sources that the user put above all others can.
bool may_replace_bundled(SourceKind kind) {
  return kind != SourceKind::kUser && kind != SourceKind::kProject;
}

Error reserved(std::string_view what, const std::string& file) {
  return {ErrorCode::kForbidden,
          fmt::format("{} is reserved: names that start with `wr.` belong to Signalbox", quote_json(what)),
          "Use your own namespace; to replace a bundled workflow, attach the folder with `signalbox workflow source "
          "add` or "
          "name it in SIGNALBOX_WORKFLOWS",
          {file, "", 0, 0},
          false,
          "reserved_name"};
}

Error untrusted(std::string_view what, const Origin& origin) {
  return {ErrorCode::kForbidden,
          fmt::format("{} is one of your own or a bundled one, which a project replaces only if you trust it",
                      quote_json(what)),
          "Rename it; or read the project's files, then run signalbox trust",
          {origin.file, "", 0, 0},
          false,
          "untrusted_replacement"};
}

bool has_routine_prefix(std::string_view id) {
  return std::ranges::any_of(kRoutinePrefixes, [&](std::string_view prefix) { return id.starts_with(prefix); });
}

std::string template_id_of(std::string_view id) {
  for (const std::string_view prefix : kRoutinePrefixes) {
    if (!id.starts_with(prefix)) continue;
    id.remove_prefix(prefix.size());
    break;
  }
  return fmt::format("{}{}", kTemplates, id);
}

Staleness staleness_of(const Definition& definition) {
  if (!definition.spec_version) return Staleness::kPossible;
  return *definition.spec_version < kAuthoringSpecVersion ? Staleness::kLikely : Staleness::kNone;
}

std::vector<std::string> split_paths(std::string_view list) {
  std::vector<std::string> paths;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    if (end > 0) paths.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return paths;
}

}  // namespace

CatalogBuilder::CatalogBuilder(const Files& files, const CatalogOptions& options, SourceCache& cache)
    : files_(files), options_(options), reader_(files, cache) {}

Result<Catalog> CatalogBuilder::make(const Environment& environment, const HomeDirectories& homes) && {
  catalog_.contracts_ = Contracts::bundled();
  catalog_.features_ = builtin_features();
  add_bundled();
  add_folder(SourceKind::kUser, join_path(homes.config, "workflows"), false);
  add_project();
  if (const auto attached = Catalog::attached(files_, homes)) {
    for (const auto& [folder, by] : *attached) {
      const bool is_persons = by == Catalog::AttachedBy::kPerson;
      add_folder(is_persons ? SourceKind::kManaged : SourceKind::kProject, folder, is_persons);
    }
  } else {
    catalog_.faults_.push_back(attached.error());
  }
  add_named(environment, "WORKFLOW_STORAGE_PATH");
  add_named(environment, "SIGNALBOX_WORKFLOWS");
  for (const std::string& path : options_.overrides) add_folder(SourceKind::kNamed, path, true);
  read_folders();
  SB_TRY(had_means());
  name_templates();
  count();
  return std::move(catalog_);
}

// Without enough open files or memory, files seem to be missing that are not.
Status CatalogBuilder::had_means() const {
  for (const SourceReport& source : catalog_.sources_) {
    for (const Error& note : source.notes) {
      if (note.code == ErrorCode::kUnavailable) return std::unexpected(note);
    }
  }
  return unread_ ? Status(std::unexpected(*unread_)) : Status();
}

void CatalogBuilder::add_bundled() {
  catalog_.sources_.push_back({});
  walks_.push_back({});
  for (const auto& [name, file] : bundled_files()) {
    ++catalog_.sources_[0].files;
    Candidate candidate{file, {}, name.starts_with("routines/"), name.starts_with("internal/"), 0};
    candidate.origin.file = name;
    take(std::move(candidate));
  }
}

void CatalogBuilder::add_project() {
  const std::string& workspace = options_.workspace;
  if (workspace.empty()) return;
  const auto real_workspace = files_.canonical(workspace);
  for (const char* name : {"workflows", ".workrail/workflows", ".signalbox/workflows"}) {
    const std::string folder = join_path(workspace, name);
    const auto real = files_.canonical(folder);
    if (!real || !real_workspace || is_within(*real, *real_workspace)) {
      add_folder(SourceKind::kProject, folder, false);
      continue;
    }
    // A project can contain a link to anything; only the user may declare its target a source.
    SourceReport report;
    report.origin = {SourceKind::kProject, folder, "", ""};
    report.notes.push_back({ErrorCode::kForbidden,
                            fmt::format("the folder is a link to {}, outside the project; it is not followed", *real),
                            fmt::format("Attach it: signalbox workflow source add {}", *real),
                            {folder, "", 0, 0},
                            false});
    catalog_.sources_.push_back(std::move(report));
    walks_.push_back({});
  }
  catalog_.bindings_ = read_bindings(files_, workspace, catalog_.faults_);
  catalog_.are_bindings_trusted_ = true;
  for (const char* name : {".workrail/bindings.json", ".signalbox/bindings.json"}) {
    const auto file = files_.canonical(join_path(workspace, name));
    const bool is_there = file && files_.kind(*file) != FileKind::kMissing;
    if (is_there && !(options_.is_trusted && options_.is_trusted(*file))) catalog_.are_bindings_trusted_ = false;
  }
}

void CatalogBuilder::add_named(const Environment& environment, std::string_view variable) {
  auto folders = split_paths(environment.get(variable).value_or(""));
  std::ranges::reverse(folders);
  for (const std::string& folder : folders) add_folder(SourceKind::kNamed, folder, true);
}

void CatalogBuilder::add_folder(SourceKind kind, const std::string& folder, bool must_exist) {
  SourceReport report;
  const auto real = files_.canonical(folder);
  report.origin = {kind, real.value_or(folder), "", ""};
  SourceScan walk;
  if (!real || files_.kind(*real) == FileKind::kMissing) {
    if (!must_exist) return;
    report.is_missing = true;
    report.notes.push_back({ErrorCode::kNotFound, "the folder does not exist", "", {folder, "", 0, 0}, false});
  } else {
    walk = walk_source(files_, *real, [&](int entries) {
      if (options_.on_file) options_.on_file(looked_at_ + entries);
    });
  }
  report.files = static_cast<int>(walk.files.size());
  looked_at_ += report.files;
  report.stopped = walk.stopped;
  report.notes.insert(report.notes.end(), walk.notes.begin(), walk.notes.end());
  for (const FoundFile& found : walk.files) owner_[found.path] = catalog_.sources_.size();
  catalog_.sources_.push_back(std::move(report));
  walks_.push_back(std::move(walk));
}

void CatalogBuilder::read_folders() {
  int read = 0;
  for (std::size_t source = 1; source < walks_.size(); ++source) {
    std::vector<Candidate> candidates;
    for (const FoundFile& found : walks_[source].files) {
      if (owner_[found.path] != source) continue;  // a stronger source has the same file
      if (options_.on_file) options_.on_file(looked_at_ + ++read);
      Candidate candidate{reader_.read(found), catalog_.sources_[source].origin, found.role == FileRole::kRoutine,
                          found.is_internal, source};
      candidate.origin.file = found.path;
      for (const Error& fault : candidate.file->faults) {
        if (fault.code == ErrorCode::kUnavailable) unread_ = fault;
      }
      candidates.push_back(std::move(candidate));
    }
    // Of several with one id the last wins: one with an explicit id, the higher variant, the path that sorts first.
    std::ranges::reverse(candidates);
    std::ranges::stable_sort(candidates, {}, [](const Candidate& candidate) {
      return std::pair(candidate.file->has_id, variant_rank(candidate.origin.file));
    });
    for (Candidate& candidate : candidates) take(std::move(candidate));
  }
}

void CatalogBuilder::take(Candidate candidate) {
  candidate.origin.digest = candidate.file->digest;
  if (!candidate.file->faults.empty()) ++catalog_.sources_[candidate.source].broken;
  switch (candidate.file->what) {
    case SourceFile::Kind::kContract:
      return take_contract(candidate);
    case SourceFile::Kind::kFeature:
      return take_feature(candidate);
    case SourceFile::Kind::kWorkflow:
      return take_workflow(candidate);
  }
}

void CatalogBuilder::take_contract(const Candidate& candidate) {
  const auto& contract = candidate.file->contract;
  auto& faults = catalog_.contract_faults_;
  if (!contract) {
    faults.insert(faults.end(), candidate.file->faults.begin(), candidate.file->faults.end());
  } else if (is_reserved(contract->ref) && !may_replace_bundled(candidate.origin.kind)) {
    const Contract* ours = Contracts::bundled().find(contract->ref);
    if (ours == nullptr || ours->hash != contract->hash)
      faults.push_back(reserved(contract->ref, candidate.origin.file));
  } else if (const auto owner = owner_of_name_.find("contract " + contract->ref);
             owner != owner_of_name_.end() && !may_replace(candidate.origin, owner->second)) {
    const Contract* other = catalog_.contracts_.find(contract->ref);
    if (other == nullptr || other->hash != contract->hash) faults.push_back(untrusted(contract->ref, candidate.origin));
  } else {
    owner_of_name_.insert_or_assign("contract " + contract->ref, candidate.origin.kind);
    catalog_.contracts_.add(contract);
  }
}

void CatalogBuilder::take_feature(const Candidate& candidate) {
  const SourceFile& file = *candidate.file;
  auto& faults = catalog_.faults_;
  if (!file.faults.empty()) {
    faults.insert(faults.end(), file.faults.begin(), file.faults.end());
  } else if (is_reserved(file.id) && !may_replace_bundled(candidate.origin.kind)) {
    faults.push_back(reserved(file.id, candidate.origin.file));
  } else if (const auto owner = owner_of_name_.find("feature " + file.id);
             owner != owner_of_name_.end() && !may_replace(candidate.origin, owner->second)) {
    faults.push_back(untrusted(file.id, candidate.origin));
  } else {
    owner_of_name_.insert_or_assign("feature " + file.id, candidate.origin.kind);
    catalog_.features_[file.id] = file.feature;
  }
}

bool CatalogBuilder::may_replace(const Origin& origin, SourceKind there) const {
  if (origin.kind != SourceKind::kProject || there == SourceKind::kProject) return true;
  return options_.is_trusted && options_.is_trusted(origin.file);
}

// A checkout of our own sources, or a copy of them: it replaces nothing.
bool CatalogBuilder::is_copy_of_bundled(const CatalogEntry& entry) const {
  const auto found = catalog_.entries_.find(entry.id);
  if (found == catalog_.entries_.end() || !entry.document || !found->second->document) return false;
  return entry.document->root == found->second->document->root;
}

void CatalogBuilder::take_workflow(const Candidate& candidate) {
  const SourceFile& file = *candidate.file;
  auto entry = std::make_shared<CatalogEntry>();
  entry->id = file.id;
  entry->origin = candidate.origin;
  entry->is_routine = candidate.is_routine || has_routine_prefix(file.id);
  entry->is_internal = candidate.is_internal;
  auto tags = tags_of(file.id, entry->is_routine);
  entry->tags = std::move(tags.tags);
  entry->is_hidden = tags.is_hidden || !file.looks_like_workflow;
  entry->document = file.document;
  entry->definition = file.definition;
  entry->faults = file.faults;
  source_of_[entry.get()] = candidate.source;
  const bool is_bundled = candidate.origin.kind == SourceKind::kBundled;
  if (entry->definition && !is_bundled) entry->staleness = staleness_of(*entry->definition);
  if (is_reserved(entry->id) && !may_replace_bundled(candidate.origin.kind)) {
    if (is_copy_of_bundled(*entry)) return;
    entry->definition = nullptr;
    entry->faults = {reserved(entry->id, candidate.origin.file)};
    catalog_.refused_.push_back(std::move(entry));
    return;
  }
  auto& place = catalog_.entries_[entry->id];
  if (place && !may_replace(entry->origin, place->origin.kind)) {
    if (is_copy_of_bundled(*entry)) return;
    entry->definition = nullptr;
    entry->faults = {untrusted(entry->id, entry->origin)};
    catalog_.refused_.push_back(std::move(entry));
    return;
  }
  if (place) {
    entry->shadows = place->shadows;
    entry->shadows.push_back(place->origin);
    entry->replaces_bundled = !is_bundled && (place->replaces_bundled || place->origin.kind == SourceKind::kBundled);
    ++catalog_.sources_[source_of_[place.get()]].shadowed;
    // Broken, with a name that was guessed: the two may be different workflows.
    if (place->origin.folder == entry->origin.folder && !place->faults.empty()) catalog_.refused_.push_back(place);
  }
  place = std::move(entry);
}

void CatalogBuilder::name_templates() {
  std::vector<CatalogEntry*> routines;
  for (const auto& [id, entry] : catalog_.entries_) {
    if (entry->is_routine) routines.push_back(entry.get());
  }
  std::ranges::stable_sort(routines, {}, [&](const CatalogEntry* entry) { return source_of_[entry]; });
  for (CatalogEntry* entry : routines) {
    std::string name = template_id_of(entry->id);
    const CatalogEntry*& place = catalog_.routines_[name];
    const bool is_bundled = place != nullptr && place->origin.kind == SourceKind::kBundled;
    if (is_bundled && !may_replace_bundled(entry->origin.kind)) continue;
    if (place != nullptr && !may_replace(entry->origin, place->origin.kind)) continue;
    if (place != nullptr) catalog_.entries_.find(place->id)->second->template_id.clear();
    place = entry;
    entry->template_id = std::move(name);
  }
}

void CatalogBuilder::count() {
  for (const auto& [id, entry] : catalog_.entries_) ++catalog_.sources_[source_of_[entry.get()]].effective;
}

}  // namespace sb::workflow
