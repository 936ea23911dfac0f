// A store that forwards everything and records what was written, so that the same can be written again without the work
// that produced it.
#pragma once

#include <string>
#include <vector>

#include "store/testing/forwarding_transaction.hpp"

namespace sb::bench {

struct Writes {
  struct Put {
    std::string collection, key, value;
    std::optional<std::string> sort;
  };
  struct Appended {
    std::string stream;
    store::Head expected;
    std::vector<store::NewEvent> events;
  };
  std::vector<Appended> appended;
  std::vector<Put> rows;
  std::vector<std::string> blobs;

  Status write_to(store::Store& store) const {
    return store.write([&](store::Transaction& transaction) -> Status {
      for (const std::string& bytes : blobs) SB_TRY(transaction.put_blob(bytes));
      for (const Appended& each : appended) SB_TRY(transaction.append(each.stream, each.expected, each.events));
      for (const Put& row : rows) SB_TRY(transaction.put(row.collection, row.key, row.value, row.sort));
      return {};
    });
  }
};

class RecordingTransaction final : public store::ForwardingTransaction {
 public:
  RecordingTransaction(store::Transaction& inner, Writes& writes) : ForwardingTransaction(inner), writes_(writes) {}

  Result<store::Head> append(std::string_view stream, const store::Head& expected,
                             std::span<const store::NewEvent> events) override {
    writes_.appended.push_back({std::string(stream), expected, {events.begin(), events.end()}});
    return ForwardingTransaction::append(stream, expected, events);
  }
  Status put(std::string_view collection, std::string_view key, std::string_view value,
             std::optional<std::string_view> sort) override {
    writes_.rows.push_back({std::string(collection), std::string(key), std::string(value),
                            sort ? std::optional<std::string>(*sort) : std::nullopt});
    return ForwardingTransaction::put(collection, key, value, sort);
  }
  Result<Digest> put_blob(std::string_view bytes) override {
    writes_.blobs.emplace_back(bytes);
    return ForwardingTransaction::put_blob(bytes);
  }

 private:
  Writes& writes_;
};

class RecordingStore final : public store::Store {
 public:
  explicit RecordingStore(store::Store& inner) : inner_(inner) {}
  Writes& writes() { return writes_; }  // of the last write

 private:
  Status run_write(const std::function<Status(store::Transaction&)>& work) override {
    writes_ = {};
    return inner_.write([&](store::Transaction& transaction) {
      RecordingTransaction recording(transaction, writes_);
      return work(recording);
    });
  }
  Status run_read(const std::function<Status(store::Snapshot&)>& work) override { return inner_.read(work); }

  store::Store& inner_;
  Writes writes_;
};

}  // namespace sb::bench
