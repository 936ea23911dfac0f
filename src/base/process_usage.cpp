#include "base/process_usage.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <set>
#include <string>
#include <vector>

namespace sb {
namespace {

constexpr std::size_t kMostProcesses = 200'000;
constexpr std::int64_t kStatBlock = 512;

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

std::vector<std::string> tree_of(pid_t root) {
  std::vector<std::string> tree = {"/proc/" + std::to_string(root)};
  for (std::size_t at = 0; at < tree.size() && tree.size() < kMostProcesses; ++at) {
    const std::string threads = tree[at] + "/task";
    for_entries(threads, [&](const char* thread) {
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

// Files without a name, made by memfd_create, of which a process need not map anything.
std::int64_t memory_files_of(const std::string& process, std::set<std::pair<dev_t, ino_t>>& seen) {
  std::int64_t bytes = 0;
  const std::string folder = process + "/fd";
  for_entries(folder, [&](const char* name) {
    char target[64];
    const std::string path = folder + "/" + name;
    const ssize_t size = ::readlink(path.c_str(), target, sizeof target);
    struct stat status{};
    if (size < 7 || std::string_view(target, 7) != "/memfd:" || ::stat(path.c_str(), &status) != 0) return;
    if (seen.emplace(status.st_dev, status.st_ino).second) bytes += status.st_blocks * kStatBlock;
  });
  return bytes;
}

}  // namespace

ProcessUsage usage_of_tree(pid_t root) {
  ProcessUsage usage;
  std::set<std::pair<dev_t, ino_t>> seen;
  for (const std::string& process : tree_of(root)) {
    ++usage.processes;
    const std::string status = text_of_proc(process + "/status");
    usage.memory_bytes += (number_after(status, "RssAnon:") + number_after(status, "RssShmem:")) * 1'024;
    usage.memory_bytes += memory_files_of(process, seen);
  }
  return usage;
}

std::int64_t exact_memory_of_tree(pid_t root) {
  std::int64_t bytes = 0;
  std::set<std::pair<dev_t, ino_t>> seen;
  for (const std::string& process : tree_of(root)) {
    const std::string sizes = text_of_proc(process + "/smaps_rollup");
    bytes += (number_after(sizes, "Pss_Anon:") + number_after(sizes, "Pss_Shmem:")) * 1'024;
    bytes += memory_files_of(process, seen);
  }
  return bytes;
}

}  // namespace sb
