// The built program on stdin and stdout, driven like a client with sessions and like a stateless one: a workflow
// starts, a person answers in the client's dialog or in the terminal, and the session continues.
#include "mcp_asking/asking_fixture.hpp"

namespace sb {
namespace {

using namespace test_program;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(McpAsking, InTheDialogOfAClientWithSessions) {
  for (const auto* version : {"2025-06-18", "2025-11-25"}) {
    Client client = this->client();
    client.open(version);
    const Value first = line_of(client.ask(client.call("start_workflow", start())));
    EXPECT_EQ(first["pending"].string_at("stepId"), "first");
    const Value question = client.ask(client.call("continue_workflow", deliver(first)));
    ASSERT_EQ(question.string_at("method"), "elicitation/create") << to_json(question);
    EXPECT_THAT(question["params"]["message"].as_string(), HasSubstr("I did it, and it works."));
    const Value next = line_of(client.ask(reply_to(question, kApprove)));
    EXPECT_EQ(next["pending"].string_at("stepId"), "second");
    EXPECT_THAT(shell("inbox list --all"), HasSubstr("driver (driver-client)"));
  }
}

TEST_F(McpAsking, InAResultOfAStatelessClient) {
  Client client = this->client();
  const auto stateless = [](Value request) {
    request.find("params")->set("_meta", json(R"({"io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientInfo":{"name":"driver","version":"1"},
        "io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}})"));
    return request;
  };
  const Value first = line_of(client.ask(stateless(client.call("start_workflow", start()))));
  const Value arguments = deliver(first);
  const Value asked = client.ask(stateless(client.call("continue_workflow", arguments)));
  ASSERT_EQ(asked["result"].string_at("resultType"), "input_required") << to_json(asked);
  Value again = stateless(client.call("continue_workflow", arguments));
  const std::string key = asked["result"]["inputRequests"].members().front().name;
  again.find("params")->set("inputResponses", Value::object({{key, json(kApprove)}}));
  again.find("params")->set("requestState", asked["result"]["requestState"]);
  EXPECT_EQ(line_of(client.ask(again))["pending"].string_at("stepId"), "second");
  // The state can be used once.
  Value used = stateless(client.call("continue_workflow", arguments));
  used.find("params")->set("inputResponses", again["params"]["inputResponses"]);
  used.find("params")->set("requestState", again["params"]["requestState"]);
  EXPECT_NE(client.ask(used).find("error"), nullptr);
}

// What an agent sees that starts `signalbox mcp` itself, with whatever it may have as a secret.
TEST_F(McpAsking, AClientThatWasNotSetUpIsNotAsked) {
  std::string plain = shell("serve token script 2>/dev/null");
  plain = plain.substr(plain.find("sbs_"), 56);
  const std::string revoked = installed_secret("gone");
  shell("mcp uninstall --client other --name gone");
  for (const std::string& secret : {std::string(), std::string("sbs_guess"), plain, revoked}) {
    Client client = with_secret(secret);
    client.open("2025-11-25");
    const Value first = line_of(client.ask(client.call("start_workflow", start())));
    const Value answer = client.ask(client.call("continue_workflow", deliver(first)));
    EXPECT_EQ(answer.find("method"), nullptr) << to_json(answer);
    EXPECT_EQ(line_of(answer).string_at("kind"), "awaiting_decision");
    EXPECT_THAT(to_json(answer), HasSubstr("signalbox mcp install --client other --name NAME"));
    const Value asked = client.ask(client.call(
        "ask", json(R"({"declaration": {"decision": "env", "instruction": "Which?", "options": ["a", "b"]}})")));
    EXPECT_EQ(line_of(asked).string_at("kind"), "awaiting");
    EXPECT_THAT(to_json(asked), HasSubstr("signalbox mcp install"));
  }
}

TEST_F(McpAsking, WhereTheUserAllowsItTheAnswerOfSuchAClientIsRelayed) {
  fs::create_directories(root_ / "home");
  std::ofstream(root_ / "home/config.yaml") << "confirmations: relay\n";
  Client client = with_secret("");
  client.open("2025-11-25");
  const Value first = line_of(client.ask(client.call("start_workflow", start())));
  const Value question = client.ask(client.call("continue_workflow", deliver(first)));
  ASSERT_EQ(question.string_at("method"), "elicitation/create") << to_json(question);
  EXPECT_EQ(line_of(client.ask(reply_to(question, kApprove)))["pending"].string_at("stepId"), "second");
  EXPECT_THAT(shell("inbox list --all --json"), HasSubstr(R"("resolved_by":"relayed")"));
}

TEST_F(McpAsking, UninstallingEndsDialogsOfARunningServer) {
  Client client = this->client();
  client.open("2025-11-25");
  const Value first = line_of(client.ask(client.call("start_workflow", start())));
  shell("mcp uninstall --client other --name driver-client");
  const Value answer = client.ask(client.call("continue_workflow", deliver(first)));
  EXPECT_EQ(line_of(answer).string_at("kind"), "awaiting_decision") << to_json(answer);
}

// Nothing that the server starts, and no one who lists processes, needs it.
TEST_F(McpAsking, TheSecretIsNotInTheServersEnvironmentOrArguments) {
  Client client = this->client();
  client.open("2025-11-25");
  for (const char* name : {"environ", "cmdline"}) {
    std::ifstream file("/proc/" + std::to_string(client.process()) + "/" + name, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_FALSE(text.empty());
    EXPECT_EQ(text.find(secret_), std::string::npos) << name;
  }
}

TEST_F(McpAsking, CancelledInTheDialogAndAnsweredInTheTerminal) {
  Value parked;
  {
    Client client = this->client();
    client.open("2025-11-25");
    const Value first = line_of(client.ask(client.call("start_workflow", start())));
    const Value question = client.ask(client.call("continue_workflow", deliver(first)));
    parked = line_of(client.ask(reply_to(question, R"({"action":"cancel"})")));
    EXPECT_EQ(parked.string_at("kind"), "awaiting_decision");
  }
  const std::string id = parked["decision"].string_at("id").value_or("none");
  EXPECT_THAT(shell("inbox list"), HasSubstr(id));
  // An answer given between two servers is used by the next call of any client.
  Client other = client();
  other.open("2025-03-26");
  const Value waiting = line_of(other.ask(other.call("continue_workflow", look(parked))));
  EXPECT_EQ(waiting.string_at("kind"), "awaiting_decision");
  shell("inbox answer " + id + " approve");
  const Value next = line_of(other.ask(other.call("continue_workflow", look(parked))));
  EXPECT_EQ(next["pending"].string_at("stepId"), "second") << to_json(next);
}

TEST_F(McpAsking, AnAnswerInTheTerminalEndsTheDialog) {
  Client client = this->client();
  client.open("2025-11-25");
  const Value first = line_of(client.ask(client.call("start_workflow", start())));
  const Value question = client.ask(client.call("continue_workflow", deliver(first)));
  ASSERT_EQ(question.string_at("method"), "elicitation/create");
  const std::string listed = shell("inbox list");
  const std::string id = listed.substr(0, listed.find(' '));
  EXPECT_THAT(shell("inbox answer " + id + " approve"), HasSubstr("approve"));
  EXPECT_EQ(line_of(client.receive())["pending"].string_at("stepId"), "second");
}

// The client shows the form a moment longer than the question is open.
TEST_F(McpAsking, ARejectionAfterAnApprovalElsewhereIsKeptAndReported) {
  Client client = this->client();
  client.open("2025-11-25");
  const Value first = line_of(client.ask(client.call("start_workflow", start())));
  const Value question = client.ask(client.call("continue_workflow", deliver(first)));
  const std::string listed = shell("inbox list");
  const std::string id = listed.substr(0, listed.find(' '));
  shell("inbox answer " + id + " approve");
  const Value second = line_of(client.receive());
  client.send(reply_to(question, R"({"action":"accept","content":{"choice":"reject"}})"));
  await_late(id);
  EXPECT_THAT(shell("inbox show " + id), HasSubstr("came late  reject, by driver (driver-client)"));
  const Value next = client.ask(client.call("continue_workflow", look(second)));
  EXPECT_THAT(to_json(next), HasSubstr(R"(After that driver (driver-client) answered \"reject\")"));
  const Value later = client.ask(client.call("continue_workflow", look(second)));
  EXPECT_THAT(to_json(later), Not(HasSubstr("After that"))) << "reported once";
}

TEST_F(McpAsking, AnAnswerThatCameSecondToAskIsReportedByTheNextCallOrTheHook) {
  for (const bool has_hook : {false, true}) {
    Client client = this->client();
    client.open("2025-11-25");
    const std::string name = has_hook ? "first" : "other";
    const auto asking = [&](const std::string& decision) {
      return client.call("ask", json(R"({"declaration": {"decision": ")" + decision +
                                     R"(", "instruction": "Which?", "options": ["aa", "bb"]}})"));
    };
    const Value question = client.ask(asking(name));
    shell("inbox answer " + name + " aa");
    EXPECT_EQ(to_json(line_of(client.receive())["options"]), R"(["aa"])");
    client.send(reply_to(question, R"({"action":"accept","content":{"choice":"bb"}})"));
    await_late(name);
    if (has_hook) {
      EXPECT_THAT(note_at_prompt(), AllOf(HasSubstr("After that driver"), HasSubstr("Tell the person.")));
      EXPECT_EQ(note_at_prompt(), "") << "reported once";
    }
    const Value open = client.ask(asking("next-" + name));
    const Value answer = client.ask(reply_to(open, R"({"action":"accept","content":{"choice":"bb"}})"));
    EXPECT_EQ(to_json(answer).contains("After that driver"), !has_hook) << to_json(answer);
    EXPECT_EQ(to_json(line_of(answer)["options"]), R"(["bb"])");
  }
}

TEST_F(McpAsking, TheGateOfALaterAttemptSaysSo) {
  Client client = this->client();
  client.open("2025-11-25");
  const Value first = line_of(client.ask(client.call("start_workflow", start())));
  const Value question = client.ask(client.call("continue_workflow", deliver(first)));
  EXPECT_THAT(to_json(question["params"]["message"]), Not(HasSubstr("Attempt")));
  const Value why = client.ask(reply_to(question, R"({"action":"accept","content":{"choice":"reject"}})"));
  const Value returned = line_of(client.ask(reply_to(why, R"({"action":"cancel"})")));
  Value again = deliver(returned);
  again.find("output")->set("notesMarkdown", "# Design\n\nThe parser is done. It reads everything.");
  const Value second = client.ask(client.call("continue_workflow", again));
  const std::string message = second["params"].string_at("message").value_or(to_json(second));
  EXPECT_THAT(message,
              HasSubstr("\nThe parser is done. It reads everything.\nAttempt 2. All of it: signalbox inbox show"));
}

TEST_F(McpAsking, AskPutsADecisionIntoTheInbox) {
  Client client = this->client();
  client.open("2025-03-26");
  const Value arguments =
      json(R"({"declaration":"decision: env\ninstruction: Which?\noptions: [staging, production]"})");
  const Value waiting = line_of(client.ask(client.call("ask", arguments)));
  EXPECT_EQ(waiting.string_at("kind"), "awaiting");
  shell("inbox answer " + waiting.string_at("decision").value_or("none") + " production");
  const Value outcome = line_of(client.ask(client.call("ask", arguments)));
  EXPECT_EQ(to_json(outcome["options"]), R"(["production"])");
  EXPECT_EQ(outcome.string_at("outcome"), "answered");
}

}  // namespace
}  // namespace sb
