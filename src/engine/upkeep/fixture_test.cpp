// Sessions written by an older version: they open undamaged and continue.
//
// A fixture is a store as printed by sqlite3's .dump, and next to it what its callers held: tokens, and the answers
// they had received. It is never changed; a version with another storage format adds its own:
//
//   SB_FIXTURE=/tmp/f test_engine --gtest_also_run_disabled_tests --gtest_filter='*WriteFixture'
//   (sed -n 1,3p src/engine/fixtures/sessions_1.sql; sqlite3 /tmp/f/signalbox.db .dump) > sessions_N.sql
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <cstdlib>
#include <fstream>

#include "base/document/document.hpp"
#include "engine/testing/store_processes.hpp"
#include "engine/upkeep/upkeep.hpp"

namespace sb::engine {
namespace {

constexpr const char* kWorkflow = R"(
id: fixture-flow
name: Fixture
description: A loop, a condition, a gate and an end.
version: 1.0.0
metaGuidance: [Keep it short.]
steps:
  - {id: look, title: Look, prompt: Look at it.}
  - {id: rarely, title: Rarely, prompt: Not now., runCondition: {var: colour, equals: blue}}
  - id: each
    type: loop
    title: Each
    loop: {type: forEach, items: parts, maxIterations: 5}
    body:
      - {id: mend, title: Mend, prompt: "Mend {{currentItem}} in {{colour}}."}
  - {id: plan, title: Plan, prompt: Plan it., requireConfirmation: true}
  - {id: build, title: Build, prompt: Build it.}
)";

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void run_sql(const std::string& path, const std::string& sql) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  char* message = nullptr;
  EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  sqlite3_free(message);
  sqlite3_close(handle);
}

TEST(SessionFixture, DISABLED_WriteFixture) {
  const std::string directory = std::getenv("SB_FIXTURE");
  auto process = SessionProcess::open(directory + "/signalbox.db", {});
  ASSERT_TRUE(process) << process.error().to_string();
  Value answers = Value::object();
  const auto deliver = [&](const std::string& token, const std::string& notes, Value context = {}) {
    (*process)->clock.sleep_ms(1'000);
    auto answer = (*process)->continue_session(token, notes, std::move(context));
    EXPECT_TRUE(answer) << answer.error().error.to_string();
    if (answer->line["kind"] != Value("awaiting_decision")) answers.set(token, answer->to_value());
    return *answer;
  };
  const SessionResponse first = *(*process)->start(kWorkflow);
  const SessionResponse second = deliver(token_in(first), "Looked.",
                                         Value::object({{"colour", "red"}, {"parts", Value::array({"roof", "door"})}}));
  const SessionResponse third = deliver(token_in(second), "Roof mended.");
  const SessionResponse fourth = deliver(token_in(third), "Door mended.");
  const SessionResponse waiting = deliver(token_in(fourth), "Planned.");
  const auto back = (*process)->sessions.rewind(session_in(first), 2, "another way");
  ASSERT_TRUE(back);
  const SessionResponse fork = deliver(token_in(*back), "Roof replaced.");
  std::ofstream(directory + "/sessions.json")
      << to_pretty_json(Value::object({{"session", session_in(first)},
                                       {"answers", answers},
                                       {"gate", token_in(fourth)},
                                       {"decision", waiting.line["decision"].string_at("id").value_or("")},
                                       {"fork", token_in(fork)}}))
      << "\n";
}

class SessionFixture : public testing::TestWithParam<const char*> {};

TEST_P(SessionFixture, OpensUndamagedAndContinues) {
  const std::string base = std::string(SB_SOURCE_DIR "/src/engine/fixtures/") + GetParam();
  const auto held = parse_json(read_all(base + ".json"));
  ASSERT_TRUE(held) << held.error().to_string();
  store::TempSqliteStore place;
  run_sql(place.path(), read_all(base + ".sql"));
  auto process = SessionProcess::open(place.path(), {}, 99);
  ASSERT_TRUE(process) << process.error().to_string();
  const std::string session = held->string_at("session").value_or("");
  const auto damages = verify_session(*(*process)->store, session);
  ASSERT_TRUE(damages) << damages.error().to_string();
  for (const Damage& damage : *damages) ADD_FAILURE() << damage.where << ": " << damage.message;

  for (const auto& [token, answer] : (*held)["answers"].members()) {
    const auto again = (*process)->continue_session(token, "Something else.");
    ASSERT_TRUE(again) << again.error().error.to_string();
    EXPECT_EQ(to_json(again->to_value()), to_json(answer));
  }
  const auto continued = (*process)->continue_session(held->string_at("fork").value_or(""), "Door replaced.");
  ASSERT_TRUE(continued) << continued.error().error.to_string();
  EXPECT_EQ(continued->line["pending"]["stepId"], Value("plan"));
  const auto decided = (*process)->decide(held->string_at("decision").value_or(""), "approve");
  ASSERT_TRUE(decided) << decided.error().to_string();
  const auto built = (*process)->continue_session(held->string_at("gate").value_or(""), "");
  ASSERT_TRUE(built) << built.error().error.to_string();
  EXPECT_EQ(built->line["pending"]["stepId"], Value("build"));
  const auto after = verify_session(*(*process)->store, session);
  ASSERT_TRUE(after);
  EXPECT_TRUE(after->empty());
}

INSTANTIATE_TEST_SUITE_P(Versions, SessionFixture, testing::Values("sessions_1"));

}  // namespace
}  // namespace sb::engine
