// Looks for secrets in what an exported repository would contain: every file, name and message of its history.
#pragma once

#include <string>
#include <vector>

#include "base/seams.hpp"

namespace sb::runs {

// Reads `git cat-file --batch` as it arrives: HASH TYPE SIZE\nCONTENT\n, and so on.
class ObjectSearch {
 public:
  // The forms in which a value may be written (agent/secrets/redact.hpp).
  explicit ObjectSearch(std::vector<std::string> forms) : forms_(std::move(forms)) {}
  void add(std::string_view piece);
  const std::string& found() const { return found_; }  // hash of the first object with a secret; empty: none

 private:
  std::vector<std::string> forms_;
  std::string rest_;
  std::string found_;
};

// kForbidden, with the file or the commit, when the commit or its history contains one of the values; kUnavailable when
// the search takes too long.
Status check_history(const Seams& seams, const std::string& repository, const std::string& commit,
                     const std::vector<std::string>& secrets);

}  // namespace sb::runs
