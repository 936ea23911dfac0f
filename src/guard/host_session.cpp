#include "guard/host_session.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/document/stored_reader.hpp"
#include "guard/limits.hpp"

namespace sb::guard {
namespace {

constexpr std::string_view kHosts = "host-sessions";
constexpr std::string_view kUsers = "session-hosts";
constexpr std::size_t kDigits = 32;
constexpr int kDroppedAtOnce = 4;

std::string digits_of(std::string_view id) {
  return sha256_hex(id).substr(0, kDigits);
}

Status write_host(store::Transaction& transaction, std::string_view key, HostSession host, TimestampMs now) {
  Value sessions = Value::array();
  for (const HostSession::SessionUse& used : host.sessions) {
    sessions.push_back(Value::object({{"session", used.session}, {"workspace", used.workspace}}));
  }
  Value value = Value::object(
      {{"v", 1}, {"at", now}, {"sessions", std::move(sessions)}, {"told", Value::array(std::move(host.notified))}});
  if (!host.transcript.empty()) value.set("transcript", host.transcript);
  return transaction.put(kHosts, key, to_json(value), fmt::format("{:015}", std::max<TimestampMs>(now, 0)));
}

Status drop_old(store::Transaction& transaction, TimestampMs now) {
  const store::Listing oldest{.by = store::Order::kSort, .limit = kDroppedAtOnce};
  const std::string before = fmt::format("{:015}", std::max<TimestampMs>(now - limits::kHostSessionTtlMs, 0));
  for (const store::Row& row : SB_TRY(transaction.list(kHosts, oldest))) {
    if (row.sort && *row.sort < before) SB_TRY(transaction.remove(kHosts, row.key));
  }
  return {};
}

template <class T>
void put_first(std::vector<T>& all, T item) {
  std::erase(all, item);
  all.insert(all.begin(), std::move(item));
  if (all.size() > limits::kHostSessions) all.resize(limits::kHostSessions);
}

}  // namespace

std::string host_key(std::string_view conversation, std::string_view subagent) {
  if (conversation.empty()) return "";
  return subagent.empty() ? digits_of(conversation)
                          : fmt::format("{}/{}", digits_of(conversation), digits_of(subagent));
}

Result<HostSession> read_host_session(store::Snapshot& snapshot, std::string_view key) {
  HostSession host;
  if (key.empty()) return host;
  const auto row = SB_TRY(snapshot.get(kHosts, key));
  if (!row) return host;
  const Value value = SB_TRY(parse_stored(row->value));
  StoredReader stored(value, "the row of a host's conversation");
  host.at = stored.integer("at");
  host.notified = stored.strings("told");
  host.transcript = stored.optional_string("transcript");
  for (const Value& item : stored.array("sessions").items()) {
    StoredReader used(item, "a session of a host's conversation");
    host.sessions.push_back({used.string("session"), used.string("workspace")});
    SB_TRY(used.done());
  }
  SB_TRY(stored.done());
  return host;
}

Result<std::string> last_user_of(store::Snapshot& snapshot, std::string_view session) {
  const auto row = SB_TRY(snapshot.get(kUsers, session));
  return row ? row->value : std::string();
}

bool is_latest(const HostSession& host, const HostSession::SessionUse& used) {
  return !host.sessions.empty() && host.sessions.front() == used;
}

Status record_use(store::Transaction& transaction, std::string_view conversation, std::string_view subagent,
                  std::string_view transcript, const HostSession::SessionUse& used, TimestampMs now) {
  const std::string key = host_key(conversation, subagent);
  if (key.empty()) return {};
  const std::string own = host_key(conversation, "");
  HostSession main = SB_TRY(read_host_session(transaction, own));
  if (transcript.size() <= limits::kCheckedPathBytes) main.transcript = transcript;
  std::erase(main.notified, used.session);
  if (key != own) {
    HostSession host = SB_TRY(read_host_session(transaction, key));
    put_first(host.sessions, used);
    SB_TRY(write_host(transaction, key, std::move(host), now));
  } else {
    put_first(main.sessions, used);
  }
  SB_TRY(write_host(transaction, own, std::move(main), now));
  SB_TRY(drop_old(transaction, now));
  return transaction.put(kUsers, used.session, own);
}

Status record_notified(store::Transaction& transaction, std::string_view conversation, std::string_view what,
                       TimestampMs now) {
  const std::string key = host_key(conversation, "");
  if (key.empty()) return {};
  HostSession host = SB_TRY(read_host_session(transaction, key));
  put_first(host.notified, std::string(what));
  SB_TRY(write_host(transaction, key, std::move(host), now));
  return drop_old(transaction, now);
}

Status record_ended(store::Transaction& transaction, std::string_view conversation) {
  const std::string key = host_key(conversation, "");
  if (key.empty()) return {};
  const auto free = [&](const HostSession& host) -> Status {
    for (const HostSession::SessionUse& used : host.sessions) {
      if (SB_TRY(last_user_of(transaction, used.session)) == key) SB_TRY(transaction.remove(kUsers, used.session));
    }
    return {};
  };
  SB_TRY(free(SB_TRY(read_host_session(transaction, key))));
  // A page at a time: those seen are gone.
  const store::Listing subagents{.prefix = key + "/"};
  for (auto rows = SB_TRY(transaction.list(kHosts, subagents)); !rows.empty();
       rows = SB_TRY(transaction.list(kHosts, subagents))) {
    for (const store::Row& row : rows) {
      SB_TRY(free(SB_TRY(read_host_session(transaction, row.key))));
      SB_TRY(transaction.remove(kHosts, row.key));
    }
  }
  return {};
}

Status forget_session(store::Transaction& transaction, std::string_view session) {
  return transaction.remove(kUsers, session);
}

}  // namespace sb::guard
