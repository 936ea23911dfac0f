#include "base/document/stored_members.hpp"

#include <fmt/format.h>

#include "base/crypto.hpp"
#include "base/document/document.hpp"

namespace sb {

std::unexpected<Error> unknown_event(std::string_view stream, std::int64_t seq, std::string_view type) {
  return newer_version(fmt::format("event {} of {} has the unknown type {} and", seq, stream, quote_json(type)));
}

std::unexpected<Error> newer_version(std::string_view what) {
  return fail(ErrorCode::kUnsupported, fmt::format("{} was written by a newer version of Signalbox", what),
              "Use that version");
}

}  // namespace sb

namespace sb::wire {
namespace {

std::unexpected<Error> damaged(std::string_view name) {
  return fail(ErrorCode::kCorrupt, fmt::format("a stored record is damaged at \"{}\"", name));
}

}  // namespace

Result<std::string> string(const Value& object, std::string_view name) {
  const Value* member = object.find(name);
  if (member == nullptr || !member->is_string()) return damaged(name);
  return member->as_string();
}

Result<std::string> optional_string(const Value& object, std::string_view name) {
  if (object.find(name) == nullptr) return std::string();
  return string(object, name);
}

Result<std::int64_t> integer(const Value& object, std::string_view name) {
  const Value* member = object.find(name);
  if (member == nullptr || !member->is_integer()) return damaged(name);
  return member->as_integer();
}

Result<bool> boolean(const Value& object, std::string_view name) {
  const Value* member = object.find(name);
  if (member == nullptr || !member->is_bool()) return damaged(name);
  return member->as_bool();
}

Result<std::vector<std::string>> strings(const Value& object, std::string_view name) {
  std::vector<std::string> result;
  const Value* member = object.find(name);
  if (member == nullptr) return result;
  if (!member->is_array()) return damaged(name);
  for (const Value& item : member->items()) {
    if (!item.is_string()) return damaged(name);
    result.push_back(item.as_string());
  }
  return result;
}

Result<std::string> bytes(const Value& object, std::string_view name) {
  const Result<std::string> text = string(object, name);
  if (!text) return damaged(name);
  Result<std::string> decoded = from_base64url(*text);
  if (!decoded) return damaged(name);
  return decoded;
}

Result<Value> object(std::string_view json) {
  Result<Value> value = parse_json(json);
  if (!value || !value->is_object()) return fail(ErrorCode::kCorrupt, "a stored record is not a JSON object");
  return value;
}

}  // namespace sb::wire
