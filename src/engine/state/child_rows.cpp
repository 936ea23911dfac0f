#include "engine/state/child_rows.hpp"

#include <fmt/format.h>

#include "store/paging.hpp"

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
  SB_TRY(store::each_row(snapshot, kChildren, {.prefix = prefix},
                         [&](const store::Row& row) { all.push_back(row.key.substr(prefix.size())); }));
  return all;
}

Status remove_child_rows(store::Transaction& transaction, std::string_view session, std::string_view parent) {
  for (const std::string& child : SB_TRY(list_children(transaction, session))) {
    SB_TRY(transaction.remove(kChildren, key_of(session, child)));
  }
  return parent.empty() ? Status() : transaction.remove(kChildren, key_of(parent, session));
}

}  // namespace sb::engine
