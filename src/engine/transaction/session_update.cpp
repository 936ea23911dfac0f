#include "engine/transaction/session_update.hpp"

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "base/text/unicode.hpp"
#include "engine/transaction/session_events.hpp"
#include "store/checks.hpp"

namespace sb::engine {

Result<SessionUpdate> SessionUpdate::of(store::Transaction& transaction, std::string_view session, TimestampMs now) {
  SessionUpdate update(transaction, session, now);
  auto summary = SB_TRY(read_summary(transaction, session));
  if (!summary) {
    return fail(ErrorCode::kNotFound, fmt::format("no such session: {}", quote_json(session)),
                "It was deleted or is in another home");
  }
  update.state_.summary = std::move(*summary);
  update.head_ = SB_TRY(transaction.head(session_stream(session)));
  if (update.head_.seq != update.state_.summary.events) {
    SB_TRY(check_newest_event(transaction, session));
    return fail(ErrorCode::kCorrupt,
                fmt::format("session {} has {} events but its row says {}", session, update.head_.seq,
                            update.state_.summary.events),
                std::string(store::kRepairRemedy));
  }
  return update;
}

SessionUpdate SessionUpdate::fresh(store::Transaction& transaction, std::string_view session, TimestampMs now) {
  return SessionUpdate(transaction, session, now);
}

Result<const Node*> SessionUpdate::node(NodeNo number) {
  const auto found = state_.nodes.find(number);
  if (found != state_.nodes.end()) return &found->second;
  auto node = SB_TRY(read_node(*transaction_, session_, number));
  if (!node) return fail(ErrorCode::kNotFound, fmt::format("session {} has no node {}", session_, number));
  // Something was delivered and its gate is open: that attempt has not ended.
  if (node->waiting) {
    const auto attempt = SB_TRY(read_attempt(*transaction_, session_, number, node->attempt));
    if (attempt) state_.attempts[{number, node->attempt}] = *attempt;
  }
  return &state_.nodes.emplace(number, std::move(*node)).first->second;
}

const Node& SessionUpdate::known(NodeNo number) const {
  const auto found = state_.nodes.find(number);
  SB_ASSERT(found != state_.nodes.end());
  return found->second;
}

std::optional<Value> SessionUpdate::started() const {
  if (events_.empty() || events_.front().type != "session_started") return std::nullopt;
  auto payload = parse_json(events_.front().payload);
  return payload ? std::optional(std::move(*payload)) : std::nullopt;
}

std::int64_t SessionUpdate::output_seq(NodeNo number) const {
  const auto found = state_.attempts.find({number, known(number).attempt});
  return found == state_.attempts.end() ? 0 : found->second.output_seq;
}

std::optional<OpenStepFacts> SessionUpdate::facts_of(NodeNo number) const {
  if (facts_.first == 0 || facts_.first != number) return std::nullopt;
  return facts_.second;
}

Status SessionUpdate::emit(std::string type, Value payload) {
  const std::int64_t seq = next_seq();
  Event event{std::move(type), std::move(payload)};
  std::string json = to_canonical_json(event.payload);
  // Text that is not UTF-8 could not be read back, which would make the session unreadable.
  if (!is_utf8(json)) {
    return fail(ErrorCode::kInvalid, fmt::format("a text of {} is not UTF-8 and cannot be stored", event.type),
                "Use UTF-8 for texts and names");
  }
  SB_TRY(apply(state_, event, seq, now_));
  events_.push_back({std::move(event.type), now_, std::move(json)});
  return {};
}

Status SessionUpdate::finish() {
  if (events_.empty()) return {};
  SB_TRY(transaction_->append(session_stream(session_), head_, events_));
  for (const auto& [number, node] : state_.nodes) SB_TRY(write_node(*transaction_, session_, node));
  for (const auto& [key, attempt] : state_.attempts) SB_TRY(write_attempt(*transaction_, session_, attempt));
  return write_summary(*transaction_, state_.summary);
}

}  // namespace sb::engine
