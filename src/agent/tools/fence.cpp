#include "agent/tools/fence.hpp"

#include <fmt/format.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/document/value.hpp"
#include "base/files.hpp"
#include "base/text/path_glob.hpp"

namespace sb::agent {
namespace {

std::string quoted_path(std::string_view path) {
  return quote_json(path.substr(0, 200));
}

std::optional<std::string> canonical(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> real(::realpath(path.c_str(), nullptr), ::free);
  return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

bool is_there(const std::string& path) {
  struct stat status;
  return ::lstat(path.c_str(), &status) == 0;
}

// The existing part of the path with its links resolved, followed by the names that do not exist. errno has the reason
// of a failure.
Result<std::string> resolved(const std::string& path, std::string_view given) {
  std::string utf8_prefix = path, behind;
  for (;;) {
    if (const auto real = canonical(utf8_prefix)) {
      if (behind.empty()) return *real;
      const std::string first = behind.substr(1, behind.find('/', 1) - 1);
      if (is_there(join_path(*real, first))) {
        return fail(ErrorCode::kForbidden, fmt::format("{} is a dangling link", quoted_path(given)));
      }
      return *real == "/" ? behind : *real + behind;
    }
    if (errno != ENOENT) {
      const ErrorCode code = errno == ENOTDIR ? ErrorCode::kInvalid : ErrorCode::kForbidden;
      return fail(code, fmt::format("{} is not accessible: {}", quoted_path(given), std::strerror(errno)));
    }
    const std::string name = base_name(utf8_prefix);
    // `..` after a folder that does not exist cannot be resolved.
    if (name == "..") return fail(ErrorCode::kNotFound, fmt::format("{} does not exist", quoted_path(given)));
    if (!name.empty() && name != ".") behind = "/" + name + behind;
    const std::string parent = parent_path(utf8_prefix);
    if (parent == utf8_prefix || parent.empty()) {
      return fail(ErrorCode::kNotFound, fmt::format("{} does not exist", quoted_path(given)));
    }
    utf8_prefix = parent;
  }
}

bool names_git(std::string_view rest) {
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find('/'));
    const auto is_letter = [&](std::size_t i, char c) { return (name[i] | 0x20) == c; };
    if (name.size() == 4 && name[0] == '.' && is_letter(1, 'g') && is_letter(2, 'i') && is_letter(3, 't')) return true;
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
  }
  return false;
}

std::string path_below(const std::string& path, const std::string& place) {
  if (path.size() <= place.size()) return {};
  return path.substr(place == "/" ? 1 : place.size() + 1);
}

}  // namespace

Fence::Fence(Places places) : places_(std::move(places)) {}

const std::string* Fence::given_place_of(const std::string& path) const {
  const std::string* longest = is_within(path, places_.root) ? &places_.root : nullptr;
  for (const std::string& place : places_.readable) {
    if (is_within(path, place) && (!longest || place.size() > longest->size())) longest = &place;
  }
  if (!longest) return nullptr;
  const bool is_hidden = std::ranges::any_of(places_.hidden, [&](const std::string& hidden) {
    return is_within(path, hidden) && hidden.size() >= longest->size();
  });
  return is_hidden ? nullptr : longest;
}

bool Fence::is_among_only(std::string_view rest) const {
  if (!places_.only || rest.empty()) return true;
  bool is_in = false;
  for (const std::string& glob : *places_.only) {
    const bool takes_out = glob.starts_with('!');
    const std::string_view pattern = std::string_view(glob).substr(takes_out ? 1 : 0);
    if (takes_out && glob_covers(pattern, rest, GlobCase::kIgnored)) return false;
    if (!takes_out && glob_covers(pattern, rest)) is_in = true;
  }
  return is_in;
}

Result<FencedPath> Fence::locate(std::string_view given, bool must_exist) const {
  if (given.empty()) return fail(ErrorCode::kInvalid, "the path is empty");
  if (given.find('\0') != std::string_view::npos) return fail(ErrorCode::kInvalid, "the path contains a NUL character");
  if (given.size() >= PATH_MAX) return fail(ErrorCode::kInvalid, "the path is too long");
  const std::string whole = given.starts_with('/') ? std::string(given) : places_.root + "/" + std::string(given);
  const auto of_git = [&] {
    return fail(ErrorCode::kForbidden, fmt::format("{} belongs to git", quoted_path(given)),
                "Read it with `git log`, `git diff` and `git status`; only Signalbox changes it");
  };
  // Also by its spelling: in a linked work tree `.git` is a file, and a path below it does not resolve.
  if (const std::string normal = lexically_normal(whole); is_within(normal, places_.root)) {
    if (names_git(path_below(normal, places_.root))) return of_git();
  }
  auto path = resolved(whole, given);
  if (!path) return std::unexpected(std::move(path).error());
  const std::string* place = given_place_of(*path);
  if (!place) {
    return fail(ErrorCode::kForbidden, fmt::format("{} is outside the allowed folders", quoted_path(given)),
                fmt::format("The work tree is {}", places_.root));
  }
  FencedPath fenced{*place, path_below(*path, *place)};
  if (names_git(fenced.rest)) return of_git();
  if (must_exist && !is_there(*path)) {
    return fail(ErrorCode::kNotFound, fmt::format("{} does not exist", quoted_path(given)));
  }
  return fenced;
}

Result<FencedPath> Fence::for_reading(std::string_view given) const {
  FencedPath fenced = SB_TRY(locate(given, true));
  struct stat status;
  const bool is_directory = ::lstat(fenced.path().c_str(), &status) == 0 && S_ISDIR(status.st_mode);
  if (!shows(fenced.path(), is_directory)) {
    return fail(ErrorCode::kForbidden, fmt::format("{} may not be read by your role", quoted_path(given)));
  }
  return fenced;
}

Result<FencedPath> Fence::for_writing(std::string_view given) const {
  FencedPath fenced = SB_TRY(locate(given, false));
  if (!places_.is_writable || places_.only || fenced.base != places_.root || fenced.rest.empty()) {
    return fail(ErrorCode::kForbidden, fmt::format("{} may not be written", quoted_path(given)),
                places_.is_writable && !places_.only ? fmt::format("The work tree is {}", places_.root)
                                                     : "Your role is read-only");
  }
  return fenced;
}

bool Fence::shows(const std::string& path, bool is_directory) const {
  const std::string* place = given_place_of(path);
  if (!place) return false;
  const std::string rest = path_below(path, *place);
  if (names_git(rest)) return false;
  if (*place != places_.root || is_among_only(rest)) return true;
  // A folder is entered unless it is excluded: allowed files may be deeper.
  return is_directory && std::ranges::none_of(*places_.only, [&](const std::string& glob) {
           return glob.starts_with('!') && glob_covers(std::string_view(glob).substr(1), rest, GlobCase::kIgnored);
         });
}

}  // namespace sb::agent
