// Sessions over a store of their own, for tests: a clock set by hand, an inbox a test answers itself, commands that a
// test decides on.
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
  CommandRun run(const std::string& command, const std::string&, std::span<const workflow::Origin>) override {
    ran.push_back(command);
    CommandRun result = next;
    result.command = command;
    return result;
  }
  CommandRun next;
  std::vector<std::string> ran;
};

class SessionPlace {
 public:
  SessionPlace() { next_sessions(); }

  // As another process would see the store.
  void next_sessions() {
    sessions = std::make_unique<Sessions>(*inbox.store, inbox.inbox, inbox.clock, inbox.random, commands);
  }

  Answer start(const std::string& workflow, Value context = {}, bool is_autonomous = false) {
    Starting starting;
    starting.bundle = workflow::compiled(workflow, around);
    starting.goal = "Make it faster";
    starting.context = std::move(context);
    starting.workspace = "/srv";
    starting.is_autonomous = is_autonomous;
    return expect(sessions->start(starting));
  }
  Answer go_on(const std::string& token, Submission submission = {.notes = "Done."}) {
    return expect(sessions->go_on({.token = token, .submission = std::move(submission)}));
  }
  Answer go_on(const Answer& answer, Submission submission = {.notes = "Done."}) {
    return go_on(token_of(answer), std::move(submission));
  }
  Answer poll(const Answer& answer) { return go_on(token_of(answer), {}); }
  Answer rehydrate(const Answer& answer) { return expect(sessions->rehydrate(token_of(answer))); }

  // Answers the decision an answer waits for.
  void decide(const Answer& answer, const std::string& option) {
    const std::string id = answer.line["decision"].string_at("id").value_or("");
    const auto done = inbox.inbox.answer(id, inbox.submission({option}));
    EXPECT_TRUE(done) << done.error().to_string();
  }

  static std::string token_of(const Answer& answer) { return answer.line.string_at("continueToken").value_or("none"); }
  static std::string kind(const Answer& answer) { return answer.line.string_at("kind").value_or(""); }
  static std::string step(const Answer& answer) { return answer.line["pending"].string_at("stepId").value_or(""); }
  static std::string session(const Answer& answer) { return answer.line.string_at("sessionId").value_or(""); }
  static std::vector<std::string> blockers(const Answer& answer) {
    std::vector<std::string> codes;
    const Value& all = answer.line["blockers"];
    if (!all.is_array()) return codes;
    for (const Value& blocker : all.items()) codes.push_back(blocker.string_at("code").value_or(""));
    return codes;
  }
  Value context_at_tip(const Answer& answer) {
    const auto summary = sessions->summary(session(answer));
    const auto node = sessions->node(session(answer), summary->tip);
    return *sessions->context(*node);
  }
  std::vector<std::string> event_types(const Answer& answer) {
    std::vector<std::string> types;
    (void)inbox.store->read([&](store::Snapshot& snapshot) -> Status {
      for (const auto& event : SB_TRY(snapshot.events(session_stream(session(answer)), 1, 10'000))) {
        types.push_back(event.type);
      }
      return {};
    });
    return types;
  }

  static Answer expect(Answered<Answer> answer) {
    if (answer) return std::move(*answer);
    ADD_FAILURE() << answer.error().code << ": " << answer.error().error.to_string();
    return {};
  }

  inbox::InboxPlace inbox;
  workflow::FakeSurroundings around;
  ScriptedCommands commands;
  std::unique_ptr<Sessions> sessions;
};

}  // namespace sb::engine
