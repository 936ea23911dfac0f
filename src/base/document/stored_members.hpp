// Reads back JSON objects that we stored. A member of the wrong kind means the stored bytes were modified: kCorrupt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb::wire {

Result<std::string> string(const Value& object, std::string_view name);
Result<std::string> optional_string(const Value& object, std::string_view name);  // empty when absent
Result<std::int64_t> integer(const Value& object, std::string_view name);
Result<bool> boolean(const Value& object, std::string_view name);
Result<std::vector<std::string>> strings(const Value& object, std::string_view name);  // empty when absent
Result<std::string> bytes(const Value& object, std::string_view name);                 // base64url
Result<Value> object(std::string_view json);                                           // parses the text

}  // namespace sb::wire
