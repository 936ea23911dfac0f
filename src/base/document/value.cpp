#include "base/document/value.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "base/assert.hpp"

namespace sb {

Value::Value() = default;
// Not by the variant's own copy constructor: in GCC 12's library it destroys an alternative that was never made when
// the copy of a string or a list throws for lack of memory.
Value::Value(const Value& other) {
  data_ = other.data_;
}
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;
Value::Value(std::nullptr_t) {}
Value::Value(bool value) : data_(value) {}
Value::Value(int value) : data_(static_cast<std::int64_t>(value)) {}
Value::Value(unsigned value) : data_(static_cast<std::int64_t>(value)) {}
Value::Value(long value) : data_(static_cast<std::int64_t>(value)) {}
Value::Value(long long value) : data_(static_cast<std::int64_t>(value)) {}
Value::Value(unsigned long value) : data_(static_cast<std::int64_t>(value)) {}
Value::Value(double value) : data_(value) {}
Value::Value(const char* value) : data_(std::string(value)) {}
Value::Value(std::string value) : data_(std::move(value)) {}
Value::Value(std::string_view value) : data_(std::string(value)) {}
Value::Value(Array value) : data_(std::move(value)) {}
Value Value::array() {
  return Value(Array{});
}

Value::Member::Member(const char* name_, Value value_) : name(name_), value(std::move(value_)) {}
Value::Member::Member(std::string name_, Value value_) : name(std::move(name_)), value(std::move(value_)) {}
Value::Member::Member(const Member&) = default;
Value::Member::Member(Member&&) noexcept = default;
Value::Member& Value::Member::operator=(const Member&) = default;
Value::Member& Value::Member::operator=(Member&&) noexcept = default;
Value::Member::~Member() = default;
bool Value::Member::operator==(const Member&) const = default;

Value Value::array(std::vector<std::string> strings) {
  Array items;
  items.reserve(strings.size());
  for (auto& text : strings) items.emplace_back(std::move(text));
  return Value(std::move(items));
}

Value Value::object() {
  Value value;
  value.data_.emplace<Object>();
  return value;
}

Value Value::object(std::initializer_list<Member> members) {
  Value value;
  value.data_.emplace<Object>(members);
  return value;
}

double Value::as_number() const {
  return is_integer() ? static_cast<double>(as_integer()) : std::get<double>(data_);
}

const Value* Value::find(std::string_view name) const {
  if (!is_object()) return nullptr;
  for (const auto& member : members()) {
    if (member.name == name) return &member.value;
  }
  return nullptr;
}

Value* Value::find(std::string_view name) {
  return const_cast<Value*>(std::as_const(*this).find(name));
}

const Value& Value::operator[](std::string_view name) const {
  static const Value kNullValue;
  const Value* value = find(name);
  return value ? *value : kNullValue;
}

std::optional<std::string> Value::string_at(std::string_view name) const {
  const Value* value = find(name);
  if (!value || !value->is_string()) return std::nullopt;
  return value->as_string();
}

void Value::set(std::string_view name, Value value) {
  if (is_null()) data_.emplace<Object>();
  if (Value* existing = find(name)) {
    *existing = std::move(value);
  } else {
    members().push_back({std::string(name), std::move(value)});
  }
}

void Value::erase(std::string_view name) {
  std::erase_if(members(), [&](const Member& member) { return member.name == name; });
}

void Value::push_back(Value value) {
  if (is_null()) data_.emplace<Array>();
  items().push_back(std::move(value));
}

std::size_t Value::size() const {
  if (is_array()) return items().size();
  if (is_object()) return members().size();
  return 0;
}

bool Value::operator==(const Value& other) const {
  return data_ == other.data_;
}

std::string_view kind_name(Value::Kind kind) {
  switch (kind) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kBool:
      return "a boolean";
    case Value::Kind::kInteger:
      return "an integer";
    case Value::Kind::kNumber:
      return "a number";
    case Value::Kind::kString:
      return "a string";
    case Value::Kind::kArray:
      return "a list";
    case Value::Kind::kObject:
      return "an object";
  }
  return "null";
}

namespace {

bool must_be_escaped(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
}

// Whether one of eight characters must be escaped, tested in parallel: subtracting n from a byte borrows into its top
// bit if the byte is smaller than n.
bool has_escape(const char* eight) {
  constexpr std::uint64_t kOnes = 0x0101010101010101, kTops = 0x8080808080808080;
  std::uint64_t word;
  std::memcpy(&word, eight, sizeof word);
  const std::uint64_t quote = word ^ (kOnes * '"'), backslash = word ^ (kOnes * '\\');
  return (((word - kOnes * 0x20) & ~word) | ((quote - kOnes) & ~quote) | ((backslash - kOnes) & ~backslash)) & kTops;
}

// Most text needs no escapes, so it is copied in runs.
void append_quoted(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    while (at + 8 <= text.size() && !has_escape(text.data() + at)) at += 8;
    if (at == text.size()) break;
    const char c = text[at];
    if (!must_be_escaped(c)) continue;
    out.append(text, done, at - done);
    done = at + 1;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += "\\u00";
        out += kHex[(c >> 4) & 15];
        out += kHex[c & 15];
    }
  }
  out.append(text, done);
  out += '"';
}

// Like ECMAScript's Number::toString: the shortest digits that read back as the same number, in the same layout.
void append_number(std::string& out, double number) {
  SB_ASSERT(std::isfinite(number));
  if (number == 0) {
    out += '0';
    return;
  }
  if (number < 0) {
    out += '-';
    number = -number;
  }
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific).ptr;
  const std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t e = text.find('e');
  int exponent = 0;
  const char* exponent_text = text.data() + e + 1 + (text[e + 1] == '+');
  std::from_chars(exponent_text, end, exponent);
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  const int count = static_cast<int>(digits.size());
  const int point = exponent + 1;  // position of the decimal point within the digits
  if (count <= point && point <= 21) {
    out += digits + std::string(static_cast<std::size_t>(point - count), '0');
  } else if (0 < point && point <= 21) {
    out += digits.substr(0, static_cast<std::size_t>(point)) + '.' + digits.substr(static_cast<std::size_t>(point));
  } else if (-6 < point && point <= 0) {
    out += "0." + std::string(static_cast<std::size_t>(-point), '0') + digits;
  } else {
    out += digits[0];
    if (count > 1) out += '.' + digits.substr(1);
    out += point > 0 ? "e+" : "e-";
    out += std::to_string(std::abs(point - 1));
  }
}

// Compares by UTF-16 code units. That equals the order of UTF-8 bytes except in one case: a character that takes two
// units sorts before U+E000 to U+FFFF, although its bytes are greater.
bool comes_before(std::string_view a, std::string_view b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_b == b.end()) return false;
  if (in_a == a.end()) return true;
  const auto byte_a = static_cast<unsigned char>(*in_a), byte_b = static_cast<unsigned char>(*in_b);
  const bool is_pair_a = byte_a >= 0xF0, is_pair_b = byte_b >= 0xF0;
  if (is_pair_a != is_pair_b && byte_a >= 0xEE && byte_b >= 0xEE) return is_pair_a;
  return byte_a < byte_b;
}

struct Writer {
  std::string out;
  int indent = -1;  // negative: one line
  bool is_canonical = false;

  void newline(int depth) {
    if (indent < 0) return;
    out += '\n';
    out.append(static_cast<std::size_t>(indent * depth), ' ');
  }

  void write_members(const Value& value, int depth) {
    std::vector<const Value::Member*> members;
    members.reserve(value.size());
    for (const auto& member : value.members()) members.push_back(&member);
    if (is_canonical) {
      std::ranges::sort(members, [](const auto* a, const auto* b) { return comes_before(a->name, b->name); });
    }
    out += '{';
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i > 0) out += ',';
      newline(depth + 1);
      append_quoted(out, members[i]->name);
      out += indent < 0 ? ":" : ": ";
      write(members[i]->value, depth + 1);
    }
    if (!members.empty()) newline(depth);
    out += '}';
  }

  void write(const Value& value, int depth) {
    switch (value.kind()) {
      case Value::Kind::kNull:
        out += "null";
        break;
      case Value::Kind::kBool:
        out += value.as_bool() ? "true" : "false";
        break;
      case Value::Kind::kInteger:
        // Canonical JSON has only doubles, so a large integer is printed as the double it would be read as.
        if (is_canonical) {
          append_number(out, static_cast<double>(value.as_integer()));
        } else {
          out += std::to_string(value.as_integer());
        }
        break;
      case Value::Kind::kNumber:
        append_number(out, value.as_number());
        break;
      case Value::Kind::kString:
        append_quoted(out, value.as_string());
        break;
      case Value::Kind::kArray:
        out += '[';
        for (std::size_t i = 0; i < value.items().size(); ++i) {
          if (i > 0) out += ',';
          newline(depth + 1);
          write(value.items()[i], depth + 1);
        }
        if (value.size() > 0) newline(depth);
        out += ']';
        break;
      case Value::Kind::kObject:
        write_members(value, depth);
        break;
    }
  }
};

}  // namespace

std::string to_json(const Value& value) {
  Writer writer;
  writer.write(value, 0);
  return std::move(writer.out);
}

std::string to_pretty_json(const Value& value, int indent) {
  Writer writer;
  writer.indent = indent;
  writer.write(value, 0);
  return std::move(writer.out);
}

std::string to_canonical_json(const Value& value) {
  Writer writer;
  writer.is_canonical = true;
  writer.write(value, 0);
  return std::move(writer.out);
}

std::string quote_json(std::string_view text) {
  std::string out;
  append_quoted(out, text);
  return out;
}

}  // namespace sb
