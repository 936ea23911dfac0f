#include <fmt/format.h>

#include "store/checks.hpp"
#include "store/sqlite/sqlite_transaction.hpp"

namespace sb::store::sqlite {
namespace {

constexpr const char* kGet = "SELECT key, sort, value FROM projections WHERE collection = ?1 AND key = ?2";
constexpr const char* kPut =
    "INSERT INTO projections(collection, key, sort, value) VALUES(?1, ?2, ?3, ?4) "
    "ON CONFLICT(collection, key) DO UPDATE SET sort = excluded.sort, value = excluded.value";
constexpr const char* kRemove = "DELETE FROM projections WHERE collection = ?1 AND key = ?2";

// Each scans one index from the start of the page. ?2 and ?3 bound the prefix, ?4 (and ?5) is the cursor.
constexpr const char* kByKey =
    "SELECT key, sort, value FROM projections "
    "WHERE collection = ?1 AND key >= ?2 AND key < ?3 AND key > ?4 ORDER BY key LIMIT ?6";
constexpr const char* kByKeyDown =
    "SELECT key, sort, value FROM projections "
    "WHERE collection = ?1 AND key >= ?2 AND key < ?3 AND key < ?4 ORDER BY key DESC LIMIT ?6";
constexpr const char* kBySort =
    "SELECT key, sort, value FROM projections "
    "WHERE collection = ?1 AND sort >= ?2 AND sort < ?3 AND (sort, key) > (?4, ?5) ORDER BY sort, key LIMIT ?6";
constexpr const char* kBySortDown =
    "SELECT key, sort, value FROM projections "
    "WHERE collection = ?1 AND sort >= ?2 AND sort < ?3 AND (sort, key) < (?4, ?5) "
    "ORDER BY sort DESC, key DESC LIMIT ?6";

// The same, to count.
constexpr const char* kCountByKey =
    "SELECT count(*) FROM projections WHERE collection = ?1 AND key >= ?2 AND key < ?3 AND key > ?4";
constexpr const char* kCountByKeyDown =
    "SELECT count(*) FROM projections WHERE collection = ?1 AND key >= ?2 AND key < ?3 AND key < ?4";
constexpr const char* kCountBySort =
    "SELECT count(*) FROM projections WHERE collection = ?1 AND sort >= ?2 AND sort < ?3 AND (sort, key) > (?4, ?5)";
constexpr const char* kCountBySortDown =
    "SELECT count(*) FROM projections WHERE collection = ?1 AND sort >= ?2 AND sort < ?3 AND (sort, key) < (?4, ?5)";

constexpr const char* kBlob = "SELECT bytes FROM blobs WHERE hash = ?1";
constexpr const char* kPutBlob = "INSERT INTO blobs(hash, bytes) VALUES(?1, ?2) ON CONFLICT(hash) DO NOTHING";
constexpr const char* kRemoveBlob = "DELETE FROM blobs WHERE hash = ?1";
constexpr const char* kBlobs = "SELECT hash FROM blobs WHERE hash > ?1 ORDER BY hash LIMIT ?2";

Row read_row(const Statement& statement) {
  Row row;
  row.key = statement.bytes(0);
  if (!statement.is_null(1)) row.sort = std::string(statement.bytes(1));
  row.value = statement.bytes(2);
  return row;
}

const char* listing_sql(const Listing& listing) {
  if (listing.by == Order::kKey) return listing.descending ? kByKeyDown : kByKey;
  return listing.descending ? kBySortDown : kBySort;
}

const char* count_sql(const Listing& listing) {
  if (listing.by == Order::kKey) return listing.descending ? kCountByKeyDown : kCountByKey;
  return listing.descending ? kCountBySortDown : kCountBySort;
}

// What ?2 to ?5 are bound to; lives as long as the statement.
struct Bounds {
  explicit Bounds(const Listing& listing) : begin(listing.prefix), end(prefix_end(listing.prefix)) {
    // The cursor before the first page: just outside the prefix, at the end where the listing begins.
    cursor = listing.descending ? end : "";
    if (!listing.after) return;
    cursor = listing.by == Order::kSort ? *listing.after->sort : listing.after->key;
    cursor_key = listing.after->key;
  }
  void bind(Statement& statement, const Listing& listing) const {
    statement.bind(2, begin).bind(3, end).bind(4, cursor);
    if (listing.by == Order::kSort) statement.bind(5, cursor_key);
  }
  std::string begin, end, cursor, cursor_key;
};

Status check_listing(std::string_view collection, const Listing& listing) {
  SB_TRY(check_name("collection", collection));
  SB_TRY(check_page(listing.limit));
  if (!listing.prefix.empty()) SB_TRY(check_name("prefix", listing.prefix));
  if (listing.after && listing.by == Order::kSort && !listing.after->sort) {
    return fail(ErrorCode::kInvalid, "a page by sort key cannot start after a row without a sort key");
  }
  return {};
}

}  // namespace

Result<std::optional<Row>> SqliteTransaction::get(std::string_view collection, std::string_view key) {
  SB_TRY(check_name("collection", collection));
  SB_TRY(check_name("key", key));
  Statement statement = SB_TRY(connection_.prepare(kGet));
  if (!SB_TRY(statement.bind(1, collection).bind(2, key).step())) return std::nullopt;
  return read_row(statement);
}

Result<std::vector<Row>> SqliteTransaction::list(std::string_view collection, const Listing& listing) {
  SB_TRY(check_listing(collection, listing));
  const Bounds bounds(listing);
  Statement statement = SB_TRY(connection_.prepare(listing_sql(listing)));
  bounds.bind(statement.bind(1, collection), listing);
  statement.bind(6, std::int64_t{listing.limit});
  std::vector<Row> rows;
  while (SB_TRY(statement.step())) rows.push_back(read_row(statement));
  return rows;
}

Result<std::int64_t> SqliteTransaction::count(std::string_view collection, const Listing& listing) {
  SB_TRY(check_listing(collection, listing));
  const Bounds bounds(listing);
  Statement statement = SB_TRY(connection_.prepare(count_sql(listing)));
  bounds.bind(statement.bind(1, collection), listing);
  SB_TRY(statement.step());
  return statement.integer(0);
}

Status SqliteTransaction::put(std::string_view collection, std::string_view key, std::string_view value,
                              std::optional<std::string_view> sort) {
  SB_TRY(check_name("collection", collection));
  SB_TRY(check_name("key", key));
  SB_TRY(check_value("value", value));
  if (sort) SB_TRY(check_name("sort key", *sort));
  Statement statement = SB_TRY(connection_.prepare(kPut));
  statement.bind(1, collection).bind(2, key).bind_blob(4, value);
  if (sort) {
    statement.bind(3, *sort);
  } else {
    statement.bind_null(3);
  }
  return statement.run();
}

Status SqliteTransaction::remove(std::string_view collection, std::string_view key) {
  SB_TRY(check_name("collection", collection));
  SB_TRY(check_name("key", key));
  return SB_TRY(connection_.prepare(kRemove)).bind(1, collection).bind(2, key).run();
}

Result<std::optional<std::string>> SqliteTransaction::blob(const Digest& hash) {
  Statement statement = SB_TRY(connection_.prepare(kBlob));
  if (!SB_TRY(statement.bind_blob(1, as_bytes(hash)).step())) return std::nullopt;
  std::string bytes(statement.bytes(0));
  if (sha256(bytes) != hash) {
    return fail(ErrorCode::kCorrupt, fmt::format("blob {} was modified", to_hex(as_bytes(hash))),
                std::string(kRepairRemedy), SourceLocation{connection_.path(), {}, 0, 0});
  }
  return bytes;
}

Result<std::vector<Digest>> SqliteTransaction::blobs(const std::optional<Digest>& after, int limit) {
  SB_TRY(check_page(limit));
  Statement statement = SB_TRY(connection_.prepare(kBlobs));
  statement.bind_blob(1, after ? as_bytes(*after) : std::string_view()).bind(2, std::int64_t{limit});
  std::vector<Digest> hashes;
  while (SB_TRY(statement.step())) hashes.push_back(SB_TRY(statement.digest(0)));
  return hashes;
}

Result<Digest> SqliteTransaction::put_blob(std::string_view bytes) {
  SB_TRY(check_value("blob", bytes));
  const Digest hash = sha256(bytes);
  Statement statement = SB_TRY(connection_.prepare(kPutBlob));
  SB_TRY(statement.bind_blob(1, as_bytes(hash)).bind_blob(2, bytes).run());
  return hash;
}

Status SqliteTransaction::remove_blob(const Digest& hash) {
  return SB_TRY(connection_.prepare(kRemoveBlob)).bind_blob(1, as_bytes(hash)).run();
}

}  // namespace sb::store::sqlite
