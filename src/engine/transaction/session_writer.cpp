#include "engine/transaction/session_writer.hpp"

#include "guard/host_session.hpp"
#include "store/paging.hpp"

namespace sb::engine {

Status SessionWriter::finish(SessionUpdate& update) {
  if (!update.has_changed()) return {};
  SB_TRY(update.finish());
  const Summary& summary = update.summary();
  if (summary.workspace.empty()) return {};
  store::Transaction& transaction = update.transaction();
  const std::string key = guard::open_step_key(summary.workspace, summary.id);
  const bool is_over = summary.status == SessionStatus::kComplete || summary.status == SessionStatus::kStopped;
  if (is_over) {
    SB_TRY(guard::forget_session(transaction, summary.id));
    return transaction.remove(guard::kOpenSteps, key);
  }
  const auto program = SB_TRY(programs_.get(transaction, summary.hash));
  const Node& tip = *SB_TRY(update.node(summary.tip));
  auto facts = update.facts_of(tip.number);
  if (!facts) facts = SB_TRY(facts_of(transaction, *program, tip, SB_TRY(read_json_blob(transaction, tip.context))));
  auto open = open_step_of(*program, summary, tip, std::move(*facts));
  if (!open) return transaction.remove(guard::kOpenSteps, key);
  open->token = tokens_.mint(Purpose::kContinue, summary.id, tip.number, tip.attempt);
  return transaction.put(guard::kOpenSteps, key, guard::to_row(*open));
}

Status SessionWriter::renew_open_step_tokens(store::Transaction& transaction) {
  return store::each_row(transaction, guard::kOpenSteps, {}, [&](const store::Row& row) -> Status {
    guard::OpenStep open = SB_TRY(guard::open_step_from(row.value));
    const auto summary = SB_TRY(read_summary(transaction, open.session));
    const auto tip = summary ? SB_TRY(read_node(transaction, open.session, summary->tip)) : std::nullopt;
    open.token = tip ? tokens_.mint(Purpose::kContinue, open.session, tip->number, tip->attempt) : "";
    return transaction.put(guard::kOpenSteps, row.key, guard::to_row(open));
  });
}

}  // namespace sb::engine
