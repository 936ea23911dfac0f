// Where in a text there is a key, a token or a password that can be told by its looks: data/secrets.yaml, and private
// keys in PEM form.
//
// Pure and immutable; may be used from several threads. Work grows with the text's length, whatever is in it.
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

  // In order, none inside another. The text must be UTF-8; a diff's `+` before lines does not matter.
  std::vector<SecretMatch> find(std::string_view text) const;

 private:
  struct Rule {
    std::string kind;
    std::vector<std::string> hints;  // lower case
    Pattern pattern;
    std::size_t group = 0;
    std::size_t reach = 0;  // bytes from a hint on that are looked at
    bool is_mixed = false;
  };
  void find_by(const Rule& rule, std::string_view text, std::string_view lower, std::vector<SecretMatch>& found) const;
  std::vector<Rule> rules_;
};

}  // namespace sb::agent
