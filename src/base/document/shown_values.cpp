#include "base/document/shown_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"

namespace sb {
namespace {

constexpr std::size_t kNameBytes = 80;
// Reserved for the line about the rest, if there is one.
constexpr std::size_t kRestBytes = 400;

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameBytes && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

std::string shown_name(std::string_view name) {
  if (is_plain_name(name)) return std::string(name);
  const std::string_view begin = utf8_prefix(name, kNameBytes);
  return printable(quote_json(begin)) + (begin.size() < name.size() ? "…" : "");
}

struct Member {
  std::string_view name;
  std::string json;
};

std::vector<Member> members_by_size(const Value& object, const std::set<std::string, std::less<>>& except) {
  std::vector<Member> members;
  for (const Value::Member& member : object.members()) {
    if (!except.contains(member.name)) members.push_back({member.name, printable(to_json(member.value))});
  }
  std::ranges::sort(members, [](const Member& a, const Member& b) {
    return a.json.size() != b.json.size() ? a.json.size() < b.json.size() : a.name < b.name;
  });
  return members;
}

// `Not shown: a (9000 bytes), b (12000 bytes) and 3 more. Read them with …`, as many names as fit.
std::string rest_line(const std::vector<Member>& members, std::size_t from, std::string_view where, std::size_t room) {
  const std::string end = where.empty()
                              ? std::string(".\n")
                              : fmt::format("; {} has {}.\n", where, members.size() - from > 1 ? "them" : "it");
  std::string names;
  std::size_t named = from;
  for (; named < members.size(); ++named) {
    const std::string name = fmt::format("{}{} ({} bytes)", names.empty() ? "" : ", ", shown_name(members[named].name),
                                         members[named].json.size());
    const std::size_t after = fmt::formatted_size(" and {} more", members.size() - named);
    if (names.size() + name.size() + after + end.size() + 16 > room) break;
    names += name;
  }
  const std::size_t more = members.size() - named;
  if (names.empty()) return fmt::format("- not shown: {} values{}", more, end);
  return fmt::format("- not shown: {}{}{}", names, more == 0 ? "" : fmt::format(" and {} more", more), end);
}

}  // namespace

std::string shown_values(const Value& object, std::size_t budget, std::string_view where,
                         const std::set<std::string, std::less<>>& except) {
  if (!object.is_object()) return {};
  const std::vector<Member> members = members_by_size(object, except);
  std::vector<std::string> lines;
  std::size_t bytes = 0;
  for (const Member& member : members) {
    std::string line = fmt::format("- {}: {}\n", shown_name(member.name), member.json);
    if (bytes + line.size() > budget) break;
    bytes += line.size();
    lines.push_back(std::move(line));
  }
  const std::size_t reserved = std::min(budget, kRestBytes);
  if (lines.size() < members.size()) {
    while (!lines.empty() && bytes + reserved > budget) {
      bytes -= lines.back().size();
      lines.pop_back();
    }
  }
  std::string text;
  for (const std::string& line : lines) text += line;
  if (lines.size() == members.size()) return text;
  const std::string rest = rest_line(members, lines.size(), where, budget - text.size());
  return text.size() + rest.size() <= budget ? text + rest : text;
}

std::string shown_value(const Value& value, std::size_t bytes) {
  const std::string json = printable(to_json(value));
  if (json.size() <= bytes) return json;
  return fmt::format("{}… ({} bytes in total)", utf8_prefix(json, bytes), json.size());
}

}  // namespace sb
