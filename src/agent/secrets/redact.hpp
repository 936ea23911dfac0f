// Redacts secrets in texts that are stored or shown: known values, and what looks like a key or a token. The
// replacement is `[redacted: github token]`, followed by as many line breaks as the secret had, so that line numbers
// stay.
//
// Immutable; thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/secrets/secret_patterns.hpp"
#include "base/document/value.hpp"

namespace sb::agent {

inline constexpr std::string_view kRedactedMark = "[redacted: ";

// The ways a value may be written: as it is, and in base64 (at any offset in a longer text), hex and percent encoding.
// The first is the value itself. Short values have no other form: it would be found by chance.
std::vector<std::string> secret_forms(const std::string& value);
std::vector<std::string> secret_forms(const std::vector<std::string>& values);

class Redactor {
 public:
  // Known values shorter than 6 bytes are ignored: they would redact half of every text.
  explicit Redactor(std::vector<std::string> known = {});

  std::string clean(std::string_view text) const;  // text: UTF-8
  Value clean_value(const Value& value) const;     // every string in it, member names included
  // The same for known values only: for what is used again, where much looks like a key but is not one.
  std::string clean_known(std::string_view text) const;
  Value clean_known_value(const Value& value) const;
  // JSON as sent, unchanged if it has no secret. In its text an escape would hide where a token begins: `\nghp_…`.
  std::string clean_json(std::string_view json) const;
  // A recorded reply: JSON, or a stream of server-sent events. A secret may be split over several of them; then the
  // texts they carry are returned as one, cleaned.
  std::string clean_stream(std::string_view stream) const;

 private:
  std::vector<std::string> known_;  // in all their forms, the longest first
  SecretPatterns patterns_;
};

}  // namespace sb::agent
