#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/document/document.hpp"
#include "base/document/stored_reader.hpp"
#include "base/limits.hpp"
#include "engine/recall/recall_index.hpp"
#include "engine/state/blob_refs.hpp"
#include "engine/state/rows.hpp"
#include "engine/state/token.hpp"
#include "engine/upkeep/upkeep.hpp"
#include "store/chain.hpp"

namespace sb::engine {
namespace {

std::unexpected<Error> wrong(std::string message, std::string remedy = "Export the session again") {
  return fail(ErrorCode::kInvalid, std::move(message), std::move(remedy));
}

Status only_known(const Value& line) {
  for (const auto& [name, value] : line.members()) {
    const auto known = {"seq", "type", "time", "payload", "previous", "hash", "blobs", "events"};
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return wrong(fmt::format("an exported event has no member {}", quote_json(name)));
    }
  }
  return {};
}

Result<std::string> text_at(const Value& line, std::string_view name) {
  if (auto text = line.string_at(name)) return std::move(*text);
  return wrong(fmt::format("\"{}\" is missing or not a string", name));
}

Result<Digest> hash_at(const Value& line, std::string_view name) {
  auto digest = digest_from(SB_TRY(text_at(line, name)));
  if (!digest) return wrong(fmt::format("\"{}\" is not a hash", name));
  return *digest;
}

// A session read line by line; nothing is stored until all of it has been checked.
class Import {
 public:
  Status add(std::string_view text);
  // Checks that the lines are complete and that no advance is cut in two.
  Status is_whole() const;
  Result<std::string> store_in(store::Store& store) const;
  bool is_empty() const { return events_.empty(); }

 private:
  Result<store::Event> read_event(const Value& line);
  Status take_blobs(const Value& line, const Event& event);
  Status check_workflow(const BlobRef& ref, const std::string& text);
  Status check_step(const Event& event) const;
  Status append(store::Transaction& transaction) const;

  std::vector<store::Event> events_;
  store::Head head_;
  SessionState state_;
  std::set<std::string> seen_;
  std::vector<std::string> blobs_;
  std::unique_ptr<const Program> program_;  // the session's own
  std::size_t bytes_ = 0;
  std::int64_t announced_ = 0;  // the number of events according to the first line
};

Status Import::add(std::string_view text) {
  bytes_ += text.size();
  if (bytes_ > limits::kImportBytes) {
    return fail(ErrorCode::kLimit, fmt::format("the session is larger than {} MiB", limits::kImportBytes >> 20),
                "Sessions of this size cannot be imported");
  }
  const JsonBounds bounds{limits::kExportLineBytes, kStoredBounds.depth + 2, kStoredBounds.nodes};
  Result<Value> line = parse_json(text, bounds);
  if (!line) return wrong(fmt::format("not JSON: {}", line.error().message));
  if (!line->is_object()) return wrong("not an exported event", "Use the output of signalbox session export");
  SB_TRY(only_known(*line));
  const store::Event event = SB_TRY(read_event(*line));
  const Event meant{event.type, *line->find("payload")};
  SB_TRY(take_blobs(*line, meant));
  if (Status fits = apply(state_, meant, event.seq, event.time_ms); !fits) return wrong(fits.error().message);
  SB_TRY(check_step(meant));
  if (event.seq == 1 && (*line)["events"].is_integer()) announced_ = (*line)["events"].as_integer();
  head_ = {event.seq, event.hash};
  events_.push_back(event);
  return {};
}

Status Import::is_whole() const {
  const auto cut = [](std::string message) { return wrong(std::move(message), "Include all lines of the export"); };
  if (announced_ != 0 && announced_ != head_.seq) {
    return cut(fmt::format("the export is truncated: it has {} of {} events", head_.seq, announced_));
  }
  for (const auto& [key, attempt] : state_.attempts) {
    const auto node = state_.nodes.find(key.first);
    const bool is_waiting = node != state_.nodes.end() && node->second.waiting.has_value();
    if (attempt.ended_seq == 0 && !is_waiting) return cut("the export is truncated in the middle of an advance");
  }
  return state_.summary.nodes == 0 ? Status(cut("the export is truncated before the first step")) : Status();
}

Result<store::Event> Import::read_event(const Value& line) {
  store::Event event;
  const Value& seq = line["seq"];
  if (!seq.is_integer() || seq.as_integer() != head_.seq + 1) {
    return wrong(fmt::format("expected event {} here", head_.seq + 1), "Include all lines of the export, in order");
  }
  event.seq = seq.as_integer();
  event.type = SB_TRY(text_at(line, "type"));
  auto time = parse_rfc3339(SB_TRY(text_at(line, "time")));
  if (!time) return wrong("\"time\" is not a valid time");
  event.time_ms = *time;
  const Value* payload = line.find("payload");
  if (payload == nullptr || !payload->is_object()) return wrong("\"payload\" is missing or not an object");
  event.payload = to_canonical_json(*payload);
  event.previous = SB_TRY(hash_at(line, "previous"));
  event.hash = SB_TRY(hash_at(line, "hash"));
  if (events_.empty()) {
    const std::string session = payload->string_at("session").value_or("");
    if (event.type != "session_started" || !session_bytes(session)) return wrong("not the first event of a session");
    event.stream = session_stream(session);
  } else {
    event.stream = events_.front().stream;
  }
  if (!store::check_chain(head_, {&event, 1})) {
    return wrong(fmt::format("event {} was changed: its hash does not match", event.seq));
  }
  return event;
}

Status Import::take_blobs(const Value& line, const Event& event) {
  const Value* carried = line.find("blobs");
  if (carried != nullptr && !carried->is_object()) return wrong("\"blobs\" is not an object");
  std::size_t used = 0;
  const auto read = [&](const BlobRef& ref) -> Result<std::string> {
    const Value* text = carried == nullptr ? nullptr : carried->find(ref.hex);
    if (text == nullptr || !text->is_string()) return wrong(fmt::format("the content {} is missing", ref.hex));
    ++used;
    return text->as_string();
  };
  const auto visit = [&](const BlobRef& ref, const std::string& text) -> Status {
    if (sha256_hex(text) != ref.hex) return wrong(fmt::format("the content {} was changed", ref.hex));
    const auto value = parse_stored(text);
    if (!value || to_canonical_json(*value) != text) {
      return wrong(fmt::format("the content {} is not canonical JSON", ref.hex));
    }
    if (ref.is_workflow) SB_TRY(check_workflow(ref, text));
    blobs_.push_back(text);
    return {};
  };
  SB_TRY(visit_blobs(event, seen_, read, visit));
  if (carried != nullptr && carried->size() != used) return wrong("\"blobs\" has content that the event does not name");
  return {};
}

Status Import::check_workflow(const BlobRef& ref, const std::string& text) {
  auto compiled = workflow::read_pinned(SB_TRY(parse_stored(text)));
  if (!compiled) return wrong(fmt::format("the workflow {} does not load: {}", ref.hex, compiled.error().message));
  if (!program_) program_ = std::make_unique<const Program>(std::move(*compiled));
  return {};
}

Status Import::check_step(const Event& event) const {
  if (event.type != "node_opened") return {};
  const std::string step = event.payload.string_at("step").value_or("");
  if (step.empty() || program_->find(step) != kNoStep) return {};
  return wrong(fmt::format("the session's workflow has no step {}", quote_json(step)));
}

Status Import::append(store::Transaction& transaction) const {
  store::Head head;
  for (std::size_t at = 0; at < events_.size(); at += limits::kStoreAppendEvents) {
    const std::size_t end = std::min(events_.size(), at + limits::kStoreAppendEvents);
    std::vector<store::NewEvent> page;
    for (std::size_t i = at; i < end; ++i) page.push_back({events_[i].type, events_[i].time_ms, events_[i].payload});
    head = SB_TRY(transaction.append(events_.front().stream, head, page));
  }
  return head == head_ ? Status() : fail(ErrorCode::kInternal, "the imported events have different hashes");
}

Result<std::string> Import::store_in(store::Store& store) const {
  const std::string& id = state_.summary.id;
  return store.write([&](store::Transaction& transaction) -> Result<std::string> {
    const bool is_there =
        SB_TRY(transaction.head(session_stream(id))).seq != 0 || SB_TRY(transaction.get(kSessions, id)).has_value();
    if (is_there) {
      return fail(ErrorCode::kConflict, fmt::format("session {} already exists", id),
                  "It was created in this home or imported before");
    }
    for (const std::string& blob : blobs_) SB_TRY(transaction.put_blob(blob));
    SB_TRY(append(transaction));
    SB_TRY(write_summary(transaction, state_.summary));
    SB_TRY(index_session(transaction, state_.summary));  // its events are older than what was indexed last
    for (const auto& [number, node] : state_.nodes) SB_TRY(write_node(transaction, id, node));
    for (const auto& [key, attempt] : state_.attempts) SB_TRY(write_attempt(transaction, id, attempt));
    return id;
  });
}

}  // namespace

Result<std::string> import_session(store::Store& store,
                                   const std::function<Result<std::optional<std::string>>()>& next_line) {
  Import import;
  for (int number = 1;; ++number) {
    const auto at_line = [number](Error error) {
      error.location.line = number;
      return std::unexpected(std::move(error));
    };
    auto line = next_line();
    if (!line) return at_line(std::move(line).error());
    if (!*line) break;
    if (Status added = import.add(**line); !added) return at_line(std::move(added).error());
  }
  if (import.is_empty()) return wrong("the input is empty", "Use the output of signalbox session export");
  SB_TRY(import.is_whole());
  return import.store_in(store);
}

}  // namespace sb::engine
