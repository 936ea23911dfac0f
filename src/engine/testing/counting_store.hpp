// A store that forwards everything to another one and counts how often each blob is put.
#pragma once

#include <map>
#include <string>

#include "store/testing/forwarding_transaction.hpp"

namespace sb::engine {

using BlobPuts = std::map<std::string, int, std::less<>>;  // by content

class CountingTransaction final : public store::ForwardingTransaction {
 public:
  CountingTransaction(store::Transaction& inner, BlobPuts& puts) : ForwardingTransaction(inner), puts_(puts) {}

  Result<Digest> put_blob(std::string_view bytes) override {
    ++puts_[std::string(bytes)];
    return ForwardingTransaction::put_blob(bytes);
  }

 private:
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
