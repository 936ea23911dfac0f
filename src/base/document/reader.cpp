#include "base/document/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/document/faults.hpp"

namespace sb {
namespace {

constexpr std::string_view kWrongKind = "wrong_kind";

// Edit distance with adjacent transpositions: enough to catch typos.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), earlier(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) before[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({before[j] + 1, row[j - 1] + 1, before[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], earlier[j - 2] + 1);
    }
    earlier = std::exchange(before, row);
  }
  return before[b.size()];
}

std::string list_names(std::span<const std::string_view> names) {
  std::string out;
  for (const auto name : names) out += fmt::format("{}{}", out.empty() ? "" : ", ", name);
  return out;
}

// The pointer from `tree` to one of its parts, which is found by address.
bool find_part(const Value& tree, const Value* part, std::string& pointer) {
  if (&tree == part) return true;
  const std::size_t length = pointer.size();
  if (tree.is_array()) {
    for (std::size_t i = 0; i < tree.size(); ++i) {
      pointer += fmt::format("/{}", i);
      if (find_part(tree.items()[i], part, pointer)) return true;
      pointer.resize(length);
    }
  } else if (tree.is_object()) {
    for (const auto& member : tree.members()) {
      pointer += '/' + escape_pointer(member.name);
      if (find_part(member.value, part, pointer)) return true;
      pointer.resize(length);
    }
  }
  return false;
}

}  // namespace

std::string nearest_name(std::string_view wrong, std::span<const std::string> known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, wrong.size() / 3) + 1;
  if (wrong.size() > 64) return best;
  for (const auto& name : known) {
    if (const std::size_t distance = edit_distance(wrong, name); distance < best_distance) {
      best_distance = distance;
      best = name;
    }
  }
  return best;
}

std::string Reader::pointer() const {
  std::string out;
  find_part(document_->root, value_, out);
  return out;
}

void Reader::fault(std::string message, std::string remedy, ErrorCode code, std::string_view rule) const {
  if (faults_->size() > limits::kFaults) return;
  add_fault(*faults_, {code, std::move(message), std::move(remedy), document_->location_of(pointer()), false, rule});
}

void Reader::adopt(Error fault) const {
  if (faults_->size() > limits::kFaults) return;
  fault.location = document_->location_of(pointer() + fault.location.pointer);
  add_fault(*faults_, std::move(fault));
}

std::optional<std::string> Reader::string(std::size_t max_bytes) const {
  if (!value_->is_string()) {
    const bool is_scalar = value_->is_number() || value_->is_bool();
    fault(fmt::format("expected a string, found {}", kind_name(value_->kind())),
          is_scalar ? fmt::format("Put it in quotes: \"{}\"", to_json(*value_)) : "Write a string here",
          ErrorCode::kInvalid, kWrongKind);
    return std::nullopt;
  }
  if (value_->as_string().size() > max_bytes) {
    fault(fmt::format("the string has {} bytes; at most {} are allowed", value_->as_string().size(), max_bytes),
          "Shorten it", ErrorCode::kLimit, "too_long");
    return std::nullopt;
  }
  return value_->as_string();
}

std::optional<bool> Reader::boolean() const {
  if (value_->is_bool()) return value_->as_bool();
  fault(fmt::format("expected true or false, found {}", kind_name(value_->kind())), "Write true or false",
        ErrorCode::kInvalid, kWrongKind);
  return std::nullopt;
}

std::optional<std::int64_t> Reader::integer(std::int64_t min, std::int64_t max) const {
  if (!value_->is_integer()) {
    fault(fmt::format("expected an integer, found {}", kind_name(value_->kind())),
          fmt::format("Write a number from {} to {}", min, max), ErrorCode::kInvalid, kWrongKind);
    return std::nullopt;
  }
  if (value_->as_integer() < min || value_->as_integer() > max) {
    fault(fmt::format("{} is out of range", value_->as_integer()),
          fmt::format("Write a number from {} to {}", min, max), ErrorCode::kInvalid, "out_of_range");
    return std::nullopt;
  }
  return value_->as_integer();
}

std::optional<double> Reader::number() const {
  if (value_->is_number()) return value_->as_number();
  fault(fmt::format("expected a number, found {}", kind_name(value_->kind())), "Write a number", ErrorCode::kInvalid,
        kWrongKind);
  return std::nullopt;
}

std::vector<Reader> Reader::items(std::size_t max) const {
  std::vector<Reader> readers;
  if (!value_->is_array()) {
    fault(fmt::format("expected a list, found {}", kind_name(value_->kind())), "Write a list", ErrorCode::kInvalid,
          kWrongKind);
    return readers;
  }
  if (value_->size() > max) {
    fault(fmt::format("the list has {} entries; at most {} are allowed", value_->size(), max), "Shorten it",
          ErrorCode::kLimit, "too_many");
    return readers;
  }
  readers.reserve(value_->size());
  for (const Value& item : value_->items()) readers.push_back(at(item));
  return readers;
}

std::vector<std::string> Reader::strings(std::size_t max) const {
  std::vector<std::string> out;
  for (const Reader& item : items(max)) {
    if (auto text = item.string()) out.push_back(std::move(*text));
  }
  return out;
}

Fields Reader::fields() const {
  if (!value_->is_object())
    fault(fmt::format("expected an object, found {}", kind_name(value_->kind())), "Write key: value pairs",
          ErrorCode::kInvalid, kWrongKind);
  return Fields(*this);
}

std::optional<std::size_t> Reader::choose(std::span<const std::string_view> names) const {
  if (value_->is_string()) {
    const auto found = std::ranges::find(names, std::string_view(value_->as_string()));
    if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
    const std::vector<std::string> known(names.begin(), names.end());
    const std::string nearest = nearest_name(value_->as_string(), known);
    fault(fmt::format("\"{}\" is not one of: {}", value_->as_string().substr(0, 64), list_names(names)),
          nearest.empty() ? "Use one of these" : fmt::format("Did you mean {}?", nearest), ErrorCode::kInvalid,
          "unknown_choice");
  } else {
    fault(fmt::format("expected one of: {}; found {}", list_names(names), kind_name(value_->kind())),
          "Use one of these", ErrorCode::kInvalid, kWrongKind);
  }
  return std::nullopt;
}

bool Fields::has(std::string_view name) const {
  return self_.value().find(name) != nullptr;
}

std::optional<Reader> Fields::get(std::string_view name, Need need) {
  known_.push_back(name);
  if (const Value* value = self_.value().find(name)) return self_.at(*value);
  if (need == Need::kRequired && self_.value().is_object()) {
    self_.fault(fmt::format("\"{}\" is missing", name), fmt::format("Add {}:", name), ErrorCode::kInvalid,
                "missing_key");
  }
  return std::nullopt;
}

std::optional<std::string> Fields::string(std::string_view name, Need need, std::size_t max_bytes) {
  const auto reader = get(name, need);
  return reader ? reader->string(max_bytes) : std::nullopt;
}

std::optional<bool> Fields::boolean(std::string_view name, Need need) {
  const auto reader = get(name, need);
  return reader ? reader->boolean() : std::nullopt;
}

std::optional<std::int64_t> Fields::integer(std::string_view name, std::int64_t min, std::int64_t max, Need need) {
  const auto reader = get(name, need);
  return reader ? reader->integer(min, max) : std::nullopt;
}

std::vector<Reader> Fields::items(std::string_view name, Need need, std::size_t max) {
  const auto reader = get(name, need);
  return reader ? reader->items(max) : std::vector<Reader>{};
}

std::vector<std::string> Fields::strings(std::string_view name, Need need) {
  const auto reader = get(name, need);
  return reader ? reader->strings() : std::vector<std::string>{};
}

bool Fields::finish() {
  if (!self_.value().is_object()) return true;
  bool are_known = true;
  for (const auto& member : self_.value().members()) {
    if (std::ranges::find(known_, member.name) != known_.end()) continue;
    are_known = false;
    std::vector<std::string_view> once;
    for (const auto name : known_) {
      if (std::ranges::find(once, name) == once.end()) once.push_back(name);
    }
    const std::vector<std::string> names(once.begin(), once.end());
    const std::string nearest = nearest_name(member.name, names);
    self_.at(member.value)
        .fault(fmt::format("unknown key \"{}\"", member.name.substr(0, 64)),
               nearest.empty() ? fmt::format("Known keys: {}", list_names(once))
                               : fmt::format("Did you mean {}?", nearest),
               ErrorCode::kInvalid, "unknown_key");
  }
  return are_known;
}

}  // namespace sb
