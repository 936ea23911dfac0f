// Sessions over their own store, for tests: a clock set by hand, an inbox that the test answers, commands that the test
// controls.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "engine/session/sessions.hpp"
#include "inbox/testing.hpp"
#include "workflow/testing.hpp"

namespace sb::engine {

class ScriptedCommands final : public CommandRunner {
 public:
  CommandRun run(const std::string& command, const std::string&, std::span<const workflow::Origin>,
                 const std::function<bool()>&) override {
    ran.push_back(command);
    CommandRun result = next;
    result.command = command;
    return result;
  }
  bool may_claim_safety(std::span<const workflow::Origin>) const override { return trusts; }
  std::optional<std::vector<std::string>> changed_files(const std::string&, const std::string&, TimestampMs) override {
    return changed;
  }
  CommandRun next;
  std::optional<std::vector<std::string>> changed;
  bool trusts = true;
  std::vector<std::string> ran;
};

class SessionTestHome {
 public:
  SessionTestHome() { next_sessions(); }

  // As another process would see the store.
  void next_sessions() {
    sessions = std::make_unique<Sessions>(*inbox.store, inbox.inbox, inbox.clock, inbox.random, commands);
  }

  SessionResponse start(const std::string& workflow, Value context = {}, bool is_autonomous = false) {
    StartRequest start_request;
    start_request.bundle = workflow::compiled(workflow, around);
    start_request.goal = "Make it faster";
    start_request.context = std::move(context);
    start_request.workspace = "/srv";
    start_request.is_autonomous = is_autonomous;
    return expect(sessions->start(start_request));
  }
  SessionResponse continue_session(const std::string& token, Submission submission = {.notes = "Done."}) {
    return expect(sessions->continue_session({.token = token, .submission = std::move(submission)}));
  }
  SessionResponse continue_session(const SessionResponse& answer, Submission submission = {.notes = "Done."}) {
    return continue_session(token_of(answer), std::move(submission));
  }
  SessionResponse poll(const SessionResponse& answer) { return continue_session(token_of(answer), {}); }
  SessionResponse rehydrate(const SessionResponse& answer) { return expect(sessions->rehydrate(token_of(answer))); }

  // Answers the decision that an answer waits for.
  void decide(const SessionResponse& answer, const std::string& option) {
    const std::string id = answer.line["decision"].string_at("id").value_or("");
    const auto done = inbox.inbox.answer(id, inbox.submission({option}));
    EXPECT_TRUE(done) << done.error().to_string();
  }

  static std::string token_of(const SessionResponse& answer) {
    return answer.line.string_at("continueToken").value_or("none");
  }
  static std::string kind(const SessionResponse& answer) { return answer.line.string_at("kind").value_or(""); }
  static std::string step(const SessionResponse& answer) {
    return answer.line["pending"].string_at("stepId").value_or("");
  }
  static std::string session(const SessionResponse& answer) { return answer.line.string_at("sessionId").value_or(""); }
  static std::vector<std::string> blockers(const SessionResponse& answer) {
    std::vector<std::string> codes;
    const Value& all = answer.line["blockers"];
    if (!all.is_array()) return codes;
    for (const Value& blocker : all.items()) codes.push_back(blocker.string_at("code").value_or(""));
    return codes;
  }
  Value context_at_tip(const SessionResponse& answer) {
    const auto summary = sessions->summary(session(answer));
    const auto node = sessions->node(session(answer), summary->tip);
    return *sessions->context(*node);
  }
  std::vector<std::string> event_types(const SessionResponse& answer) {
    std::vector<std::string> types;
    (void)inbox.store->read([&](store::Snapshot& snapshot) -> Status {
      for (const auto& event : SB_TRY(snapshot.events(session_stream(session(answer)), 1, 10'000))) {
        types.push_back(event.type);
      }
      return {};
    });
    return types;
  }

  static SessionResponse expect(SessionResult<SessionResponse> answer) {
    if (answer) return std::move(*answer);
    ADD_FAILURE() << answer.error().code << ": " << answer.error().error.to_string();
    return {};
  }

  inbox::InboxTestBed inbox;
  workflow::FakeResolver around;
  ScriptedCommands commands;
  std::unique_ptr<Sessions> sessions;
};

}  // namespace sb::engine
