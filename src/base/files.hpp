// The parts of the file system that the program uses. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace sb {

enum class FileKind { kMissing, kFile, kDirectory, kOther };

// What a path names, after following links; `is_link` says whether the path itself is a link. A file whose bytes
// changed differs in size, time or identity.
struct FileStatus {
  FileKind kind = FileKind::kMissing;
  bool is_link = false;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::uint64_t identity = 0;

  bool operator==(const FileStatus&) const = default;
};

class Files {
 public:
  virtual ~Files() = default;

  // The whole file; kNotFound, kLimit if larger than `max_bytes`, kIo (also for a directory).
  virtual Result<std::string> read(const std::string& path, std::size_t max_bytes) const = 0;
  // At most the last `max_bytes` of the file; kNotFound, kIo.
  virtual Result<std::string> read_tail(const std::string& path, std::size_t max_bytes) const = 0;
  // Atomic and durable: writes a temporary file, syncs it, renames it over the target. Keeps the mode of an existing
  // file, otherwise uses `mode`. Follows a symbolic link to its target.
  virtual Status write_atomic(const std::string& path, std::string_view bytes, unsigned mode = 0644) = 0;
  // Appends with one write and creates the file if missing; durable when it returns.
  virtual Status append(const std::string& path, std::string_view bytes, unsigned mode = 0644) = 0;
  virtual Status make_directories(const std::string& path, unsigned mode = 0755) = 0;
  virtual Status remove(const std::string& path) = 0;  // no error if it is missing
  // Removes an empty folder; kNotFound, kIo if it is not empty.
  virtual Status remove_directory(const std::string& path) = 0;
  // Removes a file, or a folder with everything below it. Removes links without following them. No error if missing.
  virtual Status remove_tree(const std::string& path) = 0;
  virtual FileKind kind(const std::string& path) const = 0;
  virtual FileStatus status(const std::string& path) const = 0;
  virtual Result<std::vector<std::string>> list(const std::string& directory) const = 0;  // names, sorted
  // Absolute path with symbolic links resolved.
  virtual Result<std::string> canonical(const std::string& path) const = 0;
  // Waits for an exclusive lock on `path` (created if missing) and holds it until the returned object is destroyed.
  // Also excludes other processes.
  virtual Result<std::shared_ptr<void>> lock(const std::string& path) = 0;
  // The same without waiting: nothing if another process holds the lock.
  virtual Result<std::shared_ptr<void>> try_lock(const std::string& path) = 0;
};

class SystemFiles final : public Files {
 public:
  Result<std::string> read(const std::string& path, std::size_t max_bytes) const override;
  Result<std::string> read_tail(const std::string& path, std::size_t max_bytes) const override;
  Status write_atomic(const std::string& path, std::string_view bytes, unsigned mode = 0644) override;
  Status append(const std::string& path, std::string_view bytes, unsigned mode = 0644) override;
  Status make_directories(const std::string& path, unsigned mode = 0755) override;
  Status remove(const std::string& path) override;
  Status remove_directory(const std::string& path) override;
  Status remove_tree(const std::string& path) override;
  FileKind kind(const std::string& path) const override;
  FileStatus status(const std::string& path) const override;
  Result<std::vector<std::string>> list(const std::string& directory) const override;
  Result<std::string> canonical(const std::string& path) const override;
  Result<std::shared_ptr<void>> lock(const std::string& path) override;
  Result<std::shared_ptr<void>> try_lock(const std::string& path) override;
};

// Everything up to the end of the stream; kLimit if it is longer.
Result<std::string> read_stream(int descriptor, std::size_t max_bytes);

std::string join_path(std::string_view directory, std::string_view name);
std::string parent_path(std::string_view path);
// The folder and every one above it, deepest first.
std::vector<std::string> with_parents(const std::string& folder);
std::string base_name(std::string_view path);
// Whether the path is the folder or below it. Compares names only: resolve links and `..` first.
bool is_within(std::string_view path, std::string_view folder);

}  // namespace sb
