// The event log and its projections behind one interface. The store does not know what events mean.
//
// Guarantees:
//  - Everything done in one write() is one transaction: all of it is on disk when write() returns, or none of it. Work
//    runs once and is never retried automatically. If the disk fails during the commit itself, the result is unknown:
//    complete or absent. An append under the same expected head finds out which.
//  - A stream is appended to only under the head the caller saw (sequence number and hash). If another writer was
//    first, the append returns kConflict and changes nothing.
//  - Each event has a hash chained to the previous event of its stream (see chain.hpp). It is checked on every read; a
//    mismatch is kCorrupt and names stream and sequence number.
//  - read() sees one moment: nothing that others commit meanwhile.
//  - The cost of an append does not depend on the length of the stream.
//
// Names (streams, types, collections, keys, sort keys, queues, owners) are non-empty UTF-8 without NUL and U+10FFFF, at
// most limits::kStoreNameBytes, compared byte by byte. Payloads, values and blobs are any bytes.
//
// Errors: kConflict (head moved, lease lost), kInvalid and kLimit (bad name, too large), kUnavailable (others held the
// store too long; a retry helps), kIo (disk full, read-only), kCorrupt (damaged).
//
// Threads: a Store may be used from several threads; calls take turns. Processes may each open their own. A Store does
// not survive fork(). Work must not call the Store again, only its Transaction or Snapshot, and must not keep those.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/crypto.hpp"
#include "base/result.hpp"

namespace sb::store {

// The end of a stream: number and hash of the last event. The head of an empty stream is 0 and all zeros.
struct Head {
  std::int64_t seq = 0;
  Digest hash{};

  bool operator==(const Head&) const = default;
};

struct NewEvent {
  std::string type;
  TimestampMs time_ms = 0;
  std::string payload;  // JSON text
};

struct Event {
  std::int64_t position = 0;  // in the log of all streams; ascending in commit order, with gaps
  std::string stream;
  std::int64_t seq = 0;  // in its stream, from 1, without gaps
  std::string type;
  TimestampMs time_ms = 0;
  std::string payload;
  Digest previous{};
  Digest hash{};

  bool operator==(const Event&) const = default;
};

// One row of a projection. A row with a sort key is also in its collection's sorted listing; without one it is only in
// the listing by key.
struct Row {
  std::string key;
  std::optional<std::string> sort;
  std::string value;

  bool operator==(const Row&) const = default;
};

enum class Order { kKey, kSort };

// A page of a collection, by key or by (sort key, key).
struct Listing {
  Order by = Order::kKey;
  std::string prefix = {};  // of the key or of the sort key
  bool descending = false;
  std::optional<Row> after = {};  // the last row of the previous page; its value is ignored
  int limit = 100;                // at most limits::kStorePageRows
};

// Bytes of the store's file: given back to the disk, and still unused.
struct SpaceReport {
  std::int64_t released = 0, unused = 0;
};

// Which documents of the tag index are meant.
struct TagQuery {
  enum class Kind { kTag, kAll, kAny, kWithout };  // kWithout: those that match the first part, but not the second
  Kind kind = Kind::kAll;
  std::string tag = {};              // of kTag
  std::vector<TagQuery> parts = {};  // of the others

  static TagQuery has(std::string tag) { return {Kind::kTag, std::move(tag)}; }
  static TagQuery all(std::vector<TagQuery> parts) { return {Kind::kAll, {}, std::move(parts)}; }
  static TagQuery any(std::vector<TagQuery> parts) { return {Kind::kAny, {}, std::move(parts)}; }
  TagQuery without(TagQuery other) && { return {Kind::kWithout, {}, {std::move(*this), std::move(other)}}; }
};

// A piece of work that an owner holds until a time. The fencing number grows with every lease the store grants, so a
// holder that slept past its time can be distinguished from the one that took over.
struct Lease {
  std::string queue;
  std::string name;
  std::string owner;
  TimestampMs until_ms = 0;
  std::int64_t fence = 0;

  bool operator==(const Lease&) const = default;
};

// Read access to one moment of the store.
class Snapshot {
 public:
  virtual ~Snapshot() = default;

  virtual Result<Head> head(std::string_view stream) = 0;
  // At most `limit` events of the stream with seq >= from_seq, ascending, chain checked.
  virtual Result<std::vector<Event>> events(std::string_view stream, std::int64_t from_seq, int limit) = 0;
  // At most `limit` events of all streams with position > `position`, ascending: what is new since then.
  virtual Result<std::vector<Event>> events_after(std::int64_t position, int limit) = 0;
  virtual Result<std::int64_t> last_position() = 0;  // 0 when the log is empty
  // At most `limit` names of streams that start with `prefix` and come after `after`, ascending.
  virtual Result<std::vector<std::string>> streams(std::string_view prefix, std::string_view after, int limit) = 0;

  virtual Result<std::optional<Row>> get(std::string_view collection, std::string_view key) = 0;
  virtual Result<std::vector<Row>> list(std::string_view collection, const Listing& listing) = 0;
  // How many rows a listing has after its cursor, whatever its limit. Reads an index only.
  virtual Result<std::int64_t> count(std::string_view collection, const Listing& listing) = 0;

  // The keys of at most `limit` documents, the one put last first. An expression without tags matches nothing.
  virtual Result<std::vector<std::string>> tagged(const TagQuery& query, int limit) = 0;
  virtual Result<std::int64_t> count_tagged(const TagQuery& query) = 0;

  // The bytes with that SHA-256, checked; nothing if they are not stored.
  virtual Result<std::optional<std::string>> blob(const Digest& hash) = 0;
  // At most `limit` hashes of stored blobs greater than `after`, ascending.
  virtual Result<std::vector<Digest>> blobs(const std::optional<Digest>& after, int limit) = 0;

  // The current or last holder; owner is empty if no one holds it. Nothing if there is no such work.
  virtual Result<std::optional<Lease>> work(std::string_view queue, std::string_view name) = 0;
};

class Transaction : public Snapshot {
 public:
  // Returns the new head. kConflict if the stream's head is not `expected`.
  virtual Result<Head> append(std::string_view stream, const Head& expected, std::span<const NewEvent> events) = 0;
  // Removes a stream and its events. No error if there is none.
  virtual Status remove_stream(std::string_view stream) = 0;

  virtual Status put(std::string_view collection, std::string_view key, std::string_view value,
                     std::optional<std::string_view> sort = std::nullopt) = 0;
  virtual Status remove(std::string_view collection, std::string_view key) = 0;  // no error if it is missing

  // The tag index: a set of tags per document, for finding documents among many. Tags are letters, digits and `_` of
  // any script. Putting a document again replaces its tags and makes it the newest.
  virtual Status put_tags(std::string_view key, std::span<const std::string> tags) = 0;
  virtual Status remove_tags(std::string_view key) = 0;  // no error if it is missing

  virtual Result<Digest> put_blob(std::string_view bytes) = 0;  // storing the same bytes again changes nothing
  virtual Status remove_blob(const Digest& hash) = 0;

  // Adds work to be done not before that time. False if work with that name exists; it stays unchanged.
  virtual Result<bool> add_work(std::string_view queue, std::string_view name, TimestampMs not_before_ms) = 0;
  // Takes the work that has waited longest, or the named one; nothing if none is free at `now_ms`. Work whose lease
  // expired is free.
  virtual Result<std::optional<Lease>> lease(std::string_view queue, std::string_view owner, TimestampMs now_ms,
                                             TimestampMs until_ms) = 0;
  virtual Result<std::optional<Lease>> lease_named(std::string_view queue, std::string_view name,
                                                   std::string_view owner, TimestampMs now_ms,
                                                   TimestampMs until_ms) = 0;
  // Each is kConflict if another owner has taken the work since. A lease that expired but was not taken is still valid:
  // its holder is the last one who could have done anything.
  virtual Status check_lease(const Lease& lease) = 0;
  virtual Result<Lease> renew(const Lease& lease, TimestampMs until_ms) = 0;
  virtual Status release(const Lease& lease, TimestampMs not_before_ms) = 0;  // for others to take
  virtual Status finish(const Lease& lease) = 0;                              // done: the work is removed

  // Gives some of the space that removed content has left back to the disk, a few milliseconds of work.
  virtual Result<SpaceReport> release_space() = 0;
};

class Store {
 public:
  virtual ~Store() = default;

  // Runs `work(Transaction&)`, which returns a Result or Status, and commits. An error from it rolls everything back
  // and is returned, as is a failure to commit.
  template <class Work>
  std::invoke_result_t<Work&, Transaction&> write(Work&& work) {
    return run<Transaction>(work, [this](const auto& step) { return run_write(step); });
  }

  // For upkeep between two of its writes: lets writers that wait go first.
  virtual void give_way() {}
  // Prepares a store of an older version so that release_space() can give its unused space back. Others wait meanwhile,
  // about a second per 50 MB of content; nothing is done if there is more content than `most_bytes`.
  virtual Result<SpaceReport> make_space_releasable(std::int64_t) { return SpaceReport{}; }

  // Runs `work(Snapshot&)` on one moment of the store.
  template <class Work>
  std::invoke_result_t<Work&, Snapshot&> read(Work&& work) {
    return run<Snapshot>(work, [this](const auto& step) { return run_read(step); });
  }

 private:
  virtual Status run_write(const std::function<Status(Transaction&)>& work) = 0;
  virtual Status run_read(const std::function<Status(Snapshot&)>& work) = 0;

  template <class View, class Work, class Runner>
  static std::invoke_result_t<Work&, View&> run(Work& work, const Runner& runner) {
    std::optional<std::invoke_result_t<Work&, View&>> result;
    const std::function<Status(View&)> step = [&](View& view) -> Status {
      result.emplace(work(view));
      if (!*result) return std::unexpected(result->error());
      return {};
    };
    if (Status status = runner(step); !status) return std::unexpected(std::move(status).error());
    return std::move(*result);
  }
};

}  // namespace sb::store
