#include <fmt/format.h>

#include "store/checks.hpp"
#include "store/sqlite/sqlite_transaction.hpp"

namespace sb::store::sqlite {
namespace {

constexpr const char* kWork = "SELECT name, owner, free_ms, fence FROM work WHERE queue = ?1 AND name = ?2";
constexpr const char* kAdd =
    "INSERT INTO work(queue, name, owner, free_ms, fence) VALUES(?1, ?2, '', ?3, 0) "
    "ON CONFLICT(queue, name) DO NOTHING RETURNING 1";
constexpr const char* kFree = "SELECT name FROM work WHERE queue = ?1 AND free_ms <= ?2 ORDER BY free_ms, name LIMIT 1";
// One counter for all work, so that work removed and added again does not restart at a number that is still held.
constexpr const char* kFence =
    "INSERT INTO counters(name, value) VALUES('fence', 1) "
    "ON CONFLICT(name) DO UPDATE SET value = counters.value + 1 RETURNING value";
constexpr const char* kSet = "UPDATE work SET owner = ?3, free_ms = ?4, fence = ?5 WHERE queue = ?1 AND name = ?2";
constexpr const char* kFinish = "DELETE FROM work WHERE queue = ?1 AND name = ?2";

Status set_work(Connection& connection, const Lease& lease) {
  Statement set = SB_TRY(connection.prepare(kSet));
  set.bind(1, lease.queue).bind(2, lease.name).bind(3, lease.owner).bind(4, lease.until_ms).bind(5, lease.fence);
  return set.run();
}

}  // namespace

Result<std::optional<Lease>> SqliteTransaction::work(std::string_view queue, std::string_view name) {
  SB_TRY(check_name("queue", queue));
  SB_TRY(check_name("work", name));
  Statement statement = SB_TRY(connection_.prepare(kWork));
  if (!SB_TRY(statement.bind(1, queue).bind(2, name).step())) return std::nullopt;
  return Lease{std::string(queue), std::string(name), std::string(statement.bytes(1)), statement.integer(2),
               statement.integer(3)};
}

Result<bool> SqliteTransaction::add_work(std::string_view queue, std::string_view name, TimestampMs not_before_ms) {
  SB_TRY(check_name("queue", queue));
  SB_TRY(check_name("work", name));
  Statement statement = SB_TRY(connection_.prepare(kAdd));
  const bool added = SB_TRY(statement.bind(1, queue).bind(2, name).bind(3, not_before_ms).step());
  if (added) SB_TRY(statement.run());
  return added;
}

Result<Lease> SqliteTransaction::give(std::string_view queue, std::string_view name, std::string_view owner,
                                      TimestampMs until_ms) {
  Lease lease{std::string(queue), std::string(name), std::string(owner), until_ms, 0};
  lease.fence = SB_TRY(connection_.value(kFence));
  SB_TRY(set_work(connection_, lease));
  return lease;
}

Result<std::optional<Lease>> SqliteTransaction::lease(std::string_view queue, std::string_view owner,
                                                      TimestampMs now_ms, TimestampMs until_ms) {
  SB_TRY(check_name("queue", queue));
  SB_TRY(check_name("owner", owner));
  std::string name;
  {
    Statement statement = SB_TRY(connection_.prepare(kFree));
    if (!SB_TRY(statement.bind(1, queue).bind(2, now_ms).step())) return std::nullopt;
    name = statement.bytes(0);
  }
  return SB_TRY(give(queue, name, owner, until_ms));
}

Result<std::optional<Lease>> SqliteTransaction::lease_named(std::string_view queue, std::string_view name,
                                                            std::string_view owner, TimestampMs now_ms,
                                                            TimestampMs until_ms) {
  SB_TRY(check_name("owner", owner));
  const auto found = SB_TRY(work(queue, name));
  if (!found || found->until_ms > now_ms) return std::nullopt;
  return SB_TRY(give(queue, name, owner, until_ms));
}

Status SqliteTransaction::check_lease(const Lease& lease) {
  const auto found = SB_TRY(work(lease.queue, lease.name));
  if (found && found->fence == lease.fence && found->owner == lease.owner) return {};
  return fail(ErrorCode::kConflict,
              fmt::format("\"{}\" no longer holds work \"{}\" of queue \"{}\"", lease.owner, lease.name, lease.queue),
              "Discard the work done under the old lease.");
}

Result<Lease> SqliteTransaction::renew(const Lease& lease, TimestampMs until_ms) {
  SB_TRY(check_lease(lease));
  Lease renewed = lease;
  renewed.until_ms = until_ms;
  SB_TRY(set_work(connection_, renewed));
  return renewed;
}

Status SqliteTransaction::release(const Lease& lease, TimestampMs not_before_ms) {
  SB_TRY(check_lease(lease));
  Lease released = lease;
  released.owner.clear();
  released.until_ms = not_before_ms;
  return set_work(connection_, released);
}

Status SqliteTransaction::finish(const Lease& lease) {
  SB_TRY(check_lease(lease));
  return SB_TRY(connection_.prepare(kFinish)).bind(1, lease.queue).bind(2, lease.name).run();
}

}  // namespace sb::store::sqlite
