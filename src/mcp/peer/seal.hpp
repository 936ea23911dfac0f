// Strings that go out to clients and must come back as they were: a request's state, the id of an HTTP session.
//
// Form: base64url(payload) "." base64url(first 16 bytes of HMAC-SHA-256(key, label NUL payload)). The payload can be
// read by anybody and changed by nobody. Equal keys in two processes on one home make what one sealed good in the
// other.
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
  // DialogState for at each use, from any thread, and not before: it may have to be read from somewhere.
  using Key = std::function<std::string()>;
  explicit Seal(Key key) : key_(std::move(key)) {}
  explicit Seal(std::string key) : key_([key = std::move(key)] { return key; }) {}
  std::string close(std::string_view label, std::string_view payload) const;
  // kInvalid: mangled, forged, or of another label; says so without saying more.
  Result<std::string> open(std::string_view label, std::string_view sealed) const;

 private:
  Key key_;
};

// What a requestState belongs to. It opens only for the same.
struct StateBinding {
  std::string principal;
  std::string request;  // digest of method, name and arguments
};

// Threads: make() on the loop's, take() on a worker's, several at once; so `is_first_use` must bear that.
//
// requestState: sealed {state, bound_to, principal, request, expires, nonce}; single use. `is_first_use` stores the
// nonce until it expires and says whether it was new; called only with authentic ones.
class RequestStates {
 public:
  using FirstUse = std::function<Result<bool>(std::string_view nonce, TimestampMs expires)>;
  RequestStates(Seal seal, Clock& clock, Random& random, FirstUse is_first_use);

  std::string make(const Value& state, const std::string& bound_to, const StateBinding& binding);
  // kInvalid (mangled, forged, of another request or principal), kExpired-like kConflict (expired, used): each says
  // what to do: make the call again without requestState.
  Result<Value> take(std::string_view sealed, const StateBinding& binding);

 private:
  Seal seal_;
  Clock& clock_;
  Random& random_;
  FirstUse is_first_use_;
};

}  // namespace sb::mcp
