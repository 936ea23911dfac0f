// How a catalog is assembled: all sources are walked, then read from the weakest to the strongest.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workflow/catalog/catalog.hpp"
#include "workflow/catalog/source_file.hpp"
#include "workflow/catalog/walk.hpp"

namespace sb::workflow {

class CatalogBuilder {
 public:
  CatalogBuilder(const Files& files, const CatalogOptions& options, SourceCache& cache);

  Result<Catalog> make(const Environment& environment, const HomeDirectories& homes) &&;

 private:
  struct Candidate {
    std::shared_ptr<const SourceFile> file;
    Origin origin;
    bool is_routine = false, is_internal = false;
    std::size_t source = 0;
  };

  void add_bundled();
  void add_project();
  void add_named(const Environment& environment, std::string_view variable);
  // `must_exist`: the user named it, so a missing one is reported.
  void add_folder(SourceKind kind, const std::string& folder, bool must_exist);
  void read_folders();
  void take(Candidate candidate);
  void take_contract(const Candidate& candidate);
  void take_feature(const Candidate& candidate);
  void take_workflow(const Candidate& candidate);
  bool is_copy_of_bundled(const CatalogEntry& entry) const;
  // Whether a file may take the place of one from there.
  bool may_replace(const Origin& origin, SourceKind there) const;
  void name_templates();
  void count();
  Status had_means() const;

  const Files& files_;
  const CatalogOptions& options_;
  SourceReader reader_;
  Catalog catalog_;
  std::vector<SourceScan> walks_;                                 // parallel to catalog_.sources_
  std::map<const CatalogEntry*, std::size_t> source_of_;          // an entry's index in catalog_.sources_
  std::map<std::string, std::size_t, std::less<>> owner_;         // a file's strongest source
  std::map<std::string, SourceKind, std::less<>> owner_of_name_;  // of contracts and features
  std::optional<Error> unread_;                                   // a file that could not be opened for lack of means
  int looked_at_ = 0;
};

}  // namespace sb::workflow
