// What differs from one run to the next although nothing changed: paths, ids of runs and sessions, long hashes. They
// are replaced by names, so that the same request has the same hash in a replay; and back, by what they are there.
// Pure.
//
//   /home/ann/trees/r-01…/a.txt  ->  ⟨work tree⟩/a.txt
//   s-01kj…                      ->  ⟨s 1⟩        the first such id of this request
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/document/value.hpp"

namespace sb::agent {

class Normalizer {
 public:
  // Values and the names they go by; empty values are passed over.
  explicit Normalizer(std::vector<std::pair<std::string, std::string>> known);

  // Every string in it. Ids and hashes that were not met before get the next number.
  Value normalized(const Value& value);
  // The same for what answers it: ids and hashes that were not met stay as they are, for nothing could put them back.
  Value normalized_known(const Value& value) const;
  // Names put back to what this one has met for them; others stay.
  Value denormalized(const Value& value) const;

 private:
  using NameOf = std::function<std::string(std::string_view prefix, std::string_view word)>;
  std::string normalized_text(const std::string& text, const NameOf& name_of) const;
  std::string numbered(std::string_view prefix, std::string_view word);

  std::vector<std::pair<std::string, std::string>> known_;  // the longest value first
  std::map<std::string, std::string, std::less<>> names_;   // of words that were met
  std::map<std::string, std::string, std::less<>> values_;  // back
  std::map<std::string, int, std::less<>> counts_;          // by prefix
};

}  // namespace sb::agent
