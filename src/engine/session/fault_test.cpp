// A disk that fills up, fails, tears a write or changes a byte, at every write in the life of a session.
#include <gmock/gmock.h>

#include "engine/testing/store_processes.hpp"
#include "engine/upkeep/upkeep.hpp"
#include "store/sqlite/testing/fault_vfs.hpp"

namespace sb::engine {
namespace {

using store::TempSqliteStore;
using store::sqlite::Fault;
using store::sqlite::FaultVfs;

constexpr const char* kWorkflow = R"(
id: gated-flow
name: Gated
description: A step, a gate and a step.
version: 1.0.0
steps:
  - {id: look, title: Look, prompt: Look at it.}
  - {id: plan, title: Plan, prompt: "Plan it in {{colour}}.", requireConfirmation: true}
  - {id: build, title: Build, prompt: Build it.}
)";

// What the caller of one life received: tokens, and the answers they must return from then on.
struct Acknowledged {
  std::string session;
  std::vector<std::pair<std::string, std::string>> answers;  // token, answer as JSON
  std::string gate_token, decision;                          // once the gate is open
  bool is_decided = false;
  std::optional<Error> error;
};

std::string as_json(const SessionResponse& answer) {
  return to_json(answer.to_value());
}

// Starts, delivers, forks, reaches the gate, has it approved and continues; ends at the first error.
class Life {
 public:
  explicit Life(SessionProcess& process, Acknowledged& acknowledged) : process_(process), acknowledged_(acknowledged) {}

  void live() {
    const auto first = kept(process_.start(kWorkflow));
    if (!first) return;
    acknowledged_.session = session_in(*first);
    // Long notes, so that pages are full of relevant data.
    const auto second = deliver(token_in(*first), std::string(9'000, 'n'), Value::object({{"colour", "red"}}));
    if (!second) return;
    const auto back = kept(process_.sessions.rewind(acknowledged_.session, 1, "another way"));
    if (!back || !deliver(token_in(*back), std::string(7'000, 'o'), {})) return;
    const auto waiting = kept(process_.continue_session(token_in(*second), "Planned."));
    if (!waiting) return;
    EXPECT_EQ(waiting->line["kind"], Value("awaiting_decision")) << as_json(*waiting);
    acknowledged_.gate_token = token_in(*second);
    acknowledged_.decision = waiting->line["decision"].string_at("id").value_or("");
    if (!kept(process_.decide(acknowledged_.decision, "approve"))) return;
    acknowledged_.is_decided = true;
    deliver(acknowledged_.gate_token, "", {});
  }

 private:
  std::optional<SessionResponse> kept(SessionResult<SessionResponse> answer) {
    if (answer) return std::move(*answer);
    acknowledged_.error = answer.error().error;
    return std::nullopt;
  }
  bool kept(const Result<inbox::DecisionState>& state) {
    if (!state) acknowledged_.error = state.error();
    return state.has_value();
  }
  std::optional<SessionResponse> deliver(const std::string& token, const std::string& notes, Value context) {
    auto answer = kept(process_.continue_session(token, notes, std::move(context)));
    if (answer) acknowledged_.answers.emplace_back(token, as_json(*answer));
    return answer;
  }

  SessionProcess& process_;
  Acknowledged& acknowledged_;
};

store::SqliteOptions options_with(const FaultVfs& vfs) {
  store::SqliteOptions options;
  options.vfs = vfs.name();
  options.checkpoint_bytes = 120'000;  // so that a checkpoint is among the changes
  options.close_checkpoint_bytes = 1;
  return options;
}

Acknowledged live(const std::string& path, const store::SqliteOptions& options) {
  Acknowledged acknowledged;
  const auto process = SessionProcess::open(path, options);
  if (!process) {
    acknowledged.error = process.error();
    return acknowledged;
  }
  Life(**process, acknowledged).live();
  return acknowledged;
}

std::string damages_of(SessionProcess& process, const std::string& session) {
  const auto damages = verify_session(*process.store, session);
  if (!damages) return damages.error().to_string();
  std::string all;
  for (const Damage& damage : *damages) all += damage.where + ": " + damage.message + "\n";
  return all;
}

// Everything acknowledged exists and answers as before; everything else exists completely or not at all.
void expect_whole(SessionProcess& process, const Acknowledged& acknowledged) {
  const auto sessions = process.sessions.list(10);
  ASSERT_TRUE(sessions) << sessions.error().to_string();
  EXPECT_LE(sessions->size(), 1u);
  EXPECT_TRUE(acknowledged.session.empty() || sessions->size() == 1u) << "an acknowledged session is missing";
  for (const Summary& summary : *sessions) EXPECT_EQ(damages_of(process, summary.id), "");
  for (const auto& [token, answer] : acknowledged.answers) {
    const auto again = process.continue_session(token, "Something else.");
    ASSERT_TRUE(again) << again.error().error.to_string();
    EXPECT_EQ(as_json(*again), answer);
  }
  if (acknowledged.gate_token.empty() || acknowledged.answers.back().first == acknowledged.gate_token) return;
  const auto gate = process.continue_session(acknowledged.gate_token, "");
  ASSERT_TRUE(gate) << gate.error().error.to_string();
  const bool may_have_passed = acknowledged.is_decided || acknowledged.error;
  EXPECT_TRUE(gate->line["kind"] == Value("awaiting_decision") || may_have_passed) << as_json(*gate);
  EXPECT_TRUE(!acknowledged.is_decided || gate->line["kind"] == Value("ok")) << as_json(*gate);
}

// The life starts again in what the fault left behind, and reaches its end.
void expect_session_continues(SessionProcess& process) {
  Acknowledged again;
  Life(process, again).live();
  EXPECT_FALSE(again.error) << again.error->to_string();
  EXPECT_EQ(again.answers.size(), 3u);
  EXPECT_EQ(damages_of(process, again.session), "");
}

std::int64_t changes_of_a_whole_life() {
  FaultVfs vfs;
  TempSqliteStore place;
  std::filesystem::create_directory(place.directory() + "/home");
  const Acknowledged acknowledged = live(place.path(), options_with(vfs));
  EXPECT_FALSE(acknowledged.error) << acknowledged.error->to_string();
  EXPECT_EQ(acknowledged.answers.size(), 3u);
  return vfs.changes();
}

class SessionFaults : public testing::TestWithParam<Fault> {};

TEST_P(SessionFaults, NothingAcknowledgedIsLostAndNothingIsPartlyWritten) {
  const std::int64_t changes = changes_of_a_whole_life();
  ASSERT_GT(changes, 50);
  RecordProperty("changes", static_cast<int>(changes));
  for (std::int64_t n = 1; n <= changes; ++n) {
    SCOPED_TRACE(testing::Message() << "change " << n << " of " << changes);
    FaultVfs vfs;
    TempSqliteStore place;
    std::filesystem::create_directory(place.directory() + "/home");
    vfs.fail_at(n, GetParam());
    const Acknowledged acknowledged = live(place.path(), options_with(vfs));
    if (acknowledged.error) {
      EXPECT_EQ(acknowledged.error->code, ErrorCode::kIo) << acknowledged.error->to_string();
    }
    vfs.clear_fault();
    const auto process = SessionProcess::open(place.path(), options_with(vfs), 2);
    ASSERT_TRUE(process) << process.error().to_string();
    expect_whole(**process, acknowledged);
    expect_session_continues(**process);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Disks, SessionFaults, testing::Values(Fault::kFull, Fault::kIo, Fault::kTorn));

// The effect of a byte changed on its way to the disk.
struct Flips {
  int unharmed = 0, refused = 0, acknowledged_when_read = 0;
};

// Every answer is the original one, or damage is reported; never a different answer.
void expect_honest(SessionProcess& process, const Acknowledged& acknowledged, Flips& flips) {
  bool is_harmed = false;
  for (const auto& [token, answer] : acknowledged.answers) {
    const auto again = process.continue_session(token, "Something else.");
    if (again) {
      EXPECT_EQ(as_json(*again), answer) << "an answer was invented";
    } else {
      is_harmed = true;
      const Error& error = again.error().error;
      const bool is_said = error.code == ErrorCode::kCorrupt || damages_of(process, acknowledged.session) != "";
      EXPECT_TRUE(is_said) << error.to_string();
    }
  }
  if (!is_harmed && damages_of(process, acknowledged.session) != "") is_harmed = true;
  ++(is_harmed ? flips.acknowledged_when_read : flips.unharmed);
}

// `checkpoints`: the damage moves into the file; otherwise it stays in the log, which is read again.
void flip_everywhere(bool checkpoints, Flips& flips) {
  const auto options = [&](const FaultVfs& vfs) {
    store::SqliteOptions result = options_with(vfs);
    if (!checkpoints) result.checkpoint_bytes = result.close_checkpoint_bytes = 1 << 30;
    return result;
  };
  for (std::int64_t n = 1;; ++n) {
    SCOPED_TRACE(testing::Message() << "change " << n << (checkpoints ? ", checkpointed" : ""));
    FaultVfs vfs;
    TempSqliteStore place;
    std::filesystem::create_directory(place.directory() + "/home");
    Acknowledged acknowledged;
    bool has_flipped = false;
    {
      auto process = SessionProcess::open(place.path(), options(vfs));
      ASSERT_TRUE(process);
      vfs.fail_at(n, Fault::kFlip);
      Life(**process, acknowledged).live();
      has_flipped = vfs.has_failed();
      // For the very last commit it is impossible to say whether it was damaged or never finished.
      (void)(*process)->start(kWorkflow, "another");
      (void)(*process)->start(kWorkflow, "and another");
    }
    if (!has_flipped) return;
    EXPECT_TRUE(!acknowledged.error || acknowledged.error->code == ErrorCode::kCorrupt)
        << acknowledged.error->to_string();
    const auto process = SessionProcess::open(place.path(), options(vfs), 2);
    if (!process) {
      ++flips.refused;
      EXPECT_EQ(process.error().code, ErrorCode::kCorrupt) << process.error().to_string();
      EXPECT_FALSE(process.error().location.file.empty());
    } else {
      expect_honest(**process, acknowledged, flips);
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(SessionFlips, AByteChangedInAnyWriteInventsNothing) {
  for (const bool checkpoints : {false, true}) {
    Flips flips;
    flip_everywhere(checkpoints, flips);
    std::printf("%s: %d unharmed, %d refused at opening, %d reported when read\n", checkpoints ? "file" : "log",
                flips.unharmed, flips.refused, flips.acknowledged_when_read);
    EXPECT_GT(flips.refused + flips.acknowledged_when_read, 5);
  }
}

}  // namespace
}  // namespace sb::engine
