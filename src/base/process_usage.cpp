#include "base/process_usage.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sb {
namespace {

constexpr std::size_t kMostProcesses = 200'000;
constexpr std::int64_t kFileBytes = 1'024;  // the kernel's own memory for a file or folder

std::string text_of_proc(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string text;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(file, buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(count));
  }
  ::close(file);
  return text;
}

void for_entries(const std::string& folder, const std::function<void(const char*)>& use) {
  DIR* entries = ::opendir(folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* entry = ::readdir(entries)) {
    if (entry->d_name[0] != '.') use(entry->d_name);
  }
  ::closedir(entries);
}

std::vector<std::string> tree_of(pid_t root, std::int64_t* threads_found = nullptr) {
  std::vector<std::string> tree = {"/proc/" + std::to_string(root)};
  for (std::size_t at = 0; at < tree.size() && tree.size() < kMostProcesses; ++at) {
    const std::string threads = tree[at] + "/task";
    for_entries(threads, [&](const char* thread) {
      if (threads_found != nullptr) ++*threads_found;
      const std::string children = text_of_proc(threads + "/" + thread + "/children");
      for (std::size_t from = 0; from < children.size();) {
        const std::size_t end = std::min(children.find(' ', from), children.size());
        if (end > from) tree.push_back("/proc/" + children.substr(from, end - from));
        from = end + 1;
      }
    });
  }
  return tree;
}

std::int64_t number_after(const std::string& text, std::string_view name) {
  const std::size_t at = text.find(name);
  return at == std::string::npos ? 0 : std::strtoll(text.c_str() + at + name.size(), nullptr, 10);
}

// Of one process; nothing if it does not see such a folder: it is outside of the sandbox, has ended, or is still being
// put in there.
std::optional<std::int64_t> memory_in_folder(const std::string& process, const std::string& folder) {
  const std::string path = process + "/root" + folder;
  struct stat own{}, seen{};
  struct statfs size{};
  if (::stat(path.c_str(), &seen) != 0 || ::statfs(path.c_str(), &size) != 0) return std::nullopt;
  if (size.f_type != TMPFS_MAGIC || (::stat(folder.c_str(), &own) == 0 && own.st_dev == seen.st_dev)) {
    return std::nullopt;
  }
  const auto blocks = static_cast<std::int64_t>(size.f_blocks - size.f_bfree);
  const auto files = static_cast<std::int64_t>(size.f_files - size.f_ffree);
  return blocks * static_cast<std::int64_t>(size.f_bsize) + files * kFileBytes;
}

}  // namespace

ProcessUsage usage_of_tree(pid_t root) {
  ProcessUsage usage;
  for (const std::string& process : tree_of(root, &usage.processes)) {
    const std::string status = text_of_proc(process + "/status");
    for (const char* kind : {"RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:"}) {
      usage.memory_bytes += number_after(status, kind) * 1'024;
    }
  }
  return usage;
}

std::int64_t exact_memory_of_tree(pid_t root) {
  std::int64_t bytes = 0;
  for (const std::string& process : tree_of(root)) {
    const std::string sizes = text_of_proc(process + "/smaps_rollup");
    for (const char* kind : {"Pss_Anon:", "Pss_Shmem:", "SwapPss:"}) bytes += number_after(sizes, kind) * 1'024;
    bytes += number_after(text_of_proc(process + "/status"), "VmPTE:") * 1'024;
  }
  return bytes;
}

std::int64_t shared_memory_of_machine() {
  return number_after(text_of_proc("/proc/meminfo"), "Shmem:") * 1'024;
}

bool shares_memory_without_files(pid_t root) {
  return std::ranges::any_of(tree_of(root), [](const std::string& process) {
    return text_of_proc(process + "/maps").find(" /dev/zero (deleted)\n") != std::string::npos;
  });
}

std::int64_t memory_in_folders(pid_t root, const std::vector<std::string>& folders) {
  if (folders.empty()) return 0;
  std::vector<std::string> tree = tree_of(root);
  // The last ones are the deepest in the sandbox; all in it see the same.
  for (auto process = tree.rbegin(); process != tree.rend(); ++process) {
    std::int64_t bytes = 0;
    bool is_inside = false;
    for (const std::string& folder : folders) {
      const auto used = memory_in_folder(*process, folder);
      is_inside = is_inside || used;
      bytes += used.value_or(0);
    }
    if (is_inside) return bytes;
  }
  return 0;
}

}  // namespace sb
