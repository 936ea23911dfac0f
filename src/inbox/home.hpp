// The user's own inbox, found and opened: homes, configuration, operators and store in one bundle.
//
//   auto desk = SB_TRY(Home::open(seams, store::Access::kReadWrite));
//   SB_TRY(desk->inbox().open(declaration, {.workspace = directory}));
//
// Not thread-safe. Keep it where it was made: the Inbox refers into it.
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

// The one file everything is kept in.
std::string store_path(const HomeDirectories& homes);

class Home {
 public:
  // A bad config.yaml is an error that names file and line: policy is never guessed. kNotFound with kReadOnly when
  // nothing was ever asked here.
  static Result<std::unique_ptr<Home>> open(const Seams& seams, store::Access access,
                                            store::SqliteOptions options = {});

  Inbox& inbox() { return *inbox_; }
  store::Store& store() { return *store_; }
  const HomeDirectories& homes() const { return homes_; }
  const Config& config() const { return config_; }
  const Operators& operators() const { return operators_; }

  // Reads the registry again, for whoever waits long. What does not continue the registry read before is kForbidden:
  // somebody put another one in its place.
  Status refresh_operators(Files& files);
  // For whoever serves long: configuration and registry are read again where their files changed. While they cannot be
  // read, nothing here may be acted on.
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
