// Reading back JSON objects that we stored: a member of the wrong kind means the stored bytes were changed, kCorrupt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb {

// Every reader of a stream refuses an event type it does not know, instead of skipping it: the state would be wrong
// without it. kUnsupported.
std::unexpected<Error> unknown_event(std::string_view stream, std::int64_t seq, std::string_view type);
// The same for a record whose version number this program does not know. `what` names it: `the decision`.
std::unexpected<Error> newer_version(std::string_view what);

}  // namespace sb

namespace sb::wire {

Result<std::string> string(const Value& object, std::string_view name);
Result<std::string> optional_string(const Value& object, std::string_view name);  // empty when absent
Result<std::int64_t> integer(const Value& object, std::string_view name);
Result<bool> boolean(const Value& object, std::string_view name);
Result<std::vector<std::string>> strings(const Value& object, std::string_view name);  // absent: none
Result<std::string> bytes(const Value& object, std::string_view name);                 // base64url
Result<Value> object(std::string_view json);                                           // the text as an object

}  // namespace sb::wire
