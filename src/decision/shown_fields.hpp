// Which fields of a prompt a renderer has shown, by name: instruction, sections.eli10, pros, ...
//
// Recorded by the code that emits a field, where it does so. Searching for the text afterwards would mistake the words
// of one field for another's: a note "Drop the table" is not shown by the question "Drop the table users_old?".
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace sb::decision {

class ShownFields {
 public:
  void add(std::string_view name) { names_.emplace(name); }
  bool has(std::string_view name) const { return names_.contains(name); }

 private:
  std::set<std::string, std::less<>> names_;
};

}  // namespace sb::decision
