#include "engine/state/child_rows.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"

namespace sb::engine {
namespace {

constexpr std::string_view kChildren = "session-children";

std::string key_of(std::string_view parent, std::string_view child) {
  return fmt::format("{}/{}", parent, child);
}

}  // namespace

Status record_child(store::Transaction& transaction, std::string_view parent, std::string_view child) {
  return transaction.put(kChildren, key_of(parent, child), "");
}

Result<std::vector<std::string>> list_children(store::Snapshot& snapshot, std::string_view parent) {
  std::vector<std::string> all;
  const std::string prefix = key_of(parent, "");
  store::Listing listing{.prefix = prefix, .limit = limits::kStorePageRows};
  for (;;) {
    const auto rows = SB_TRY(snapshot.list(kChildren, listing));
    for (const store::Row& row : rows) all.push_back(row.key.substr(prefix.size()));
    if (rows.size() < static_cast<std::size_t>(listing.limit)) return all;
    listing.after = rows.back();
  }
}

Status remove_child_rows(store::Transaction& transaction, std::string_view session, std::string_view parent) {
  for (const std::string& child : SB_TRY(list_children(transaction, session))) {
    SB_TRY(transaction.remove(kChildren, key_of(session, child)));
  }
  return parent.empty() ? Status() : transaction.remove(kChildren, key_of(parent, session));
}

}  // namespace sb::engine
