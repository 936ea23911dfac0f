// For tests: a transaction that forwards everything to another one. What a test watches, it overrides.
#pragma once

#include "store/store.hpp"

namespace sb::store {

class ForwardingTransaction : public Transaction {
 public:
  explicit ForwardingTransaction(Transaction& inner) : inner_(inner) {}

  Result<Head> head(std::string_view stream) override { return inner_.head(stream); }
  Result<std::vector<Event>> events(std::string_view stream, std::int64_t from, int limit) override {
    return inner_.events(stream, from, limit);
  }
  Result<std::vector<Event>> events_after(std::int64_t position, int limit) override {
    return inner_.events_after(position, limit);
  }
  Result<std::int64_t> last_position() override { return inner_.last_position(); }
  Result<std::vector<std::string>> streams(std::string_view prefix, std::string_view after, int limit) override {
    return inner_.streams(prefix, after, limit);
  }
  Result<std::optional<Row>> get(std::string_view collection, std::string_view key) override {
    return inner_.get(collection, key);
  }
  Result<std::vector<Row>> list(std::string_view collection, const Listing& listing) override {
    return inner_.list(collection, listing);
  }
  Result<std::int64_t> count(std::string_view collection, const Listing& listing) override {
    return inner_.count(collection, listing);
  }
  Result<std::vector<std::string>> tagged(const TagQuery& query, int limit) override {
    return inner_.tagged(query, limit);
  }
  Result<std::int64_t> count_tagged(const TagQuery& query) override { return inner_.count_tagged(query); }
  Result<std::optional<std::string>> blob(const Digest& hash) override { return inner_.blob(hash); }
  Result<std::vector<Digest>> blobs(const std::optional<Digest>& after, int limit) override {
    return inner_.blobs(after, limit);
  }
  Result<std::optional<Lease>> work(std::string_view queue, std::string_view name) override {
    return inner_.work(queue, name);
  }

  Result<Head> append(std::string_view stream, const Head& expected, std::span<const NewEvent> events) override {
    return inner_.append(stream, expected, events);
  }
  Status remove_stream(std::string_view stream) override { return inner_.remove_stream(stream); }
  Status put(std::string_view collection, std::string_view key, std::string_view value,
             std::optional<std::string_view> sort) override {
    return inner_.put(collection, key, value, sort);
  }
  Status remove(std::string_view collection, std::string_view key) override { return inner_.remove(collection, key); }
  Status put_tags(std::string_view key, std::span<const std::string> tags) override {
    return inner_.put_tags(key, tags);
  }
  Status remove_tags(std::string_view key) override { return inner_.remove_tags(key); }
  Result<SpaceReport> release_space() override { return inner_.release_space(); }
  Result<Digest> put_blob(std::string_view bytes) override { return inner_.put_blob(bytes); }
  Status remove_blob(const Digest& hash) override { return inner_.remove_blob(hash); }

  Result<bool> add_work(std::string_view queue, std::string_view name, TimestampMs not_before_ms) override {
    return inner_.add_work(queue, name, not_before_ms);
  }
  Result<std::optional<Lease>> lease(std::string_view queue, std::string_view owner, TimestampMs now_ms,
                                     TimestampMs until_ms) override {
    return inner_.lease(queue, owner, now_ms, until_ms);
  }
  Result<std::optional<Lease>> lease_named(std::string_view queue, std::string_view name, std::string_view owner,
                                           TimestampMs now_ms, TimestampMs until_ms) override {
    return inner_.lease_named(queue, name, owner, now_ms, until_ms);
  }
  Status check_lease(const Lease& lease) override { return inner_.check_lease(lease); }
  Result<Lease> renew(const Lease& lease, TimestampMs until_ms) override { return inner_.renew(lease, until_ms); }
  Status release(const Lease& lease, TimestampMs not_before_ms) override {
    return inner_.release(lease, not_before_ms);
  }
  Status finish(const Lease& lease) override { return inner_.finish(lease); }

 private:
  Transaction& inner_;
};

}  // namespace sb::store
