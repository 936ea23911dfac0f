// For tests: a worker context with its own home, sessions of workflows given as text, and calls of a client whose
// person answers as the test says.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>

#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "mcp/asking/carried_decisions.hpp"
#include "mcp/service.hpp"
#include "mcp/tools/tool_context.hpp"
#include "workflow/testing.hpp"

namespace sb::mcp {

inline std::string workflow_of(const std::string& steps) {
  return "{id: test-flow, name: Test, description: A test, version: 1.0.0, steps: " + steps + "}";
}
inline const std::string kGated =
    workflow_of("[{id: one, title: One, prompt: P, requireConfirmation: true}, {id: two, title: Two, prompt: P}]");
inline const std::string kSigned = workflow_of(
    "[{id: one, title: One, prompt: P, requireConfirmation: {kind: human_approval}}, {id: two, title: Two, prompt: "
    "P}]");
inline std::string deciding(const std::string& declaration) {
  return workflow_of("[{id: which, type: decision, title: Which, decision: " + declaration +
                     ", captureAs: way}, {id: two, title: Two, prompt: P}]");
}

class PersonFixture {
 public:
  PersonFixture() : PersonFixture("") {}
  explicit PersonFixture(const std::string& config) {
    std::string pattern = testing::TempDir() + "sb-person-XXXXXX";
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    directory = pattern;
    environment = Environment({{"SIGNALBOX_HOME", directory}});
    EXPECT_TRUE(config.empty() || files.write_atomic(directory + "/config.yaml", config));
    worker = std::make_unique<WorkerContext>(Seams{files, clock, random, process, environment, streams});
  }
  ~PersonFixture() {
    worker.reset();
    std::filesystem::remove_all(directory);
  }

  inbox::Inbox& inbox() { return (*worker->home())->home().inbox(); }
  engine::Sessions& sessions() { return (*worker->home())->sessions(); }
  inbox::DecisionState state(const std::string& id) {
    auto loaded = inbox().load(id);
    EXPECT_TRUE(loaded) << id << ": " << loaded.error().to_string();
    return loaded ? *loaded : inbox::DecisionState();
  }
  std::vector<std::string> events(const std::string& decision) {
    std::vector<std::string> types;
    (void)(*worker->home())->home().store().read([&](store::Snapshot& snapshot) -> Status {
      for (const auto& event : SB_TRY(snapshot.events("decision/" + decision, 1, 1'000))) types.push_back(event.type);
      return {};
    });
    return types;
  }

  engine::SessionResponse start(const std::string& workflow, Value context = {}) {
    engine::StartRequest starting;
    starting.bundle = workflow::compiled(workflow, around);
    starting.goal = "Make it faster";
    starting.workspace = directory;
    starting.context = std::move(context);
    auto answer = sessions().start(starting);
    EXPECT_TRUE(answer) << answer.error().error.to_string();
    return *answer;
  }
  engine::SessionResponse deliver(const engine::SessionResponse& answer,
                                  engine::Submission submission = {.notes = "Done."}) {
    auto next = sessions().continue_session({.token = token_of(answer), .submission = std::move(submission)});
    EXPECT_TRUE(next) << next.error().error.to_string();
    return *next;
  }
  // The first gate, decision or other question that a workflow reaches.
  engine::SessionResponse asked(const std::string& workflow, Value context = {}) {
    engine::SessionResponse answer = start(workflow, std::move(context));
    return answer.line.string_at("kind") == "awaiting_decision" ? answer : deliver(answer);
  }
  void answer_elsewhere(const std::string& id, std::vector<std::string> options) {
    inbox::AnswerSubmission submission;
    submission.given.options = std::move(options);
    submission.from = {inbox::Channel::kTerminal, "ann"};
    const auto done = inbox().answer(id, submission);
    EXPECT_TRUE(done) << done.error().to_string();
  }

  static std::string token_of(const engine::SessionResponse& answer) {
    return answer.line.string_at("continueToken").value_or("none");
  }
  static std::string decision_of(const engine::SessionResponse& answer) {
    return answer.line["decision"].string_at("id").value_or("none");
  }

  static Call call(Revision revision = Revision::k2025_11_25) {
    Call made;
    made.revision = revision;
    made.client.has_form_elicitation = true;
    made.client_name = "a-client";
    made.caller.is_installed_client = true;
    return made;
  }
  // The repeated call, when the client has answered.
  static Call answered(const Call& call, const InputRequired& ask, Value result) {
    Call next = call;
    next.state = ask.state;
    next.inputs[ask.requests.front().key] = {Input::Kind::kAnswered, std::move(result), {}};
    return next;
  }
  static Call without_answer(const Call& call, const InputRequired& ask, Input::Kind kind) {
    Call next = call;
    next.state = ask.state;
    next.inputs[ask.requests.front().key] = {kind, {}, {}};
    return next;
  }
  static Value accept(Value content) { return Value::object({{"action", "accept"}, {"content", std::move(content)}}); }
  static Value choose(std::string_view id) { return accept(Value::object({{"choice", id}})); }
  static Value act(std::string_view action) { return Value::object({{"action", action}}); }

  HandlerResult carry(const engine::SessionResponse& answer, Call call) {
    return ask_for_decision(*worker, answer, call);
  }
  HandlerResult resume(Call call) {
    auto outcome = resume_pending_call(*worker, call);
    EXPECT_TRUE(outcome.has_value());
    return outcome ? std::move(*outcome) : HandlerResult(Value());
  }

  static const InputRequired* ask_of(const HandlerResult& outcome) { return std::get_if<InputRequired>(&outcome); }
  // The last block of a result, which is one line of JSON.
  static Value line_of(const HandlerResult& outcome) {
    const Value* result = std::get_if<Value>(&outcome);
    if (result == nullptr || (*result)["content"].size() == 0) return {};
    const auto line = parse_json((*result)["content"].items().back().string_at("text").value_or(""));
    return line ? *line : Value();
  }
  static std::string text_of(const HandlerResult& outcome) {
    const Value* result = std::get_if<Value>(&outcome);
    if (result == nullptr || (*result)["content"].size() == 0) return {};
    return (*result)["content"].items().front().string_at("text").value_or("");
  }
  static std::string kind_of(const HandlerResult& outcome) {
    return line_of(outcome).string_at("kind").value_or("none");
  }
  static std::string step_of(const HandlerResult& outcome) {
    return line_of(outcome)["pending"].string_at("stepId").value_or("none");
  }

  std::string directory;
  SystemFiles files;
  FakeClock clock;
  FakeRandom random;
  FakeStreams streams;
  FakeProcess process{
      [](const Command&) -> Result<ProcessResult> { return fail(ErrorCode::kNotFound, "no programs here"); }};
  Environment environment;
  workflow::FakeResolver around;
  std::unique_ptr<WorkerContext> worker;
};

}  // namespace sb::mcp
