#include "engine/upkeep/session_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/recall/recall_index.hpp"
#include "engine/state/rows.hpp"
#include "engine/transaction/open_step_row.hpp"

namespace sb::engine {
namespace {

constexpr int kRowsPage = 500;

}  // namespace

bool is_between_advances(const SessionState& state) {
  const auto is_cut = [&](const auto& entry) {
    const auto& [key, attempt] = entry;
    const auto node = state.nodes.find(key.first);
    const bool is_waiting = node != state.nodes.end() && node->second.waiting.has_value();
    return attempt.ended_seq == 0 && !is_waiting;
  };
  return state.summary.nodes > 0 && std::ranges::none_of(state.attempts, is_cut);
}

Result<std::optional<guard::OpenStep>> expected_open_step(store::Snapshot& snapshot, const Summary& summary,
                                                          const Node& tip) {
  const auto hash = std::string_view(summary.hash);
  const Value pinned = SB_TRY(read_json_blob(snapshot, hash.substr(hash.find(':') + 1)));
  const Program program(SB_TRY(workflow::read_pinned(pinned)));
  const Value context = SB_TRY(read_json_blob(snapshot, tip.context));
  return open_step_of(program, summary, tip, SB_TRY(facts_of(snapshot, program, tip, context)));
}

Status write_session_rows(store::Transaction& transaction, const SessionState& state) {
  const std::string& id = state.summary.id;
  SB_TRY(write_summary(transaction, state.summary));
  SB_TRY(index_session(transaction, state.summary));  // its events may be older than what was indexed last
  for (const auto& [number, node] : state.nodes) SB_TRY(write_node(transaction, id, node));
  for (const auto& [key, attempt] : state.attempts) SB_TRY(write_attempt(transaction, id, attempt));
  return {};
}

Status remove_session_rows(store::Transaction& transaction, std::string_view collection, std::string_view session) {
  const store::Listing listing{.prefix = fmt::format("{}/", session), .limit = kRowsPage};
  for (;;) {
    const auto rows = SB_TRY(transaction.list(collection, listing));
    for (const store::Row& row : rows) SB_TRY(transaction.remove(collection, row.key));
    if (rows.size() < static_cast<std::size_t>(kRowsPage)) return {};
  }
}

}  // namespace sb::engine
