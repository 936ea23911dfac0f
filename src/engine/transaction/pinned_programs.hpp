// The workflows that sessions are pinned to, compiled once per process and kept. Not thread-safe: its owner
// synchronizes access.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "engine/advance/step_program.hpp"
#include "store/store.hpp"

namespace sb::engine {

class PinnedPrograms {
 public:
  // `hash`: of the pinned JSON, with or without `sha256:`. kCorrupt if it is not in the store.
  Result<std::shared_ptr<const Program>> get(store::Snapshot& snapshot, std::string_view hash);

 private:
  std::map<std::string, std::shared_ptr<const Program>, std::less<>> programs_;
};

}  // namespace sb::engine
