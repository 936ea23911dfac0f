// Finds keys, tokens and passwords in a text by their form: data/secrets.yaml, and private keys in PEM form.
//
// Pure and immutable; thread-safe. Time is linear in the text's length for any content.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text/pattern.hpp"

namespace sb::agent {

struct SecretMatch {
  std::size_t begin = 0, end = 0;
  std::string kind;  // `github token`; never the value
};

class SecretPatterns {
 public:
  SecretPatterns();

  // In order, not nested. The text must be UTF-8; a diff's `+` before lines does not matter.
  std::vector<SecretMatch> find(std::string_view text) const;

 private:
  struct Rule {
    std::string kind;
    std::vector<std::string> hints;  // lower case
    Pattern pattern;
    std::size_t group = 0;
    std::size_t reach = 0;  // bytes searched from a hint on
    bool is_mixed = false;
  };
  void find_by(const Rule& rule, std::string_view text, std::string_view lower, std::vector<SecretMatch>& found) const;
  std::vector<Rule> rules_;
};

}  // namespace sb::agent
