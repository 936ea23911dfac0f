// The user's inbox, located and opened: home directories, configuration, operators and store in one object.
//
//   auto home = SB_TRY(Home::open(seams, store::Access::kReadWrite));
//   SB_TRY(home->inbox().open(declaration, {.workspace = directory}));
//
// Not thread-safe. Must not be moved: the Inbox refers into it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/files.hpp"
#include "base/seams.hpp"
#include "inbox/config.hpp"
#include "inbox/inbox.hpp"
#include "store/sqlite/sqlite_store.hpp"

namespace sb::inbox {

// The database file that stores everything.
std::string store_path(const HomeDirectories& homes);

class Home {
 public:
  // A bad config.yaml is an error that names file and line: there is no fallback policy. kNotFound with kReadOnly when
  // nothing was ever asked here.
  static Result<std::unique_ptr<Home>> open(const Seams& seams, store::Access access,
                                            store::SqliteOptions options = {});

  Inbox& inbox() { return *inbox_; }
  store::Store& store() { return *store_; }
  const HomeDirectories& homes() const { return homes_; }
  const Config& config() const { return config_; }
  const Operators& operators() const { return operators_; }

  // Reads the registry again, for callers that wait long. A registry that does not continue the one read before was
  // replaced: kForbidden.
  Status refresh_operators(Files& files);
  // For long-running servers: reads configuration and registry again if their files changed. While they cannot be read,
  // the caller must not act on anything here.
  Status refresh(Files& files);

 private:
  struct Seen {
    FileStatus config, registry;
    bool operator==(const Seen&) const = default;
  };
  Home() = default;
  Seen look(const Files& files) const;

  HomeDirectories homes_;
  Config config_;
  Operators operators_;
  Seen seen_;
  std::unique_ptr<store::SqliteStore> store_;
  std::optional<Inbox> inbox_;
};

}  // namespace sb::inbox
