#include "gstack/project_slug.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/crypto.hpp"
#include "base/document/value.hpp"
#include "base/git_origin.hpp"
#include "base/limits.hpp"

namespace sb::gstack {
namespace {

constexpr std::size_t kSlugBytes = 200;  // a file name may have 255

bool is_slug_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

// The allowed characters of a name; empty when the result is not a valid name.
std::string cleaned(std::string_view name) {
  std::string slug;
  std::ranges::copy_if(name, std::back_inserter(slug), is_slug_character);
  if (slug.size() > kSlugBytes) slug.resize(kSlugBytes);
  return slug == "." || slug == ".." ? "" : slug;
}

// The folder and its parents, innermost first.
std::vector<std::string> around(const std::string& directory) {
  std::vector<std::string> all;
  for (std::string at = directory; !at.empty() && at != "."; at = parent_path(at)) {
    all.push_back(at);
    if (at == "/") break;
  }
  return all;
}

bool is_strong_root(const Files& files, const std::string& directory) {
  static constexpr std::array kMarkers = {".git",       ".project.yaml", "package.json", "pyproject.toml",
                                          "Cargo.toml", "Gemfile",       "go.mod"};
  return std::ranges::any_of(
      kMarkers, [&](const char* name) { return files.kind(join_path(directory, name)) != FileKind::kMissing; });
}

bool is_weak_root(const Files& files, const std::string& directory) {
  const auto names = files.list(directory);
  return names && std::ranges::any_of(*names, [](const std::string& name) {
           return name.starts_with("README") || name.starts_with("LICENSE");
         });
}

std::string derived_slug(const Files& files, const std::string& directory) {
  const std::vector<std::string> folders = around(directory);
  std::string slug;
  for (const std::string& folder : folders) {  // the last hit is the outermost
    const auto origin = git_origin(files, folder);
    const std::string found = origin ? cleaned(slug_of_origin(*origin)) : "";
    if (!found.empty()) slug = found;
  }
  if (!slug.empty()) return slug;
  for (const auto is_root : {is_strong_root, is_weak_root}) {
    const auto root = std::find_if(folders.rbegin(), folders.rend(),
                                   [&](const std::string& folder) { return is_root(files, folder); });
    if (root != folders.rend() && *root != "/") return basename_slug(*root);
  }
  return basename_slug(directory);
}

std::string cache_file(const std::string& cache_root, const std::string& directory) {
  std::string key = directory;
  std::ranges::replace(key, '/', '_');
  return join_path(join_path(cache_root, "slug-cache"), key.size() > 255 ? path_component(key) : key);
}

}  // namespace

Result<std::string> project_slug(Files& files, const Environment& environment, const std::string& cache_root,
                                 const std::string& directory) {
  if (const auto chosen = environment.get("GSTACK_PROJECT_SLUG")) {
    const std::string slug = cleaned(*chosen);
    if (!slug.empty()) return slug;
    return fail(ErrorCode::kInvalid, fmt::format("GSTACK_PROJECT_SLUG is not a valid name: {}", quote_json(*chosen)),
                "Use letters, digits, ., _ and -");
  }
  const std::string cache = cache_file(cache_root, directory);
  if (const auto known = files.read(cache, 4096)) {
    if (const std::string slug = cleaned(*known); !slug.empty()) return slug;
  }
  const std::string slug = derived_slug(files, directory);
  if (files.make_directories(parent_path(cache))) (void)files.write_atomic(cache, slug);
  return slug;
}

std::string basename_slug(const std::string& directory) {
  const std::string name = base_name(directory);
  const std::string slug = cleaned(name);
  if (!slug.empty()) return slug;
  return name.empty() ? "unknown" : "x-" + sha256_hex(name).substr(0, 8);
}

std::string path_component(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  std::string part(text.substr(0, kLongest));
  std::ranges::replace_if(part, [](char c) { return !is_slug_character(c); }, '_');
  const bool is_name = !part.empty() && part.front() != '.';
  if (part == text && is_name) return part;
  return (is_name ? part : "_" + part) + "-" + sha256_hex(text).substr(0, 8);
}

}  // namespace sb::gstack
