// Writes sessions directly into a store, for the tests of upkeep: events and rows as an advance leaves them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/crypto.hpp"
#include "engine/state/events.hpp"
#include "engine/state/rows.hpp"
#include "engine/state/token.hpp"
#include "engine/upkeep/upkeep.hpp"
#include "store/sqlite/sqlite_place.hpp"
#include "workflow/testing.hpp"

namespace sb::engine {

inline constexpr const char* kUpkeepWorkflow = R"(
id: upkeep-test
name: Upkeep
description: Steps to keep.
version: 1.0.0
steps:
  - {id: one, title: First, prompt: Do it.}
  - {id: two, title: Second, prompt: Do more.}
  - {id: three, title: Third, prompt: Finish.}
)";

struct SessionPlan {
  unsigned seed = 1;  // of the id
  int delivered = 3;  // steps, of three
  TimestampMs at = 1'700'000'000'000;
  std::string parent = {};
  std::string note = "noted";
};

// Builds the events of a session; `finish` writes them and their rows.
class SessionMaker {
 public:
  SessionMaker(store::Store& store, const SessionPlan& plan) : store_(store), plan_(plan) {
    std::string bytes(16, '\0');
    for (int i = 0; i < 4; ++i) bytes[static_cast<std::size_t>(i)] = static_cast<char>(plan.seed >> (8 * i));
    id_ = session_id_from_bytes(bytes);
  }

  const std::string& id() const { return id_; }
  std::vector<Event> events;

  std::string blob(const Value& value) {
    const auto hex = store_.write([&](store::Transaction& transaction) { return put_json_blob(transaction, value); });
    EXPECT_TRUE(hex);
    return hex.value_or("");
  }

  void start() {
    const workflow::Bundle bundle = workflow::compiled(kUpkeepWorkflow);
    blob(bundle.back()->pinned);
    Value payload = Value::object({{"v", 1},
                                   {"session", id_},
                                   {"workflow", "upkeep-test"},
                                   {"name", "Upkeep"},
                                   {"hash", bundle.back()->hash},
                                   {"origins", Value::array()},
                                   {"goal", fmt::format("Keep {}", plan_.seed)},
                                   {"context", blob(Value::object({{"of", id_}}))},
                                   {"autonomous", false},
                                   {"workspace", "/srv/shop"},
                                   {"depth", 0}});
    if (!plan_.parent.empty()) {
      payload.set("parent", Value::object({{"session", plan_.parent}, {"node", 1}, {"child", "c"}}));
    }
    events.push_back({"session_started", payload});
    open(1);
  }

  void open(NodeNo number) {
    static const std::vector<std::string> kSteps = {"one", "two", "three"};
    Node node;
    node.number = number;
    node.parent = number - 1;
    node.parent_attempt = number == 1 ? 0 : 1;
    const bool is_end = number > 3;
    node.kind = is_end ? NodeKind::kEnd : NodeKind::kStep;
    node.position.step = is_end ? "" : kSteps[static_cast<std::size_t>(number - 1)];
    node.title = node.position.step;
    node.depth = number - 1;
    node.context = blob(Value::object({{"session", id_}, {"node", number}}));
    events.push_back(node_opened(node));
  }

  void deliver(NodeNo number) {
    const std::string artifact = blob(Value::object({{"kind", "test"}, {"of", id_}, {"node", number}}));
    events.push_back({"output_recorded", Value::object({{"node", number},
                                                        {"attempt", 1},
                                                        {"notes", fmt::format("{} {}", plan_.note, number)},
                                                        {"artifacts", Value::array({artifact})},
                                                        {"context_set", Value::object()}})});
    open(number + 1);
    const Value answer = Value::object({{"text", "Next."}, {"line", Value::object({{"kind", "ok"}})}});
    events.push_back({"attempt_ended", Value::object({{"node", number},
                                                      {"attempt", 1},
                                                      {"ended", "advanced"},
                                                      {"successor", number + 1},
                                                      {"answer", answer}})});
    if (number == 3) events.push_back({"session_completed", Value::object({{"node", 4}})});
  }

  std::string finish() {
    std::vector<store::NewEvent> stored;
    for (const Event& event : events) stored.push_back({event.type, plan_.at, to_canonical_json(event.payload)});
    const Status written = store_.write([&](store::Transaction& transaction) -> Status {
      SB_TRY(transaction.append(session_stream(id_), {}, stored));
      SessionState state;
      std::int64_t seq = 0;
      for (const Event& event : events) SB_TRY(apply(state, event, ++seq, plan_.at));
      SB_TRY(write_summary(transaction, state.summary));
      for (const auto& [number, node] : state.nodes) SB_TRY(write_node(transaction, id_, node));
      for (const auto& [key, attempt] : state.attempts) SB_TRY(write_attempt(transaction, id_, attempt));
      return {};
    });
    EXPECT_TRUE(written) << written.error().to_string();
    return id_;
  }

 private:
  store::Store& store_;
  SessionPlan plan_;
  std::string id_;
};

inline std::string make_session(store::Store& store, const SessionPlan& plan = {}) {
  SessionMaker maker(store, plan);
  maker.start();
  for (NodeNo number = 1; number <= plan.delivered; ++number) maker.deliver(number);
  return maker.finish();
}

inline std::vector<std::string> exported(store::Store& store, const std::string& session) {
  std::vector<std::string> lines;
  const Status status = export_session(store, session, [&](std::string_view line) -> Status {
    lines.emplace_back(line);
    return {};
  });
  EXPECT_TRUE(status) << status.error().to_string();
  return lines;
}

inline Result<std::string> import_lines(store::Store& store, const std::vector<std::string>& lines) {
  std::size_t next = 0;
  return import_session(store, [&]() -> Result<std::optional<std::string>> {
    if (next == lines.size()) return std::nullopt;
    return lines[next++];
  });
}

inline std::string verdict(store::Store& store, const std::string& session) {
  const auto damages = verify_session(store, session);
  if (!damages) return damages.error().to_string();
  std::string text;
  for (const Damage& damage : *damages) text += fmt::format("{}: {}\n", damage.where, damage.message);
  return text;
}

inline std::size_t count_blobs(store::Store& store) {
  return store.read([](store::Snapshot& snapshot) { return snapshot.blobs({}, 10'000); })->size();
}

}  // namespace sb::engine
