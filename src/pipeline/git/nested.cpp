// Nested repositories of a work tree: submodules, and others that were put there.
//
// Git is never run in one of them and never enters one: it would follow the configuration there, which anyone who may
// write to the work tree may have written.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/text/unicode.hpp"
#include "pipeline/git/git.hpp"

namespace sb::pipeline {
namespace {

constexpr std::size_t kListBytes = std::size_t{512} << 20;

std::vector<std::string_view> pieces_of(std::string_view text) {
  std::vector<std::string_view> pieces;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    pieces.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

// Characters that file systems of macOS ignore in names.
bool is_ignored_in_names(char32_t c) {
  return (c >= 0x200C && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) || (c >= 0x206A && c <= 0x206F) || c == 0xFEFF;
}

}  // namespace

bool is_like_git_folder(std::string_view name) {
  std::string plain;
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t from = at;
    const bool is_text = is_utf8(name.substr(at, 1)) || is_utf8(name);
    const char32_t c = is_text ? next_code_point(name, at) : static_cast<unsigned char>(name[at++]);
    if (!is_ignored_in_names(c)) plain += name.substr(from, at - from);
  }
  plain = to_lower(std::string_view(plain).substr(0, plain.find(':')));
  while (plain.ends_with('.') || plain.ends_with(' ')) plain.pop_back();
  return plain == ".git" || plain == "git~1";
}

bool names_git_folder(std::string_view path) {
  const auto parts = split(path, '/');
  return std::ranges::any_of(parts, is_like_git_folder);
}

Result<std::vector<std::string>> Git::refused_names(const std::string& from) {
  const auto index = SB_TRY(own_index(from));
  const ProcessResult listed = SB_TRY(run(GitCall{
      .words = {"ls-files", "--others", "--exclude-standard", "-z"}, .environment = index, .max_bytes = kListBytes}));
  std::vector<std::string> found;
  for (const std::string_view path : pieces_of(listed.output)) {
    if (names_git_folder(path)) found.emplace_back(path);
  }
  return found;
}

Result<std::string> Git::git_dir() {
  if (!git_dir_.empty()) return git_dir_;
  return without_trailing_newlines(SB_TRY(run({"rev-parse", "--absolute-git-dir"})));
}

// Where a folder's `.git` points, if git itself put it there: into the modules of this repository, where agents cannot
// write. Empty: anywhere else.
Result<std::string> Git::own_module(const std::string& folder) {
  const std::string entry = join_path(folder, ".git");
  const FileStatus status = seams_.files.status(entry);
  if (status.is_link || status.kind != FileKind::kFile) return std::string();
  const auto text = seams_.files.read(entry, 64 << 10);
  if (!text || !text->starts_with("gitdir: ")) return std::string();
  const std::string named = without_trailing_newlines(text->substr(8));
  const auto real = seams_.files.canonical(named.starts_with('/') ? named : join_path(folder, named));
  const auto modules = seams_.files.canonical(join_path(SB_TRY(git_dir()), "modules"));
  if (!real || !modules || !real->starts_with(*modules + "/")) return std::string();
  return *real;
}

Result<std::vector<Git::Submodule>> Git::submodules(const std::string& from) {
  const ProcessResult listed = SB_TRY(run(GitCall{.words = {"ls-tree", "-r", "-z", from}, .max_bytes = kListBytes}));
  std::vector<Submodule> found;
  for (const std::string_view entry : pieces_of(listed.output)) {  // MODE TYPE HASH\tPATH
    const std::size_t tab = entry.find('\t');
    if (!entry.starts_with("160000 commit ") || tab == entry.npos) continue;
    Submodule one{.path = std::string(entry.substr(tab + 1)), .commit = std::string(entry.substr(14, tab - 14))};
    const std::string folder = join_path(directory_, one.path);
    const FileStatus status = seams_.files.status(join_path(folder, ".git"));
    one.is_there = status.is_link || status.kind != FileKind::kMissing;
    if (one.is_there) one.git_dir = SB_TRY(own_module(folder));
    found.push_back(std::move(one));
  }
  return found;
}

// We record the state of submodules ourselves: otherwise git would look into each of them. One that no longer exists is
// left to git.
Status Git::pin_submodules(const std::string& from, const std::map<std::string, std::string>& index) {
  std::string moved, there, gone;
  for (const Submodule& one : SB_TRY(submodules(from))) {
    (one.is_there ? there : gone) += one.path + '\0';
    if (one.git_dir.empty()) continue;
    const auto head = SB_TRY(Git(seams_, join_path(directory_, one.path), one.git_dir).find_commit("HEAD"));
    if (head && *head != one.commit) moved += fmt::format("160000 {}\t", *head) + one.path + '\0';
  }
  const auto update = [&](std::vector<std::string> words, const std::string& input) -> Status {
    if (input.empty()) return {};
    words.insert(words.begin(), {"update-index", "-z"});
    SB_TRY(run(GitCall{.words = std::move(words), .input = input, .environment = index}));
    return {};
  };
  SB_TRY(update({"--index-info"}, moved));
  SB_TRY(update({"--no-assume-unchanged", "--stdin"}, gone));
  return update({"--assume-unchanged", "--stdin"}, there);
}

Result<std::map<std::string, std::string>> Git::own_index(const std::string& from) {
  const std::string path = join_path(SB_TRY(git_dir()), "signalbox-index");
  const std::map<std::string, std::string> index = {{"GIT_INDEX_FILE", path}};
  // Remove the lock that our killed command left: only we use this index, and one process at a time drives a run.
  SB_TRY(seams_.files.remove(path + ".lock"));
  // -m keeps the cached state of unchanged files, so that they need not be read again.
  if (!run(GitCall{.words = {"read-tree", "-m", from}, .environment = index})) {
    SB_TRY(seams_.files.remove(path));
    SB_TRY(run(GitCall{.words = {"read-tree", from}, .environment = index}));
  }
  SB_TRY(pin_submodules(from, index));
  return index;
}

Result<std::vector<std::string>> Git::nested_repositories(const std::string& from) {
  const auto index = SB_TRY(own_index(from));
  const ProcessResult listed = SB_TRY(run(GitCall{
      .words = {"ls-files", "--others", "--exclude-standard", "-z"}, .environment = index, .max_bytes = kListBytes}));
  std::vector<std::string> found;
  for (std::string_view path : pieces_of(listed.output)) {
    if (!path.ends_with('/')) continue;  // only repositories are listed as folders
    path.remove_suffix(1);
    found.emplace_back(path);
  }
  return found;
}

Result<std::vector<std::string>> Git::tampered_submodules(const std::string& from) {
  std::vector<std::string> found;
  for (Submodule& one : SB_TRY(submodules(from))) {
    if (one.is_there && one.git_dir.empty()) found.push_back(std::move(one.path));
  }
  return found;
}

}  // namespace sb::pipeline
