// The operations of store.hpp in SQL, inside a transaction that SqliteStore began and will end.
#pragma once

#include "store/sqlite/connection.hpp"
#include "store/store.hpp"

namespace sb::store::sqlite {

class SqliteTransaction final : public Transaction {
 public:
  explicit SqliteTransaction(Connection& connection) : connection_(connection) {}

  Result<Head> head(std::string_view stream) override;
  Result<std::vector<Event>> events(std::string_view stream, std::int64_t from_seq, int limit) override;
  Result<std::vector<Event>> events_after(std::int64_t position, int limit) override;
  Result<std::int64_t> last_position() override;
  Result<std::vector<std::string>> streams(std::string_view prefix, std::string_view after, int limit) override;
  Result<Head> append(std::string_view stream, const Head& expected, std::span<const NewEvent> events) override;
  Status remove_stream(std::string_view stream) override;

  Result<std::optional<Row>> get(std::string_view collection, std::string_view key) override;
  Result<std::vector<Row>> list(std::string_view collection, const Listing& listing) override;
  Result<std::int64_t> count(std::string_view collection, const Listing& listing) override;
  Status put(std::string_view collection, std::string_view key, std::string_view value,
             std::optional<std::string_view> sort) override;
  Status remove(std::string_view collection, std::string_view key) override;

  Result<std::vector<std::string>> tagged(const TagQuery& query, int limit) override;
  Result<std::int64_t> count_tagged(const TagQuery& query) override;
  Status put_tags(std::string_view key, std::span<const std::string> tags) override;
  Status remove_tags(std::string_view key) override;

  Result<std::optional<std::string>> blob(const Digest& hash) override;
  Result<std::vector<Digest>> blobs(const std::optional<Digest>& after, int limit) override;
  Result<Digest> put_blob(std::string_view bytes) override;
  Status remove_blob(const Digest& hash) override;

  Result<std::optional<Lease>> work(std::string_view queue, std::string_view name) override;
  Result<bool> add_work(std::string_view queue, std::string_view name, TimestampMs not_before_ms) override;
  Result<std::optional<Lease>> lease(std::string_view queue, std::string_view owner, TimestampMs now_ms,
                                     TimestampMs until_ms) override;
  Result<std::optional<Lease>> lease_named(std::string_view queue, std::string_view name, std::string_view owner,
                                           TimestampMs now_ms, TimestampMs until_ms) override;
  Status check_lease(const Lease& lease) override;
  Result<Lease> renew(const Lease& lease, TimestampMs until_ms) override;
  Status release(const Lease& lease, TimestampMs not_before_ms) override;
  Status finish(const Lease& lease) override;

  Result<SpaceReport> release_space() override;

 private:
  Result<Lease> give(std::string_view queue, std::string_view name, std::string_view owner, TimestampMs until_ms);

  Connection& connection_;
};

}  // namespace sb::store::sqlite
