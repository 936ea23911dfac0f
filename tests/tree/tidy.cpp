#include "tree/tidy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace sb::tree {
namespace {

constexpr std::size_t kLineCharacters = 120;
constexpr std::size_t kFileLines = 600;

// Split so that this file does not contain what it forbids.
constexpr std::array<std::string_view, 4> kUnfinished = {
    "TO"
    "DO",
    "FIX"
    "ME",
    "XX"
    "X",
    "HA"
    "CK"};
constexpr std::string_view kStandardRegex =
    "std::"
    "regex";
constexpr std::array<std::string_view, 4> kMachineFolders = {
    "/wo"
    "rk/",
    "/ro"
    "ot/",
    "/ho"
    "me/",
    "/Us"
    "ers/"};
// Made-up users in examples and recorded payloads.
constexpr std::array<std::string_view, 6> kMadeUpUsers = {"you", "user", "ada", "ann", "me", "dev"};

bool is_script(std::string_view path) {
  const auto name = path.substr(path.rfind('/') + 1);
  return path == "demo" || path == "test" || path == ".ci/run" || path.ends_with(".sh") ||
         (path.starts_with("scripts/") && name.find('.') == std::string_view::npos);
}

bool is_source(std::string_view path) {
  return is_cpp(path) || is_script(path) || path.ends_with(".cmake") || path.ends_with(".mjs") ||
         path.ends_with("CMakeLists.txt");
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool has_word(std::string_view line, std::string_view word) {
  for (auto at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const bool starts = at == 0 || !is_word(line[at - 1]);
    const bool ends = at + word.size() == line.size() || !is_word(line[at + word.size()]);
    if (starts && ends) return true;
  }
  return false;
}

bool names_a_machine(std::string_view line) {
  for (const std::string_view folder : kMachineFolders) {
    for (auto at = line.find(folder); at != std::string_view::npos; at = line.find(folder, at + 1)) {
      // After a name it is part of a longer path: $HOME/work/, projects/home/.
      if (at > 0 &&
          (is_word(line[at - 1]) || std::string_view(".-~*})>").find(line[at - 1]) != std::string_view::npos)) {
        continue;
      }
      const std::string_view rest = line.substr(at + folder.size());
      const auto end = std::ranges::find_if_not(rest, [](char c) { return is_word(c) || c == '-'; });
      const std::string_view name = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
      const bool is_folder = !name.empty() && !rest.substr(name.size()).starts_with('.');  // not /home/file.db
      if (is_folder && std::ranges::find(kMadeUpUsers, name) == kMadeUpUsers.end()) return true;
    }
  }
  return false;
}

// Whether a line has part of a raw string: in tests that is data, which cannot be wrapped like code. `end` closes the
// open raw string, and is kept from line to line.
bool has_raw_string(std::string_view line, std::string& end) {
  const bool was_open = !end.empty();
  if (was_open && line.find(end) == std::string_view::npos) return true;
  if (was_open) line.remove_prefix(line.find(end) + end.size());
  end.clear();
  const auto start = line.find("R\"");
  if (start == std::string_view::npos) return was_open;
  const auto open = line.find('(', start);
  if (open == std::string_view::npos) return was_open;
  end = fmt::format("){}\"", line.substr(start + 2, open - start - 2));
  if (line.find(end, open) != std::string_view::npos) end.clear();
  return true;
}

std::size_t count_characters(std::string_view line) {
  return static_cast<std::size_t>(std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

Violations check_tidy(const SourceTree& tree) {
  Violations violations;
  for (const auto& [path, text] : tree) {
    const auto lines = lines_of(text);
    int number = 0;
    std::string raw_end;
    for (const std::string_view line : lines) {
      ++number;
      const bool is_data = path.ends_with("_test.cpp") && has_raw_string(line, raw_end);
      const auto complain = [&](std::string_view what) {
        violations.push_back(fmt::format("{}:{}: {}", path, number, what));
      };
      if (names_a_machine(line)) complain("names a folder of a developer's machine");
      if (!is_source(path)) continue;
      const auto length = count_characters(line);
      if (length > kLineCharacters && !is_data)
        complain(fmt::format("has {} characters; at most {} are allowed", length, kLineCharacters));
      if (line.find('\t') != std::string_view::npos) complain("has a tab");
      if (line.ends_with(' ')) complain("ends with a blank");
      if (line.find(kStandardRegex) != std::string_view::npos)
        complain("uses the standard regex; use base/text/pattern.hpp");
      for (const std::string_view word : kUnfinished) {
        if (has_word(line, word)) complain(fmt::format("has {}; finish it or file an issue", word));
      }
    }
    if (is_source(path) && !text.empty() && !text.ends_with('\n')) {
      violations.push_back(fmt::format("{}: the last line has no line feed", path));
    }
    if (is_cpp(path) && path.starts_with("src/") && lines.size() > kFileLines) {
      violations.push_back(
          fmt::format("{}: has {} lines; at most {} are allowed. Split it by topic.", path, lines.size(), kFileLines));
    }
  }
  return violations;
}

}  // namespace sb::tree
