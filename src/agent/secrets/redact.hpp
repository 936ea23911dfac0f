// Takes secrets out of texts that are kept or shown: values that are known, and what looks like a key or a token.
// `[redacted: github token]` stands in their place, and as many line breaks as they had, so that lines keep their
// numbers.
//
// Immutable; may be used from several threads.
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
  // Known values shorter than 6 bytes are left alone: they would take out half of every text.
  explicit Redactor(std::vector<std::string> known = {});

  std::string clean(std::string_view text) const;  // text: UTF-8
  Value clean_value(const Value& value) const;     // every string in it, names of members too

 private:
  std::vector<std::string> known_;  // the longest first
  SecretPatterns patterns_;
};

}  // namespace sb::agent
