// Replaces values that differ between equal runs (paths, ids of runs and sessions, long hashes) by names, so that the
// same request has the same hash in a replay; and replaces the names by the values of the current run. Pure.
//
//   /home/ann/trees/r-01…/a.txt  ->  ⟨work tree⟩/a.txt
//   s-01kj…                      ->  ⟨s 1⟩        the first id with this prefix in the request
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
  // Values and their names; empty values are ignored.
  explicit Normalizer(std::vector<std::pair<std::string, std::string>> known);

  // Every string in it. New ids and hashes get the next number.
  Value normalized(const Value& value);
  // The same for its answer: unknown ids and hashes stay as they are, because they could not be restored.
  Value normalized_known(const Value& value) const;
  // Replaces known names by their values; others stay.
  Value denormalized(const Value& value) const;

 private:
  using NameOf = std::function<std::string(std::string_view prefix, std::string_view word)>;
  std::string normalized_text(const std::string& text, const NameOf& name_of) const;
  std::string numbered(std::string_view prefix, std::string_view word);

  std::vector<std::pair<std::string, std::string>> known_;  // the longest value first
  std::map<std::string, std::string, std::less<>> names_;   // of words seen so far
  std::map<std::string, std::string, std::less<>> values_;  // the reverse
  std::map<std::string, int, std::less<>> counts_;          // by prefix
};

}  // namespace sb::agent
