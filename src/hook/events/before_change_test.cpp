#include "guard/host_session.hpp"
#include "guard/open_step.hpp"
#include "hook/testing.hpp"

namespace sb::hook {
namespace {

using guard::OpenStep;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class BeforeChange : public HookFixture {
 protected:
  OpenStep step(const std::string& session = "s-1") {
    OpenStep open;
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
  void open(const OpenStep& open) {
    const auto written = open_home()->store().write([&](store::Transaction& transaction) {
      return transaction.put(guard::kOpenSteps, guard::open_step_key(open.workspace, open.session), to_row(open));
    });
    ASSERT_TRUE(written);
  }
  void close(const OpenStep& open) {
    ASSERT_TRUE(open_home()->store().write([&](store::Transaction& transaction) {
      return transaction.remove(guard::kOpenSteps, guard::open_step_key(open.workspace, open.session));
    }));
  }
  Value edit(const std::string& path, std::string_view tool = "Edit", std::string_view host = "5b1c") const {
    Value value = before(Value::object({{tool == "NotebookEdit" ? "notebook_path" : "file_path", path}}), tool);
    value.set("session_id", host);
    return value;
  }
  Value bash(std::string_view command) const { return before(Value::object({{"command", command}}), "Bash"); }
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

TEST_F(BeforeChange, WithoutAnOpenSessionTheHookIsSilent) {
  EXPECT_EQ(fire(edit(project() + "/a")).output, "");
  EXPECT_EQ(files_.kind(home() + "/signalbox.db"), FileKind::kMissing);
  OpenStep elsewhere = step();
  elsewhere.workspace = root_ + "/other";
  elsewhere.writes = std::vector<std::string>{};
  open(elsewhere);
  EXPECT_EQ(fire(edit(project() + "/a")).output, "");
  open(step("s-2"));  // declares nothing
  EXPECT_EQ(fire(bash("rm -rf x")).output, "");
  EXPECT_EQ(errors(), "");
}

TEST_F(BeforeChange, EveryChangingToolIsCheckedAgainstTheStep) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{"docs/**"};
  open(plan);
  for (const char* tool : {"Edit", "Write", "MultiEdit", "NotebookEdit"}) {
    EXPECT_THAT(denied(edit(project() + "/src/a.cpp", tool)),
                AllOf(HasSubstr("changing src/a.cpp was refused"), HasSubstr("signalbox session stop s-1")))
        << tool;
    EXPECT_EQ(denied(edit(project() + "/docs/a.md", tool)), "") << tool;
    EXPECT_EQ(denied(edit("docs/a.md", tool)), "") << tool;
  }
  EXPECT_THAT(denied(bash("echo > src/a.cpp")), HasSubstr("wr.x"));
  EXPECT_EQ(denied(bash("echo > docs/a")), "");
  EXPECT_EQ(fire(edit(project() + "/src/a.cpp", "Read")).output, "");
  EXPECT_EQ(fire(before(Value::object(), "Edit")).output, "");
  EXPECT_EQ(fire(before(Value::object({{"file_path", 3}}), "Write")).output, "");
  EXPECT_EQ(fire(before(Value(), "Bash")).output, "");
  EXPECT_EQ(errors(), "");
}

TEST_F(BeforeChange, LinksAndDotsDoNotEscape) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{"docs/**"};
  open(plan);
  (void)files_.make_directories(project() + "/docs/real");
  (void)files_.make_directories(project() + "/src");
  std::filesystem::create_symlink(project() + "/src", project() + "/docs/link");
  std::filesystem::create_symlink(root_ + "/nowhere", project() + "/docs/dangling");
  std::filesystem::create_symlink(project() + "/docs/real", project() + "/shortcut");
  for (const char* path : {"/docs/../src/a", "/docs/link/a", "/docs/dangling", "/docs/dangling/x",
                           "/docs/new/../../src/a", "/docs/link/../a", "/docs/real/../../../x", "/docs/./../x"}) {
    EXPECT_NE(denied(edit(project() + path)), "") << path;
  }
  for (const char* path : {"/docs/new/deep/a", "/docs/real/../b", "/shortcut/a", "/src/../docs/a", "//docs///a"}) {
    EXPECT_EQ(denied(edit(project() + path)), "") << path;
  }
  EXPECT_NE(denied(edit(std::string(10'000, 'a'))), "");
  EXPECT_EQ(errors(), "");
}

TEST_F(BeforeChange, ASubfolderOfTheWorkspaceIsCheckedToo) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{"sub/docs/**"};
  open(plan);
  (void)files_.make_directories(project() + "/sub");
  Value value = edit("docs/a");
  value.set("cwd", project() + "/sub");
  EXPECT_EQ(denied(value), "");
  value = edit("a");
  value.set("cwd", project() + "/sub");
  EXPECT_NE(denied(value), "");
}

TEST_F(BeforeChange, AConversationIsBoundToTheSessionItUses) {
  OpenStep plan = step("s-1");
  plan.writes = std::vector<std::string>{};
  OpenStep build = step("s-2");
  build.writes = std::vector<std::string>{"**"};
  build.at += 1;
  open(plan);
  open(build);
  // No conversation was seen to use either: the most recently touched one applies.
  EXPECT_EQ(denied(edit("a")), "");
  EXPECT_EQ(fire(continued("s-1")).output, "");
  EXPECT_NE(denied(edit("a")), "");
  // Another conversation in the same folder is not affected.
  EXPECT_EQ(denied(edit("a", "Edit", "other")), "");
  fire(continued("s-2", "other"));
  EXPECT_NE(denied(edit("a")), "");
  // The other conversation takes over s-1.
  fire(continued("s-1", "other"));
  EXPECT_EQ(denied(edit("a")), "");
  EXPECT_NE(denied(edit("a", "Edit", "other")), "");
  // s-1 has ended: the session used before it applies again.
  close(plan);
  EXPECT_EQ(denied(edit("a", "Edit", "other")), "");
  EXPECT_EQ(errors(), "");
}

TEST_F(BeforeChange, AnEndedConversationReleasesItsSession) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{};
  open(plan);
  fire(continued("s-1", "first"));
  EXPECT_EQ(denied(edit("a", "Edit", "second")), "");
  Value over = event("SessionEnd");
  over.set("session_id", "first");
  EXPECT_EQ(fire(over).output, "");
  EXPECT_NE(denied(edit("a", "Edit", "second")), "");
}

TEST_F(BeforeChange, SubagentsOfOneConversationAreDistinguished) {
  OpenStep parent = step("s-0");
  parent.waiting = "children";
  parent.out_of_scope = {"vendor/**"};
  OpenStep first = step("s-1"), second = step("s-2");
  first.parent = second.parent = "s-0";
  first.writes = std::vector<std::string>{};
  second.writes = std::vector<std::string>{"**"};
  for (const OpenStep& each : {parent, first, second}) open(each);
  fire(continued("s-0"));
  fire(continued("s-1", "5b1c", "helper-1"));
  fire(continued("s-2", "5b1c", "helper-2"));
  Value by_first = edit("a"), by_second = edit("a");
  by_first.set("agent_id", "helper-1");
  by_second.set("agent_id", "helper-2");
  EXPECT_NE(denied(by_first), "");
  EXPECT_EQ(denied(by_second), "");
  by_second = edit("vendor/a");
  by_second.set("agent_id", "helper-2");
  EXPECT_THAT(denied(by_second), HasSubstr("out of scope"));
  EXPECT_EQ(denied(edit("a")), "");
  // Child sessions of a session in use do not restrict other conversations.
  EXPECT_EQ(denied(edit("a", "Edit", "other")), "");
}

TEST_F(BeforeChange, ASubagentsSessionRestrictsOnlyIt) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{};
  open(plan);
  fire(continued("s-1", "5b1c", "helper-1"));
  Value by_first = edit("a"), by_second = edit("a");
  by_first.set("agent_id", "helper-1");
  by_second.set("agent_id", "helper-2");
  EXPECT_NE(denied(by_first), "");
  EXPECT_EQ(denied(edit("a")), "");
  EXPECT_EQ(denied(by_second), "");
  // Once the conversation itself continues it, it restricts all of them.
  fire(continued("s-1"));
  EXPECT_NE(denied(edit("a")), "");
  EXPECT_NE(denied(by_second), "");
}

TEST_F(BeforeChange, AnAbandonedSessionDoesNotApplyTheNextDay) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{};
  open(plan);
  EXPECT_NE(denied(edit("a")), "");
  clock_.sleep_ms(13LL * 60 * 60 * 1'000);
  EXPECT_EQ(denied(edit("a")), "");
  fire(continued("s-1"));  // until a conversation resumes it
  EXPECT_NE(denied(edit("a")), "");
}

TEST_F(BeforeChange, AnUnattendedSessionDoesNotRestrictConversations) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{};
  plan.is_autonomous = true;
  open(plan);
  EXPECT_EQ(denied(edit("a")), "");
}

TEST_F(BeforeChange, ABrokenFileDoesNotBreakTheHook) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{};
  open(plan);
  (void)files_.write_atomic(home() + "/config.yaml", "strict: [");
  EXPECT_NE(denied(edit("a")), "");  // the user configuration is not read here
  corrupt_store();
  const RunResult ran = fire(edit("a"));
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.output, "");
  EXPECT_NE(errors(), "");
}

TEST_F(BeforeChange, AResultWithoutAKnownSessionIsIgnored) {
  open(step());
  for (const char* session : {"s-unknown", "", "../../x", "s-1/"}) EXPECT_EQ(fire(continued(session)).output, "");
  Value odd = continued("s-1");
  odd.set("tool_response", Value(3));
  EXPECT_EQ(fire(odd).output, "");
  odd.set("tool_response", Value::object({{"sessionId", "s-1"}}));
  EXPECT_EQ(fire(odd).output, "");
  EXPECT_EQ(errors(), "");
}

// The notes a conversation gets.
class SessionEvents : public BeforeChange {
 protected:
  Value started(std::string_view source = "compact") const {
    Value value = event("SessionStart");
    value.set("source", source);
    return value;
  }
  Value prompted() const {
    Value value = event("UserPromptSubmit");
    value.set("prompt", "continue");
    return value;
  }
};

TEST_F(SessionEvents, ACompactedConversationGetsItsStepBack) {
  EXPECT_EQ(fire(started()).output, "");
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{};
  open(plan);
  for (const char* source : {"startup", "resume", "clear", "compact"}) {
    EXPECT_THAT(
        noted(started(source)),
        AllOf(HasSubstr("session s-1 of wr.x"), HasSubstr("\nGoal: Fix the roof\n"),
              HasSubstr("step 2 of 5: Plan it (plan)"), HasSubstr("Required: notes"), HasSubstr("change no file"),
              HasSubstr("\"continueToken\":\"ct_s-1\",\"intent\":\"rehydrate\",\"workspacePath\":\"" + project()),
              HasSubstr("Ignore it if you were asked for something else")));
  }
  fire(continued("s-1"));
  EXPECT_THAT(noted(started()), testing::Not(HasSubstr("Ignore it")));
  EXPECT_EQ(fire(prompted()).output, "");
  EXPECT_EQ(errors(), "");
}

TEST_F(SessionEvents, TheNoteFitsOneKibibyteAndKeepsTheToken) {
  OpenStep plan = step();
  plan.title = std::string(2'000, 't');
  plan.goal = std::string(2'000, 'g');
  plan.required_output = std::string(2'000, 'o');
  plan.writes = std::vector<std::string>(100, std::string(100, 'g'));
  open(plan);
  const std::string text = noted(started());
  EXPECT_LE(text.size(), 1'024u);
  EXPECT_THAT(text, HasSubstr("ct_s-1"));
}

TEST_F(SessionEvents, AnAnswerIsReportedOnce) {
  const Plan asked = plan(R"(
decision: release-branch
instruction: Which branch should be released?
options: [{id: main, label: Main}, {id: hotfix, label: The small fix}]
)");
  OpenStep waiting = step();
  waiting.waiting = "decision";
  waiting.decision = asked.decision;
  open(waiting);
  fire(continued("s-1"));
  EXPECT_EQ(fire(prompted()).output, "");
  EXPECT_THAT(noted(started()), AllOf(HasSubstr("waits for a person to answer " + asked.decision),
                                      HasSubstr("continues once that is done; there is nothing to submit."),
                                      Not(HasSubstr("rehydrate")), Not(HasSubstr("submits it"))));
  inbox::AnswerSubmission elsewhere;
  elsewhere.given.options = {"hotfix"};
  elsewhere.from = {inbox::Channel::kTerminal, "ann"};
  ASSERT_TRUE(open_home()->inbox().answer(asked.decision, elsewhere));
  EXPECT_THAT(noted(prompted()),
              AllOf(HasSubstr("has been answered: hotfix (\"The small fix\")."), HasSubstr("ct_s-1")));
  EXPECT_EQ(fire(prompted()).output, "");
  // After a compaction it must be reported again.
  EXPECT_THAT(noted(started()),
              AllOf(HasSubstr("has been answered: hotfix"), HasSubstr("ct_s-1"),
                    HasSubstr("} continues; there is nothing to submit."), Not(HasSubstr("submits it"))));
  EXPECT_EQ(fire(prompted()).output, "");
  EXPECT_EQ(errors(), "");
}

TEST_F(SessionEvents, TheStatusLineNamesTheStepAndCountsQuestions) {
  const auto line = [&](const std::string& input) {
    FakeStreams streams(input);
    EXPECT_EQ(run_program("signalbox-hook", {"statusline"}, seams(streams)), 0);
    EXPECT_EQ(streams.errors, "");
    return streams.output;
  };
  const std::string here = R"({"session_id":"5b1c","cwd":"/","workspace":{"current_dir":")" + project() + R"("}})";
  EXPECT_EQ(line(here), "");
  open(step());
  EXPECT_EQ(line(here), "wr.x 2/5 Plan it\n");
  EXPECT_EQ(line(R"({"cwd":")" + project() + R"("})"), "wr.x 2/5 Plan it\n");
  plan(kBranch);
  EXPECT_EQ(line(here), "wr.x 2/5 Plan it · 1 question open\n");
  close(step());
  EXPECT_EQ(line(here), "1 question open\n");
  EXPECT_EQ(line(R"({"cwd":"/"})"), "");
  for (const char* odd : {"", "{", "[]", "null", "\xff", R"({"workspace":3,"cwd":[]})"}) (void)line(odd);
  corrupt_store();
  EXPECT_EQ(line(here), "");
}

}  // namespace
}  // namespace sb::hook
