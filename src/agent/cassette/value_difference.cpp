// Describes for people where two values differ.
#include <fmt/format.h>

#include <algorithm>

#include "agent/cassette/cassette.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"

namespace sb::agent {

namespace {

constexpr std::size_t kPlaces = 8;            // shown; the rest is counted
constexpr std::size_t kShownLineBytes = 160;  // of a line that is shown

std::string shown(std::string_view text) {
  std::string line = printable(text);
  std::ranges::replace(line, '\n', ' ');
  return line.size() <= kShownLineBytes ? line : std::string(utf8_prefix(line, kShownLineBytes)) + "…";
}

std::string shown(const Value* value) {
  if (!value) return "(nothing)";
  return shown(value->is_string() ? std::string_view(value->as_string()) : std::string_view(to_json(*value)));
}

class Differences {
 public:
  void compare(const Value* recorded, const Value* now, const std::string& where) {
    if (recorded && now && recorded->is_object() && now->is_object()) return compare_members(*recorded, *now, where);
    if (recorded && now && recorded->is_array() && now->is_array()) return compare_items(*recorded, *now, where);
    if (recorded && now && recorded->is_string() && now->is_string()) {
      return compare_texts(recorded->as_string(), now->as_string(), where);
    }
    if (!recorded || !now || *recorded != *now) add(where, shown(recorded), shown(now));
  }

  std::string text() const {
    if (count_ == 0) return "  no difference except the order of requests";
    return count_ <= kPlaces ? text_ : text_ + fmt::format("  and {} more places\n", count_ - kPlaces);
  }

 private:
  void compare_members(const Value& recorded, const Value& now, const std::string& where) {
    for (const auto& [name, value] : recorded.members()) compare(&value, now.find(name), where + "/" + name);
    for (const auto& [name, value] : now.members()) {
      if (!recorded.find(name)) compare(nullptr, &value, where + "/" + name);
    }
  }

  void compare_items(const Value& recorded, const Value& now, const std::string& where) {
    const std::size_t most = std::max(recorded.items().size(), now.items().size());
    for (std::size_t i = 0; i < most; ++i) {
      compare(i < recorded.items().size() ? &recorded.items()[i] : nullptr,
              i < now.items().size() ? &now.items()[i] : nullptr, fmt::format("{}/{}", where, i));
    }
  }

  // Show the first line that differs; later ones often only moved.
  void compare_texts(std::string_view recorded, std::string_view now, const std::string& where) {
    if (recorded == now) return;
    for (int line = 1;; ++line) {
      const std::string_view a = next_line(recorded), b = next_line(now);
      if (a != b || (recorded.empty() != now.empty() && (recorded.empty() || now.empty()))) {
        return add(fmt::format("{}, line {}", where, line), shown(a), shown(b));
      }
      if (recorded.empty() && now.empty()) return add(where, "the end of the text", "another end");
    }
  }

  static std::string_view next_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
  }

  void add(const std::string& where, const std::string& recorded, const std::string& now) {
    if (++count_ > kPlaces) return;
    text_ += fmt::format("  {}\n    - {}\n    + {}\n", where.empty() ? "/" : where, recorded, now);
  }

  std::size_t count_ = 0;
  std::string text_;
};

}  // namespace

std::string value_difference(const Value& recorded, const Value& now) {
  Differences differences;
  differences.compare(&recorded, &now, "");
  return differences.text();
}

}  // namespace sb::agent
