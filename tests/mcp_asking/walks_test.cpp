// Flows and chains in the client's dialog, prompt by prompt, in both eras of the protocol.
#include "mcp_asking/asking_fixture.hpp"

namespace sb {
namespace {

using namespace test_program;
using testing::HasSubstr;

class McpWalks : public McpAsking {};

constexpr const char* kRelease = R"(
flow: release
steps:
  - {key: branch, instruction: "Какую ветку выпускаем?", options: [main, hotfix]}
  - {key: env, instruction: "В какие среды?", select: many, options: [staging, production]}
)";

std::string chain_of(int count) {
  std::string yaml = "chain: bots\nskill: roadmap\nnumber: 3\nrelation: independent\noptions:\n";
  for (int i = 1; i <= count; ++i) {
    const std::string key = std::to_string(i);
    yaml += "  - {key: E" + key + ", label: \"Bot " + key +
            "\", eli10: \"It answers.\", recommend: {choice: include, "
            "reason: often asked for}" +
            (i == 2 ? ", requires: [E1]" : "") + "}\n";
  }
  return yaml;
}

TEST_F(McpWalks, AFlowIsWalkedToItsConfirmationInBothEras) {
  for (const bool is_stateless : {false, true}) {
    Client client = this->client();
    if (!is_stateless) client.open("2025-11-25");
    Asked asked(client, is_stateless ? std::string(kRelease) + "confirm: always\n" : kRelease, is_stateless);
    EXPECT_THAT(message_of(asked.params()), HasSubstr("Какую ветку выпускаем?"));
    EXPECT_THAT(to_json(asked.params()), HasSubstr("branch"));
    asked.answer("hotfix");
    asked.answer("staging+production");
    EXPECT_THAT(message_of(asked.params()), testing::StartsWith("Summary: branch: hotfix; env: staging, production\n"));
    asked.answer("Edit specific step");
    asked.answer("branch");
    asked.answer("main");
    asked.answer("Restart");
    asked.answer("main");
    asked.answer("staging");
    asked.answer("Confirm");
    EXPECT_EQ(to_json(asked.line()["values"]), R"({"branch":"main","env":["staging"]})");
    EXPECT_EQ(asked.line().string_at("channel"), "elicitation");
  }
}

TEST_F(McpWalks, AChainIsWalkedWithHoldReviseAndWaive) {
  for (const bool is_stateless : {false, true}) {
    Client client = this->client();
    if (!is_stateless) client.open("2025-11-25");
    Asked asked(client, chain_of(5) + (is_stateless ? "instruction: Which bots?\n" : ""), is_stateless);
    EXPECT_THAT(message_of(asked.params()), testing::StartsWith("D3.1 — What about Bot 1?\n"));
    asked.answer("Cut");
    EXPECT_THAT(message_of(asked.params()), HasSubstr("Needs E1 (Bot 1), which you cut."));
    asked.answer("Hold");
    EXPECT_TRUE(asked.params().is_null());
    EXPECT_EQ(asked.line().string_at("kind"), "awaiting");
    EXPECT_THAT(asked.text(), HasSubstr("On hold at D3.2"));
    asked.call_again();
    asked.answer("Ask about E4");
    EXPECT_THAT(message_of(asked.params()), testing::StartsWith("D3.4"));
    asked.answer("Defer");
    for (const char* label : {"D3.2", "D3.3", "D3.5"}) {
      EXPECT_THAT(message_of(asked.params()), testing::StartsWith(label));
      asked.answer("Include");
    }
    asked.answer("Leave it broken on purpose");
    asked.answer("Revise one option");
    asked.answer("More options");
    asked.answer("Back to the options before");
    asked.answer("Bot 3");
    EXPECT_THAT(message_of(asked.params()), testing::StartsWith("D3.revise-3"));
    asked.answer("Cut");
    asked.answer("Ship");
    EXPECT_EQ(to_json(asked.line()["values"]), R"({"E1":"cut","E2":"include","E3":"cut","E4":"defer","E5":"include"})");
  }
}

TEST_F(McpWalks, AWalkSurvivesTheServerAndContinuesInTheInbox) {
  {
    Client client = this->client();
    client.open("2025-11-25");
    Asked asked(client, kRelease, false);
    asked.answer("hotfix");
  }
  Client client = this->client();
  Asked asked(client, kRelease, true);
  EXPECT_THAT(message_of(asked.params()), HasSubstr("В какие среды?"));
  shell("inbox answer release branch=main,env=staging");
  asked.answer("production");
  EXPECT_EQ(to_json(asked.line()["values"]), R"({"branch":"main","env":["staging"]})");
  EXPECT_THAT(asked.text(), HasSubstr("does not count"));
  EXPECT_THAT(shell("inbox show release"), HasSubstr("came late"));
}

}  // namespace
}  // namespace sb
