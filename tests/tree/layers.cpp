#include "tree/layers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace sb::tree {
namespace {

constexpr std::string_view kArgumentParser = "src/cli/app.cpp";
constexpr std::size_t kAsyncFiles = 8;
constexpr std::size_t kFolderFiles = 36;  // C++ files in one folder, tests included

constexpr std::array<std::string_view, 14> kOutside = {"\"base/files.hpp\"",
                                                       "\"base/process.hpp\"",
                                                       "\"base/random.hpp\"",
                                                       "\"base/environment.hpp\"",
                                                       "\"base/streams.hpp\"",
                                                       "\"base/seams.hpp\"",
                                                       "<chrono>",
                                                       "<ctime>",
                                                       "<filesystem>",
                                                       "<fstream>",
                                                       "<iostream>",
                                                       "<random>",
                                                       "<thread>",
                                                       "<unistd.h>"};

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '`')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '`')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(trim(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// `"base/result.hpp"` or `<vector>` of an include line, with its quotes or brackets.
std::optional<std::string_view> included(std::string_view line) {
  line = trim(line);
  if (!line.starts_with("#")) return std::nullopt;
  line = trim(line.substr(1));
  if (!line.starts_with("include")) return std::nullopt;
  line = trim(line.substr(7));
  if (line.empty()) return std::nullopt;
  const auto end = line.find(line.front() == '<' ? '>' : '"', 1);
  return end == std::string_view::npos ? std::nullopt : std::optional(line.substr(0, end + 1));
}

// The first folder of a path below src/, or nothing.
std::string folder_of(std::string_view path) {
  if (!path.starts_with("src/")) return {};
  path.remove_prefix(4);
  const auto slash = path.find('/');
  return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash));
}

void close_over(Layers& layers) {
  for (std::size_t round = 0; round < layers.size(); ++round) {
    for (auto& [name, folder] : layers) {
      for (const std::string& used : std::set(folder.may_use)) {
        if (used != name) folder.may_use.insert(layers[used].may_use.begin(), layers[used].may_use.end());
      }
    }
  }
}

void check_folders(const SourceTree& tree, const Layers& layers, Violations& violations) {
  std::set<std::string> present;
  for (const auto& [path, text] : tree) {
    if (is_cpp(path) && path.starts_with("src/")) present.insert(folder_of(path));
  }
  for (const std::string& name : present) {
    const auto found = layers.find(name);
    if (found == layers.end()) {
      violations.push_back(fmt::format("ARCHITECTURE.md: src/{} is not in the table. Add a row.", name));
    } else if (found->second.is_planned) {
      violations.push_back(
          fmt::format("ARCHITECTURE.md: src/{} exists, but is listed as planned. Move its row.", name));
    }
  }
  for (const auto& [name, folder] : layers) {
    if (!folder.is_planned && !present.contains(name)) {
      violations.push_back(fmt::format("ARCHITECTURE.md: src/{} is listed, but has no code.", name));
    }
  }
}

void check_sizes(const SourceTree& tree, Violations& violations) {
  std::map<std::string, std::size_t> counts;
  for (const auto& [path, text] : tree) {
    if (is_cpp(path) && path.starts_with("src/")) ++counts[path.substr(0, path.rfind('/'))];
  }
  for (const auto& [folder, count] : counts) {
    if (count <= kFolderFiles) continue;
    violations.push_back(fmt::format("{}: has {} files; at most {} are allowed. Split it into sub-folders by topic.",
                                     folder, count, kFolderFiles));
  }
}

bool may_include(const Layers& layers, const std::string& from, const std::string& to) {
  const auto found = layers.find(from);
  return from == to || (found != layers.end() && found->second.may_use.contains(to));
}

bool is_for_tests(std::string_view path, std::string_view text) {
  return path.ends_with("_test.cpp") || path.ends_with("testing.hpp") || path.find("/testing/") != path.npos ||
         text.starts_with("// For tests");
}

bool is_pure(const Layers& layers, const std::string& folder) {
  const auto found = layers.find(folder);
  return found != layers.end() && found->second.is_pure;
}

}  // namespace

Layers parse_layers(std::string_view architecture, Violations& violations) {
  Layers layers;
  std::map<std::string, std::vector<std::string>> uses;
  bool is_planned = false;
  int number = 0;
  for (const std::string_view line : lines_of(architecture)) {
    ++number;
    if (line.starts_with("#")) {
      is_planned = line.find("lanned") != std::string_view::npos;
    }
    if (!line.starts_with("| `src/")) continue;
    const auto cells = split(line, '|');
    if (cells.size() != 5) {
      violations.push_back(fmt::format("ARCHITECTURE.md:{}: the row needs three columns", number));
      continue;
    }
    const std::string name(cells[1].substr(4));
    layers[name] = {{}, cells[2].starts_with("pure"), is_planned};
    for (const std::string_view used : split(cells[3], ',')) uses[name].emplace_back(used);
  }
  for (auto& [name, names] : uses) {
    for (const std::string& used : names) {
      if (used == "nothing of ours") continue;
      if (used == "all") {
        for (const auto& [other, folder] : layers) layers[name].may_use.insert(other);
      } else if (layers.contains(used)) {
        layers[name].may_use.insert(used);
      } else {
        violations.push_back(fmt::format("ARCHITECTURE.md: src/{} may use \"{}\", which is not a folder", name, used));
      }
    }
  }
  close_over(layers);
  return layers;
}

Violations check_layers(const SourceTree& tree) {
  Violations violations;
  const auto document = tree.find("ARCHITECTURE.md");
  if (document == tree.end()) return {"ARCHITECTURE.md is missing"};
  const Layers layers = parse_layers(document->second, violations);
  check_folders(tree, layers, violations);
  check_sizes(tree, violations);

  std::set<std::string> async_files;
  for (const auto& [path, text] : tree) {
    if (!is_cpp(path) || !path.starts_with("src/")) continue;
    const std::string folder = folder_of(path);
    const bool must_be_pure = is_pure(layers, folder) && !path.ends_with("_test.cpp");
    int number = 0;
    for (const std::string_view line : lines_of(text)) {
      ++number;
      const auto include = included(line);
      if (!include) continue;
      const auto complain = [&](std::string_view why) {
        violations.push_back(fmt::format("{}:{}: {} {}", path, number, *include, why));
      };
      if (include->starts_with('"')) {
        const std::string used = folder_of(fmt::format("src/{}", include->substr(1, include->size() - 2)));
        if (used.empty()) {
          complain("is not relative to src/; write \"folder/file.hpp\"");
        } else if (!may_include(layers, folder, used)) {
          complain(fmt::format("is not allowed: src/{} may not use {}", folder, used));
        }
        const auto header = tree.find(fmt::format("src/{}", include->substr(1, include->size() - 2)));
        const bool is_test_header = header != tree.end() && is_for_tests(header->first, header->second);
        if (is_test_header && !is_for_tests(path, text)) complain("is for tests, and the program includes it");
      }
      if (must_be_pure && std::ranges::find(kOutside, *include) != kOutside.end()) {
        complain(fmt::format("does I/O, but src/{} is pure", folder));
      }
      if (*include == "<filesystem>" && folder != "base" && path.ends_with(".cpp") && !path.ends_with("_test.cpp")) {
        complain("bypasses the Files seam; use base/files.hpp");
      }
      if (*include == "<CLI/CLI.hpp>" && path != kArgumentParser) {
        complain(fmt::format("takes seconds to compile; declare options with cli/app.hpp, only {} includes it",
                             kArgumentParser));
      }
      if (include->starts_with("<boost/asio") || include->starts_with("<boost/beast")) {
        async_files.insert(path);
        if (path.ends_with(".hpp")) complain("is included in a header; only .cpp files may include it");
      }
    }
  }
  if (async_files.size() > kAsyncFiles) {
    violations.push_back(
        fmt::format("{} files include Asio or Beast; at most {} are allowed", async_files.size(), kAsyncFiles));
  }
  return violations;
}

}  // namespace sb::tree
