// Agent programs run to the end of a session, over real sockets and in the real sandbox: the programs are small shell
// scripts that speak MCP, and call their model, as Claude Code and Codex do.
#include "agent/programs/command_agent.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "agent/loop/agent_runner.hpp"
#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "engine/session/prepare.hpp"
#include "host/loopback_host.hpp"
#include "sandbox/testing.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::host {
namespace {

using agent::EndState;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Shell functions for talking to the host: mcp NAME ARGUMENTS, model TEXT.
constexpr std::string_view kSpeech = R"(
url=$SIGNALBOX_MCP_URL token=$SIGNALBOX_PLACE_TOKEN proxy=$SIGNALBOX_PROXY_URL
port=${url#http://127.0.0.1:}; port=${port%%/*}
mark=io.modelcontextprotocol
meta='"_meta":{"'$mark'/protocolVersion":"2026-07-28","'$mark'/clientInfo":{"name":"t","version":"1"}'
meta=$meta',"'$mark'/clientCapabilities":{}}'
post() {
  exec 3<>/dev/tcp/127.0.0.1/$port
  {
    printf 'POST %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nAuthorization: Bearer %s\r\n' "$1" $port "$token"
    printf 'Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n%s' "$3"
    printf 'Connection: close\r\nContent-Length: %s\r\n\r\n%s' ${#2} "$2"
  } >&3
  cat <&3; exec 3>&-
}
mcp() {
  post /mcp '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'"$1"'","arguments":'"$2"','"$meta"'}}' \
    $'MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: '"$1"$'\r\n'
}
model() { post /model/v1/messages '{"model":"m","messages":[{"role":"user","content":"'"$1"'"}]}' ""; }
)";

constexpr const char* kWorkflow = R"({
  "id": "two-steps", "name": "Two steps", "description": "For tests.", "version": "1.0.0",
  "steps": [{"id": "one", "title": "First", "prompt": "Do one.", "captures": {"size": {"type": "integer"}}},
            {"id": "two", "title": "Second", "prompt": "Do two."}]
})";
constexpr const char* kOne = R"(mcp complete_step '{"notes":"one","context":{"size":3}}')";
constexpr const char* kTwo = R"(mcp complete_step '{"notes":"two"}')";

class Commands : public testing::Test {
 protected:
  Commands() {
    std::string pattern = testing::TempDir() + "sb-command-XXXXXX";
    folder = std::filesystem::canonical(::mkdtemp(pattern.data()));
    work_tree = folder + "/tree";
    EXPECT_TRUE(files.make_directories(work_tree + "/.signalbox/workflows"));
    EXPECT_EQ(SystemProcess().run({.argv = {"git", "init", "--quiet", work_tree}})->code, 0);
    EXPECT_TRUE(files.make_directories(folder + "/tmp"));
    EXPECT_TRUE(files.write_atomic(work_tree + "/.signalbox/workflows/two-steps.json", kWorkflow));
    environment = Environment({{"SIGNALBOX_HOME", folder + "/own"},
                               {"HOME", folder},
                               {"TMPDIR", folder + "/tmp"},
                               {"PATH", "/usr/bin:/bin"},
                               {"REAL_KEY", "sk-real-0123456789"}});
    script(R"({"content": "Well done.", "usage": {"input_tokens": 10, "output_tokens": 5}, "repeat": true})");
    agent::ModelSettings upstream;
    upstream.provider = agent::provider_named("scripted");
    upstream.name = "demo";
    upstream.script = folder + "/script.jsonl";
    upstream.key = "$REAL_KEY";
    upstream.input_price = 2;
    settings.models["demo"] = upstream;
    agent::ModelSettings program;
    program.provider = agent::provider_named("command");
    program.name = "cli";
    program.upstream = "demo";
    settings.models["cli"] = program;
    settings.roles["default"] = "cli";
    assignment.role = "";
    assignment.limits.stall_ms = 60'000;
    sandbox::allow_no_sandbox(seams(), folder + "/own");
  }
  ~Commands() override { std::filesystem::remove_all(folder); }

  void script(const std::string& lines) { EXPECT_TRUE(files.write_atomic(folder + "/script.jsonl", lines + "\n")); }
  // The program: a shell script with the functions above.
  void program(const std::string& body) {
    const std::string path = work_tree + "/agent.sh";  // it sees nothing else in a temporary folder
    EXPECT_TRUE(files.write_atomic(path, std::string(kSpeech) + body + "\n"));
    settings.models["cli"].command = {"bash", path};
  }
  void start() {
    auto opened = engine::SessionHome::open(seams());
    ASSERT_TRUE(opened) << opened.error().to_string();
    home = std::move(*opened);
    const auto catalog = workflow::Catalog::open(
        files, environment, home->home().homes(),
        {.workspace = work_tree, .overrides = {}, .cache = nullptr, .on_file = {}, .list_command = "list"});
    ASSERT_TRUE(catalog);
    const auto start_request = engine::prepare_start(files, *catalog,
                                                     {.workflow_id = "two-steps",
                                                      .goal = "Make it faster",
                                                      .workspace = work_tree,
                                                      .context = {},
                                                      .is_autonomous = true});
    ASSERT_TRUE(start_request) << start_request.error().error.to_string();
    const auto answer = home->sessions().start(*start_request);
    ASSERT_TRUE(answer) << answer.error().error.to_string();
    assignment.session = answer->line.string_at("sessionId").value_or("");
    assignment.workflow = "two-steps";
    assignment.work_tree = work_tree;
    assignment.bundle.slots = {{.name = "identity", .budget = 100, .text = "IDENTITY-MARK"}};
  }
  agent::WorkResult work() {
    if (!home) start();
    const auto host = make_agent_host(seams(), *http);
    agent::AgentRunner runner(
        {.seams = seams(), .home = *home, .settings = settings, .http = *http, .host = host.get()});
    return runner.work(assignment, [this](const agent::Progress& progress) { progress_events.push_back(progress); });
  }

  void wait_for(const std::string& file) {
    for (int i = 0; i < 1'000 && files.kind(join_path(work_tree, file)) == FileKind::kMissing; ++i) clock.sleep_ms(20);
  }
  std::vector<agent::LoggedEvent> events() {
    const auto read = agent::AgentLog(home->home().store(), clock, assignment.session).read();
    EXPECT_TRUE(read);
    return read ? *read : std::vector<agent::LoggedEvent>();
  }
  std::vector<std::string> types() {
    std::vector<std::string> all;
    for (const auto& event : events()) all.push_back(event.type);
    return all;
  }
  std::string blob(const std::string& hash) {
    const auto bytes = agent::AgentLog(home->home().store(), clock, assignment.session).blob(hash);
    EXPECT_TRUE(bytes) << hash;
    return bytes.value_or("");
  }
  Seams seams() { return {files, clock, random, process, environment, streams}; }

  std::string folder, work_tree;
  SystemFiles files;
  SystemClock clock;
  SystemRandom random;
  SystemProcess process;
  Environment environment;
  FakeStreams streams;
  std::unique_ptr<net::HttpClient> http = net::make_http_client();
  agent::AgentSettings settings;
  agent::Assignment assignment;
  std::unique_ptr<engine::SessionHome> home;
  std::vector<agent::Progress> progress_events;
};

TEST_F(Commands, RunAProgramToTheEndOfItsWorkflow) {
  program(std::string("cat > seen; model hello\n") + kOne + "\nmodel again\n" + kTwo);
  const agent::WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_EQ(ended.turns, 2);
  EXPECT_EQ(ended.usage, (agent::Usage{.input = 20, .output = 10}));
  EXPECT_EQ(ended.micro_cents, 40);
  EXPECT_THAT(types(), ElementsAre("began", "turn", "tool_started", "tool_ended", "turn", "tool_started", "tool_ended",
                                   "ended"));
  const std::string prompt = files.read(work_tree + "/seen", 1 << 20).value_or("");
  EXPECT_THAT(prompt, HasSubstr("IDENTITY-MARK"));
  EXPECT_THAT(prompt, HasSubstr("Do one."));
  EXPECT_THAT(prompt, HasSubstr(assignment.session));
  const Value turn = events()[1].payload;
  EXPECT_EQ(blob(turn["bytes"].string_at("request").value_or("")),
            R"({"model":"m","messages":[{"role":"user","content":"hello"}]})");
  EXPECT_THAT(blob(turn["bytes"].string_at("reply").value_or("")), HasSubstr("Well done."));
  EXPECT_FALSE(progress_events.empty());
}

TEST_F(Commands, GiveTheProgramItsOwnHomeAndNoSecret) {
  program(std::string("env > seen; ls -la \"$HOME\" >> seen; find \"$HOME\" -type f -exec cat {} + >> seen\n") +
          "pwd >> seen\n" + kOne + "\n" + kTwo);
  EXPECT_EQ(work().state, EndState::kComplete);
  const std::string seen = files.read(work_tree + "/seen", 1 << 24).value_or("");
  EXPECT_THAT(seen, HasSubstr("HOME=" + folder + "/own/agents/" + assignment.session));
  EXPECT_THAT(seen, HasSubstr("\n" + work_tree + "\n"));
  EXPECT_THAT(seen, Not(HasSubstr("sk-real")));
  EXPECT_THAT(seen, Not(HasSubstr("SIGNALBOX_HOME")));
  EXPECT_EQ(files.list(folder + "/own/agents").value(), std::vector<std::string>{}) << "the home is gone";
}

// Without a sandbox it could read the store and the environment of every process of the user.
TEST_F(Commands, HideTheStoreTheRepositoryAndOtherProcessesFromTheProgram) {
  const auto sandbox = sandbox::find_sandbox(seams());
  if (!sandbox.works()) GTEST_SKIP() << sandbox.name();
  program("cat " + folder + "/own/signalbox.db > stolen 2>/dev/null; echo x > .git/config 2>/dev/null\n" +
          "cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' > seen\n" + kOne + "\n" + kTwo);
  EXPECT_EQ(work().state, EndState::kComplete);
  const std::string seen = files.read(work_tree + "/seen", 1 << 24).value_or("");
  EXPECT_THAT(seen, HasSubstr("HOME="));
  EXPECT_THAT(seen, Not(HasSubstr("sk-real")));
  EXPECT_THAT(seen, Not(HasSubstr("SIGNALBOX_HOME")));
  EXPECT_EQ(files.read(work_tree + "/stolen", 1 << 20).value_or(""), "");
  EXPECT_THAT(files.read(work_tree + "/.git/config", 1 << 20).value_or(""), HasSubstr("[core]"));
  const auto log = events();
  EXPECT_EQ(log[0].payload.string_at("sandbox").value_or(""), sandbox.name());
}

TEST_F(Commands, RestrictItsOwnToolsToTheOpenStep) {
  const std::string guarded = R"({
    "id": "two-steps", "name": "Two steps", "description": "For tests.", "version": "1.0.0",
    "steps": [{"id": "one", "title": "First", "prompt": "Look.", "writes": "none", "commands": "read-only"},
              {"id": "two", "title": "Second", "prompt": "Do.", "writes": ["src/**"]}]
  })";
  EXPECT_TRUE(files.write_atomic(work_tree + "/.signalbox/workflows/two-steps.json", guarded));
  program(R"(
hook() { post /hook '{"hook_event_name":"PreToolUse","tool_name":"'"$1"'","tool_input":'"$2"'}' "" | tail -n 1; }
hook Write '{"file_path":"src/a"}' > src/one
hook Bash '{"command":"rm src/a"}' > src/two
hook Bash '{"command":"ls"}' > src/three
mcp complete_step '{"notes":"one"}'
hook Write '{"file_path":"src/a"}' > src/four
hook Edit '{"file_path":"src/../b"}' > src/five
hook NotebookEdit '{"notebook_path":"'$PWD'/b"}' > src/six
mcp complete_step '{"notes":"two"}')");
  const agent::WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  const auto said = [&](const char* file) {
    return files.read(join_path(work_tree + "/src", file), 1 << 20).value_or("?");
  };
  for (const char* refused : {"one", "two", "five", "six"}) {
    EXPECT_THAT(said(refused), HasSubstr(R"("permissionDecision":"deny")")) << refused;
    EXPECT_THAT(said(refused), Not(HasSubstr("continue_workflow")));
  }
  for (const char* allowed : {"three", "four"}) EXPECT_THAT(said(allowed), Not(HasSubstr("deny"))) << allowed;
  EXPECT_EQ(std::ranges::count(types(), "refused"), 4) << "every attempt is in the log";
}

TEST_F(Commands, RestrictToolsOfAProgramWhoseHooksAreCommands) {
  if (!sandbox::find_sandbox(seams()).works()) GTEST_SKIP();
  const std::string guarded = R"({
    "id": "two-steps", "name": "Two steps", "description": "For tests.", "version": "1.0.0",
    "steps": [{"id": "one", "title": "First", "prompt": "Look.", "writes": "none"},
              {"id": "two", "title": "Second", "prompt": "Do."}]
  })";
  EXPECT_TRUE(files.write_atomic(work_tree + "/.signalbox/workflows/two-steps.json", guarded));
  program(R"(
hook() { printf %s '{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"'"$1"'"}}' |
  /run/signalbox/inside forward-hook; echo "exit $?"; }
hook 'rm a' > one; hook 'ls' > two
SIGNALBOX_HOOK_URL=http://127.0.0.1:1/hook hook 'ls' > three 2>&1
mcp complete_step '{"notes":"one"}'
hook 'rm a' > four
mcp complete_step '{"notes":"two"}')");
  const agent::WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  const auto said = [&](const char* file) { return files.read(join_path(work_tree, file), 1 << 20).value_or("?"); };
  EXPECT_THAT(said("one"), HasSubstr(R"("permissionDecision":"deny")"));
  EXPECT_EQ(said("two"), "exit 0\n");
  EXPECT_THAT(said("three"), HasSubstr("could not be checked, so it is refused"));
  EXPECT_THAT(said("three"), HasSubstr("exit 2\n"));
  EXPECT_EQ(said("four"), "exit 0\n");
}

// What is not in the exchanges with the model is not known; what is in them twice is logged once.
TEST_F(Commands, LogWhatTheProgramDid) {
  script(R"({"content": [{"type": "text", "text": "I look."}, )"
         R"({"type": "tool_use", "name": "Bash", "input": {"command": "cat key"}}]})"
         "\n"
         R"({"content": "Well done.", "repeat": true})");
  program(R"(
say() { post /model/v1/messages '{"model":"m","messages":['"$1"']}' "" > reply; }
say '{"role":"user","content":"hello"}'
id=$(grep -o '"id":"[^"]*","name":"Bash"' reply); id=${id#*:}; id=${id%%,*}
result='{"role":"user","content":[{"type":"tool_result","tool_use_id":'$id',"content":"sk-real-0123456789 LOOK"}]}'
say "$result"; say "$result"
)" + std::string(kOne) +
          "\n" + kTwo);
  const agent::WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  std::vector<agent::LoggedEvent> ran = events();
  EXPECT_THAT(blob(ran[1].payload.string_at("reply").value_or("")), HasSubstr("I look."));
  std::erase_if(ran, [](const auto& event) { return event.type != "program_tool"; });
  ASSERT_EQ(ran.size(), 1u);
  EXPECT_EQ(ran[0].payload["turn"], Value(1));
  EXPECT_EQ(ran[0].payload.string_at("tool"), "Bash");
  EXPECT_EQ(ran[0].payload.string_at("what"), "cat key");
  EXPECT_EQ(blob(ran[0].payload.string_at("result").value_or("")), "[redacted: secret] LOOK");
}

TEST_F(Commands, RestartAProgramThatStoppedEarly) {
  program(std::string("echo x >> starts; [ $(wc -l < starts) = 1 ] && { ") + kOne + "; exit 0; }\ncat > seen\n" + kTwo);
  const agent::WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_THAT(types(), Contains("recovered"));
  const std::string prompt = files.read(work_tree + "/seen", 1 << 20).value_or("");
  EXPECT_THAT(prompt, HasSubstr("Do two."));
  EXPECT_THAT(prompt, HasSubstr("stopped before the workflow was complete"));
}

TEST_F(Commands, D24_DoNotCountAProgramThatExitsEarlyAsSuccess) {
  program("echo x >> starts");
  const agent::WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kStoppedEarly) << ended.reason;
  EXPECT_EQ(files.read(work_tree + "/starts", 100).value_or(""), "x\nx\nx\n");
  EXPECT_EQ(events().back().payload.string_at("state"), "stopped_early");
}

TEST_F(Commands, D16_DetectADeadProgramImmediately) {
  program("echo 'out of luck' >&2; exit 7");
  const agent::WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kAgentDied);
  EXPECT_THAT(ended.reason, HasSubstr("code 7: out of luck"));
}

TEST_F(Commands, ReportAMissingProgram) {
  settings.models["cli"].command = {"no-such-agent"};
  const agent::WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kAgentDied);
  EXPECT_THAT(ended.reason, HasSubstr("no-such-agent is not installed"));
}

TEST_F(Commands, EndAProgramThatHangs) {
  assignment.limits.stall_ms = 1'500;
  program("exec sleep 600");
  const agent::WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kStalled) << ended.reason;
}

TEST_F(Commands, EndAProgramKilledByAPerson) {
  program("echo x > running; exec sleep 600");
  start();
  std::thread person([this] {
    wait_for("running");
    const auto other = engine::SessionHome::open(seams());
    agent::AgentLog log((*other)->home().store(), clock, assignment.session);
    EXPECT_TRUE(log.append({{"kill_asked", Value::object({{"by", "ada"}, {"reason", "enough"}})}}));
  });
  const agent::WorkResult ended = work();
  person.join();
  EXPECT_EQ(ended.state, EndState::kKilled);
  EXPECT_THAT(ended.reason, HasSubstr("ada: enough"));
}

TEST_F(Commands, RefuseModelCallsOverTheBudget) {
  assignment.limits.tokens = 20;
  program(std::string("model one; model two; model three > refused\n") + kOne + "; exec sleep 600");
  const agent::WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kTokenLimit) << ended.reason;
  EXPECT_EQ(ended.turns, 2);
  const std::string refused = files.read(work_tree + "/refused", 1 << 20).value_or("");
  EXPECT_THAT(refused, HasSubstr("403"));
  EXPECT_THAT(refused, HasSubstr("30 of 20 tokens are used"));
}

TEST_F(Commands, EndAtTheLimitOfTurns) {
  assignment.limits.turns = 3;
  program("for i in 1 2 3 4 5; do model \"n$i\" >> seen; done; exec sleep 600");
  const agent::WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kTurnLimit) << ended.reason;
  EXPECT_EQ(ended.turns, 3);
}

TEST_F(Commands, PassAPersonsMessageToTheAgent) {
  program(std::string("echo x > running; while [ ! -e said ]; do sleep 0.05; done\n") + kOne + " > seen\n" + kTwo);
  start();
  std::thread person([this] {
    wait_for("running");
    const auto other = engine::SessionHome::open(seams());
    agent::AgentLog log((*other)->home().store(), clock, assignment.session);
    EXPECT_TRUE(log.append({{"steered", Value::object({{"text", "STEER-MARK"}, {"by", "ada"}})}}));
    EXPECT_TRUE(files.write_atomic(work_tree + "/said", ""));
  });
  const agent::WorkResult ended = work();
  person.join();
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_THAT(files.read(work_tree + "/seen", 1 << 20).value_or(""), HasSubstr("STEER-MARK"));
  EXPECT_THAT(types(), Contains("steer_seen"));
}

TEST_F(Commands, RefuseRestrictedRolesIfTheModelIsNotObserved) {
  settings.models["cli"].upstream = "";
  assignment.role = "challenger";
  program("echo x > started");
  const agent::WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kForbidden);
  EXPECT_THAT(ended.reason, HasSubstr("isolation cannot be proven"));
  EXPECT_EQ(files.kind(work_tree + "/started"), FileKind::kMissing);
}

TEST_F(Commands, WaitForAPersonAndContinueWithTheAnswer) {
  program(std::string("[ -e asked ] && cat > seen || { echo x > asked; ") +
          R"(mcp ask '{"question":"Which colour?","options":["Red","Blue"]}' > rest; exit 0; })" + "\n" + kOne + "\n" +
          kTwo);
  const agent::WorkResult first = work();
  ASSERT_EQ(first.state, EndState::kAwaiting) << first.reason;
  ASSERT_FALSE(first.decision.empty());
  EXPECT_THAT(files.read(work_tree + "/rest", 1 << 20).value_or(""), HasSubstr("End your turn now"));
  EXPECT_EQ(work().state, EndState::kAwaiting) << "no one has answered";
  const auto state = home->home().inbox().load(first.decision);
  ASSERT_TRUE(state);
  const auto option = state->opened.question.parts.front().options.back().id;
  inbox::AnswerSubmission answer;
  answer.given.options = {option};
  answer.from = {inbox::Channel::kTerminal, "ada"};
  ASSERT_TRUE(home->home().inbox().answer(first.decision, answer));
  const agent::WorkResult second = work();
  EXPECT_EQ(second.state, EndState::kComplete) << second.reason;
  EXPECT_THAT(files.read(work_tree + "/seen", 1 << 20).value_or(""), HasSubstr("A person answered: Blue"));
}

TEST_F(Commands, FailIfTheScriptHasNoLineLeft) {
  script(R"({"when": {"contains": ["never"]}, "content": "x"})");
  program("model hello > said; exec sleep 600");
  const agent::WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kModelFailed) << ended.reason;
}

TEST_F(Commands, EndAProgramThatRepeatsTheSameCall) {
  program(std::string("for i in 1 2 3 4 5 6; do ") + R"(mcp complete_step '{"notes":"x"}' >> seen)" + "; done");
  const agent::WorkResult ended = work();
  EXPECT_THAT((std::vector{EndState::kRepeating, EndState::kAwaiting, EndState::kStepRejected}), Contains(ended.state))
      << ended.reason;
}

}  // namespace
}  // namespace sb::host
