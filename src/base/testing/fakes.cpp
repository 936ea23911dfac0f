#include "base/testing/fakes.hpp"

#include <algorithm>

namespace sb {

std::uint64_t FakeRandom::next() {
  std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

void FakeRandom::fill(std::span<std::uint8_t> bytes) {
  for (auto& byte : bytes) byte = static_cast<std::uint8_t>(next());
}

Result<std::string> FakeFiles::read(const std::string& path, std::size_t max_bytes) const {
  const std::lock_guard guard(mutex_);
  const auto found = files_.find(path);
  if (found == files_.end()) {
    if (directories_.contains(path))
      return fail(ErrorCode::kInvalid, "cannot read: Is a directory", "", {path, "", 0, 0});
    return fail(ErrorCode::kNotFound, "cannot read: No such file or directory", "", {path, "", 0, 0});
  }
  if (found->second.size() > max_bytes) return fail(ErrorCode::kLimit, "the file is too large", "", {path, "", 0, 0});
  return found->second;
}

Result<std::string> FakeFiles::read_tail(const std::string& path, std::size_t max_bytes) const {
  std::string bytes = SB_TRY(read(path, static_cast<std::size_t>(-1)));
  if (bytes.size() > max_bytes) bytes.erase(0, bytes.size() - max_bytes);
  return bytes;
}

Status FakeFiles::charge(std::size_t bytes) {
  if (read_only_) return fail(ErrorCode::kIo, "cannot write: Read-only file system");
  if (!space_) return {};
  if (bytes > *space_) return fail(ErrorCode::kIo, "cannot write: No space left on device");
  *space_ -= bytes;
  return {};
}

Status FakeFiles::write_atomic(const std::string& path, std::string_view bytes, unsigned) {
  const std::lock_guard guard(mutex_);
  if (directories_.contains(path)) return fail(ErrorCode::kInvalid, "cannot write: Is a directory");
  SB_TRY(charge(bytes.size()));
  files_[path] = bytes;
  return {};
}

Status FakeFiles::append(const std::string& path, std::string_view bytes, unsigned) {
  const std::lock_guard guard(mutex_);
  if (directories_.contains(path)) return fail(ErrorCode::kInvalid, "cannot write: Is a directory");
  SB_TRY(charge(bytes.size()));
  files_[path].append(bytes);
  return {};
}

Status FakeFiles::make_directories(const std::string& path, unsigned) {
  const std::lock_guard guard(mutex_);
  if (read_only_) return fail(ErrorCode::kIo, "cannot create the folder: Read-only file system");
  for (std::string at = path; !at.empty() && at != "/" && at != "."; at = parent_path(at)) directories_.insert(at);
  return {};
}

Status FakeFiles::remove(const std::string& path) {
  const std::lock_guard guard(mutex_);
  if (read_only_) return fail(ErrorCode::kIo, "cannot remove: Read-only file system");
  files_.erase(path);
  return {};
}

Status FakeFiles::remove_directory(const std::string& path) {
  const auto names = list(path);
  if (!names) return std::unexpected(names.error());
  if (!names->empty()) return fail(ErrorCode::kIo, "cannot remove: Directory not empty");
  return remove_tree(path);
}

Status FakeFiles::remove_tree(const std::string& path) {
  const std::lock_guard guard(mutex_);
  if (read_only_) return fail(ErrorCode::kIo, "cannot remove: Read-only file system");
  const std::string prefix = join_path(path, "");
  std::erase_if(files_, [&](const auto& file) { return file.first == path || file.first.starts_with(prefix); });
  std::erase_if(directories_, [&](const std::string& folder) { return folder == path || folder.starts_with(prefix); });
  return {};
}

FileKind FakeFiles::kind(const std::string& path) const {
  const std::lock_guard guard(mutex_);
  if (files_.contains(path)) return FileKind::kFile;
  if (directories_.contains(path)) return FileKind::kDirectory;
  const std::string prefix = join_path(path, "");
  const auto after = files_.lower_bound(prefix);
  const bool is_implied = after != files_.end() && after->first.starts_with(prefix);
  return is_implied ? FileKind::kDirectory : FileKind::kMissing;
}

FileStatus FakeFiles::status(const std::string& path) const {
  FileStatus out;
  out.kind = kind(path);
  const std::lock_guard guard(mutex_);
  if (const auto found = files_.find(path); found != files_.end()) {
    out.size = found->second.size();
    out.identity = std::hash<std::string>{}(found->second);
  }
  return out;
}

Result<std::vector<std::string>> FakeFiles::list(const std::string& directory) const {
  if (kind(directory) != FileKind::kDirectory)
    return fail(ErrorCode::kNotFound, "no such folder", "", {directory, "", 0, 0});
  const std::lock_guard guard(mutex_);
  const std::string prefix = join_path(directory, "");
  std::set<std::string> names;
  const auto add = [&](const std::string& path) {
    if (path.starts_with(prefix))
      names.insert(path.substr(prefix.size(), path.find('/', prefix.size()) - prefix.size()));
  };
  for (const auto& [path, bytes] : files_) add(path);
  for (const auto& path : directories_) add(path);
  return std::vector<std::string>(names.begin(), names.end());
}

Result<std::string> FakeFiles::canonical(const std::string& path) const {
  if (kind(path) == FileKind::kMissing) return fail(ErrorCode::kNotFound, "no such file", "", {path, "", 0, 0});
  return path;
}

Result<std::shared_ptr<void>> FakeFiles::lock(const std::string&) {
  return std::make_shared<int>(0);
}

Result<std::shared_ptr<void>> FakeFiles::try_lock(const std::string& path) {
  return lock(path);
}

}  // namespace sb
