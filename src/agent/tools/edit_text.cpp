#include "agent/tools/edit_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace sb::agent {
namespace {

using Range = std::pair<std::size_t, std::size_t>;

std::vector<Range> all_of(std::string_view text, std::string_view what) {
  std::vector<Range> found;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size())) {
    found.emplace_back(at, at + what.size());
  }
  return found;
}

std::string with_carriage_returns(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n' && (i == 0 || text[i - 1] != '\r')) out += '\r';
    out += text[i];
  }
  return out;
}

struct StraightQuotes {
  std::string text;
  std::vector<std::size_t> origin;  // of each byte, and of the end
};

StraightQuotes straightened(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 4> kQuotes = {
      {{"\xE2\x80\x98", '\''}, {"\xE2\x80\x99", '\''}, {"\xE2\x80\x9C", '"'}, {"\xE2\x80\x9D", '"'}}};
  StraightQuotes out;
  for (std::size_t at = 0; at < text.size();) {
    const auto quote =
        std::ranges::find_if(kQuotes, [&](const auto& q) { return text.substr(at).starts_with(q.first); });
    out.origin.push_back(at);
    out.text += quote == kQuotes.end() ? text[at] : quote->second;
    at += quote == kQuotes.end() ? 1 : quote->first.size();
  }
  out.origin.push_back(text.size());
  return out;
}

std::vector<Range> with_straight_quotes(std::string_view text, std::string_view what) {
  const StraightQuotes straight = straightened(text);
  std::vector<Range> found = all_of(straight.text, straightened(what).text);
  for (auto& [begin, end] : found) {
    begin = straight.origin[begin];
    end = straight.origin[end];
  }
  return found;
}

std::vector<std::size_t> lines_of(std::string_view text, const std::vector<Range>& ranges) {
  std::vector<std::size_t> lines;
  std::size_t line = 1, at = 0;
  for (const Range& range : ranges) {
    line += static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                                text.begin() + static_cast<std::ptrdiff_t>(range.first), '\n'));
    at = range.first;
    lines.push_back(line);
  }
  return lines;
}

std::string first_few(const std::vector<std::size_t>& lines) {
  constexpr std::size_t kShown = 10;
  const std::vector<std::size_t> few(lines.begin(),
                                     lines.begin() + static_cast<std::ptrdiff_t>(std::min(lines.size(), kShown)));
  return fmt::format("{}{}", fmt::join(few, ", "), lines.size() > kShown ? ", …" : "");
}

}  // namespace

Result<EditResult> edit_text(std::string_view text, std::string_view old_text, std::string_view new_text, bool all) {
  if (old_text.empty()) return fail(ErrorCode::kInvalid, "old_string is empty", "Give the text to replace");
  if (old_text == new_text)
    return fail(ErrorCode::kInvalid, "old_string and new_string are the same", "There is nothing to change");
  std::string with(new_text);
  std::vector<Range> found = all_of(text, old_text);
  if (found.empty() && text.find("\r\n") != std::string_view::npos) {
    found = all_of(text, with_carriage_returns(old_text));
    if (!found.empty()) with = with_carriage_returns(new_text);
  }
  if (found.empty()) found = with_straight_quotes(text, old_text);
  if (found.empty()) {
    return fail(ErrorCode::kInvalid, "old_string not found", "Read the file and copy the text without line numbers");
  }
  const std::vector<std::size_t> lines = lines_of(text, found);
  if (found.size() > 1 && !all) {
    return fail(ErrorCode::kInvalid,
                fmt::format("old_string found {} times, at lines {}", found.size(), first_few(lines)),
                "Include more of the surrounding text, or set replace_all");
  }
  EditResult edited{{}, lines};
  std::size_t at = 0;
  for (const Range& range : found) {
    edited.text += text.substr(at, range.first - at);
    edited.text += with;
    at = range.second;
  }
  edited.text += text.substr(at);
  return edited;
}

}  // namespace sb::agent
