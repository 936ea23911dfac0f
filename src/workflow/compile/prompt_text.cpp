#include "workflow/compile/prompt_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <expected>
#include <optional>
#include <utility>

#include "base/text/unicode.hpp"

namespace sb::workflow {
namespace {

constexpr std::string_view kLength = "length";
constexpr std::size_t kPreviewChars = 60;
constexpr std::size_t kLineValueBytes = 240;

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool continues_name(char c) {
  return starts_name(c) || (c >= '0' && c <= '9');
}

struct Found {
  std::string_view path;
  std::size_t begin = 0, end = 0;  // with the braces
};

// The placeholder whose braces open at `begin`, if there is one.
std::optional<Found> place_at(std::string_view text, std::size_t begin) {
  std::size_t at = begin + 2;
  while (true) {
    if (at >= text.size() || !starts_name(text[at])) return std::nullopt;
    while (at < text.size() && continues_name(text[at])) ++at;
    if (at < text.size() && text[at] == '.') {
      ++at;
      continue;
    }
    break;
  }
  const std::string_view path = text.substr(begin + 2, at - begin - 2);
  if (!text.substr(at).starts_with("}}") || path.starts_with("wr.")) return std::nullopt;
  return Found{path, begin, at + 2};
}

std::optional<Found> next_place(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find("{{", from); at != std::string_view::npos; at = text.find("{{", at + 1)) {
    if (auto found = place_at(text, at)) return found;
  }
  return std::nullopt;
}

std::string shown(const Value& value) {
  if (value.is_string()) return value.as_string();
  return value.is_array() || value.is_object() ? to_json(value) : to_canonical_json(value);
}

std::string preview(const Value& value) {
  std::string text = value.is_string() ? value.as_string() : to_json(value);
  if (!is_utf8(text)) return {};
  std::size_t at = 0;
  for (std::size_t count = 0; at < text.size() && count < kPreviewChars; ++count) next_code_point(text, at);
  if (at < text.size()) text = text.substr(0, at) + "…";
  std::ranges::replace(text, '\n', ' ');
  return text;
}

std::optional<Value> length_of(const Value& value) {
  if (value.is_array()) return Value(value.size());
  if (value.is_string() && is_utf8(value.as_string())) return Value(count_code_points(value.as_string()));
  return std::nullopt;
}

// The value of a path, or what is shown instead.
std::expected<std::string, std::string> value_at(std::string_view path, const Value& context) {
  const auto unset = [&] { return std::unexpected(fmt::format("[unset: {}]", path)); };
  const Value* at = &context;
  for (std::string_view rest = path; !rest.empty();) {
    // A key may itself contain dots; conditions find it, so prompts do too.
    if (const Value* whole = at->find(rest)) {
      at = whole;
      break;
    }
    const std::size_t dot = rest.find('.');
    const std::string_view step = rest.substr(0, dot);
    if (at != &context && !at->is_object()) {
      if (step == kLength && dot == std::string_view::npos) {
        if (const auto length = length_of(*at)) return shown(*length);
      }
      const std::string_view parent = path.substr(0, path.size() - rest.size() - 1);
      return std::unexpected(
          fmt::format("[unset: {} ({} is {}: {})]", path, parent, kind_name(at->kind()), preview(*at)));
    }
    at = at->find(step);
    if (!at || at->is_null()) return unset();
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  if (at->is_null()) return unset();
  return shown(*at);
}

// The name of a `{name}` whose brace opens at `at`; empty if it is something else, such as `{{name}}` or JSON.
std::string_view argument_name_at(std::string_view text, std::size_t at) {
  if (text[at] != '{' || (at > 0 && text[at - 1] == '{')) return {};
  std::size_t end = at + 1;
  if (end >= text.size() || !starts_name(text[end])) return {};
  while (end < text.size() && continues_name(text[end])) ++end;
  if (end >= text.size() || text[end] != '}') return {};
  if (end + 1 < text.size() && text[end + 1] == '}') return {};
  return text.substr(at + 1, end - at - 1);
}

std::string on_one_line(std::string_view text) {
  std::string line;
  bool wants_blank = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = at;
    if (is_space(next_code_point(text, at))) {
      wants_blank = !line.empty();
      continue;
    }
    if (wants_blank) line += ' ';
    wants_blank = false;
    line += text.substr(from, at - from);
  }
  return line;
}

}  // namespace

// Within the budget.
std::string Filler::placed(std::string_view name, std::string value) {
  const std::size_t room = std::min(budget_.value_bytes, budget_.all_bytes);
  const bool is_whole = value.size() <= room;
  if (!is_whole) {
    const std::size_t bytes = value.size();
    value.resize(utf8_prefix(value, room).size());
    const std::string where = budget_.where.empty() ? "" : fmt::format("; all of it: {}", budget_.where);
    if (budget_.all_bytes != std::string::npos) budget_.all_bytes -= value.size();
    return fmt::format("{}… [{}: {} bytes in total{}]", value, name, bytes, where);
  }
  if (budget_.all_bytes != std::string::npos) budget_.all_bytes -= value.size();
  if (context_.find(name) != nullptr) shown_whole_.emplace(name);
  return value;
}

std::string Filler::placed_path(std::string_view path) {
  auto value = value_at(path, context_);
  return value ? placed(path, std::move(*value)) : std::move(value).error();
}

// Text between two `{{…}}` placeholders.
std::string Filler::with_arguments(std::string_view text) {
  if (braces_ == Braces::kText) return std::string(text);
  std::string out;
  std::size_t done = 0;
  for (std::size_t at = text.find('{'); at != std::string_view::npos; at = text.find('{', at + 1)) {
    const std::string_view name = argument_name_at(text, at);
    if (name.empty()) continue;
    const Value* value = context_.find(name);
    const bool is_set = value != nullptr && !value->is_null();
    const bool is_literal = braces_ == Braces::kArguments && at > done && text[at - 1] == '\\';
    if (!is_literal && !is_set && braces_ == Braces::kIfSet) continue;
    const std::size_t end = at + name.size() + 2;
    out += text.substr(done, at - done - (is_literal ? 1 : 0));
    if (is_literal) {
      out += text.substr(at, end - at);
    } else {
      out += is_set ? placed(name, shown(*value)) : fmt::format("[unset: {}]", name);
    }
    done = end;
  }
  out += text.substr(done);
  return out;
}

std::string Filler::fill(std::string_view text) {
  std::string out;
  std::size_t done = 0;
  while (const auto found = next_place(text, done)) {
    out += with_arguments(text.substr(done, found->begin - done));
    out += placed_path(found->path);
    done = found->end;
  }
  out += with_arguments(text.substr(done));
  return out;
}

std::string Filler::fill_line(std::string_view text) {
  const std::size_t value_bytes = std::exchange(budget_.value_bytes, std::min(budget_.value_bytes, kLineValueBytes));
  const std::string where = std::exchange(budget_.where, "");
  std::string line = on_one_line(fill(text));
  budget_.value_bytes = value_bytes;
  budget_.where = where;
  return line;
}

std::string fill_in(std::string_view text, const Value& context, Braces braces) {
  return Filler(context, braces, {}).fill(text);
}

std::string fill_in_line(std::string_view text, const Value& context, Braces braces) {
  return Filler(context, braces, {}).fill_line(text);
}

std::vector<std::string> paths_in(std::string_view text) {
  std::vector<std::string> paths;
  std::size_t done = 0;
  while (const auto found = next_place(text, done)) {
    if (std::ranges::find(paths, found->path) == paths.end()) paths.emplace_back(found->path);
    done = found->end;
  }
  return paths;
}

std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string& path : paths_in(text)) {
    std::string name = path.substr(0, path.find('.'));
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace sb::workflow
