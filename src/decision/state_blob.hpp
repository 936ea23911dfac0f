// The state of a flow or chain as the caller stores it: opaque text, protected against changes.
//
// Format: `sb1.` MODE `.` PAYLOAD `.` TAG, the last two base64url. PAYLOAD is canonical JSON, an object. MODE is `m`
// (TAG is HMAC-SHA-256 with the caller's key over "sb1.m." + PAYLOAD) or `d` (TAG is SHA-256 over "sb1.d." + PAYLOAD:
// protects against damage, not against forgery, and is called unauthenticated).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb::decision {

std::string seal_state(const Value& state, const std::optional<std::string>& key);

// Rejects (kInvalid) damage, a wrong or missing key, and a blob of mode `d` when a key is given.
Result<Value> open_state(std::string_view blob, const std::optional<std::string>& key);

// The nonce of the state that follows `previous_blob` after `input`.
std::string next_nonce(std::string_view previous_blob, std::string_view input);

}  // namespace sb::decision
