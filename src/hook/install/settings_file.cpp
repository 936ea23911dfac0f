#include "hook/install/settings_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/limits.hpp"
#include "hook/install/json_text.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kBackupEnd = ".before-signalbox";
constexpr int kMostBackups = 100;

bool is_dangling_link(const Files& files, const std::string& path) {
  if (files.kind(path) != FileKind::kMissing) return false;
  const auto names = files.list(parent_path(path));
  return names && std::ranges::find(*names, base_name(path)) != names->end();
}

}  // namespace

Result<std::shared_ptr<void>> lock_settings(const Seams& seams) {
  const HomeDirectories homes = SB_TRY(sb::homes(seams.environment));
  SB_TRY(seams.files.make_directories(homes.state, 0700));
  return seams.files.lock(join_path(homes.state, ".settings.lock"));
}

Result<std::optional<std::string>> read_if_exists(const Files& files, const std::string& path) {
  if (is_dangling_link(files, path)) {
    return fail(ErrorCode::kInvalid, "the settings file is a dangling link",
                "Create the target file or remove the link; nothing was changed", {path, "", 0, 0});
  }
  auto text = files.read(path, limits::kDocumentBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  return std::optional(std::move(*text));
}

Result<Document> parse_settings(const std::string& path, std::string_view text, bool has_comments) {
  if (text.empty()) return Document{path, "", Value::object()};
  auto document = parse_document(path, has_comments ? without_json_comments(text) : std::string(text), Syntax::kJson);
  if (document) return document;
  Error error = document.error();
  error.message = "the settings cannot be read: " + error.message;
  error.remedy = "Fix the file first; nothing was changed";
  return std::unexpected(std::move(error));
}

Result<std::optional<unsigned>> make_private(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || (status.st_mode & 077) == 0) return std::nullopt;
  if (::chmod(path.c_str(), status.st_mode & 07700) == 0) return status.st_mode & 07777;
  return fail(ErrorCode::kIo, fmt::format("cannot hide the file from other users: {}", std::strerror(errno)),
              "A secret is to be written into it, so you must own it; nothing was changed", {path, "", 0, 0});
}

void make_public_again(const std::string& path, unsigned mode) {
  struct stat status{};
  const bool is_ours = ::stat(path.c_str(), &status) == 0 && (status.st_mode & 07777) == (mode & 07700);
  if (is_ours) (void)::chmod(path.c_str(), mode);
}

int missing_folders(const Files& files, const std::string& path) {
  int count = 0;
  for (std::string folder = parent_path(path); files.kind(folder) == FileKind::kMissing && folder.size() > 1;
       folder = parent_path(folder)) {
    ++count;
  }
  return count;
}

void remove_folders(Files& files, const std::string& path, int count) {
  std::string folder = parent_path(path);
  for (int i = 0; i < count && files.remove_directory(folder); ++i) folder = parent_path(folder);
}

Result<std::string> save_backup(Files& files, const std::string& path, std::string_view bytes) {
  const std::string first = path + std::string(kBackupEnd);
  for (int i = 1; i <= kMostBackups; ++i) {
    const std::string copy = i == 1 ? first : fmt::format("{}-{}", first, i);
    const auto there = files.read(copy, limits::kDocumentBytes);
    if (there && *there == bytes) return copy;
    if (there || there.error().code != ErrorCode::kNotFound) continue;
    SB_TRY(files.write_atomic(copy, bytes, 0600));
    return copy;
  }
  return fail(ErrorCode::kLimit, "there are too many backups of the settings", "Remove some; nothing was changed",
              {first, "", 0, 0});
}

}  // namespace sb::hook
