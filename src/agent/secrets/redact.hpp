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

class Redactor {
 public:
  // Known values shorter than 6 bytes are ignored: they would redact half of every text.
  explicit Redactor(std::vector<std::string> known = {});

  std::string clean(std::string_view text) const;  // text: UTF-8
  Value clean_value(const Value& value) const;     // every string in it, member names included

 private:
  std::vector<std::string> known_;  // the longest first
  SecretPatterns patterns_;
};

}  // namespace sb::agent
