#include "base/document/stored_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"

namespace sb {
namespace {

const Value& empty_of(Value::Kind kind) {
  static const Value kNothing, kObject = Value::object(), kArray = Value::array();
  if (kind == Value::Kind::kObject) return kObject;
  return kind == Value::Kind::kArray ? kArray : kNothing;
}

}  // namespace

Result<Value> parse_stored(std::string_view text, const JsonBounds& bounds) {
  auto value = parse_json(text, bounds);
  if (!value) return fail(ErrorCode::kCorrupt, value.error().message);
  return value;
}

std::unexpected<Error> unknown_event(std::string_view stream, std::int64_t seq, std::string_view type) {
  return newer_version(fmt::format("event {} of {} has the unknown type {} and", seq, stream, quote_json(type)));
}

std::unexpected<Error> newer_version(std::string_view what) {
  return std::unexpected(Error(ErrorCode::kUnsupported,
                               fmt::format("{} was written by a newer version of Signalbox", what), "Use that version",
                               {}, false, "newer_version"));
}

std::string event_name(std::string_view stream, std::int64_t seq, std::string_view type) {
  return fmt::format("event {} ({}) of {}", seq, type, stream);
}

StoredReader::StoredReader(const Value& value, std::string_view what) : value_(value), what_(what) {
  if (!value.is_object()) fault_ = "is not an object";
}

const Value* StoredReader::find(std::string_view name) {
  known_.push_back(name);
  return value_.find(name);
}

bool StoredReader::has(std::string_view name) {
  return find(name) != nullptr;
}

std::string StoredReader::string(std::string_view name) {
  const Value* value = find(name);
  if (value && value->is_string()) return value->as_string();
  refuse(name, "is not a string");
  return {};
}

std::string StoredReader::hash(std::string_view name) {
  std::string text = string(name);
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (text.size() != 64 || !std::ranges::all_of(text, is_hex)) refuse(name, "is not a hash");
  return text;
}

std::string StoredReader::bytes(std::string_view name) {
  auto decoded = from_base64url(string(name));
  if (decoded) return std::move(*decoded);
  refuse(name, "is not base64url");
  return {};
}

bool StoredReader::boolean(std::string_view name) {
  const Value* value = find(name);
  if (value && value->is_bool()) return value->as_bool();
  refuse(name, "is not a boolean");
  return false;
}

std::int64_t StoredReader::integer(std::string_view name, std::int64_t min, std::int64_t max) {
  const Value* value = find(name);
  if (!value || !value->is_integer()) {
    refuse(name, "is not a whole number");
  } else if (value->as_integer() < min || value->as_integer() > max) {
    refuse(name, "is out of range");
  } else {
    return value->as_integer();
  }
  return min;
}

const Value& StoredReader::object(std::string_view name) {
  const Value* value = find(name);
  if (value && value->is_object()) return *value;
  refuse(name, "is not an object");
  return empty_of(Value::Kind::kObject);
}

const Value& StoredReader::array(std::string_view name) {
  const Value* value = find(name);
  if (value && value->is_array()) return *value;
  refuse(name, "is not a list");
  return empty_of(Value::Kind::kArray);
}

const Value& StoredReader::any(std::string_view name) {
  const Value* value = find(name);
  return value ? *value : empty_of(Value::Kind::kNull);
}

std::string StoredReader::optional_string(std::string_view name) {
  return has(name) ? string(name) : std::string();
}

std::int64_t StoredReader::optional_integer(std::string_view name) {
  return has(name) ? integer(name) : 0;
}

int StoredReader::optional_small(std::string_view name) {
  return has(name) ? small(name) : 0;
}

bool StoredReader::optional_boolean(std::string_view name) {
  return has(name) && boolean(name);
}

std::vector<std::string> StoredReader::strings(std::string_view name) {
  std::vector<std::string> all;
  for (const Value& item : optional_array(name).items()) {
    if (!item.is_string())
      refuse(name, "contains something other than text");
    else
      all.push_back(item.as_string());
  }
  return all;
}

const Value& StoredReader::optional_object(std::string_view name) {
  return has(name) ? object(name) : empty_of(Value::Kind::kObject);
}

const Value& StoredReader::optional_array(std::string_view name) {
  return has(name) ? array(name) : empty_of(Value::Kind::kArray);
}

void StoredReader::refuse(std::string_view name, std::string_view why) {
  if (fault_.empty()) fault_ = fmt::format("is damaged: {} {}", quote_json(name), why);
}

Status StoredReader::done(bool nothing_else) {
  if (fault_.empty() && nothing_else) {
    for (const auto& member : value_.members()) {
      if (std::ranges::find(known_, member.name) == known_.end()) refuse(member.name, "is not expected");
    }
  }
  if (!fault_.empty()) return fail(ErrorCode::kCorrupt, fmt::format("{} {}", what_, fault_));
  return {};
}

}  // namespace sb
