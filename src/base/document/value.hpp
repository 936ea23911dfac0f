// A JSON value: documents are parsed into it, and the program prints it.
//
// Objects keep the order in which members were added; names are unique. A value type: copies are deep. Not
// synchronised; share only const values between threads.
//
// Constructors, copies and destructors are in value.cpp: values are created in over a thousand places, and inlining
// there took a fifth of the compile time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sb {

class Value {
 public:
  enum class Kind { kNull, kBool, kInteger, kNumber, kString, kArray, kObject };
  struct Member;
  using Array = std::vector<Value>;
  using Object = std::vector<Member>;

  Value();
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
  Value(std::nullptr_t);
  Value(bool value);
  Value(int value);
  Value(unsigned value);
  Value(long value);
  Value(long long value);
  Value(unsigned long value);
  Value(double value);
  Value(const char* value);
  Value(std::string value);
  Value(std::string_view value);
  Value(Array value);

  static Value array();
  static Value array(std::vector<std::string> strings);
  static Value object();
  static Value object(std::initializer_list<Member> members);

  Kind kind() const { return static_cast<Kind>(data_.index()); }
  bool is_null() const { return kind() == Kind::kNull; }
  bool is_bool() const { return kind() == Kind::kBool; }
  bool is_integer() const { return kind() == Kind::kInteger; }
  bool is_number() const { return kind() == Kind::kNumber || is_integer(); }
  bool is_string() const { return kind() == Kind::kString; }
  bool is_array() const { return kind() == Kind::kArray; }
  bool is_object() const { return kind() == Kind::kObject; }

  // Each asserts the kind.
  bool as_bool() const { return std::get<bool>(data_); }
  std::int64_t as_integer() const { return std::get<std::int64_t>(data_); }
  double as_number() const;
  const std::string& as_string() const { return std::get<std::string>(data_); }
  const Array& items() const { return std::get<Array>(data_); }
  Array& items() { return std::get<Array>(data_); }
  const Object& members() const { return std::get<Object>(data_); }
  Object& members() { return std::get<Object>(data_); }

  // Null if this is not an object or has no such member.
  const Value* find(std::string_view name) const;
  Value* find(std::string_view name);
  // For reading data we wrote ourselves: the member, or a null value.
  const Value& operator[](std::string_view name) const;
  // The string member, or nothing if it is absent or of another kind.
  std::optional<std::string> string_at(std::string_view name) const;

  // Adds or replaces a member of an object; a null value becomes an object first.
  void set(std::string_view name, Value value);
  void erase(std::string_view name);
  void push_back(Value value);
  std::size_t size() const;

  bool operator==(const Value&) const;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> data_;
};

struct Value::Member {
  Member(const char* name, Value value);
  Member(std::string name, Value value);
  Member(const Member&);
  Member(Member&&) noexcept;
  Member& operator=(const Member&);
  Member& operator=(Member&&) noexcept;
  ~Member();
  bool operator==(const Member&) const;

  std::string name;
  Value value;
};

std::string_view kind_name(Value::Kind kind);  // "an object", "a string", ...

// JSON text. Non-ASCII characters are not escaped; control characters are. Strings must be UTF-8.
std::string to_json(const Value& value);
std::string to_pretty_json(const Value& value, int indent = 2);
// RFC 8785: members sorted by UTF-16 code units, numbers as ECMAScript prints them. Equal values give equal bytes.
std::string to_canonical_json(const Value& value);
// The string as a quoted JSON string.
std::string quote_json(std::string_view text);

}  // namespace sb
