// Shared by the tests of this folder: a temporary home with a real store, a host that fires events there, and questions
// planned as `signalbox render` plans them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "decision/render/render.hpp"
#include "decision/testing.hpp"
#include "guard/open_step.hpp"
#include "hook/hook_program.hpp"
#include "inbox/home.hpp"

namespace sb::hook {

struct RunResult {
  int code = 0;
  std::string output;
  std::string errors;
};

class HookFixture : public testing::Test {
 protected:
  HookFixture() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sb-hook-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw std::runtime_error("no temporary directory");
    root_ = std::filesystem::canonical(pattern).string();
    (void)files_.make_directories(project());
    (void)files_.make_directories(root_ + "/user");
    environment_ = Environment({{"SIGNALBOX_HOME", home()},
                                {"HOME", root_ + "/user"},
                                {"GSTACK_HOME", root_ + "/gs"},
                                {"GSTACK_PROJECT_SLUG", "app"}});
  }
  ~HookFixture() override {
    std::error_code ignored;
    std::filesystem::permissions(root_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(root_, ignored);
  }

  std::string project() const { return root_ + "/app"; }
  std::string home() const { return root_ + "/home"; }
  std::string read(const std::string& path) const { return files_.read(path, 1 << 24).value_or(""); }
  std::string log() const { return read(root_ + "/gs/projects/app/question-log.jsonl"); }
  std::string errors() const { return read(home() + "/hook-errors.log"); }
  std::vector<Value> records() const {
    std::vector<Value> records;
    std::string_view rest;
    const std::string text = log();
    for (rest = text; !rest.empty();) {
      const std::size_t end = rest.find('\n');
      records.push_back(parse_json(rest.substr(0, end)).value());
      rest.remove_prefix(end + 1);
    }
    return records;
  }

  Seams seams(Streams& streams) { return {files_, clock_, random_, process_, environment_, streams}; }

  RunResult fire(const std::string& input) {
    FakeStreams streams(input);
    const int code = run_program("signalbox-hook", {}, seams(streams));
    return {code, streams.output, streams.errors};
  }
  RunResult fire(const Value& event) { return fire(to_json(event)); }

  // The hook's output as JSON; null when there was none. Nothing else may be printed.
  Value output_of(const Value& event) {
    const RunResult ran = fire(event);
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.errors, "");
    return ran.output.empty() ? Value() : parse_json(ran.output).value();
  }
  std::string denied(const Value& event) {
    const Value answer = output_of(event)["hookSpecificOutput"];
    if (answer.string_at("permissionDecision") != "deny") return "";
    return answer.string_at("permissionDecisionReason").value_or("");
  }
  std::string noted(const Value& event) {
    const Value answer = output_of(event)["hookSpecificOutput"];
    EXPECT_EQ(answer.find("permissionDecision"), nullptr);
    return answer.string_at("additionalContext").value_or("");
  }

  Value event(std::string_view name) const {
    return Value::object({{"session_id", "5b1c"},
                          {"transcript_path", "/t.jsonl"},
                          {"cwd", project()},
                          {"prompt_id", "p1"},
                          {"permission_mode", "default"},
                          {"hook_event_name", name}});
  }
  Value before(const Value& input, std::string_view tool = "AskUserQuestion") const {
    Value value = event("PreToolUse");
    value.set("tool_name", tool);
    value.set("tool_input", input);
    value.set("tool_use_id", "toolu_1");
    return value;
  }
  Value after(const Value& input, const Value& response, std::string_view call = "toolu_1") const {
    Value value = event("PostToolUse");
    value.set("tool_name", "AskUserQuestion");
    value.set("tool_input", input);
    value.set("tool_response", response);
    value.set("tool_use_id", call);
    return value;
  }
  Value stop(std::string_view message, std::string_view prompt = "p1") const {
    Value value = event("Stop");
    value.set("prompt_id", prompt);
    value.set("stop_hook_active", false);
    value.set("last_assistant_message", message);
    return value;
  }

  static Value question(std::string_view text, const std::vector<std::string>& labels, bool is_many = false) {
    Value options = Value::array();
    for (const std::string& label : labels) {
      options.push_back(Value::object({{"label", label}, {"description", ""}}));
    }
    return Value::object({{"question", text}, {"header", "Q"}, {"options", options}, {"multiSelect", is_many}});
  }
  static Value call(std::vector<Value> questions) {
    return Value::object({{"questions", Value(std::move(questions))}});
  }
  // The host's result when the person answered the only question with this text.
  static Value answered(const Value& input, const Value& answer) {
    Value answers = Value::object();
    answers.set(input["questions"].items().front()["question"].as_string(), answer);
    return Value::object({{"questions", input["questions"]}, {"answers", answers}});
  }
  static Value& first(Value& input) { return input.find("questions")->items().front(); }

  std::unique_ptr<inbox::Home> open_home() {
    static FakeStreams unused;
    auto opened = inbox::Home::open(seams(unused), store::Access::kReadWrite);
    if (!opened) throw std::runtime_error(opened.error().to_string());
    return std::move(*opened);
  }

  struct Plan {
    Value input;  // the input for the host's tool call
    std::string nonce;
    std::string decision;
  };
  Plan plan(const std::string& yaml, int page = 1) {
    const decision::Declaration declaration = decision::declared(yaml);
    const auto pages = decision::prompts_of(*declaration.decision(), declaration.profile, declaration.hash,
                                            decision::cap_of(decision::hosts::kAskUserQuestion, declaration.profile));
    const decision::Prompt& prompt = pages.at(static_cast<std::size_t>(page) - 1);
    const auto render = [&](std::string_view nonce) {
      return decision::render(prompt, declaration.profile, decision::hosts::kAskUserQuestion,
                              {.nonce = std::string(nonce)})
          .value();
    };
    const decision::Rendered draft = render(inbox::kNoncePlaceholder);
    const auto opened_home = open_home();
    inbox::Inbox& box = opened_home->inbox();
    const auto handle = box.open(declaration, {.workspace = project(), .session = ""}).value();
    inbox::PlannedPrompt planned;
    planned.decision = handle.id;
    planned.fingerprint = box.load(handle.id)->opened.fingerprint;
    planned.render_hash = draft.render_hash;
    planned.host = "ask_user_question";
    planned.page = prompt.page;
    planned.pages = prompt.pages;
    planned.is_many = prompt.select.mode == decision::SelectMode::kMany;
    planned.question = draft.shape.questions.front().text;
    for (const auto& option : draft.shape.questions.front().options)
      planned.options.push_back({option.id, option.shown});
    planned.elsewhere = prompt.shown_elsewhere;
    const auto made = box.plan_prompt(planned).value();
    return {render(made.nonce).payload, made.nonce, handle.id};
  }
  inbox::DecisionState state(const std::string& id) { return open_home()->inbox().load(id).value(); }

  void corrupt_store() {
    for (const char* end : {"-wal", "-shm"}) (void)files_.remove(home() + "/signalbox.db" + end);
    (void)files_.write_atomic(home() + "/signalbox.db", std::string(8192, 'x'));
  }

  void prefer(const std::string& json) {
    (void)files_.make_directories(root_ + "/gs/projects/app");
    (void)files_.write_atomic(root_ + "/gs/projects/app/question-preferences.json", json);
  }

  std::string root_;
  SystemFiles files_;
  FakeClock clock_;
  FakeRandom random_;
  FakeProcess process_{[](const Command&) { return ProcessResult{}; }};
  Environment environment_;
};

// With sessions at a step, and the calls that use them.
class OpenStepFixture : public HookFixture {
 protected:
  guard::OpenStep step(const std::string& session = "s-1") {
    guard::OpenStep open;
    open.session = session;
    open.workspace = project();
    open.workflow = "wr.x";
    open.step = "plan";
    open.title = "Plan it";
    open.goal = "Fix the roof";
    open.number = 2;
    open.of = 5;
    open.required_output = "notes";
    open.token = "ct_" + session;
    open.at = clock_.now_ms();
    return open;
  }
  void open(const guard::OpenStep& open) {
    const auto written = open_home()->store().write([&](store::Transaction& transaction) {
      return transaction.put(guard::kOpenSteps, guard::open_step_key(open.workspace, open.session), to_row(open));
    });
    ASSERT_TRUE(written);
  }
  void close(const guard::OpenStep& open) {
    ASSERT_TRUE(open_home()->store().write([&](store::Transaction& transaction) {
      return transaction.remove(guard::kOpenSteps, guard::open_step_key(open.workspace, open.session));
    }));
  }
  Value edit(const std::string& path, std::string_view tool = "Edit", std::string_view host = "5b1c") const {
    Value value = before(Value::object({{tool == "NotebookEdit" ? "notebook_path" : "file_path", path}}), tool);
    value.set("session_id", host);
    return value;
  }
  // The host's completed call of continue_workflow.
  Value continued(std::string_view session, std::string_view host = "5b1c", std::string_view subagent = "") const {
    Value value = event("PostToolUse");
    value.set("session_id", host);
    if (!subagent.empty()) value.set("agent_id", subagent);
    value.set("tool_name", "mcp__signalbox__continue_workflow");
    value.set("tool_response",
              Value(Value::Array{Value::object({{"type", "text"}, {"text", "# Plan it"}}),
                                 Value::object({{"type", "text"},
                                                {"text", "{\"kind\":\"ok\",\"sessionId\":\"" + std::string(session) +
                                                             "\",\"continueToken\":\"ct_x\"}"}})}));
    return value;
  }
};

inline constexpr const char* kBranch = R"(
decision: release-branch
instruction: Which branch should be released?
options: [main, release, hotfix]
)";

inline constexpr const char* kGstack = R"(
decision: ship-voice
question_id: ship-voice
skill: ship
profile: gstack
instruction: "Which voice should the changelog have?"
sections: {eli10: The changelog can be short or long.}
options:
  - {id: terse, label: Terse, recommended: true}
  - {id: chatty, label: Chatty}
)";

}  // namespace sb::hook
