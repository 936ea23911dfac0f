// The doors of the server: an agent that reaches `signalbox serve` or starts `signalbox mcp` itself tries to work on a
// session that a run drives, and to answer a gate as if it were a person. Each attempt is one that a sandboxed agent
// program, or the agent in a user's own client, can make without reading the user's files.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/document/document.hpp"
#include "base/process.hpp"
#include "base/testing/fakes.hpp"
#include "engine/session/session_home.hpp"
#include "served/served.hpp"
#include "workflow/testing.hpp"

namespace sb::server_tests {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kForms = R"({"elicitation": {"form": {}}})";
constexpr const char* kGated =
    "id: gated\nname: Gated\ndescription: A gate and a step\nversion: 1.0.0\nsteps:\n"
    "  - {id: first, title: First, prompt: Do it., requireConfirmation: true}\n"
    "  - {id: second, title: Second, prompt: Do more.}\n";

class Doors : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder.path() + "/project/workflows");
    ASSERT_TRUE(files.write_atomic(folder.path() + "/project/workflows/gated.yaml", kGated));
  }

  ProgramResult signalbox(std::vector<std::string> arguments) const {
    return run_program(SB_PROGRAM, folder.path(), std::move(arguments));
  }
  std::string work() const { return folder.path() + "/project"; }
  // The token of a client that the user set up.
  std::string users_client() const {
    const auto config =
        parse_json(signalbox({"mcp", "install", "--client", "other", "--name", "zed", "--port", "1"}).output);
    EXPECT_TRUE(config);
    if (!config) return {};
    return (*config)["mcpServers"]["signalbox"]["headers"].string_at("Authorization").value_or("Bearer ").substr(7);
  }

  // A session of a run whose step was delivered and now waits for a person. Returns its id and a token of its worker.
  std::pair<std::string, std::string> session_of_a_run() {
    const Environment environment({{"HOME", folder.path()}, {"SIGNALBOX_HOME", folder.path() + "/home"}});
    FakeStreams streams;
    const auto home =
        engine::SessionHome::open({files, clock, random, process, environment, streams}, engine::Surface::kWorkers);
    EXPECT_TRUE(home);
    workflow::FakeResolver around;
    engine::StartRequest starting;
    starting.bundle = workflow::compiled(kGated, around);
    starting.goal = "Repair the importer";
    starting.workspace = fs::canonical(work()).string();
    starting.run = "r-breakout";
    engine::Sessions& sessions = (*home)->sessions();
    const auto first = sessions.start(starting);
    EXPECT_TRUE(first);
    const std::string token = first->line.string_at("continueToken").value_or("");
    const auto waiting = sessions.continue_session({.token = token, .submission = {.notes = "Done."}});
    EXPECT_TRUE(waiting);
    EXPECT_EQ(waiting->line.string_at("kind"), "awaiting_decision");
    decision = waiting->line["decision"].string_at("id").value_or("");
    return {waiting->line.string_at("sessionId").value_or(""), waiting->line.string_at("continueToken").value_or("")};
  }
  void expect_gate_is_open() {
    const auto shown = parse_json(signalbox({"inbox", "show", decision, "--json"}).output);
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->string_at("state"), "open") << to_json(*shown);
  }

  Folder folder;
  SystemFiles files;
  SystemClock clock;
  SystemRandom random;
  SystemProcess process;
  std::string decision;
};

TEST_F(Doors, WithLoopbackAccessAndNoToken) {
  const auto [session, token] = session_of_a_run();
  users_client();
  Server server(SB_PROGRAM, folder.path());
  ASSERT_NE(server.port(), 0);
  const Value resume = Value::object({{"workspacePath", work()}, {"query", "importer"}});
  const Value proceed = Value::object({{"continueToken", token}});
  for (const std::string& guess :
       {std::string(), std::string("local"), std::string("agent"), "sbs_" + std::string(52, 'a')}) {
    EXPECT_FALSE(Session(server.port(), guess, kForms).is_open()) << guess;
    Client client(server.port());
    EXPECT_EQ(stateless_call(client, guess, 1, "resume_session", resume).status, 401);
    EXPECT_EQ(stateless_call(client, guess, 2, "continue_workflow", proceed).status, 401);
    Headers headers{{"Content-Type", "application/json"}};
    if (!guess.empty()) headers.emplace_back("Authorization", "Bearer " + guess);
    EXPECT_EQ(client.ask("POST", "/hook", headers, "{}").status, 401);
    EXPECT_EQ(client.ask("GET", "/mcp", headers).status, 401);
    EXPECT_EQ(client.ask("DELETE", "/mcp", headers).status, 401);
    EXPECT_THAT(client.ask("GET", "/healthz", headers).body, Not(HasSubstr("sbs_")));
  }
  expect_gate_is_open();
}

// Even a client of the user's own gets nothing of it: its agent is not the run's.
TEST_F(Doors, ToASessionThatARunDrives) {
  const auto [session, token] = session_of_a_run();
  const std::string secret = users_client();
  Server server(SB_PROGRAM, folder.path());
  Session agent(server.port(), secret, kForms);
  ASSERT_TRUE(agent.is_open());
  const auto expect_nothing = [&](const Answer& answer, std::string_view why) {
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body, AllOf(Not(HasSubstr("elicitation/create")), Not(HasSubstr("Do it.")),
                                   Not(HasSubstr("resumeToken")), Not(HasSubstr("continueToken\\\""))))
        << answer.body;
    EXPECT_THAT(answer.body, HasSubstr(why)) << answer.body;
  };
  const Value here = work();
  expect_nothing(agent.call("resume_session", Value::object({{"workspacePath", here}})), R"(\"candidates\":[])");
  expect_nothing(agent.call("resume_session", Value::object({{"workspacePath", here}, {"query", "importer"}})),
                 R"(\"candidates\":[])");
  expect_nothing(agent.call("resume_session", Value::object({{"workspacePath", here}, {"sessionId", session}})),
                 "belongs to run r-breakout");
  const Value output = Value::object({{"notesMarkdown", "I say it is fine."}});
  expect_nothing(agent.call("continue_workflow", Value::object({{"continueToken", token}})), "belongs to run");
  expect_nothing(agent.call("continue_workflow", Value::object({{"continueToken", token}, {"output", output}})),
                 "belongs to run");
  expect_nothing(
      agent.call("continue_workflow",
                 Value::object({{"continueToken", token}, {"intent", "rehydrate"}, {"workspacePath", here}})),
      "belongs to run");
  const Value chosen = Value::object({{"decision", decision}, {"options", Value::array({"approve"})}});
  expect_nothing(agent.call("continue_workflow", Value::object({{"continueToken", token}, {"answer", chosen}})),
                 "belongs to run");
  expect_nothing(agent.call("checkpoint_workflow", Value::object({{"checkpointToken", token}})), "belongs to run");
  expect_nothing(agent.request("resources/read", Value::object({{"uri", "signalbox://session/" + session}})),
                 "belongs to run");
  const Value reference = Value::object({{"type", "ref/resource"}, {"uri", "signalbox://session/{id}"}});
  const Value argument = Value::object({{"name", "id"}, {"value", "s-"}});
  const Answer ids = agent.request("completion/complete", Value::object({{"ref", reference}, {"argument", argument}}));
  EXPECT_THAT(ids.body, Not(HasSubstr(session)));
  expect_gate_is_open();
}

TEST_F(Doors, ToASessionThatARunDrivesFromAShell) {
  const auto [session, token] = session_of_a_run();
  for (const std::vector<std::string>& words : {std::vector<std::string>{"continue", token},
                                                {"continue", token, "--note", "Fine."},
                                                {"continue", token, "--rehydrate"},
                                                {"resume", session},
                                                {"resume", session, "--best"},
                                                {"fork", session},
                                                {"checkpoint", token}}) {
    std::vector<std::string> all{"session"};
    all.insert(all.end(), words.begin(), words.end());
    const ProgramResult ran = signalbox(all);
    EXPECT_NE(ran.code, 0) << words.front();
    EXPECT_THAT(ran.output + ran.errors, HasSubstr("belongs to run r-breakout")) << words.front();
    EXPECT_THAT(ran.errors, HasSubstr("signalbox session take-over")) << words.front();
  }
  EXPECT_THAT(signalbox({"session", "resume", "--json"}).output, Not(HasSubstr(session)));
  EXPECT_THAT(signalbox({"session", "show", session}).output, HasSubstr("driven by run r-breakout")) << "one may look";
  expect_gate_is_open();
}

// A token that only lets its holder in, as scripts and hooks have one, does not make its dialogs a person's.
TEST_F(Doors, WithADialogOfItsOwn) {
  const std::string plain = make_token(SB_PROGRAM, folder.path(), "script");
  Server server(SB_PROGRAM, folder.path());
  Session agent(server.port(), plain, kForms);
  ASSERT_TRUE(agent.is_open());
  const Value start = Value::object({{"workflowId", "gated"}, {"goal", "Mine"}, {"workspacePath", work()}});
  const Answer first = agent.call("start_workflow", start);
  const auto at = first.body.find("ct_");
  ASSERT_NE(at, std::string::npos) << first.body;
  const std::string token = first.body.substr(at, first.body.find('\\', at) - at);
  const Value output = Value::object({{"notesMarkdown", "I did it."}});
  const Answer waiting = agent.call("continue_workflow", Value::object({{"continueToken", token}, {"output", output}}));
  EXPECT_THAT(waiting.body, AllOf(HasSubstr("awaiting_decision"), Not(HasSubstr("elicitation/create")),
                                  HasSubstr("signalbox mcp install")));
  const Value question =
      Value::object({{"decision", "env"}, {"instruction", "Which?"}, {"options", Value::array({"staging", "live"})}});
  const Answer asked = agent.call("ask", Value::object({{"declaration", question}}));
  EXPECT_THAT(asked.body, AllOf(HasSubstr("awaiting"), Not(HasSubstr("elicitation/create"))));
}

// What install wrote for another client is that client's: it cannot be made again, or taken over by its name.
TEST_F(Doors, WithTheNameOfAnotherClient) {
  const std::string secret = users_client();
  EXPECT_NE(signalbox({"serve", "token", "zed"}).code, 0) << "the name is a client's";
  Server server(SB_PROGRAM, folder.path());
  Session users(server.port(), secret, kForms);
  ASSERT_TRUE(users.is_open());
  const std::string other = make_token(SB_PROGRAM, folder.path(), "zed-2");
  Client agent(server.port());
  Headers headers = users.headers();
  for (auto& [name, value] : headers) {
    if (name == "Authorization") value = "Bearer " + other;
  }
  const std::string body = R"({"jsonrpc":"2.0","id":9,"method":"tools/list"})";
  EXPECT_EQ(agent.ask("POST", "/mcp", headers, body).status, 404) << "its session is not the agent's";
}

}  // namespace
}  // namespace sb::server_tests
