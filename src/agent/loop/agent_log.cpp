#include "agent/loop/agent_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/document/stored_reader.hpp"
#include "base/limits.hpp"

namespace sb::agent {
namespace {

constexpr int kPage = 500;
constexpr int kAppendAttempts = 20;

constexpr std::array<std::string_view, 25> kTypes{
    "began",      "turn",      "tool_started", "tool_ended",  "awaiting",    "setback",     "parked",
    "nudged",     "compacted", "issue",        "signal",      "refused",     "child_began", "child_ended",
    "recovered",  "ended",     "steered",      "pause_asked", "go_on_asked", "kill_asked",  "taken_over",
    "steer_seen", "retried",   "discarded",    "program_tool"};

// Written by this program, but a model's reply inside may be deeply nested.
Result<LoggedEvent> logged(const store::Event& event) {
  if (std::ranges::find(kTypes, event.type) == kTypes.end()) {
    return unknown_event(event.stream, event.seq, event.type);
  }
  auto payload = parse_json(event.payload, kLogBounds);
  if (!payload) {
    return fail(ErrorCode::kCorrupt, fmt::format("event {} of {} is not JSON", event.seq, event.stream));
  }
  return LoggedEvent{event.seq, event.time_ms, event.type, std::move(*payload)};
}

bool is_of_people(std::string_view type) {
  return type == "steered" || type == "pause_asked" || type == "go_on_asked" || type == "kill_asked" ||
         type == "taken_over" || type == "retried";
}

}  // namespace

std::string agent_stream(std::string_view session) {
  return fmt::format("agent/{}", session);
}

AgentLog::AgentLog(store::Store& store, Clock& clock, std::string session)
    : store_(store), clock_(clock), session_(std::move(session)) {}

Result<std::vector<LoggedEvent>> AgentLog::read(std::int64_t from_seq) const {
  return store_.read([&](store::Snapshot& snapshot) -> Result<std::vector<LoggedEvent>> {
    std::vector<LoggedEvent> all;
    for (std::int64_t next = from_seq;;) {
      const auto page = SB_TRY(snapshot.events(agent_stream(session_), next, kPage));
      for (const store::Event& event : page) all.push_back(SB_TRY(logged(event)));
      if (page.size() < static_cast<std::size_t>(kPage)) return all;
      next = page.back().seq + 1;
    }
  });
}

Status AgentLog::append(std::vector<Entry> entries, std::vector<Row> rows) {
  if (entries.empty() && rows.empty()) return {};
  return append_with([&](store::Transaction&) -> Result<std::vector<Entry>> { return entries; }, rows);
}

Status AgentLog::append_with(const Make& make, const std::vector<Row>& rows) {
  const auto once = [&](store::Transaction& transaction) -> Status {
    std::vector<store::NewEvent> events;
    for (const Entry& entry : SB_TRY(make(transaction))) {
      for (const std::string& bytes : entry.blobs) SB_TRY(transaction.put_blob(bytes));
      events.push_back({entry.type, clock_.now_ms(), to_canonical_json(entry.payload)});
    }
    for (const Row& row : rows) SB_TRY(transaction.put(row.collection, row.key, row.value));
    if (events.empty()) return {};
    const std::string stream = agent_stream(session_);
    SB_TRY(transaction.append(stream, SB_TRY(transaction.head(stream)), events));
    return {};
  };
  for (int tried = 1;; ++tried) {
    const Status done = store_.write(once);
    const bool may_try = !done && (done.error().code == ErrorCode::kConflict || done.error().is_retryable);
    if (done || !may_try || tried == kAppendAttempts) return done;
  }
}

Result<std::string> AgentLog::blob(std::string_view hex) const {
  const auto bytes = from_hex(hex);
  if (!bytes || bytes->size() != sizeof(Digest)) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("the log of session {} has an invalid blob name {}", session_, quote_json(hex)));
  }
  Digest digest;
  std::copy(bytes->begin(), bytes->end(), digest.begin());
  auto found = SB_TRY(store_.read([&](store::Snapshot& snapshot) { return snapshot.blob(digest); }));
  if (!found) return fail(ErrorCode::kCorrupt, fmt::format("the log of session {} lacks the blob {}", session_, hex));
  return std::move(*found);
}

void ProviderWait::follow(const LoggedEvent& event) {
  if (event.type == "turn" || event.type == "ended" || event.type == "retried") *this = {};
  if (event.type != "setback" && event.type != "parked") return;
  const Value& payload = event.payload;
  until = payload["until"].is_integer() ? payload["until"].as_integer() : 0;
  is_retry_after = payload["told"] == Value(true);
  model = payload.string_at("model").value_or("");
  reason = payload.string_at("reason").value_or("");
}

ControlRequests control_requests_in(const std::vector<LoggedEvent>& events) {
  ControlRequests requests;
  std::int64_t seen = 0;
  for (const LoggedEvent& event : events) {
    if (event.type == "steer_seen" && event.payload["upto"].is_integer()) seen = event.payload["upto"].as_integer();
  }
  for (const LoggedEvent& event : events) {
    if (!is_of_people(event.type)) continue;
    if (event.type == "steered") {
      if (event.seq <= seen) continue;
      requests.steered.push_back(event.payload.string_at("text").value_or(""));
      requests.upto = event.seq;
      continue;
    }
    requests.by = event.payload.string_at("by").value_or("");
    requests.reason = event.payload.string_at("reason").value_or("");
    if (event.type == "pause_asked") requests.is_paused = true;
    if (event.type == "go_on_asked") requests.is_paused = false;
    if (event.type == "kill_asked") requests.is_killed = true;
    if (event.type == "taken_over") requests.is_taken_over = true;
    if (event.type == "retried") requests.is_killed = requests.is_taken_over = requests.is_paused = false;
  }
  return requests;
}

}  // namespace sb::agent
