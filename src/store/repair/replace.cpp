#include "store/repair/replace.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/files.hpp"

namespace sb::store::repair {
namespace {

constexpr int kMostFolders = 10'000;
constexpr std::size_t kNameBytes = 4'096;

std::string decided_folder(const std::string& path) {
  return path + "-repaired";
}

std::unexpected<Error> system_error(std::string_view what, const std::string& path) {
  const int code = errno;
  return fail(ErrorCode::kIo, fmt::format("cannot {} ({})", what, std::strerror(code)),
              code == ENOSPC || code == EDQUOT
                  ? "Free space on the disk that holds it and run signalbox store repair."
                  : "Make the folder of the store writable and run signalbox store repair.",
              SourceLocation{path, {}, 0, 0});
}

bool exists(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

// Already moved counts as moved.
Status move_if_there(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0 || errno == ENOENT) return {};
  return system_error("set the damaged file aside", from);
}

Status keep_second_name(const std::string& path, const std::string& aside) {
  if (!exists(path) || exists(aside) || ::link(path.c_str(), aside.c_str()) == 0) return {};
  return move_if_there(path, aside);  // a file system without links
}

std::string sibling(const std::string& folder, const std::string& path) {
  return join_path(folder, base_name(path));
}

}  // namespace

std::string folder_for_repair(const std::string& path) {
  return path + "-repair";
}

Status sync_path(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return system_error("open it", path);
  const int synced = ::fsync(descriptor);
  ::close(descriptor);
  return synced == 0 ? Status() : Status(system_error("write it to disk", path));
}

Status remove_repair_folder(const std::string& path) {
  return SystemFiles().remove_tree(folder_for_repair(path));
}

Result<std::string> make_repair_folder(const std::string& path) {
  SB_TRY(remove_repair_folder(path));
  const std::string folder = folder_for_repair(path);
  if (::mkdir(folder.c_str(), 0700) != 0) return system_error("create a folder for the repaired store", folder);
  return folder;
}

Result<std::string> decide_replacement(const std::string& path) {
  const std::string folder = folder_for_repair(path);
  std::string aside;
  for (int number = 1; number <= kMostFolders && (aside.empty() || exists(aside)); ++number) {
    aside = fmt::format("{}-damaged-{}", path, number);
  }
  SystemFiles files;
  SB_TRY(files.write_atomic(join_path(folder, "aside"), aside, 0600));
  SB_TRY(sync_path(folder));
  if (::rename(folder.c_str(), decided_folder(path).c_str()) != 0) return system_error("finish the repair", folder);
  SB_TRY(sync_path(parent_path(path)));
  return aside;
}

bool is_replacement_decided(const std::string& path) {
  return ::access(decided_folder(path).c_str(), F_OK) == 0;
}

Status finish_replacement(const std::string& path) {
  if (!is_replacement_decided(path)) return {};
  const std::string folder = decided_folder(path);
  const std::string repaired = sibling(folder, path);
  SystemFiles files;
  if (exists(repaired)) {
    const std::string aside = SB_TRY(files.read(join_path(folder, "aside"), kNameBytes));
    if (::mkdir(aside.c_str(), 0700) != 0 && errno != EEXIST) return system_error("create a folder", aside);
    for (const std::string_view end : {"-wal", "-shm"}) {
      SB_TRY(move_if_there(path + std::string(end), sibling(aside, path) + std::string(end)));
    }
    SB_TRY(keep_second_name(path, sibling(aside, path)));
    SB_TRY(sync_path(aside));
    if (::rename(repaired.c_str(), path.c_str()) != 0) return system_error("put the repaired store in place", path);
    SB_TRY(sync_path(parent_path(path)));
  }
  // A process that opened the old file during the exchange made these. They are empty: it has no lock for writing.
  for (const std::string_view end : {"-wal", "-shm"}) SB_TRY(files.remove(path + std::string(end)));
  return files.remove_tree(folder);
}

}  // namespace sb::store::repair
