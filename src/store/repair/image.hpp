// The copy of a store's file to which the whole frames of its log have been applied.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "store/repair/log_salvage.hpp"
#include "store/repair/row_salvage.hpp"

namespace sb::store::repair {

class Image {
 public:
  // Copies FILE and applies FILE-wal. Closing the originals drops this process's locks on them.
  static Result<std::unique_ptr<Image>> make(const std::string& path, const std::string& copy);

  const std::string& path() const { return path_; }
  const LogSalvage& log() const { return *log_; }
  bool has_damaged_log() const;
  std::uint32_t pages() const;
  std::string page(std::uint32_t number) const;
  // The page versions that could not be saved, as they are.
  std::vector<PageBytes> damaged_pages() const;
  // The pages after the last commit: of a transaction that was perhaps confirmed.
  std::vector<PageBytes> tail_pages() const;

 private:
  Image(const std::string& path, std::string copy, std::uint32_t page_bytes);
  Status copy_file(const std::string& from);
  Status apply_log();

  std::string path_;
  std::uint32_t page_bytes_;
  sqlite::WalFile wal_;
  std::unique_ptr<LogSalvage> log_;
  std::unique_ptr<sqlite::FileReader> copy_;
  bool is_log_stale_ = false;  // its header is torn, and all it has is in the file
};

}  // namespace sb::store::repair
