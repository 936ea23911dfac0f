#include "engine/session/workspace_facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/git_origin.hpp"
#include "base/text/unicode.hpp"

namespace sb::engine {
namespace {

constexpr std::size_t kGitFileBytes = 4u << 20;

std::string first_line(const Files& files, const std::string& path) {
  auto text = files.read(path, kGitFileBytes);
  if (!text) return {};
  std::string line = text->substr(0, text->find('\n'));
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  return line;
}

std::string absolute(const std::string& base, const std::string& path) {
  return path.starts_with('/') ? path : join_path(base, path);
}

// The folder where git keeps the state of a work tree, or nothing.
std::string git_folder(const Files& files, const std::string& tree) {
  const std::string dot_git = join_path(tree, ".git");
  if (files.kind(dot_git) == FileKind::kDirectory) return dot_git;
  const std::string line = first_line(files, dot_git);
  return line.starts_with("gitdir: ") ? absolute(tree, line.substr(8)) : std::string();
}

bool is_commit(std::string_view text) {
  return text.size() == 40 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string packed_ref(const Files& files, const std::string& folder, const std::string& ref) {
  const auto text = files.read(join_path(folder, "packed-refs"), kGitFileBytes);
  if (!text) return {};
  const std::string wanted = " " + ref + "\n";
  const auto at = (*text + "\n").find(wanted);
  if (at == std::string::npos || at < 40) return {};
  return text->substr(at - 40, 40);
}

bool is_within_folder(const std::string& path, const std::string& base) {
  return path == base || path.starts_with(base.ends_with('/') ? base : base + "/");
}

bool has_workflows(const Files& files, const std::string& folder) {
  for (const char* name : {".signalbox", ".workrail", "workflows"}) {
    if (files.kind(join_path(folder, name)) == FileKind::kDirectory) return true;
  }
  return false;
}

}  // namespace

Result<std::string> find_workspace(const Files& files, const std::string& given) {
  if (!given.empty() && files.kind(given) != FileKind::kDirectory) {
    return fail(ErrorCode::kNotFound, fmt::format("{} is not a folder", quote_json(given)));
  }
  const std::string here = SB_TRY(files.canonical(given.empty() ? "." : given));
  if (!given.empty() || has_workflows(files, here)) return here;
  for (std::string folder = here; folder.size() > 1; folder = parent_path(folder)) {
    if (files.kind(join_path(folder, ".git")) != FileKind::kMissing) return folder;
  }
  return here;
}

GitState git_state(const Files& files, const std::string& directory) {
  GitState state;
  std::string tree = directory;
  while (tree.size() > 1 && files.kind(join_path(tree, ".git")) == FileKind::kMissing) tree = parent_path(tree);
  const std::string folder = tree.size() > 1 ? git_folder(files, tree) : std::string();
  if (folder.empty()) return state;
  state.repository = git_origin(files, tree).value_or(tree);
  if (!is_utf8(state.repository)) state.repository.clear();
  const std::string head = first_line(files, join_path(folder, "HEAD"));
  if (!head.starts_with("ref: ")) {
    if (is_commit(head)) state.head = head;
    return state;
  }
  const std::string ref = head.substr(5);
  constexpr std::string_view kHeads = "refs/heads/";
  if (is_utf8(ref)) state.branch = ref.starts_with(kHeads) ? ref.substr(kHeads.size()) : ref;
  const std::string common = first_line(files, join_path(folder, "commondir"));
  const std::string shared = common.empty() ? folder : absolute(folder, common);
  std::string commit = first_line(files, join_path(shared, ref));
  if (!is_commit(commit)) commit = packed_ref(files, shared, ref);
  if (is_commit(commit)) state.head = commit;
  return state;
}

Value resolve_references(const Files& files, const workflow::Definition& definition, const std::string& workspace,
                         const std::string& package) {
  Value all = Value::array();
  for (const workflow::Reference& reference : definition.references) {
    const std::string& base = reference.from_package ? package : workspace;
    Value path;
    if (!base.empty()) {
      const auto found = files.canonical(join_path(base, reference.source));
      const auto root = files.canonical(base);
      if (found && root && is_within_folder(*found, *root)) path = *found;
    }
    all.push_back(Value::object({{"id", reference.id}, {"path", std::move(path)}}));
  }
  return definition.references.empty() ? Value() : all;
}

}  // namespace sb::engine
