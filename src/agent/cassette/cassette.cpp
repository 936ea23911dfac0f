#include "agent/cassette/cassette.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "store/paging.hpp"

namespace sb::agent {

namespace {

constexpr std::string_view kCollection = "cassettes";
constexpr std::size_t kPartBytes = 200;  // smaller parts stay inline
constexpr JsonBounds kCassetteBounds{.bytes = sb::limits::kStoreValueBytes, .depth = 96};

using KeepPart = std::function<Result<std::string>(const std::string& json)>;
using FindPart = std::function<Result<Value>(const std::string& hex)>;

std::string hash_of(std::string_view kind, const Value& request) {
  return sha256_hex(fmt::format("{}\n{}", kind, to_canonical_json(request)));
}

Result<Value> part_of(const Value& value, const KeepPart& keep) {
  const std::string json = to_canonical_json(value);
  if (json.size() < kPartBytes) return Value::object({{"v", value}});
  return Value::object({{"p", SB_TRY(keep(json))}});
}

Result<Value> split_into_parts(const Value& request, const KeepPart& keep) {
  if (!request.is_object()) return Value::object({{"", SB_TRY(part_of(request, keep))}});
  Value apart = Value::object();
  for (const auto& [name, value] : request.members()) {
    if (!value.is_array()) {
      apart.set(name, SB_TRY(part_of(value, keep)));
      continue;
    }
    Value::Array items;
    for (const Value& item : value.items()) items.push_back(SB_TRY(part_of(item, keep)));
    apart.set(name, Value::object({{"items", std::move(items)}}));
  }
  return apart;
}

Result<Value> whole_part(const Value& part, const FindPart& find) {
  if (const Value* value = part.find("v")) return *value;
  const auto hex = part.string_at("p");
  if (!hex) return fail(ErrorCode::kCorrupt, "Invalid part of a recorded request");
  return find(*hex);
}

Result<Value> joined_parts(const Value& apart, const FindPart& find) {
  if (!apart.is_object()) return fail(ErrorCode::kCorrupt, "A recorded request is not an object");
  if (const Value* all = apart.find(""); all && apart.size() == 1) return whole_part(*all, find);
  Value request = Value::object();
  for (const auto& [name, part] : apart.members()) {
    const Value* items = part.find("items");
    if (!items || !items->is_array()) {
      request.set(name, SB_TRY(whole_part(part, find)));
      continue;
    }
    Value::Array whole;
    for (const Value& item : items->items()) whole.push_back(SB_TRY(whole_part(item, find)));
    request.set(name, std::move(whole));
  }
  return request;
}

Result<Value> read_blob(store::Snapshot& snapshot, const std::string& hex) {
  const std::string bytes = SB_TRY(from_hex(hex));
  Digest digest{};
  if (bytes.size() != digest.size()) return fail(ErrorCode::kCorrupt, "A recorded exchange has an invalid blob name");
  std::ranges::copy(bytes, digest.begin());
  const auto found = SB_TRY(snapshot.blob(digest));
  if (!found) return fail(ErrorCode::kCorrupt, fmt::format("A recorded exchange's blob {} is missing", hex));
  return parse_json(*found, kCassetteBounds);
}

// The note without the parts that differ in every run.
std::string find_range(Value note) {
  if (note.is_object()) note.erase("session");
  return to_canonical_json(note);
}

// Every blob is also named by an event: the collection of unused blobs looks only at events.
Status name_blobs(store::Transaction& transaction, const std::string& run, const Value::Array& blobs) {
  const std::string stream = "cassette/" + run;
  const store::Head head = SB_TRY(transaction.head(stream));
  const store::NewEvent event{"kept", 0, to_canonical_json(Value::object({{"blobs", blobs}}))};
  SB_TRY(transaction.append(stream, head, std::span(&event, 1)));
  return {};
}

}  // namespace

void Cassette::name(std::string value, std::string name) {
  const std::scoped_lock lock(mutex_);
  if (std::ranges::find(names_, value, [](const auto& known) { return known.first; }) != names_.end()) return;
  names_.emplace_back(std::move(value), std::move(name));
}

Normalizer Cassette::normalizer() {
  return Normalizer(names_);
}

Status Cassette::load() {
  if (is_loaded_) return {};
  SB_TRY(store_.read([&](store::Snapshot& snapshot) -> Status {
    return store::each_row(snapshot, kCollection, {.prefix = run_ + "/"}, [&](const store::Row& row) -> Status {
      const Value value = SB_TRY(parse_json(row.value));
      entries_.push_back({row.key, value.string_at("kind").value_or(""), value.string_at("hash").value_or(""),
                          value.string_at("request").value_or(""), value.string_at("result").value_or(""),
                          value["note"]});
      return {};
    });
  }));
  if (!entries_.empty()) last_ = std::atoll(entries_.back().key.substr(run_.size() + 1).c_str());
  is_loaded_ = true;
  return {};
}

Status Cassette::write(store::Transaction& transaction, const Entry& entry, const Value& request, const Value& result) {
  Value::Array blobs;
  const KeepPart keep = [&](const std::string& json) -> Result<std::string> {
    std::string hex = to_hex(as_bytes(SB_TRY(transaction.put_blob(json))));
    blobs.push_back(hex);
    return hex;
  };
  const std::string request_blob = SB_TRY(keep(to_canonical_json(SB_TRY(split_into_parts(request, keep)))));
  const std::string result_blob = SB_TRY(keep(to_canonical_json(result)));
  SB_TRY(name_blobs(transaction, run_, blobs));
  const Value row = Value::object({{"kind", entry.kind},
                                   {"hash", entry.hash},
                                   {"request", request_blob},
                                   {"result", result_blob},
                                   {"note", entry.note}});
  return transaction.put(kCollection, entry.key, to_canonical_json(row));
}

Status Cassette::put(std::string_view kind, const Value& request, const Value& result, const Value& note) {
  const std::scoped_lock lock(mutex_);
  SB_TRY(load());
  Normalizer same = normalizer();
  const Value kept = same.normalized(redactor_.clean_known_value(request));
  Entry entry{{}, std::string(kind), hash_of(kind, kept), {}, {}, note};
  const auto again = std::ranges::find_if(entries_, [&](const Entry& before) {
    return !note.is_null() && before.kind == kind && before.hash == entry.hash &&
           to_canonical_json(before.note) == to_canonical_json(note);
  });
  entry.key = again == entries_.end() ? fmt::format("{}/{:08}", run_, last_ + 1) : again->key;
  const Value answer = same.normalized_known(redactor_.clean_known_value(result));
  SB_TRY(store_.write([&](store::Transaction& transaction) { return write(transaction, entry, kept, answer); }));
  if (again != entries_.end()) return {};
  ++last_;
  entry.is_taken = true;  // a recording is not replayed while it is written
  entries_.push_back(std::move(entry));
  return {};
}

Result<std::optional<Value>> Cassette::take(std::string_view kind, const Value& request) {
  const std::scoped_lock lock(mutex_);
  SB_TRY(load());
  Normalizer same = normalizer();
  const std::string hash = hash_of(kind, same.normalized(redactor_.clean_known_value(request)));
  const auto found = std::ranges::find_if(
      entries_, [&](const Entry& entry) { return !entry.is_taken && entry.kind == kind && entry.hash == hash; });
  if (found == entries_.end()) return std::nullopt;
  const Value row = SB_TRY(store_.read([&](store::Snapshot& snapshot) { return read_blob(snapshot, found->result); }));
  found->is_taken = true;
  return same.denormalized(row);
}

Result<Value> Cassette::read_request(store::Snapshot& snapshot, const std::string& hex) const {
  const Value apart = SB_TRY(read_blob(snapshot, hex));
  return joined_parts(apart, [&](const std::string& part) { return read_blob(snapshot, part); });
}

Result<std::string> Cassette::difference(std::string_view kind, const Value& request, const Value& note) {
  const std::scoped_lock lock(mutex_);
  SB_TRY(load());
  const auto is_left = [&](const Entry& entry) { return !entry.is_taken && entry.kind == kind; };
  auto nearest = std::ranges::find_if(entries_, [&](const Entry& entry) {
    return is_left(entry) && !note.is_null() && find_range(entry.note) == find_range(note);
  });
  if (nearest == entries_.end()) nearest = std::ranges::find_if(entries_, is_left);
  if (nearest == entries_.end()) return fmt::format("Nothing more of this kind was recorded in {}", run_);
  const Value recorded =
      SB_TRY(store_.read([&](store::Snapshot& snapshot) { return read_request(snapshot, nearest->request); }));
  Normalizer same = normalizer();
  return fmt::format("Recorded there ({}):\n{}", nearest->key, value_difference(recorded, same.normalized(request)));
}

void Cassette::mark_divergence(std::string place) {
  const std::scoped_lock lock(mutex_);
  if (diverged_at_.empty()) diverged_at_ = std::move(place);
}

std::string Cassette::diverged_at() {
  const std::scoped_lock lock(mutex_);
  return diverged_at_;
}

Result<Value> Cassette::to_document() {
  const std::scoped_lock lock(mutex_);
  is_loaded_ = false;
  entries_.clear();
  SB_TRY(load());
  Value::Array exchanges;
  Value parts = Value::object();
  SB_TRY(store_.read([&](store::Snapshot& snapshot) -> Status {
    for (const Entry& entry : entries_) {
      // An older program stored known values as they were.
      const Value raw = SB_TRY(read_request(snapshot, entry.request));
      const Value request = redactor_.clean_known_value(raw);
      const std::string hash = request == raw ? entry.hash : hash_of(entry.kind, request);
      const Value apart = SB_TRY(split_into_parts(request, [&](const std::string& json) -> Result<std::string> {
        const std::string hex = sha256_hex(json);
        if (!parts.find(hex)) parts.members().push_back({hex, SB_TRY(parse_json(json, kCassetteBounds))});
        return hex;
      }));
      exchanges.push_back(
          Value::object({{"kind", entry.kind},
                         {"hash", hash},
                         {"note", entry.note},
                         {"request", apart},
                         {"result", redactor_.clean_known_value(SB_TRY(read_blob(snapshot, entry.result)))}}));
    }
    return {};
  }));
  return Value::object({{"v", 1}, {"run", run_}, {"exchanges", std::move(exchanges)}, {"parts", std::move(parts)}});
}

Status Cassette::import(const Value& document) {
  const std::scoped_lock lock(mutex_);
  SB_TRY(load());
  if (!entries_.empty()) return fail(ErrorCode::kConflict, fmt::format("{} already has a recording", run_));
  SB_TRY(store_.write([&](store::Transaction& transaction) { return import_all(transaction, document); }));
  is_loaded_ = false;
  return load();
}

Status Cassette::import_all(store::Transaction& transaction, const Value& document) {
  const auto wrong = [](std::string message, std::string pointer) {
    return fail(ErrorCode::kInvalid, std::move(message), "Export the cassette again", {{}, std::move(pointer)});
  };
  if (document["v"] != Value(1)) return wrong("Unsupported cassette version", "/v");
  const Value& exchanges = document["exchanges"];
  const Value& parts = document["parts"];
  if (!exchanges.is_array() || !parts.is_object()) return wrong("A cassette needs exchanges and parts", "");
  std::map<std::string, const Value*, std::less<>> known;
  for (const auto& [hex, part] : parts.members()) {
    if (sha256_hex(to_canonical_json(part)) != hex) return wrong("A part does not match its name", "/parts/" + hex);
    known.emplace(hex, &part);
  }
  const FindPart find = [&](const std::string& hex) -> Result<Value> {
    const auto found = known.find(hex);
    if (found == known.end()) return fail(ErrorCode::kInvalid, fmt::format("The part {} is missing", hex));
    return *found->second;
  };
  for (std::size_t i = 0; i < exchanges.items().size(); ++i) {
    const Value& exchange = exchanges.items()[i];
    const std::string pointer = fmt::format("/exchanges/{}", i);
    const auto kind = exchange.string_at("kind");
    const auto request = joined_parts(exchange["request"], find);
    if (!request) return wrong(request.error().message, pointer + "/request");
    if (!kind || !exchange.find("result") || exchange.string_at("hash") != hash_of(*kind, *request)) {
      return wrong("An exchange does not match its hash", pointer);
    }
    const Entry entry{
        fmt::format("{}/{:08}", run_, i + 1), *kind, *exchange.string_at("hash"), {}, {}, exchange["note"]};
    SB_TRY(write(transaction, entry, *request, exchange["result"]));
  }
  return {};
}

}  // namespace sb::agent
