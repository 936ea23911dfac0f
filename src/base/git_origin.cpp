#include "base/git_origin.hpp"

#include <algorithm>
#include <cctype>

#include "base/text.hpp"

namespace sb {
namespace {

constexpr std::size_t kConfigBytes = 1u << 20;

// Takes the next line off `rest`, joined with its continuation lines (backslash at the end).
std::string next_line(std::string_view& rest) {
  std::string line;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view part = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (part.ends_with('\r')) part.remove_suffix(1);
    line += part;
    const std::size_t backslashes = line.size() - (line.find_last_not_of('\\') + 1);
    if (backslashes % 2 == 0) break;
    line.pop_back();
  }
  return line;
}

// Parses a value as git does: drops quotes, resolves escapes, cuts comments, trims blanks outside quotes.
std::string config_value(std::string_view raw) {
  std::string value;
  std::size_t kept = 0;  // length without trailing blanks
  bool in_quotes = false;
  raw = trimmed(raw);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    char c = raw[i];
    if (c == '"') {
      in_quotes = !in_quotes;
      kept = value.size();
      continue;
    }
    if (!in_quotes && (c == '#' || c == ';')) break;
    const bool is_escaped = c == '\\' && i + 1 < raw.size();
    if (is_escaped) {
      c = raw[++i];
      c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
    value += c;
    if (in_quotes || is_escaped || (c != ' ' && c != '\t')) kept = value.size();
  }
  value.resize(kept);
  return value;
}

bool is_origin_header(std::string_view header) {
  const std::size_t quote = header.find('"');
  if (quote == std::string_view::npos) return to_lower(trimmed(header)) == "remote.origin";
  return to_lower(trimmed(header.substr(0, quote))) == "remote" && config_value(header.substr(quote)) == "origin";
}

std::string resolve(const std::string& base, std::string_view path) {
  return path.starts_with('/') ? std::string(path) : join_path(base, path);
}

// The folder that holds `config`; linked work trees refer back to it.
std::optional<std::string> common_directory(const Files& files, const std::string& directory) {
  const std::string dot_git = join_path(directory, ".git");
  const FileKind kind = files.kind(dot_git);
  if (kind == FileKind::kDirectory) return dot_git;
  if (kind != FileKind::kFile) return std::nullopt;
  const auto link = files.read(dot_git, kConfigBytes);
  constexpr std::string_view kPrefix = "gitdir:";
  if (!link || !link->starts_with(kPrefix)) return std::nullopt;
  const std::string git_dir = resolve(directory, trimmed(std::string_view(*link).substr(kPrefix.size())));
  const auto common = files.read(join_path(git_dir, "commondir"), kConfigBytes);
  return common ? resolve(git_dir, trimmed(*common)) : git_dir;
}

// Removes user name and password from `https://name:word@host/…`, so that the URL can be stored and shown.
std::string without_user(std::string url) {
  if (!url.starts_with("http://") && !url.starts_with("https://")) return url;
  const std::size_t begin = url.find("://") + 3;
  const std::size_t sign = url.rfind('@', std::min(url.find('/', begin), url.size()));
  if (sign != std::string::npos && sign >= begin) url.erase(begin, sign + 1 - begin);
  return url;
}

}  // namespace

std::optional<std::string> origin_in_config(std::string_view config) {
  bool in_origin = false;
  while (!config.empty()) {
    const std::string whole = next_line(config);
    std::string_view line = trimmed(whole);
    if (line.starts_with('[')) {
      const std::size_t end = line.find(']');
      if (end == std::string_view::npos) return std::nullopt;
      in_origin = is_origin_header(line.substr(1, end - 1));
      line = trimmed(line.substr(end + 1));  // git allows `[remote "origin"] url = ...` on one line
    }
    const std::size_t equals = line.find('=');
    if (!in_origin || equals == std::string_view::npos || line.starts_with('#') || line.starts_with(';')) continue;
    if (to_lower(trimmed(line.substr(0, equals))) != "url") continue;
    if (std::string url = config_value(line.substr(equals + 1)); !url.empty()) return url;
  }
  return std::nullopt;
}

std::optional<std::string> git_origin(const Files& files, const std::string& directory) {
  const auto common = common_directory(files, directory);
  if (!common) return std::nullopt;
  const auto config = files.read(join_path(*common, "config"), kConfigBytes);
  auto origin = config ? origin_in_config(*config) : std::nullopt;
  if (origin) *origin = without_user(std::move(*origin));
  return origin;
}

std::string slug_of_origin(std::string_view url) {
  while (url.ends_with('/')) url.remove_suffix(1);
  if (url.ends_with(".git")) url.remove_suffix(4);
  const std::size_t slash = url.rfind('/');
  if (slash == std::string_view::npos || slash == 0) return "";
  const std::string_view repository = url.substr(slash + 1);
  std::string_view owner = url.substr(0, slash);
  owner = owner.substr(owner.find_last_of("/:") + 1);
  return owner.empty() || repository.empty() ? "" : std::string(owner) + "-" + std::string(repository);
}

std::vector<std::string> git_folders(const Files& files, const std::string& root) {
  std::vector<std::string> folders;
  const std::string link = join_path(root, ".git");
  if (files.kind(link) != FileKind::kFile) return folders;
  const auto text = files.read(link, 4096);
  constexpr std::string_view kStart = "gitdir: ";
  if (!text || !text->starts_with(kStart)) return folders;
  std::string named = text->substr(kStart.size(), text->find('\n') - kStart.size());
  if (!named.starts_with('/')) named = join_path(root, named);
  const auto own = files.canonical(named);
  if (!own || files.kind(join_path(*own, "HEAD")) != FileKind::kFile) return folders;  // not a git folder
  folders.push_back(*own);
  if (auto common = files.read(join_path(*own, "commondir"), 4096)) {
    common->erase(std::min(common->find('\n'), common->size()));
    const auto real = files.canonical(common->starts_with('/') ? *common : join_path(*own, *common));
    if (real && files.kind(join_path(*real, "objects")) == FileKind::kDirectory) folders.push_back(*real);
  }
  return folders;
}

std::optional<GitWorkTree> git_work_tree(const Files& files, const std::string& path) {
  for (const std::string& folder : with_parents(path)) {
    const std::string link = join_path(folder, ".git");
    const FileKind kind = files.kind(link);
    if (kind == FileKind::kDirectory) {
      const auto real = files.canonical(link);
      if (real && files.kind(join_path(*real, "HEAD")) == FileKind::kFile) return GitWorkTree{folder, *real};
    }
    if (kind != FileKind::kFile) continue;
    const std::vector<std::string> linked = git_folders(files, folder);
    if (linked.empty()) continue;
    if (linked.size() == 1) return GitWorkTree{folder, linked.front()};  // a submodule
    const auto back = files.read(join_path(linked.front(), "gitdir"), kConfigBytes);
    const auto meant = files.canonical(link);
    const auto named = back ? files.canonical(resolve(linked.front(), trimmed(*back))) : meant;
    if (back && meant && named && *meant == *named) return GitWorkTree{folder, linked.back()};
  }
  return std::nullopt;
}

std::optional<std::string> main_work_tree(const GitWorkTree& tree) {
  if (base_name(tree.repository) != ".git") return std::nullopt;
  return parent_path(tree.repository);
}

}  // namespace sb
