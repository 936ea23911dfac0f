// A store that forwards everything to another one and counts how often each blob is put.
#pragma once

#include <map>
#include <string>

#include "store/store.hpp"

namespace sb::engine {

using BlobPuts = std::map<std::string, int, std::less<>>;  // by content

class CountingTransaction final : public store::Transaction {
 public:
  CountingTransaction(store::Transaction& inner, BlobPuts& puts) : inner_(inner), puts_(puts) {}

  Result<store::Head> head(std::string_view stream) override { return inner_.head(stream); }
  Result<std::vector<store::Event>> events(std::string_view stream, std::int64_t from, int limit) override {
    return inner_.events(stream, from, limit);
  }
  Result<std::vector<store::Event>> events_after(std::int64_t position, int limit) override {
    return inner_.events_after(position, limit);
  }
  Result<std::int64_t> last_position() override { return inner_.last_position(); }
  Result<std::vector<std::string>> streams(std::string_view prefix, std::string_view after, int limit) override {
    return inner_.streams(prefix, after, limit);
  }
  Result<std::optional<store::Row>> get(std::string_view collection, std::string_view key) override {
    return inner_.get(collection, key);
  }
  Result<std::vector<store::Row>> list(std::string_view collection, const store::Listing& listing) override {
    return inner_.list(collection, listing);
  }
  Result<std::int64_t> count(std::string_view collection, const store::Listing& listing) override {
    return inner_.count(collection, listing);
  }
  Result<std::vector<std::string>> tagged(const store::TagQuery& query, int limit) override {
    return inner_.tagged(query, limit);
  }
  Result<std::int64_t> count_tagged(const store::TagQuery& query) override { return inner_.count_tagged(query); }
  Result<std::optional<std::string>> blob(const Digest& hash) override { return inner_.blob(hash); }
  Result<std::vector<Digest>> blobs(const std::optional<Digest>& after, int limit) override {
    return inner_.blobs(after, limit);
  }
  Result<std::optional<store::Lease>> work(std::string_view queue, std::string_view name) override {
    return inner_.work(queue, name);
  }

  Result<store::Head> append(std::string_view stream, const store::Head& expected,
                             std::span<const store::NewEvent> events) override {
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
  Result<store::SpaceReport> release_space() override { return inner_.release_space(); }
  Result<Digest> put_blob(std::string_view bytes) override {
    ++puts_[std::string(bytes)];
    return inner_.put_blob(bytes);
  }
  Status remove_blob(const Digest& hash) override { return inner_.remove_blob(hash); }

  Result<bool> add_work(std::string_view queue, std::string_view name, TimestampMs not_before_ms) override {
    return inner_.add_work(queue, name, not_before_ms);
  }
  Result<std::optional<store::Lease>> lease(std::string_view queue, std::string_view owner, TimestampMs now_ms,
                                            TimestampMs until_ms) override {
    return inner_.lease(queue, owner, now_ms, until_ms);
  }
  Result<std::optional<store::Lease>> lease_named(std::string_view queue, std::string_view name, std::string_view owner,
                                                  TimestampMs now_ms, TimestampMs until_ms) override {
    return inner_.lease_named(queue, name, owner, now_ms, until_ms);
  }
  Status check_lease(const store::Lease& lease) override { return inner_.check_lease(lease); }
  Result<store::Lease> renew(const store::Lease& lease, TimestampMs until_ms) override {
    return inner_.renew(lease, until_ms);
  }
  Status release(const store::Lease& lease, TimestampMs not_before_ms) override {
    return inner_.release(lease, not_before_ms);
  }
  Status finish(const store::Lease& lease) override { return inner_.finish(lease); }

 private:
  store::Transaction& inner_;
  BlobPuts& puts_;
};

class CountingStore final : public store::Store {
 public:
  explicit CountingStore(store::Store& inner) : inner_(inner) {}

  BlobPuts puts;

 private:
  Status run_write(const std::function<Status(store::Transaction&)>& work) override {
    return inner_.write([&](store::Transaction& transaction) {
      CountingTransaction counting(transaction, puts);
      return work(counting);
    });
  }
  Status run_read(const std::function<Status(store::Snapshot&)>& work) override { return inner_.read(work); }

  store::Store& inner_;
};

}  // namespace sb::engine
