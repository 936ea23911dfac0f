#include "engine/transaction/pinned_programs.hpp"

#include "engine/state/rows.hpp"

namespace sb::engine {

Result<std::shared_ptr<const Program>> PinnedPrograms::get(store::Snapshot& snapshot, std::string_view hash) {
  if (const auto found = programs_.find(hash); found != programs_.end()) return found->second;
  constexpr std::string_view kPrefix = "sha256:";
  const std::string_view hex = hash.starts_with(kPrefix) ? hash.substr(kPrefix.size()) : hash;
  const Value pinned = SB_TRY(read_json_blob(snapshot, hex));
  auto made = std::make_shared<const Program>(SB_TRY(workflow::read_pinned(pinned)));
  programs_.emplace(hash, made);
  return made;
}

}  // namespace sb::engine
