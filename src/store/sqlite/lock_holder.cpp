#include "store/sqlite/lock_holder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

namespace sb::store::sqlite {
namespace {

constexpr std::size_t kMostBytes = 1 << 20;
constexpr std::string_view kWriteLockByte = "120";  // of the shared memory; SQLite's WALINDEX_LOCK_OFFSET

// Files of /proc have no size and are read to their end.
std::string read_proc(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  std::string text;
  char bytes[4096];
  for (ssize_t count = 0; text.size() < kMostBytes && (count = ::read(descriptor, bytes, sizeof bytes)) > 0;) {
    text.append(bytes, static_cast<std::size_t>(count));
  }
  ::close(descriptor);
  return text;
}

bool is_subcommand(std::string_view word) {
  return !word.empty() && word.size() <= 20 &&
         std::ranges::all_of(word, [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; }) && word.front() != '-';
}

// The program and its subcommands; other arguments may be private.
std::string program_of(const std::string& command_line) {
  std::string program;
  std::istringstream words(command_line);
  for (std::string word; std::getline(words, word, '\0');) {
    if (program.empty()) {
      program = word.substr(word.rfind('/') + 1);
      if (!std::ranges::all_of(program, [](unsigned char c) { return c > 0x20 && c < 0x7f; })) return {};
      continue;
    }
    if (!is_subcommand(word)) break;
    program += " " + word;
  }
  return program;
}

LockHolder describe(int pid) {
  const std::string folder = fmt::format("/proc/{}/", pid);
  const std::string stat = read_proc(folder + "stat");
  const std::size_t name_end = stat.rfind(") ");
  const char state = name_end == stat.npos || name_end + 2 >= stat.size() ? '?' : stat[name_end + 2];
  return {pid, program_of(read_proc(folder + "cmdline")), state == 'T' || state == 't'};
}

// A line: `1: FLOCK  ADVISORY  WRITE 16047 fe:00:10954890 0 EOF`; those that wait have `->` after the number.
std::optional<LockHolder> holder(const std::string& path, std::string_view kind, std::string_view first_byte) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  const std::string inode = fmt::format(":{}", info.st_ino);
  std::istringstream lines(read_proc("/proc/locks"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string number, lock, advisory, access, place, from;
    int pid = 0;
    words >> number >> lock >> advisory >> access >> pid >> place >> from;
    if (lock != kind || access != "WRITE" || pid <= 0 || !place.ends_with(inode) || from != first_byte) continue;
    return describe(pid);
  }
  return std::nullopt;
}

}  // namespace

std::string LockHolder::to_string() const {
  return fmt::format("process {}{}{}", pid, program.empty() ? "" : fmt::format(" ({})", program),
                     is_stopped ? ", which is stopped" : "");
}

std::string LockHolder::remedy() const {
  if (is_stopped) return fmt::format("Continue it (kill -CONT {0}) or end it (kill -KILL {0}), then try again.", pid);
  return fmt::format("Wait for it, or end it (kill {}), then try again.", pid);
}

std::optional<LockHolder> holder_of_flock(const std::string& path) {
  return holder(path, "FLOCK", "0");
}

std::optional<LockHolder> holder_of_write_lock(const std::string& path) {
  return holder(path, "POSIX", kWriteLockByte);
}

}  // namespace sb::store::sqlite
