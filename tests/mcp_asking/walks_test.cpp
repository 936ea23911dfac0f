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
    EXPECT_THAT(asked.text(), HasSubstr("it opens the form that continues"));
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
    asked.answer("Back to the previous options");
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

TEST_F(McpWalks, AnAnswerToAPromptThatWasAnsweredElsewhereIsReportedAndKept) {
  Client one = client();
  Client other = client();
  one.open("2025-11-25");
  other.open("2025-11-25");
  Asked first(one, kRelease, false);
  Asked second(other, kRelease, false);
  first.answer("main");
  second.answer("hotfix");
  EXPECT_THAT(message_of(second.params()),
              testing::StartsWith("Не принято: на предыдущий вопрос тем временем ответили в другом месте.\n"
                                  "В какие среды?"));
  EXPECT_THAT(shell("inbox show release"), HasSubstr(R"(answered second, does not count: {"choice":"hotfix"})"));
}

struct Era {
  const char* revision;  // of a client with sessions; null: stateless
};
constexpr Era kEras[] = {{"2025-06-18"}, {"2025-11-25"}, {nullptr}};

// What a person answers who batches long chains, takes the first of each group and leaves the rest to questions of
// their own. Of the first group nothing.
std::string answer_to(const Value& params, bool& has_said_none) {
  if (is_many(params)) {
    if (std::exchange(has_said_none, true)) return options_in(params).front().second;
    EXPECT_TRUE(offers(params, "None of these"));
    return {};
  }
  for (const char* text : {"Batch into groups", "Decide one by one", "Include in this scope", "Ship this scope"}) {
    if (offers(params, text)) return text;
  }
  ADD_FAILURE() << to_json(params);
  return {};
}

TEST_F(McpWalks, AChainOfFourSevenOrTwelveIsWalkedInEveryEraThoughEachServerIsKilled) {
  for (const Era era : kEras) {
    for (const int count : {4, 7, 12}) {
      SCOPED_TRACE(std::string(era.revision ? era.revision : "stateless") + " " + std::to_string(count));
      const std::string yaml = chain_of(count) + "instruction: Bots, " + (era.revision ? era.revision : "none") + "?\n";
      bool has_said_none = false;
      for (int prompts = 0; prompts < 40; ++prompts) {
        Client client = this->client();
        if (era.revision != nullptr) client.open(era.revision);
        Asked asked(client, yaml, era.revision == nullptr);
        ASSERT_FALSE(asked.params().is_null()) << asked.text();
        asked.answer(answer_to(asked.params(), has_said_none));
        if (!asked.params().is_null()) {
          client.kill();
          continue;
        }
        const Value values = asked.line()["values"];
        ASSERT_EQ(values.size(), static_cast<std::size_t>(count)) << to_json(asked.line());
        EXPECT_TRUE(has_said_none);
        for (int i = 0; i < count; ++i) {
          EXPECT_EQ(values.members().at(static_cast<std::size_t>(i)).name, "E" + std::to_string(i + 1))
              << "as declared";
        }
        break;
      }
    }
  }
}

TEST_F(McpWalks, PagesOfADecisionCanBeTurnedBack) {
  for (const Era era : kEras) {
    SCOPED_TRACE(era.revision ? era.revision : "stateless");
    Client client = this->client();
    if (era.revision != nullptr) client.open(era.revision);
    Asked asked(client,
                std::string("{decision: nine, instruction: 'Which one, ") + (era.revision ? era.revision : "none") +
                    "?', options: [a1, b2, c3, d4, e5, f6, g7, h8, i9]}",
                era.revision == nullptr);
    EXPECT_FALSE(offers(asked.params(), "Back to the previous options"));
    asked.answer("More options");
    EXPECT_TRUE(offers(asked.params(), "7) g7"));
    asked.answer("Back to the previous options");
    asked.answer("b2");
    EXPECT_EQ(to_json(asked.line()["options"]), R"(["b2"])");
  }
}

TEST_F(McpWalks, NoneIsAnEntryAnEmptyListOrNoCheckedBox) {
  for (const Era era : kEras) {
    for (const bool by_entry : {false, true}) {
      Client client = this->client();
      if (era.revision != nullptr) client.open(era.revision);
      Asked asked(client,
                  chain_of(4) + "instruction: In, " + (era.revision ? era.revision : "none") + (by_entry ? "!" : "?"),
                  era.revision == nullptr);
      asked.answer(by_entry ? "None of these" : "");
      ASSERT_FALSE(asked.params().is_null()) << asked.text();
      EXPECT_THAT(message_of(asked.params()), HasSubstr("What about those not chosen"));
    }
  }
}

TEST_F(McpWalks, AProblemIsReportedInTheFormsLanguage) {
  Client client = this->client();
  client.open("2025-11-25");
  Asked asked(client, kRelease, false);
  asked.reply(json(R"({"action":"accept","content":{}})"));
  EXPECT_THAT(message_of(asked.params()), testing::StartsWith("Не принято: ничего не выбрано."));
  asked.answer("main");
  asked.reply(json(R"({"action":"accept","content":{"choices":["prod"]}})"));
  EXPECT_THAT(message_of(asked.params()), testing::StartsWith("Не принято: choices: такого варианта нет."));
}

TEST_F(McpWalks, AFlowCancelledElsewhereEndsTheCallWithItsEvent) {
  Client client = this->client();
  client.open("2025-11-25");
  Asked asked(client, kRelease, false);
  ASSERT_FALSE(asked.params().is_null());
  shell("inbox cancel release");
  EXPECT_EQ(line_of(client.receive()).string_at("event"), "FLOW_CANCEL");
}

}  // namespace
}  // namespace sb
