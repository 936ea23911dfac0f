#include "workflow/catalog/source_file.hpp"

#include <fmt/format.h>

#include "base/crypto.hpp"
#include "base/document/reader.hpp"
#include "base/limits.hpp"
#include "workflow/data.hpp"

namespace sb::workflow {
namespace {

constexpr std::string_view kEndings[] = {".json", ".yaml", ".yml"};
constexpr std::pair<std::string_view, int> kVariants[] = {{".lean", 3}, {".v2", 2}, {".agentic", 1}};

std::string_view without_ending(std::string_view name) {
  for (const std::string_view ending : kEndings) {
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  }
  return name;
}

SourceFile::Kind what_of(const Value& root, FileRole role) {
  if (role == FileRole::kContract) return SourceFile::Kind::kContract;
  if (role == FileRole::kFeature) return SourceFile::Kind::kFeature;
  if (root.find("steps") == nullptr) {
    if (root.find("contract") != nullptr) return SourceFile::Kind::kContract;
    if (root.find("feature") != nullptr) return SourceFile::Kind::kFeature;
  }
  return SourceFile::Kind::kWorkflow;
}

void read_feature(SourceFile& file) {
  Reader root(*file.document, file.faults);
  Fields fields = root.fields();
  const auto id = fields.string("feature", Need::kRequired, limits::kIdBytes * 2);
  file.feature = Value::object();
  for (const char* part : {"constraints", "procedure", "verify"}) {
    file.feature.set(part, Value::array(fields.strings(part)));
  }
  fields.string("description");
  fields.finish();
  file.has_id = id.has_value();
  if (id) file.id = *id;
}

void read_as_pinned(SourceFile& file, const Value& pinned) {
  const auto bundle = read_bundle(pinned);
  if (!bundle) {
    Error error = bundle.error();
    error.location.file = file.document->name;
    file.faults.push_back(std::move(error));
    return;
  }
  Definition definition = bundle->back()->definition;
  definition.source = bundle->back()->pinned["workflow"];
  file.id = definition.id;
  file.has_id = true;
  file.definition = std::make_shared<const Definition>(std::move(definition));
}

void read_workflow(SourceFile& file) {
  const Value& root = file.document->root;
  if (const Value* pinned = pinned_bundle(root)) return read_as_pinned(file, *pinned);
  file.looks_like_workflow = !root.is_object() || root.find("id") != nullptr || root.find("steps") != nullptr;
  if (const auto id = root.string_at("id"); id && !id->empty() && id->size() <= limits::kIdBytes) {
    file.id = *id;
    file.has_id = true;
  }
  auto definition = read_definition(*file.document);
  if (definition) {
    file.definition = std::make_shared<const Definition>(std::move(*definition));
  } else {
    file.faults = std::move(definition).error();
  }
}

void read_as_contract(SourceFile& file) {
  auto contract = read_contract(*file.document);
  if (contract) {
    file.contract = std::make_shared<const Contract>(std::move(*contract));
  } else {
    file.faults = std::move(contract).error();
  }
}

SourceFile unreadable(const FoundFile& found, Error error) {
  SourceFile file;
  file.id = stem_of(found.path);
  if (found.role == FileRole::kContract) file.what = SourceFile::Kind::kContract;
  if (found.role == FileRole::kFeature) file.what = SourceFile::Kind::kFeature;
  if (error.location.file.empty()) error.location.file = found.path;
  file.faults.push_back(std::move(error));
  return file;
}

}  // namespace

const Value* pinned_bundle(const Value& root) {
  const Value* bundle = root.find("bundle");
  return bundle != nullptr && root.size() == 1 ? bundle : nullptr;
}

Result<Bundle> read_bundle(const Value& pinned) {
  Bundle bundle;
  if (pinned.is_array()) {
    for (const Value& each : pinned.items()) bundle.push_back(SB_TRY(read_pinned(each)));
  }
  if (bundle.empty()) return fail(ErrorCode::kInvalid, "a bundle is a list of pinned workflows");
  return bundle;
}

std::string stem_of(std::string_view path) {
  const std::string name = base_name(path);
  std::string_view stem = without_ending(name);
  for (bool found = true; found;) {
    found = false;
    for (const auto& [mark, rank] : kVariants) {
      if (!stem.ends_with(mark) || stem.size() == mark.size()) continue;
      stem.remove_suffix(mark.size());
      found = true;
    }
  }
  return std::string(stem);
}

int variant_rank(std::string_view path) {
  const std::string name = base_name(path);
  for (const auto& [mark, rank] : kVariants) {
    if (name.find(fmt::format("{}.", mark)) != std::string::npos) return rank;
  }
  return 0;
}

SourceFile read_source_text(std::string name, std::string text, FileRole role) {
  SourceFile file;
  file.id = stem_of(name);
  file.digest = sha256_hex(text);
  auto document = parse_document(std::move(name), std::move(text));
  if (!document) {
    if (role == FileRole::kContract) file.what = SourceFile::Kind::kContract;
    if (role == FileRole::kFeature) file.what = SourceFile::Kind::kFeature;
    file.faults.push_back(std::move(document).error());
    return file;
  }
  file.document = std::make_shared<const Document>(std::move(*document));
  file.what = what_of(file.document->root, role);
  if (file.what == SourceFile::Kind::kContract) read_as_contract(file);
  if (file.what == SourceFile::Kind::kFeature) read_feature(file);
  if (file.what == SourceFile::Kind::kWorkflow) read_workflow(file);
  return file;
}

SourceCache::SourceCache() = default;
SourceCache::~SourceCache() = default;

SourceReader::SourceReader(const Files& files, SourceCache& cache) : files_(files), cache_(cache) {
  ++cache_.opening_;
}

SourceReader::~SourceReader() {
  // One server serves many workspaces; files used only by workspaces long gone would stay forever.
  if (cache_.kept_.size() <= 4 * limits::kSourceFiles) return;
  std::erase_if(cache_.kept_, [&](const auto& kept) { return kept.second.last_used != cache_.opening_; });
}

std::shared_ptr<const SourceFile> SourceReader::read(const FoundFile& found) {
  auto& kept = cache_.kept_[fmt::format("{}{}", static_cast<int>(found.role), found.path)];
  kept.last_used = cache_.opening_;
  if (kept.file && kept.status == found.status) return kept.file;
  ++cache_.reads_;
  auto text = files_.read(found.path, limits::kWorkflowBytes);
  const bool is_lack_of_means = !text && text.error().code == ErrorCode::kUnavailable;
  kept.file = std::make_shared<const SourceFile>(text ? read_source_text(found.path, std::move(*text), found.role)
                                                      : unreadable(found, std::move(text).error()));
  kept.status = is_lack_of_means ? FileStatus() : found.status;
  return kept.file;
}

const std::vector<BundledFile>& bundled_files() {
  static const auto files = [] {
    std::vector<BundledFile> all;
    for (const std::string_view name : bundled::data_names()) {
      if (name.starts_with("contracts/")) continue;
      const FileRole role = name.starts_with("routines/")   ? FileRole::kRoutine
                            : name.starts_with("features/") ? FileRole::kFeature
                                                            : FileRole::kWorkflow;
      std::string text(bundled::data_file(name));
      all.push_back({name, std::make_shared<const SourceFile>(read_source_text(std::string(name), text, role))});
    }
    return all;
  }();
  return files;
}

}  // namespace sb::workflow
