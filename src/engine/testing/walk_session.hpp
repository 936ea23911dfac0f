// Runs sessions in a store to their end the way a client does: from the line of each answer. For tests.
//
// Steps are answered as in walk_workflow.hpp, refusals by sending their example, gates and decisions through the inbox,
// children and evaluators by their own tokens.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/testing/sessions_place.hpp"
#include "engine/testing/walk_workflow.hpp"

namespace sb::engine {

class SessionWalk {
 public:
  SessionWalk(SessionTestHome& place, const Playing& playing)
      : place_(place), playing_(playing), operator_(place.inbox.enrol("ann")) {}

  // The last answer; `stuck` says why it is not that of a complete session.
  SessionResponse run(SessionResponse answer) {
    for (int turns = 0; turns < 2000 && stuck.empty(); ++turns) {
      const std::string kind = SessionTestHome::kind(answer);
      if (kind == "complete") return answer;
      if (kind == "awaiting_decision") {
        answer = settle(answer);
      } else if (kind == "blocked") {
        answer = retry(answer);
      } else if (const Value* children = answer.line.find("children"); children && children->size() > 0) {
        answer = work(answer, *children);
      } else {
        answer = deliver(answer);
      }
    }
    if (stuck.empty()) stuck = "it does not end";
    return answer;
  }

  std::string stuck;
  std::vector<std::string> steps;     // delivered, of all sessions, in order
  std::vector<std::string> refusals;  // `step: what was wrong`
  std::string last_text;              // of the last answered step
  int decisions = 0, sessions = 0;

 private:
  struct Known {
    std::shared_ptr<const Program> program;
    std::unique_ptr<Answering> answering;
    Submission last;
    bool was_refused = false;
  };

  Known& known(const std::string& session) {
    Known& known = known_[session];
    if (!known.program) {
      ++sessions;
      known.program = *place_.sessions->program(place_.sessions->summary(session)->hash);
      known.answering = std::make_unique<Answering>(*known.program, playing_);
    }
    return known;
  }

  SessionResponse deliver(const SessionResponse& answer) {
    const std::string session = SessionTestHome::session(answer);
    const std::string step = SessionTestHome::step(answer);
    Known& here = known(session);
    steps.push_back(step);
    last_text = answer.text;
    here.last =
        here.answering->deliver(*here.program->at(here.program->find(step)).step, answer.line["pending"]["requires"]);
    here.last.command.reset();  // Signalbox runs it
    here.was_refused = false;
    return place_.continue_session(answer, here.last);
  }

  SessionResponse retry(const SessionResponse& answer) {
    Known& here = known(SessionTestHome::session(answer));
    for (const Value& item : answer.line["blockers"].items()) {
      refusals.push_back(SessionTestHome::step(answer) + ": " + item.string_at("message").value_or(""));
      Blocker blocker;
      blocker.example = item["example"];
      const std::string code = item.string_at("code").value_or("");
      if (code.find("CONTEXT") != std::string::npos) blocker.code = BlockerCode::kInvalidContext;
      fix(here.last, blocker);
    }
    if (here.was_refused) stuck = refusals.back();
    here.was_refused = true;
    return place_.continue_session(answer, here.last);
  }

  SessionResponse work(const SessionResponse& answer, const Value& children) {
    for (const Value& child : children.items()) {
      const auto token = child.string_at("continueToken");
      if (token && stuck.empty()) run(SessionTestHome::expect(place_.sessions->rehydrate(*token)));
    }
    return place_.poll(answer);
  }

  SessionResponse settle(const SessionResponse& answer) {
    const Value& decision = answer.line["decision"];
    if (!decision.is_object()) return work(answer, answer.line["children"]);
    ++decisions;
    const std::string id = decision.string_at("id").value_or("");
    std::string choice = decision["options"].items().front().string_at("id").value_or("");
    for (const Value& option : decision["options"].items()) {
      if (option.string_at("id") == "approve") choice = "approve";
    }
    auto done = place_.inbox.inbox.answer(id, place_.inbox.submission({choice}));
    if (!done) done = place_.inbox.inbox.answer(id, place_.inbox.signed_submission(id, {choice}, operator_.secret));
    if (!done) stuck = SessionTestHome::step(answer) + ": " + done.error().to_string();
    return place_.poll(answer);
  }

  SessionTestHome& place_;
  const Playing& playing_;
  KeyPair operator_;
  std::map<std::string, Known> known_;
};

}  // namespace sb::engine
