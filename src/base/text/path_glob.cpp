#include "base/text/path_glob.hpp"

#include <algorithm>
#include <vector>

namespace sb {
namespace {

constexpr std::size_t kMostAlternatives = 64;  // limit for brace expansion
constexpr std::size_t kLongestBraced = 1'024;  // in a longer glob, braces are ordinary characters

char folded(char c, GlobCase letters) {
  return letters == GlobCase::kIgnored && c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (const std::string_view part = path.substr(0, end); !part.empty() && part != ".") parts.push_back(part);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

// The end of the bracket expression that starts at `at` (position after it), and whether it contains the character; 0
// if it is not a bracket expression.
std::size_t bracket(std::string_view glob, std::size_t at, char c, GlobCase letters, bool& holds) {
  std::size_t i = at + 1;
  const bool is_negated = i < glob.size() && (glob[i] == '!' || glob[i] == '^');
  if (is_negated) ++i;
  bool is_in = false;
  for (const std::size_t first = i; i < glob.size(); ++i) {
    if (glob[i] == ']' && i > first) {
      holds = is_in != is_negated;
      return i + 1;
    }
    const char from = folded(glob[i], letters);
    char to = from;
    if (i + 2 < glob.size() && glob[i + 1] == '-' && glob[i + 2] != ']') {
      to = folded(glob[i + 2], letters);
      i += 2;
    }
    is_in = is_in || (from <= c && c <= to);
  }
  return 0;
}

bool part_fits(std::string_view glob, std::string_view part, GlobCase letters) {
  std::size_t at = 0, i = 0, star = std::string_view::npos, behind_star = 0;
  while (i < part.size()) {
    const char c = folded(part[i], letters);
    bool holds = false;
    std::size_t end = 0;
    if (at < glob.size() && glob[at] == '*') {
      star = at++;
      behind_star = i;
      continue;
    }
    if (at < glob.size() && glob[at] == '[' && (end = bracket(glob, at, c, letters, holds)) != 0 && holds) {
      at = end;
      ++i;
      continue;
    }
    if (at < glob.size() && end == 0 && (glob[at] == '?' || folded(glob[at], letters) == c)) {
      ++at;
      ++i;
      continue;
    }
    if (star == std::string_view::npos) return false;
    at = star + 1;
    i = ++behind_star;
  }
  while (at < glob.size() && glob[at] == '*') ++at;
  return at == glob.size();
}

bool parts_fit(const std::vector<std::string_view>& glob, const std::vector<std::string_view>& path, GlobCase letters) {
  std::size_t at = 0, i = 0, star = std::string_view::npos, behind_star = 0;
  while (i < path.size()) {
    if (at < glob.size() && glob[at] == "**") {
      star = at++;
      behind_star = i;
    } else if (at < glob.size() && part_fits(glob[at], path[i], letters)) {
      ++at;
      ++i;
    } else if (star != std::string_view::npos) {
      at = star + 1;
      i = ++behind_star;
    } else {
      return false;
    }
  }
  while (at < glob.size() && glob[at] == "**") ++at;
  return at == glob.size();
}

// Expands the first `{a,b}`; the rest is expanded recursively.
void write_out(std::string glob, std::vector<std::string>& all) {
  const std::size_t open = glob.find('{');
  const std::size_t close = open == std::string::npos ? open : glob.find('}', open);
  if (close == std::string::npos || all.size() >= kMostAlternatives || glob.size() > kLongestBraced) {
    all.push_back(std::move(glob));
    return;
  }
  const std::size_t inner = glob.rfind('{', close);
  std::string_view choices = std::string_view(glob).substr(inner + 1, close - inner - 1);
  for (bool is_more = true; is_more;) {
    const std::size_t comma = choices.find(',');
    is_more = comma != std::string_view::npos;
    if (all.size() < kMostAlternatives) {
      write_out(glob.substr(0, inner) + std::string(choices.substr(0, comma)) + glob.substr(close + 1), all);
    }
    if (is_more) choices.remove_prefix(comma + 1);
  }
}

}  // namespace

bool glob_covers(std::string_view glob, std::string_view path, GlobCase letters) {
  if (glob.starts_with('/') != path.starts_with('/')) return false;
  std::vector<std::string> all;
  write_out(std::string(glob), all);
  const auto path_parts = parts_of(path);
  for (const std::string& one : all) {
    auto glob_parts = parts_of(one);
    const bool is_plain = one.find_first_of("*?[") == std::string::npos;
    if ((is_plain || one.ends_with('/')) && !glob_parts.empty()) glob_parts.emplace_back("**");
    if (parts_fit(glob_parts, path_parts, letters)) return true;
  }
  return false;
}

std::string lexically_normal(std::string_view path) {
  const bool is_absolute = path.starts_with('/');
  std::vector<std::string_view> kept;
  for (const std::string_view part : parts_of(path)) {
    if (part != "..") {
      kept.push_back(part);
    } else if (!kept.empty() && kept.back() != "..") {
      kept.pop_back();
    } else if (!is_absolute) {
      kept.push_back(part);
    }
  }
  std::string normal = is_absolute ? "/" : "";
  for (const std::string_view part : kept) {
    if (!normal.empty() && normal.back() != '/') normal += '/';
    normal += part;
  }
  return normal.empty() ? "." : normal;
}

}  // namespace sb
