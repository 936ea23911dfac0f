// For tests: a temporary directory for a store, removed with its content.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "store/sqlite/sqlite_store.hpp"
#include "store/sqlite/testing/fault_vfs.hpp"

namespace sb::store {

class TempSqliteStore {
 public:
  TempSqliteStore() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sb-store-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary directory");
    directory_ = pattern;
  }
  ~TempSqliteStore() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  TempSqliteStore(const TempSqliteStore&) = delete;
  TempSqliteStore& operator=(const TempSqliteStore&) = delete;

  // Without real syncs, which most tests do not need to wait for.
  Result<std::unique_ptr<Store>> open() {
    SqliteOptions options;
    options.vfs = vfs_.name();
    return SqliteStore::open(path(), Access::kReadWrite, options);
  }

  std::string path() const { return directory_ + "/home/signalbox.db"; }
  const std::string& directory() const { return directory_; }

 private:
  sqlite::FaultVfs vfs_;
  std::string directory_;
};

}  // namespace sb::store
