// Export and import: a session is moved completely or not at all.
#include <gmock/gmock.h>

#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "engine/upkeep/testing.hpp"
#include "store/chain.hpp"

namespace sb::engine {
namespace {

using testing::HasSubstr;

class SessionImport : public testing::Test {
 protected:
  SessionImport() : from_(std::move(*here_.open())), to_(std::move(*there_.open())) {}

  // Changes one line's JSON and recomputes its hash and those of all following lines.
  static std::vector<std::string> with_changed(const std::vector<std::string>& lines, std::size_t which,
                                               const std::function<void(Value&)>& change) {
    std::vector<std::string> out;
    Digest previous{};
    const std::string id = *(*parse_json(lines[0]))["payload"].string_at("session");
    for (std::size_t i = 0; i < lines.size(); ++i) {
      Value line = *parse_json(lines[i]);
      if (i == which) change(line);
      const Digest hash =
          store::event_hash(previous, session_stream(id), line["seq"].as_integer(), *line.string_at("type"),
                            *parse_rfc3339(*line.string_at("time")), to_canonical_json(line["payload"]));
      line.set("previous", to_hex(as_bytes(previous)));
      line.set("hash", to_hex(as_bytes(hash)));
      previous = hash;
      out.push_back(to_json(line));
    }
    return out;
  }

  void expect_refused(const std::vector<std::string>& lines, int line, const std::string& message) {
    const auto result = import_lines(*to_, lines);
    ASSERT_FALSE(result) << message;
    EXPECT_EQ(result.error().location.line, line) << result.error().to_string();
    EXPECT_THAT(result.error().message, HasSubstr(message));
    const Status untouched = to_->read([](store::Snapshot& snapshot) -> Status {
      EXPECT_EQ(SB_TRY(snapshot.last_position()), 0);
      EXPECT_TRUE(SB_TRY(snapshot.blobs({}, 10)).empty());
      EXPECT_TRUE(SB_TRY(snapshot.list(kSessions, {})).empty());
      EXPECT_TRUE(SB_TRY(snapshot.list(kNodes, {})).empty());
      return {};
    });
    EXPECT_TRUE(untouched);
  }

  store::TempSqliteStore here_, there_;
  std::unique_ptr<store::Store> from_, to_;
};

TEST_F(SessionImport, MovesACompleteSessionToAnotherHome) {
  const std::string id = make_session(*from_);
  const auto lines = exported(*from_, id);
  const auto imported = import_lines(*to_, lines);
  ASSERT_TRUE(imported) << imported.error().to_string();
  EXPECT_EQ(*imported, id);
  EXPECT_EQ(verdict(*to_, id), "");
  EXPECT_EQ(exported(*to_, id), lines);
}

TEST_F(SessionImport, MovesAnOpenSession) {
  const std::string id = make_session(*from_, {.delivered = 1, .parent = ""});
  ASSERT_TRUE(import_lines(*to_, exported(*from_, id)));
  EXPECT_EQ(verdict(*to_, id), "");
}

TEST_F(SessionImport, PrintsOneEventPerLineThatOtherProgramsCanRead) {
  const std::string id = make_session(*from_, {.delivered = 1, .parent = ""});
  const auto lines = exported(*from_, id);
  ASSERT_EQ(lines.size(), 5u);
  const Value first = *parse_json(lines[0]);
  EXPECT_EQ(first["seq"], Value(1));
  EXPECT_EQ(first["type"], Value("session_started"));
  EXPECT_EQ(first["time"], Value("2023-11-14T22:13:20.000Z"));
  EXPECT_EQ(first["payload"]["session"], Value(id));
  EXPECT_EQ(first["previous"], Value(std::string(64, '0')));
  EXPECT_EQ(first["blobs"].size(), 2u);
  for (const std::string& line : lines) EXPECT_EQ(line.find('\n'), std::string::npos);
}

TEST_F(SessionImport, AnUnknownSessionCannotBeExported) {
  const Status status = export_session(*from_, "s-none", [](std::string_view) -> Status { return {}; });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
}

TEST_F(SessionImport, AnExistingSessionIsAConflictAndStaysUnchanged) {
  const std::string id = make_session(*from_);
  const auto lines = exported(*from_, id);
  const auto again = import_lines(*from_, lines);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kConflict);
  EXPECT_EQ(verdict(*from_, id), "");
}

TEST_F(SessionImport, RefusesWhatIsNotAnExport) {
  expect_refused({}, 0, "the input is empty");
  expect_refused({"hello"}, 1, "not JSON");
  expect_refused({"[]"}, 1, "not an exported event");
  expect_refused({"{}"}, 1, "expected event 1 here");
  expect_refused({"\xff\xfe"}, 1, "not JSON");
  expect_refused({std::string("{\"seq\":1\0}", 10)}, 1, "not JSON");
  expect_refused({std::string(1'000, '[')}, 1, "nested deeper");
  expect_refused({R"({"seq":1,"seq":1})"}, 1, "duplicate key");
  expect_refused({""}, 1, "not JSON");
}

TEST_F(SessionImport, RefusesAnEventThatWasTamperedWith) {
  const auto lines = exported(*from_, make_session(*from_));
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto changed = lines;
    Value line = *parse_json(lines[i]);
    line.find("payload")->set("extra", 1);
    changed[i] = to_json(line);
    expect_refused(changed, static_cast<int>(i + 1), "its hash does not match");
  }
  auto later = lines;
  Value line = *parse_json(lines[2]);
  line.set("time", "2023-11-14T22:13:21.000Z");
  later[2] = to_json(line);
  expect_refused(later, 3, "its hash does not match");
}

TEST_F(SessionImport, RefusesMissingSwappedAndRepeatedLines) {
  const auto lines = exported(*from_, make_session(*from_));
  auto missing = lines;
  missing.erase(missing.begin() + 3);
  expect_refused(missing, 4, "expected event 4 here");
  auto swapped = lines;
  std::swap(swapped[1], swapped[2]);
  expect_refused(swapped, 2, "expected event 2 here");
  auto repeated = lines;
  repeated.insert(repeated.begin() + 1, lines[0]);
  expect_refused(repeated, 2, "expected event 2 here");
}

TEST_F(SessionImport, RefusesImpossibleEventsWithCorrectHashes) {
  const auto lines = exported(*from_, make_session(*from_));
  const auto in_payload = [](const char* name, Value value) {
    return [name, value](Value& line) { line.find("payload")->set(name, value); };
  };
  // Line 3 delivers node 1, line 4 opens node 2, line 5 ends the attempt.
  expect_refused(with_changed(lines, 2, in_payload("node", 7)), 3, "names a node that does not exist");
  expect_refused(with_changed(lines, 2, in_payload("attempt", 2)), 3, "names an attempt that is not open");
  expect_refused(with_changed(lines, 3, in_payload("step", "elsewhere")), 4, "has no step \"elsewhere\"");
  expect_refused(with_changed(lines, 3, in_payload("node", 3)), 4, "opens a node out of order");
  expect_refused(with_changed(lines, 4, in_payload("successor", 1)), 5, "names a successor that was not opened");
  expect_refused(with_changed(lines, 4, [](Value& line) { line.set("type", "invented"); }), 5, "unknown type");
}

TEST_F(SessionImport, RefusesASessionWithAnIdOfAnotherFormat) {
  const auto lines = exported(*from_, make_session(*from_));
  for (const char* id : {"", "s-../../etc", "x", "S-0"}) {
    Value line = *parse_json(lines[0]);
    line.find("payload")->set("session", id);
    expect_refused({to_json(line)}, 1, "not the first event of a session");
  }
}

TEST_F(SessionImport, RefusesContentThatIsMissingChangedOrExtra) {
  const auto lines = exported(*from_, make_session(*from_));
  const auto with = [&](std::size_t which, const std::function<void(Value&)>& change) {
    auto changed = lines;
    Value line = *parse_json(lines[which]);
    change(line);
    changed[which] = to_json(line);
    return changed;
  };
  expect_refused(with(1, [](Value& line) { line.erase("blobs"); }), 2, "is missing");
  expect_refused(with(1, [](Value& line) { line.find("blobs")->members()[0].value = Value("{}"); }), 2, "was changed");
  expect_refused(with(1, [](Value& line) { line.find("blobs")->members()[0].value = Value(7); }), 2, "is missing");
  expect_refused(with(1, [](Value& line) { line.set("blobs", 7); }), 2, "not an object");
  expect_refused(with(1, [](Value& line) { line.find("blobs")->set(std::string(64, 'a'), "{}"); }), 2,
                 "the event does not name");
  expect_refused(with(1, [](Value& line) { line.set("more", 1); }), 2, "no member \"more\"");
}

TEST_F(SessionImport, RefusesAPinnedWorkflowThatDoesNotLoad) {
  const auto lines = exported(*from_, make_session(*from_));
  const std::string text = R"({"v":1})";
  const auto changed = with_changed(lines, 0, [&](Value& line) {
    line.find("payload")->set("hash", "sha256:" + sha256_hex(text));
    line.set("blobs", Value::object({{sha256_hex(text), text}}));
  });
  expect_refused(changed, 1, "does not load");
}

TEST_F(SessionImport, ReportsALineThatIsTooLong) {
  int calls = 0;
  const auto result = import_session(*to_, [&]() -> Result<std::optional<std::string>> {
    ++calls;
    return fail(ErrorCode::kLimit, "the line is too long");
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kLimit);
  EXPECT_EQ(result.error().location.line, 1);
  EXPECT_EQ(calls, 1);
}

TEST_F(SessionImport, IncludesTheWorkflowsThatAWorkflowCalls) {
  workflow::FakeResolver around;
  around.add_workflow("{id: callee, name: C, description: D, version: 1.0.0, steps: [{id: sub, title: S, prompt: P}]}");
  const workflow::Bundle bundle = workflow::compiled(
      "{id: caller, name: C, description: D, version: 1.0.0, steps: [{id: one, title: T, prompt: P},"
      "{id: call, type: workflow, title: T, workflowId: callee}]}",
      around);
  ASSERT_EQ(bundle.size(), 2u);
  SessionMaker maker(*from_, {});
  maker.start();
  for (const auto& compiled : bundle) maker.blob(compiled->pinned);
  maker.events[0].payload.set("hash", bundle.back()->hash);
  const std::string id = maker.finish();
  const auto lines = exported(*from_, id);
  EXPECT_EQ((*parse_json(lines[0]))["blobs"].size(), 3u);
  ASSERT_TRUE(import_lines(*to_, lines));
  EXPECT_EQ(verdict(*to_, id), "");
}

}  // namespace
}  // namespace sb::engine
