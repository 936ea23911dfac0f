// What the agent may say after an answer, as the built hook checks it when the agent stops.
#include <gmock/gmock.h>

#include "base/document/document.hpp"
#include "dialog_walks/dialog.hpp"

namespace sb {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kNarration = "I'll switch to the release branch, then run the tests.";
constexpr const char* kBlock = "Which environment should get it?\n\n1) staging\n2) production";

class Silence : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(dialog.run({"signalbox", "hook", "install", "--project", "--stop"}).code, 0);
    dialog.write("one.yaml", "decision: branch\ninstruction: Which branch?\noptions: [main, release]\n");
    std::string chain = "chain: bots\nskill: roadmap\nnumber: 3\nrelation: independent\noptions:\n";
    for (const char* key : {"E1", "E2", "E3", "E4", "E5"}) {
      chain += std::string("  - {key: ") + key + ", label: \"Bot " + key[1] +
               "\", eli10: \"It answers.\", recommend: {choice: include, reason: often asked for}}\n";
    }
    dialog.write("chain.yaml", chain);
  }
  std::string stop(const std::string& message, const std::string& prompt = "p-1") const {
    Value event = dialog.event("Stop");
    event.set("prompt_id", prompt);
    event.set("stop_hook_active", false);
    event.set("last_assistant_message", message);
    return dialog.fire(event);
  }
  // An AskUserQuestion of the agent's own.
  void ask_unplanned(const Value& given) const {
    const Value question = parse_json(R"({"question":"Which color?","header":"Color","multiSelect":false,
                                          "options":[{"label":"Red"},{"label":"Blue"}]})")
                               .value();
    Value after = dialog.event("PostToolUse");
    after.set("tool_name", "AskUserQuestion");
    after.set("tool_input", Value::object({{"questions", Value(Value::Array{question})}}));
    after.set("tool_response", Value::object({{"answers", Value::object({{"Which color?", given}})}}));
    EXPECT_EQ(dialog.fire(after), "");
  }
  Dialog dialog;
};

TEST_F(Silence, BeginsWithAnAnswerAndEndsWithTheNextMessage) {
  const std::string narration = "Перехожу на релизную ветку feat/release-v0.2.9, затем подготовлю версию 0.2.9...";
  EXPECT_EQ(stop(narration), "");  // nothing was asked in this turn
  dialog.begin("one.yaml");
  dialog.answer("release");
  EXPECT_THAT(stop(narration), AllOf(HasSubstr(R"("decision":"block")"), HasSubstr("INT030")));
  EXPECT_THAT(stop(kNarration), HasSubstr("block"));
  EXPECT_EQ(stop("v0.2.9 3f2a1c0"), "");
  EXPECT_EQ(stop(narration, "p-2"), "");
}

TEST_F(Silence, AllowsTheNextQuestion) {
  for (const char* block : {kBlock, "Куда выкатить?\n\n1) на стенд\n2) в бой"}) {
    dialog.begin("one.yaml");
    dialog.answer("release");
    EXPECT_EQ(stop(block), "") << block;
  }
  dialog.write("two.yaml", "decision: tag\ninstruction: Which tag?\noptions: [old, new]\n");
  dialog.begin("two.yaml");
  dialog.answer("new");
  EXPECT_THAT(stop(std::string("Done so far.\n\n") + kBlock), HasSubstr("INT001"));
  // Dropping an option because of a cap blocks under every profile.
  EXPECT_THAT(stop("Conductor caps at 4 options. Trimming: E4 (codegen) moves to TODOS.md."), HasSubstr("GS009"));
}

TEST_F(Silence, DoesNotCoverTheDiscussionOfAHold) {
  dialog.begin("chain.yaml");
  dialog.answer("Include in this scope (recommended)");
  EXPECT_THAT(dialog.answer("Hold \u2014 stop the chain, discuss before deciding"), HasSubstr("discuss E2"));
  EXPECT_EQ(stop("What worries you about it?"), "");
  EXPECT_EQ(stop("I think Bot 2 duplicates Bot 1."), "");
}

TEST_F(Silence, FollowsAChoiceThatWasTyped) {
  dialog.begin("one.yaml");
  dialog.answer("2");
  EXPECT_EQ(dialog.decision().string_at("outcome"), "answered");
  EXPECT_THAT(stop(kNarration), HasSubstr("INT030"));
}

TEST_F(Silence, DoesNotFollowATextThatChoosesNothing) {
  ask_unplanned("what about green?");
  EXPECT_EQ(stop(kNarration), "");
}

TEST_F(Silence, FollowsAChoiceThatWasNotPlanned) {
  ask_unplanned("Blue");
  EXPECT_THAT(stop(kNarration), HasSubstr("INT030"));
  EXPECT_EQ(stop(kBlock), "");
}

TEST_F(Silence, FollowsAnAnswerInTheClientsForm) {
  dialog.begin("one.yaml");
  const auto asked = [&] {
    const Value decision = dialog.decision();
    Value after = dialog.event("PostToolUse");
    after.set("tool_name", "mcp__signalbox__ask");
    after.set("tool_input", Value::object());
    after.set("tool_response", Value(Value::Array{Value::object({{"type", "text"}, {"text", "Noted."}}),
                                                  Value::object({{"type", "text"}, {"text", to_json(decision)}})}));
    EXPECT_EQ(dialog.fire(after), "");
  };
  asked();  // still awaiting
  dialog.run({"signalbox", "inbox", "cancel", dialog.decision().string_at("decision").value_or("")});
  asked();
  EXPECT_EQ(stop(kNarration), "");
  dialog.begin("one.yaml");
  ASSERT_EQ(
      dialog.run({"signalbox", "inbox", "answer", dialog.decision().string_at("decision").value_or(""), "main"}).code,
      0);
  asked();
  EXPECT_THAT(stop(kNarration), HasSubstr("INT030"));
}

}  // namespace
}  // namespace sb
