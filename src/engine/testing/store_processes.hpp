// Sessions over a store file that a test opens, breaks and opens again, like successive processes.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/testing/fakes.hpp"
#include "engine/testing/sessions_place.hpp"
#include "store/sqlite/sqlite_place.hpp"

namespace sb::engine {

// One process: a store and everything that uses it.
class SessionProcess {
 public:
  static Result<std::unique_ptr<SessionProcess>> open(const std::string& path, store::SqliteOptions options,
                                                      std::uint64_t seed = 1) {
    auto store = SB_TRY(store::SqliteStore::open(path, store::Access::kReadWrite, std::move(options)));
    return std::make_unique<SessionProcess>(std::move(store), seed);
  }
  SessionProcess(std::unique_ptr<store::SqliteStore> opened, std::uint64_t seed)
      : store(std::move(opened)),
        random(seed),
        inbox(*store, clock, random, operators, policy),
        sessions(*store, inbox, clock, random, commands) {}

  SessionResult<SessionResponse> start(const std::string& workflow, std::string goal = "Make it faster") {
    StartRequest start_request;
    start_request.bundle = workflow::compiled(workflow);
    start_request.goal = std::move(goal);
    start_request.workspace = "/srv";
    return sessions.start(start_request);
  }
  SessionResult<SessionResponse> continue_session(const std::string& token, std::string notes, Value context = {}) {
    ContinueRequest continuing;
    continuing.token = token;
    continuing.submission.notes = std::move(notes);
    continuing.submission.context = std::move(context);
    return sessions.continue_session(continuing);
  }
  Result<inbox::DecisionState> decide(const std::string& decision, const std::string& option) {
    inbox::AnswerSubmission submission;
    submission.given.options = {option};
    submission.from = {inbox::Channel::kTerminal, "ann"};
    submission.raw = option;
    return inbox.answer(decision, submission);
  }

  std::unique_ptr<store::SqliteStore> store;
  FakeClock clock;
  FakeRandom random;
  inbox::Operators operators;
  inbox::Policy policy;
  inbox::Inbox inbox;
  ScriptedCommands commands;
  Sessions sessions;
};

inline std::string token_in(const SessionResponse& answer) {
  return answer.line.string_at("continueToken").value_or("");
}
inline std::string session_in(const SessionResponse& answer) {
  return answer.line.string_at("sessionId").value_or("");
}

}  // namespace sb::engine
