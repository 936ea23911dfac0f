#include "hook/install/rules_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/crypto.hpp"
#include "base/text.hpp"
#include "hook/install/settings_file.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kBegin = "<!-- signalbox rules: begin ";
constexpr std::string_view kEnd = "<!-- signalbox rules: end -->\n";
constexpr std::string_view kAfter = "after-", kNew = "new-";
constexpr std::size_t kDigestLength = 12;

struct Section {
  std::size_t begin = 0, end = 0;  // with its marks
  std::string state;               // after-N or new-N
};

std::string digest_of(std::string_view rules) {
  return sha256_hex(rules).substr(0, kDigestLength);
}

std::string section_text(std::string_view rules, std::string_view state) {
  return fmt::format("{}{} {} (`signalbox rules uninstall` removes this section) -->\n{}{}", kBegin, digest_of(rules),
                     state, rules, kEnd);
}

std::unexpected<Error> damaged(std::string_view text, std::size_t at, std::string_view what) {
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  return fail(ErrorCode::kConflict, fmt::format("the section of signalbox {}", what),
              "Delete its lines, from `signalbox rules: begin` to `signalbox rules: end`, and try again; nothing was "
              "changed",
              {"", "", static_cast<int>(line), 1});
}

// Positions of a mark at the beginning of a line.
std::vector<std::size_t> marks_in(std::string_view text, std::string_view mark) {
  std::vector<std::size_t> found;
  for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') found.push_back(at);
  }
  return found;
}

Result<std::optional<Section>> find_section(std::string_view text) {
  const auto begins = marks_in(text, kBegin);
  const auto ends = marks_in(text, kEnd.substr(0, kEnd.size() - 1));
  if (begins.empty() && ends.empty()) return std::nullopt;
  if (begins.empty()) return damaged(text, ends.front(), "has no beginning");
  if (begins.size() > 1 || ends.size() > 1) return damaged(text, begins.back(), "is there twice");
  if (ends.empty() || ends.front() < begins.front()) return damaged(text, begins.front(), "has no end");
  const std::size_t head_end = text.find('\n', begins.front());
  const std::string_view head = text.substr(begins.front() + kBegin.size(), head_end - begins.front() - kBegin.size());
  const std::string_view rules = text.substr(head_end + 1, ends.front() - head_end - 1);
  const std::size_t first = head.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : head.find(' ', first + 1);
  const std::string_view state =
      second == std::string_view::npos ? std::string_view() : head.substr(first + 1, second - first - 1);
  const bool is_ours = state.starts_with(kAfter) || state.starts_with(kNew);
  if (!is_ours || head.substr(0, first) != digest_of(rules)) return damaged(text, begins.front(), "was edited");
  Section section{begins.front(), ends.front() + kEnd.size() - 1, std::string(state)};
  if (section.end < text.size() && text[section.end] == '\n') ++section.end;
  return section;
}

int number_in(std::string_view state, std::string_view kind) {
  int number = 0;
  if (state.starts_with(kind)) std::from_chars(state.data() + kind.size(), state.data() + state.size(), number);
  return number;
}

std::unexpected<Error> in_file(Error error, const std::string& path) {
  if (error.location.file.empty()) error.location.file = path;
  return std::unexpected(std::move(error));
}

}  // namespace

Result<std::string> with_rules(const std::optional<std::string>& text, std::string_view rules, int folders) {
  if (!text) return section_text(rules, fmt::format("{}{}", kNew, folders));
  if (const auto section = SB_TRY(find_section(*text))) {
    return text->substr(0, section->begin) + section_text(rules, section->state) + text->substr(section->end);
  }
  const std::size_t breaks = text->empty() || text->ends_with("\n\n") ? 0 : text->ends_with('\n') ? 1 : 2;
  return *text + std::string(breaks, '\n') + section_text(rules, fmt::format("{}{}", kAfter, breaks));
}

Result<WithoutRules> without_rules(std::string_view text) {
  const auto section = SB_TRY(find_section(text));
  if (!section) return WithoutRules{false, std::string(text), false, 0};
  std::size_t begin = section->begin;
  for (int i = number_in(section->state, kAfter); i > 0 && begin > 0 && text[begin - 1] == '\n'; --i) --begin;
  WithoutRules left{true, std::string(text.substr(0, begin)) + std::string(text.substr(section->end)), false, 0};
  left.removes_file = left.text.empty() && section->state.starts_with(kNew);
  left.folders = left.removes_file ? number_in(section->state, kNew) : 0;
  return left;
}

Result<InstallResult> install_rules(const Seams& seams, const std::string& path, std::string_view rules) {
  const auto lock = SB_TRY(lock_settings(seams));
  const auto before = SB_TRY(read_if_exists(seams.files, path));
  auto after = with_rules(before, rules, missing_folders(seams.files, path));
  if (!after) return in_file(std::move(after).error(), path);
  if (before == *after) return InstallResult{.path = path};
  SB_TRY(seams.files.make_directories(parent_path(path)));
  SB_TRY(seams.files.write_atomic(path, *after));
  return InstallResult{.path = path, .is_changed = true};
}

Result<InstallResult> uninstall_rules(const Seams& seams, const std::string& path) {
  const auto lock = SB_TRY(lock_settings(seams));
  const auto before = SB_TRY(read_if_exists(seams.files, path));
  if (!before) return InstallResult{.path = path};
  auto left = without_rules(*before);
  if (!left) return in_file(std::move(left).error(), path);
  if (!left->had_section) return InstallResult{.path = path};
  if (!left->removes_file) {
    SB_TRY(seams.files.write_atomic(path, left->text));
    return InstallResult{.path = path, .is_changed = true};
  }
  SB_TRY(seams.files.remove(path));
  remove_folders(seams.files, path, left->folders);
  return InstallResult{.path = path, .is_changed = true};
}

}  // namespace sb::hook
