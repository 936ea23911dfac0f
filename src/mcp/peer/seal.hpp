// Strings that are given to clients and must come back unchanged: a request's state, the id of an HTTP session.
//
// Form: base64url(payload) "." base64url(first 16 bytes of HMAC-SHA-256(key, label NUL payload)). Anyone can read the
// payload, but no one can change it. Two processes with the same key on one home accept each other's values.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/document/value.hpp"
#include "base/random.hpp"
#include "base/result.hpp"

namespace sb::mcp {

class Seal {
 public:
  // Called at each use, from any thread, and not before: the key may have to be read first.
  using Key = std::function<std::string()>;
  explicit Seal(Key key) : key_(std::move(key)) {}
  explicit Seal(std::string key) : key_([key = std::move(key)] { return key; }) {}
  std::string close(std::string_view label, std::string_view payload) const;
  // kInvalid: mangled, forged, or of another label; without saying which.
  Result<std::string> open(std::string_view label, std::string_view sealed) const;

 private:
  Key key_;
};

// What a requestState is bound to. It can only be used with the same.
struct StateBinding {
  std::string principal;
  std::string request;  // digest of method, name and arguments
};

// Threads: make() on the loop's thread, take() on several workers concurrently; so `is_first_use` must be thread-safe.
//
// requestState: sealed {state, bound_to, principal, request, expires, nonce}; single use. `is_first_use` stores the
// nonce until it expires and returns whether it was new; called only with authentic nonces.
class RequestStates {
 public:
  using FirstUse = std::function<Result<bool>(std::string_view nonce, TimestampMs expires)>;
  RequestStates(Seal seal, Clock& clock, Random& random, FirstUse is_first_use);

  std::string make(const Value& state, const std::string& bound_to, const StateBinding& binding);
  // kInvalid (mangled, forged, of another request or principal) or kConflict (expired, used). The remedy is to repeat
  // the call without requestState.
  Result<Value> take(std::string_view sealed, const StateBinding& binding);

 private:
  Seal seal_;
  Clock& clock_;
  Random& random_;
  FirstUse is_first_use_;
};

}  // namespace sb::mcp
