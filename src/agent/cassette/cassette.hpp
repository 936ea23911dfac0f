// Exchanges of a run with models and forges, kept by the hash of what was asked, so that the run can be played again
// offline.
//
// Rows: collection `cassettes`, key RUN/SEQ (eight digits), value {kind, hash, request, result, note}: `request` and
// `result` name blobs. Requests repeat most of those before, so what is large in one is a blob of its own:
//   request blob   {NAME: {v: value} | {p: blob} | {items: [{v: item} | {p: blob}]}}
// Before anything is hashed or kept, what differs from run to run goes by a name (stable_names.hpp).
//
// Threads: any; one object a run.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "agent/cassette/stable_names.hpp"
#include "agent/model/model.hpp"
#include "store/store.hpp"

namespace sb::agent {

class Cassette {
 public:
  // Of `run`: what was recorded there. In a replay the names are those of the run that is played now.
  Cassette(store::Store& store, std::string run) : store_(store), run_(std::move(run)) {}

  // A path that goes by a name from now on: the work tree, the workspace, a home.
  void name(std::string value, std::string name);

  // Keeps an exchange. `note` says who asked, for people and for finding the nearest; where it is the same as an
  // earlier one's for the same request, that one is replaced: its answer was lost with a crash.
  Status put(std::string_view kind, const Value& request, const Value& result, const Value& note = {});

  // The answer to this request, each recorded one once and in order; nothing when there is none (left).
  Result<std::optional<Value>> take(std::string_view kind, const Value& request);
  // Kind people: how this request differs from the recorded one that was next, or that had the same note.
  Result<std::string> difference(std::string_view kind, const Value& request, const Value& note = {});
  // The first place where a replay left the recording, as told to people; empty: it has not.
  void mark_divergence(std::string place);
  std::string diverged_at();

  // Everything as one document, {v: 1, run, exchanges, parts}, and back, under this run's name. Import checks every
  // hash; kInvalid names what is wrong, kConflict when there is a recording already.
  Result<Value> to_document();
  Status import(const Value& document);

 private:
  struct Entry {
    std::string key, kind, hash, request, result;
    Value note;
    bool is_taken = false;
  };
  Status load();
  Normalizer normalizer();
  Result<Value> read_request(store::Snapshot& snapshot, const std::string& hex) const;
  Status write(store::Transaction& transaction, const Entry& entry, const Value& request, const Value& result);
  Status import_all(store::Transaction& transaction, const Value& document);

  store::Store& store_;
  std::string run_;
  std::mutex mutex_;
  bool is_loaded_ = false;
  std::int64_t last_ = 0;
  std::vector<Entry> entries_;  // by key
  std::vector<std::pair<std::string, std::string>> names_;
  std::string diverged_at_;
};

// Keeps what the model answers; errors too, unless asking again helps by itself. A reply that cannot be kept is an
// error.
std::unique_ptr<Model> make_recording_model(std::unique_ptr<Model> model, std::shared_ptr<Cassette> cassette);
// Told who asks before each answer; false breaks off, as what is played was broken off there.
using BeforeReply = std::function<bool(const Requester&)>;
// Answers from the cassette; kDiverged, with the difference, at the first request it has no answer for.
std::unique_ptr<Model> make_replaying_model(std::string name, std::shared_ptr<Cassette> cassette,
                                            BeforeReply before = {});

// The first places where two values differ, for people: `messages/3/content/0/text, line 2`, the line there and here.
std::string value_difference(const Value& recorded, const Value& now);

}  // namespace sb::agent
