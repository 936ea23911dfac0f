// Every workflow, routine and contract available from here: where it comes from, which one wins, what is wrong with it.
//
// Sources, weakest first; of several with the same id the later one wins and the earlier is shown as shadowed:
//   bundled    built into the program (workflows/)
//   user       workflows/ in the config home
//   project    of the workspace: workflows/, .workrail/workflows/, .signalbox/workflows/
//   managed    folders attached with `workflow source add`, the last one strongest
//   named      folders of SIGNALBOX_WORKFLOWS, then of WORKFLOW_STORAGE_PATH (path lists, first one strongest)
// A project's file replaces one of the user's (or a bundled one) only if its folder is trusted; else it is listed with
// that reason, and the user's is used. The same holds for what a project's bindings do to workflows that are not its
// own. `wr.*` is reserved: only named and managed folders may replace ours, and are shown as replacing; elsewhere a
// `wr.*` file is listed with that reason. In each folder every .json, .yaml and .yml file is read (walk.hpp):
// `internal/` (loadable by id, not listed), `routines/` (templates, and startable), `contracts/` and `features/` as
// named, `examples/` not at all. A walk is limited (limits.hpp) and reports when it stopped.
//
// If one source has an id twice, the variant in the file name decides (.lean. over .v2. over .agentic. over none), then
// the path. A file that does not load stays in the catalog with its faults: listing it and starting it show the reason.
// It still shadows weaker ones, so that a user never runs a different workflow by accident.
//
// With a SourceCache, a file is read and checked again only if its size or time changed.
//
// Not thread-safe. Holds no references to its arguments.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/result.hpp"
#include "workflow/compile/compile.hpp"

namespace sb::workflow {

enum class SourceKind { kBundled, kUser, kProject, kManaged, kNamed };
std::string_view to_string(SourceKind kind);

struct Origin {
  SourceKind kind = SourceKind::kBundled;
  std::string folder;  // of the source; empty for bundled
  std::string file;    // absolute; for bundled the name relative to workflows/
  std::string digest;  // hex SHA-256 of the file's bytes
};

enum class Staleness { kNone, kPossible, kLikely };  // compared with the authoring-spec version this program knows
std::string_view to_string(Staleness staleness);
inline constexpr int kAuthoringSpecVersion = 3;

struct CatalogEntry {
  std::string id;  // the file name without extension if the id could not be read
  Origin origin;
  bool is_routine = false, is_internal = false, is_hidden = false;
  std::string template_id;  // for a routine: its name in a templateCall; empty if another routine has that name
  std::vector<std::string> tags;
  std::shared_ptr<const Document> document;      // null if the file could not be read at all
  std::shared_ptr<const Definition> definition;  // null if it does not load
  Faults faults;                                 // why not
  std::vector<Origin> shadows;                   // weaker ones with the same id
  bool replaces_bundled = false;
  Staleness staleness = Staleness::kNone;
};

struct SourceReport {
  Origin origin;  // file empty
  int files = 0, effective = 0, shadowed = 0, broken = 0;
  bool is_missing = false;
  std::string stopped;  // why the walk stopped early; empty if it did not
  Faults notes;         // links not followed, folders that could not be read
};

struct SourceFile;  // source_file.hpp

// Files read before, by path. Kept by callers that open the catalog repeatedly; may be shared by all workspaces.
// Not thread-safe.
class SourceCache {
 public:
  SourceCache();
  ~SourceCache();
  SourceCache(const SourceCache&) = delete;
  SourceCache& operator=(const SourceCache&) = delete;

  int reads() const { return reads_; }  // files read and checked so far

 private:
  friend class SourceReader;
  struct Kept {
    FileStatus status;
    std::shared_ptr<const SourceFile> file;
    int last_used = 0;
  };
  std::map<std::string, Kept, std::less<>> kept_;
  int reads_ = 0;
  int opening_ = 0;
};

struct CatalogOptions {
  std::string workspace = {};               // absolute, or empty for none
  std::vector<std::string> overrides = {};  // files and folders above all other sources, as if named
  SourceCache* cache = nullptr;
  // Whether a project's file (absolute, free of links) is in a folder that the user trusts as it is now; empty: none
  // is.
  std::function<bool(const std::string& file)> is_trusted = {};
  std::function<void(int files)> on_file = {};  // called with the number of files seen, for a progress line
  // The command that lists workflows, shown in the error about an unknown one.
  std::string list_command = "signalbox workflow list --all";
};

class Catalog {
 public:
  static Result<Catalog> open(const Files& files, const Environment& environment, const HomeDirectories& homes,
                              const CatalogOptions& options);
  static Result<Catalog> open(const Files& files, const Environment& environment, const HomeDirectories& homes,
                              const std::string& workspace);

  // Sorted by id. Internal and hidden ones only with `all`. Refused or unreadable files are listed along with a good
  // one with the same id.
  std::vector<const CatalogEntry*> list(bool all = false) const;
  // kNotFound with the nearest id.
  Result<const CatalogEntry*> find(std::string_view id) const;
  const std::vector<SourceReport>& sources() const { return sources_; }
  const Contracts& contracts() const { return contracts_; }
  const Faults& contract_faults() const { return contract_faults_; }
  // What is wrong with features, bindings and the list of managed folders.
  const Faults& faults() const { return faults_; }
  Value tags() const;  // [{id, displayName, when, count}], then one per namespace and `other`, if used

  // What a start pins for an entry; the entry's own faults if it does not load. An entry loads if this succeeds.
  // `included_origins` receives the other project files used: routines expanded into it, workflows it calls.
  Checked<Bundle> compile(const CatalogEntry& entry, std::vector<Origin>* included_origins = nullptr) const;
  // For a file that need not be in any source (`workflow check FILE`), in the context of this catalog.
  Checked<Bundle> compile(const Document& document) const;

  // Managed folders, stored in `sources.json` of the data home: {"v": 1, "folders": [absolute…], "byAgents": [those of
  // them that an agent attached]}. A folder that an agent attached counts as the project's: it replaces no bundled
  // workflow, and its commands wait for `signalbox trust`; attaching it again as a person makes it the user's own.
  // Otherwise attaching an attached folder changes nothing. Detaching takes the path as it was attached, even if the
  // folder is gone.
  enum class AttachedBy { kPerson, kAgent };
  static Status attach(Files& files, const HomeDirectories& homes, const std::string& folder,
                       AttachedBy by = AttachedBy::kPerson);
  static Status detach(Files& files, const HomeDirectories& homes, const std::string& folder);
  struct AttachedFolder {
    std::string folder;
    AttachedBy by = AttachedBy::kPerson;
    bool operator==(const AttachedFolder&) const = default;
  };
  static Result<std::vector<AttachedFolder>> attached(const Files& files, const HomeDirectories& homes);

 private:
  Catalog() = default;
  std::map<std::string, std::shared_ptr<CatalogEntry>, std::less<>> entries_;
  std::vector<std::shared_ptr<CatalogEntry>> refused_;  // listed, never found: reserved ids, unreadable duplicates
  std::vector<SourceReport> sources_;
  Contracts contracts_;
  Faults contract_faults_;
  Faults faults_;
  std::string list_command_;
  std::map<std::string, Value, std::less<>> features_;
  std::map<std::string, std::string, std::less<>> bindings_;          // `workflow\nslot`, or `\nslot` for any workflow
  bool are_bindings_trusted_ = false;                                 // else only for workflows of the project
  std::map<std::string, const CatalogEntry*, std::less<>> routines_;  // by template id
  friend class CatalogResolver;
  friend class CatalogBuilder;
};

}  // namespace sb::workflow
