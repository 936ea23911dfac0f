// The operators' files: finds, reads and extends the registry and the sealed keys of operators.hpp on disk.
//
// Not thread-safe; changes of the registry hold a lock against other processes.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/random.hpp"
#include "inbox/operators/operators.hpp"

namespace sb::inbox {

class OperatorFiles {
 public:
  OperatorFiles(Files& files, const HomeDirectories& homes);

  // Empty when there is no registry. kCorrupt, kForbidden as in Operators::parse; a missing registry while keys exist
  // is kCorrupt.
  Result<Operators> load() const;

  // Adds the first operator, or another one authorized by `by_secret` (an operator's secret key). kConflict when the
  // name is taken.
  Result<OperatorKey> enrol(std::string_view name, std::string_view passphrase,
                            const std::optional<std::string>& by_secret, Clock& clock, Random& random, int log_n = 15);
  Status revoke_key(std::string_view public_key, std::string_view by_secret, Clock& clock);
  Status revoke_token(std::string_view token_id, std::string_view by_secret, Clock& clock);

  // The secret key of the named operator, or of the only one. kForbidden for a wrong passphrase.
  Result<std::string> unlock(const Operators& operators, std::string_view name, std::string_view passphrase) const;

 private:
  template <class Next>
  Status extend(const Next& next);
  std::string key_path(std::string_view name) const;
  std::string new_key_path(std::string_view name) const;
  Result<std::optional<std::vector<std::string>>> anchor() const;

  Files& files_;
  std::string directory_;
  std::string registry_;
};

// Letters, digits, `-`, `_` and `.`, at most 32, starting with a letter or digit: it becomes a file name.
bool is_operator_name(std::string_view name);

}  // namespace sb::inbox
