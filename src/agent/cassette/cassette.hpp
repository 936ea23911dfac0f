// The exchanges of a run with models and forges, stored by the hash of the request, so that the run can be replayed
// offline.
//
// Rows: collection `cassettes`, key RUN/SEQ (eight digits), value {kind, hash, request, result, note}: `request` and
// `result` name blobs. A request repeats most of the one before it, so its large parts are separate blobs:
//   request blob   {NAME: {v: value} | {p: blob} | {items: [{v: item} | {p: blob}]}}
// Before hashing and storing, values that differ from run to run are replaced by names (stable_names.hpp).
//
// Thread-safe; one object per run.
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
#include "agent/secrets/redact.hpp"
#include "store/store.hpp"

namespace sb::agent {

class Cassette {
 public:
  // The recording of `run`. In a replay the names are those of the run that is replayed now. Known secrets are redacted
  // before anything is stored, as the run itself redacts them before it uses a reply.
  Cassette(store::Store& store, std::string run, const std::vector<std::string>& secrets = {})
      : store_(store), run_(std::move(run)), redactor_(secrets) {}

  // From now on this path is replaced by a name: the work tree, the workspace, a home.
  void name(std::string value, std::string name);

  // Stores an exchange. `note` names the requester, for people and for finding the nearest exchange. An earlier
  // exchange with the same note and request is replaced: its answer was lost in a crash.
  Status put(std::string_view kind, const Value& request, const Value& result, const Value& note = {});

  // The recorded answer to this request, each one once and in order; nothing when there is none left.
  Result<std::optional<Value>> take(std::string_view kind, const Value& request);
  // For people: how this request differs from the recorded one that was next, or that had the same note.
  Result<std::string> difference(std::string_view kind, const Value& request, const Value& note = {});
  // The first point where a replay diverged from the recording, for people; empty: it has not.
  void mark_divergence(std::string place);
  std::string diverged_at();

  // Exports everything as one document, {v: 1, run, exchanges, parts}; imports it under this run's name. Import checks
  // every hash; kInvalid says what is wrong, kConflict when there is a recording already.
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
  Redactor redactor_;
  std::mutex mutex_;
  bool is_loaded_ = false;
  std::int64_t last_ = 0;
  std::vector<Entry> entries_;  // by key
  std::vector<std::pair<std::string, std::string>> names_;
  std::string diverged_at_;
};

// What a reply cost, in millionths of a cent.
using CostOf = std::function<std::int64_t(const Usage&)>;
// Records the model's replies, each with its cost, and its errors unless they are temporary. A reply that cannot be
// stored is an error. Several attempts at a turn are several exchanges: their notes have the number.
std::unique_ptr<Model> make_recording_model(std::unique_ptr<Model> model, std::shared_ptr<Cassette> cassette,
                                            CostOf cost_of = {});
// Called with the requester before each answer; false interrupts, as the recorded run was interrupted there.
using BeforeReply = std::function<bool(const Requester&)>;
// Answers from the cassette; kDiverged, with the difference, at the first request that has no recorded answer.
std::unique_ptr<Model> make_replaying_model(std::string name, std::shared_ptr<Cassette> cassette,
                                            BeforeReply before = {});

// The first places where two values differ, for people: `messages/3/content/0/text, line 2`, and both lines.
std::string value_difference(const Value& recorded, const Value& now);

}  // namespace sb::agent
