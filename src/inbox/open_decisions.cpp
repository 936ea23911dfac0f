#include "inbox/open_decisions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "inbox/decision_events.hpp"
#include "store/paging.hpp"

namespace sb::inbox {
namespace {

constexpr std::string_view kIndexVersion = "2";
constexpr std::size_t kFolderDigits = 16;
constexpr TimestampMs kNever = 999'999'999'999'999;
constexpr std::string_view kRunProfile = "run";  // of the questions of runs (pipeline/plan/escalation.hpp)

std::string open_folder_part(std::string_view workspace) {
  return sha256_hex(workspace).substr(0, kFolderDigits) + "/";
}

std::string open_key(const DecisionState& state) {
  return open_folder_part(state.opened.workspace) + state.id;
}

std::string urgency(const DecisionState& state) {
  const OpenedDecision& opened = state.opened;
  const bool is_parked = state.state == DecisionStatus::kParked;
  const TimestampMs deadline = is_parked ? kNever : opened.deadline.value_or(kNever);
  const bool is_awaited = !opened.session.empty() || opened.source.string_at("profile") == kRunProfile;
  return fmt::format("{:015}/{}/{:015}/{}", std::clamp<TimestampMs>(deadline, 0, kNever), is_awaited ? 1 : 2,
                     std::clamp<TimestampMs>(opened.opened_at, 0, kNever), state.id);
}

bool deadline_acts(const DecisionState& state) {
  return state.state == DecisionStatus::kOpen && state.opened.deadline &&
         state.opened.on_timeout != decision::OnTimeout::kWait;
}

Value value_of(const store::Row& row) {
  return parse_json(row.value).value_or(Value());
}

}  // namespace

std::optional<store::Row> open_decision_row(const DecisionState& state) {
  if (!state.is_open()) return std::nullopt;
  const Value value = Value::object({{"acts", deadline_acts(state)},
                                     {"held", state.position["held"] == Value(true)},
                                     {"session", state.opened.session}});
  return store::Row{open_key(state), urgency(state), to_json(value)};
}

Status index_decision(store::Transaction& transaction, const DecisionState& state) {
  const auto row = open_decision_row(state);
  return row ? transaction.put(kOpenDecisions, row->key, row->value, row->sort)
             : transaction.remove(kOpenDecisions, open_key(state));
}

Result<std::multimap<std::string, store::Row>> open_decision_rows(store::Snapshot& snapshot) {
  std::multimap<std::string, store::Row> all;
  SB_TRY(store::each_row(snapshot, kOpenDecisions, {},
                         [&](const store::Row& row) { all.emplace(decision_of(row), row); }));
  return all;
}

Result<bool> has_open_index(store::Snapshot& snapshot) {
  const auto row = SB_TRY(snapshot.get(kCounters, kOpenDecisions));
  return row && row->value == kIndexVersion;
}

Status mark_open_index(store::Transaction& transaction) {
  return transaction.put(kCounters, kOpenDecisions, kIndexVersion);
}

Status forget_open_index(store::Transaction& transaction) {
  return transaction.remove(kCounters, kOpenDecisions);
}

std::string decision_of(const store::Row& row) {
  return row.key.substr(row.key.find('/') + 1);
}

std::string session_of(const store::Row& row) {
  return value_of(row).string_at("session").value_or("");
}

Result<std::vector<std::string>> due_decisions(store::Snapshot& snapshot, TimestampMs now, std::size_t limit) {
  std::vector<std::string> due;
  const std::string end = fmt::format("{:015}/~", std::max<TimestampMs>(now, 0));
  SB_TRY(store::each_row(snapshot, kOpenDecisions, {.by = store::Order::kSort}, [&](const store::Row& row) {
    if (*row.sort > end || due.size() >= limit) return false;
    if (value_of(row)["acts"] == Value(true)) due.push_back(decision_of(row));
    return true;
  }));
  return due;
}

Result<std::vector<std::string>> held_in(store::Snapshot& snapshot, std::span<const std::string> folders) {
  std::vector<std::string> ids;
  for (const std::string& folder : folders) {
    const store::Listing of_folder{.prefix = open_folder_part(folder)};
    SB_TRY(store::each_row(snapshot, kOpenDecisions, of_folder, [&](const store::Row& row) {
      if (value_of(row)["held"] == Value(true)) ids.push_back(decision_of(row));
    }));
  }
  return ids;
}

Result<std::int64_t> count_open_in(store::Snapshot& snapshot, std::span<const std::string> folders) {
  std::int64_t count = 0;
  for (const std::string& folder : folders) {
    count += SB_TRY(snapshot.count(kOpenDecisions, {.prefix = open_folder_part(folder)}));
  }
  return count;
}

}  // namespace sb::inbox
