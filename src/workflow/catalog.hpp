// Every workflow, routine and contract that can be had from here: where it comes from, which one wins, what is wrong
// with it.
//
// Sources, weakest first; of the same id the later one wins and the earlier is shown as shadowed:
//   bundled    built into the program (workflows/)
//   user       workflows/ in the config home
//   project    of the workspace: workflows/, .workrail/workflows/, .signalbox/workflows/
//   managed    folders attached with `workflow source add`
//   named      folders of SIGNALBOX_WORKFLOWS, then of WORKFLOW_STORAGE_PATH (path lists, first one strongest)
// `wr.*` is reserved: only named and managed folders may replace ours, and are shown as replacing; elsewhere a `wr.*`
// file is listed with that reason. Below each folder every .json, .yaml and .yml file is read, `examples/`, `internal/`
// (loadable by id, not listed), `routines/` (templates, and startable) and `contracts/` included as named; links that
// lead out of the folder are not followed. A walk is bounded (limits.hpp) and says when it stopped.
//
// A file that does not load stays in the catalog with its faults: listing shows the reason, and so does starting it.
// A file is read and checked again only when its size or time changed.
//
// Not thread-safe. Holds references to the seams given.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "workflow/compile.hpp"

namespace sb::workflow {

enum class SourceKind { kBundled, kUser, kProject, kManaged, kNamed };
std::string_view to_string(SourceKind kind);

struct Origin {
  SourceKind kind = SourceKind::kBundled;
  std::string folder;  // of the source; empty for bundled
  std::string file;    // absolute; for bundled the name below workflows/
  std::string digest;  // hex SHA-256 of the file's bytes
};

enum class Staleness { kNone, kPossible, kLikely };  // against the authoring-spec version this program knows

struct Entry {
  std::string id;  // the file's name without ending where the id could not be read
  Origin origin;
  bool is_routine = false, is_internal = false, is_hidden = false;
  std::vector<std::string> tags;
  std::shared_ptr<const Document> document;
  std::shared_ptr<const Definition> definition;  // null when it does not load
  Faults faults;                                 // why not
  std::vector<Origin> shadows;                   // weaker ones of the same id
  bool replaces_ours = false;
  Staleness staleness = Staleness::kNone;
};

struct SourceReport {
  Origin origin;  // file empty
  int files = 0, effective = 0, shadowed = 0;
  std::string stopped;  // why the walk stopped early; empty: it did not
};

class Catalog {
 public:
  // `workspace` absolute, or empty for none.
  static Result<Catalog> open(const Files& files, const Environment& environment, const Homes& homes,
                              const std::string& workspace);

  // Sorted by id. Internal and hidden ones only with `all`.
  std::vector<const Entry*> list(bool all = false) const;
  // kNotFound with the nearest id.
  Result<const Entry*> find(std::string_view id) const;
  const std::vector<SourceReport>& sources() const { return sources_; }
  const Contracts& contracts() const { return contracts_; }
  const Faults& contract_faults() const { return contract_faults_; }
  Value tags() const;  // [{id, displayName, when, count}]

  // Of an entry: what a start pins. The entry's own faults when it does not load.
  Checked<Bundle> compile(const Entry& entry) const;
  // Of a file that need not be in any source (`workflow check FILE`), with this catalog around it.
  Checked<Bundle> compile(const Document& document) const;

  // Managed folders, kept in `sources.json` of the data home.
  static Status attach(Files& files, const Homes& homes, const std::string& folder);
  static Status detach(Files& files, const Homes& homes, const std::string& folder);

 private:
  Catalog() = default;
  std::map<std::string, Entry, std::less<>> entries_;
  std::vector<SourceReport> sources_;
  Contracts contracts_;
  Faults contract_faults_;
  Value bindings_;
  std::map<std::string, const Entry*, std::less<>> routines_;  // by template id
  friend class CatalogSurroundings;
};

}  // namespace sb::workflow
