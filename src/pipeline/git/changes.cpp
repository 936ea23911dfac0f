// The changes in a work tree, computed with our own index.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/text/pattern.hpp"
#include "pipeline/git/git.hpp"

namespace sb::pipeline {
namespace {

// The next piece of NUL-terminated output.
std::string_view take_piece(std::string_view& text) {
  const std::size_t end = std::min(text.find('\0'), text.size());
  const std::string_view piece = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return piece;
}

// `diff-tree --raw -z`: `:OLDMODE NEWMODE OLD NEW STATUS\0path\0[newpath\0]`
Result<std::vector<Change>> parse_raw(std::string_view text) {
  std::vector<Change> changes;
  while (!text.empty()) {
    const std::string_view head = take_piece(text);
    const std::size_t letter = head.rfind(' ');
    if (!head.starts_with(':') || head.size() < 16 || letter == head.npos || letter + 1 >= head.size()) {
      return fail(ErrorCode::kInternal, fmt::format("unexpected output of git diff-tree: {}", shown(head)));
    }
    const std::string_view mode = head.substr(8, 6);
    Change change{.status = head[letter + 1], .path = std::string(take_piece(text))};
    if (change.status == 'R' || change.status == 'C') {
      change.old_path = std::exchange(change.path, std::string(take_piece(text)));
      if (change.status == 'C') change.status = 'A', change.old_path.clear();
    }
    change.is_link = mode == "120000";
    change.is_repository = mode == "160000";
    change.was_repository = head.substr(1, 6) == "160000";
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace

Result<std::string> Git::snapshot(const std::string& from) {
  const auto index = SB_TRY(own_index(from));
  SB_TRY(run(GitCall{.words = {"add", "--all", "--", "."}, .environment = index}));
  return without_trailing_newlines(SB_TRY(run(GitCall{.words = {"write-tree"}, .environment = index})).output);
}

Result<std::string> Git::needed_filter() {
  const auto off = SB_TRY(without_filters());
  if (off.empty()) return std::string();
  const std::string tracked = SB_TRY(run({"ls-files", "-z"}));
  const std::string attributes = SB_TRY(run({"check-attr", "--cached", "-z", "--stdin", "filter"}, tracked));
  std::string_view rest = attributes;
  while (!rest.empty()) {
    take_piece(rest);  // the path
    take_piece(rest);  // `filter`
    const std::string_view name = take_piece(rest);
    const auto is_it = [&](const auto& setting) { return setting.second.starts_with(fmt::format("filter.{}.", name)); };
    if (std::ranges::any_of(off, is_it)) return std::string(name);
  }
  return std::string();
}

Result<std::map<std::string, std::string>> Git::texts_at(const std::string& commit,
                                                         const std::vector<std::string>& paths, std::size_t max_bytes) {
  std::map<std::string, std::string> texts;
  if (paths.empty()) return texts;
  std::vector<std::string> words = {"ls-tree", "-z", commit, "--"};
  words.insert(words.end(), paths.begin(), paths.end());
  const std::string listed = SB_TRY(run(std::move(words)));
  std::string_view rest = listed;
  while (!rest.empty()) {
    const std::string_view entry = take_piece(rest);  // MODE blob HASH\tPATH
    const std::size_t tab = entry.find('\t');
    if (!entry.starts_with("100") || tab == entry.npos) continue;
    // When given a folder and a path in it, git lists the whole folder.
    if (std::ranges::find(paths, entry.substr(tab + 1)) == paths.end()) continue;
    const std::string hash(entry.substr(entry.rfind(' ', tab) + 1, tab - entry.rfind(' ', tab) - 1));
    const std::string size = SB_TRY(run({"cat-file", "-s", hash}));
    std::string text;
    if (std::strtoull(size.c_str(), nullptr, 10) <= max_bytes) {
      text = SB_TRY(run({"cat-file", "blob", hash}));
    } else {
      text.assign(max_bytes + 1, ' ');
    }
    texts.emplace(entry.substr(tab + 1), std::move(text));
  }
  return texts;
}

Result<std::vector<Change>> Git::changes_between(const std::string& from, const std::string& tree) {
  return parse_raw(SB_TRY(run({"diff-tree", "-r", "-z", "-M", "--raw", "--no-ext-diff", from, tree})));
}

Result<std::vector<Change>> Git::changes(const std::string& from) {
  return changes_between(from, SB_TRY(snapshot(from)));
}

Result<std::string> Git::diff(const std::string& from, std::size_t max_bytes, const std::vector<Change>& without) {
  const std::string tree = SB_TRY(snapshot(from));
  // From where git finds no attributes: the change may contain some that hide its own lines.
  const std::string nowhere = SB_TRY(git_dir());
  GitCall call{
      .words = {"diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv", from, tree},
      .environment = {{"GIT_LITERAL_PATHSPECS", "0"}, {"GIT_INDEX_FILE", join_path(nowhere, "signalbox-no-index")}},
      .max_bytes = max_bytes};
  if (!without.empty()) call.words.insert(call.words.end(), {"--", "."});
  for (const Change& change : without) call.words.push_back(":(top,exclude,literal)" + change.path);
  return std::move(SB_TRY(Git(seams_, nowhere, nowhere).run(call)).output);
}

Result<Git> git_of_work_tree(const Seams& seams, const WorkTree& tree) {
  const std::string real = SB_TRY(seams.files.canonical(tree.path));
  const std::string entry = join_path(real, ".git");
  const FileStatus status = seams.files.status(entry);
  const auto refused = [&](std::string_view why) {
    return fail(
        ErrorCode::kConflict, fmt::format("{} {}; it was changed", shown(entry), why),
        "Restore it in the repository (git worktree repair); or move the work tree away, to have a new one made");
  };
  if (tree.git_dir.empty()) return refused("is unknown to the run's log");
  if (status.is_link) return refused("is a symbolic link");
  std::string leads_to = entry;  // the repository's own folder, when working in place
  if (status.kind == FileKind::kFile) {
    const std::string text = without_trailing_newlines(SB_TRY(seams.files.read(entry, 64 << 10)));
    if (!text.starts_with("gitdir: ")) return refused("was not written by git");
    leads_to = text.substr(8);
    if (!leads_to.starts_with('/')) leads_to = join_path(real, leads_to);
  } else if (status.kind != FileKind::kDirectory) {
    return refused("is missing");
  }
  const auto directory = seams.files.canonical(leads_to);
  if (!directory || *directory != tree.git_dir) return refused("does not point to the run's repository");
  return Git(seams, real, tree.git_dir);
}

Result<Git> repository_of(const Seams& seams, Git& work_tree) {
  const std::string list = SB_TRY(work_tree.run({"worktree", "list", "--porcelain", "-z"}));
  std::string_view rest = list;
  const std::string_view first = take_piece(rest);
  if (!first.starts_with("worktree "))
    return fail(ErrorCode::kInternal, "unexpected output of git worktree list: " + shown(first));
  return Git(seams, std::string(first.substr(9)));
}

}  // namespace sb::pipeline
