#include "cli/setup/disk_facts.hpp"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace sb::cli {
namespace {

DiskKind kind_of(const std::string& path) {
  struct statfs status{};
  if (::statfs(path.c_str(), &status) != 0) return DiskKind::kLocal;
  switch (static_cast<std::uint32_t>(status.f_type)) {
    case NFS_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case 0xff534d42:  // CIFS
    case 0xfe534d42:  // SMB 2
    case AFS_SUPER_MAGIC:
    case 0x00c36400:  // Ceph
    case V9FS_MAGIC:
      return DiskKind::kNetwork;
    case TMPFS_MAGIC:
    case RAMFS_MAGIC:
      return DiskKind::kMemory;
    case PROC_SUPER_MAGIC:
    case SYSFS_MAGIC:
    case CGROUP2_SUPER_MAGIC:
      return DiskKind::kKernel;
    default:
      return DiskKind::kLocal;
  }
}

}  // namespace

DiskFacts disk_facts(const std::string& path) {
  DiskFacts facts;
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return facts;
  facts.kind = S_ISDIR(status.st_mode)   ? FileKind::kDirectory
               : S_ISREG(status.st_mode) ? FileKind::kFile
                                         : FileKind::kOther;
  facts.mode = status.st_mode & 07777;
  facts.is_owned_by_user = status.st_uid == ::geteuid();
  facts.is_writable = ::access(path.c_str(), facts.kind == FileKind::kDirectory ? W_OK | X_OK : W_OK) == 0;
  facts.disk = kind_of(path);
  struct statvfs disk{};
  if (::statvfs(path.c_str(), &disk) != 0) return facts;
  facts.is_read_only = (disk.f_flag & ST_RDONLY) != 0;
  facts.free_bytes = static_cast<std::uint64_t>(disk.f_bavail) * disk.f_frsize;
  facts.has_free_files = disk.f_files == 0 || disk.f_favail > 0;  // some file systems do not count them
  return facts;
}

std::string readable_size(std::uint64_t bytes) {
  const auto amount = static_cast<double>(bytes);
  if (bytes >= 1'000'000'000) return fmt::format("{:.1f} GB", amount / 1e9);
  if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", amount / 1e6);
  return fmt::format("{} KB", (bytes + 999) / 1'000);
}

}  // namespace sb::cli
