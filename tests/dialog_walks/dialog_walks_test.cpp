// Flows and chains in the dialogs of Claude Code and Codex, to the end: the built `signalbox` and `signalbox-hook`,
// with the events that these programs send.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "dialog_walks/dialog.hpp"

namespace sb {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr const char* kRelease = R"(
flow: release
steps:
  - {key: branch, instruction: "Which branch should be released?", options: [main, release, hotfix]}
  - {key: env, instruction: "Which environments should get it?", select: many, options: [staging, production, canary]}
  - {key: when, instruction: "When?", options: [now, tonight]}
)";

std::string chain_of(int count, const std::string& extra = "") {
  std::string yaml = "chain: integrations\nskill: roadmap\nnumber: 3\nrelation: independent\noptions:\n";
  for (int i = 1; i <= count; ++i) {
    yaml += "  - {key: E" + std::to_string(i) + ", label: \"Bot " + std::to_string(i) +
            "\", eli10: \"It answers.\", recommend: {choice: include, reason: often asked for}" +
            (i == 2 ? extra : "") + "}\n";
  }
  return yaml;
}

const std::string kInclude = "Include in this scope (recommended)";
const std::string kDefer = "Defer to follow-up";
const std::string kCut = "Cut entirely";
const std::string kHold = "Hold — stop the chain, discuss before deciding";

class DialogWalk : public testing::Test {
 protected:
  explicit DialogWalk(Dialog::Client client = Dialog::Client::kClaudeCode) : dialog(client) {}
  void SetUp() override { dialog.write("release.yaml", kRelease); }
  void begin_chain(int count, const std::string& extra = "") {
    dialog.write("chain.yaml", chain_of(count, extra));
    dialog.begin("chain.yaml");
  }
  Dialog dialog;
};

TEST_F(DialogWalk, AFlowIsWalkedToItsConfirmation) {
  dialog.begin("release.yaml");
  EXPECT_THAT(dialog.question(), HasSubstr("Which branch should be released?"));
  EXPECT_THAT(dialog.answer("release"), AllOf(HasSubstr("2 of 3"), HasSubstr("AskUserQuestion")));
  EXPECT_THAT(dialog.question(), HasSubstr("Which environments should get it?"));
  dialog.answer("staging, canary");
  EXPECT_THAT(dialog.question(), HasSubstr("When?"));
  dialog.answer("tonight");
  EXPECT_THAT(dialog.question(), AllOf(HasSubstr("Summary:"), HasSubstr("- branch: release"),
                                       HasSubstr("- env: staging, canary"), HasSubstr("- when: tonight")));
  EXPECT_THAT(dialog.labels(), ElementsAre("Confirm", "Restart", "Edit specific step"));
  EXPECT_TRUE(dialog.decision().string_at("state") == "open");
  EXPECT_THAT(dialog.answer("Confirm"), HasSubstr("is answered"));
  EXPECT_TRUE(dialog.call().is_null());
  const Value decision = dialog.decision();
  EXPECT_EQ(to_json(decision["values"]), R"({"branch":"release","env":["staging","canary"],"when":"tonight"})");
  EXPECT_EQ(decision.string_at("channel"), "hook");
  EXPECT_EQ(decision.string_at("resolved_by"), "human");
}

TEST_F(DialogWalk, EditAndRestartAskAgain) {
  dialog.begin("release.yaml");
  for (const char* label : {"release", "staging", "now"}) dialog.answer(label);
  dialog.answer("Edit specific step");
  EXPECT_THAT(dialog.labels(), ElementsAre("branch", "env", "when"));
  dialog.answer("env");
  EXPECT_THAT(dialog.question(), HasSubstr("Which environments"));
  dialog.answer("production");
  EXPECT_THAT(dialog.question(), AllOf(HasSubstr("- env: production"), HasSubstr("- branch: release")));
  dialog.answer("Restart");
  EXPECT_THAT(dialog.question(), HasSubstr("Which branch"));
  for (const char* label : {"main", "canary", "now", "Confirm"}) dialog.answer(label);
  EXPECT_EQ(to_json(dialog.decision()["values"]), R"({"branch":"main","env":["canary"],"when":"now"})");
}

TEST_F(DialogWalk, FreeTextKeepsTheQuestionOpenAndANameCounts) {
  dialog.begin("release.yaml");
  EXPECT_THAT(dialog.answer("what is on hotfix?"), AllOf(HasSubstr("still open"), HasSubstr("ask the same question")));
  EXPECT_THAT(dialog.question(), HasSubstr("Which branch"));
  // Looks like a choice and is none: asked again.
  EXPECT_THAT(dialog.answer("option 2"), HasSubstr("is not an answer"));
  dialog.answer("3");
  dialog.answer("staging");
  EXPECT_THAT(dialog.answer("abort"), HasSubstr("exactly FLOW_CANCEL"));
  EXPECT_EQ(dialog.decision().string_at("outcome"), "cancelled");
}

TEST_F(DialogWalk, FourInvalidInputsSuspendTheFlow) {
  dialog.begin("release.yaml");
  for (int i = 0; i < 3; ++i) EXPECT_THAT(dialog.answer("option 2"), HasSubstr("is not an answer"));
  EXPECT_THAT(dialog.answer("option 2"), HasSubstr("exactly STEP_ABORT"));
  EXPECT_TRUE(dialog.call().is_null());
  const std::string id = dialog.decision().string_at("decision").value_or("");
  const auto next = dialog.run({"signalbox", "render", "--next", id, "--host", "ask_user_question"});
  EXPECT_THAT(next.output, HasSubstr("Which branch"));
}

TEST_F(DialogWalk, ARepeatedEventOrAKilledHookLosesNothing) {
  dialog.begin("release.yaml");
  const Value first = dialog.call();
  dialog.answer("release");
  const Value second = dialog.call();
  // The hook wrote the answer but its output was lost: the same event again hands over the same question.
  EXPECT_EQ(to_json(Dialog::call_in(
                parse_json(dialog.repeat()).value()["hookSpecificOutput"].string_at("additionalContext").value_or(""))),
            to_json(second));
  // The agent asks the answered question again: the person is not bothered.
  Value again = dialog.event("PreToolUse");
  again.set("tool_name", "AskUserQuestion");
  again.set("tool_input", first);
  const std::string refused = dialog.fire(again);
  EXPECT_THAT(refused, AllOf(HasSubstr("deny"), HasSubstr("answered already"), HasSubstr("Which environments")));
  for (const char* label : {"staging", "now", "Confirm"}) dialog.answer(label);
  EXPECT_EQ(to_json(dialog.decision()["values"]), R"({"branch":"release","env":["staging"],"when":"now"})");
  EXPECT_THAT(dialog.repeat(), HasSubstr("is answered"));
}

TEST_F(DialogWalk, TwoFlowsAtTheSameTimeDoNotMix) {
  dialog.write("other.yaml",
               "flow: other\nsteps:\n  - {key: size, instruction: \"Which size?\", options: [small, large]}\n"
               "  - {key: color, instruction: \"Which color?\", options: [red, blue]}\n");
  dialog.begin("release.yaml");
  const Value release = dialog.call();
  dialog.begin("other.yaml");
  dialog.answer("large");
  const Value other = dialog.call();
  dialog.set_call(release);
  dialog.answer("main");
  EXPECT_THAT(dialog.question(), HasSubstr("Which environments"));
  dialog.set_call(other);
  EXPECT_THAT(dialog.question(), HasSubstr("Which color?"));
  dialog.answer("blue");
  EXPECT_THAT(dialog.answer("Confirm"), HasSubstr(R"({"size":"large","color":"blue"})"));
}

TEST_F(DialogWalk, AnAnswerElsewhereEndsTheDialog) {
  dialog.begin("release.yaml");
  dialog.answer("release");
  const std::string id = dialog.decision().string_at("decision").value_or("");
  const auto elsewhere = dialog.run({"signalbox", "inbox", "answer", id, "branch=main,env=staging,when=now"});
  ASSERT_EQ(elsewhere.code, 0) << elsewhere.errors;
  Value open = dialog.event("PreToolUse");
  open.set("tool_name", "AskUserQuestion");
  open.set("tool_input", dialog.call());
  EXPECT_THAT(dialog.fire(open), AllOf(HasSubstr("deny"), HasSubstr(R"(\"branch\":\"main\")")));
  Value after = dialog.event("PostToolUse");
  after.set("tool_name", "AskUserQuestion");
  after.set("tool_input", dialog.call());
  Value answers = Value::object();
  answers.set(dialog.question(), "canary");
  after.set("tool_response", Value::object({{"answers", answers}}));
  EXPECT_THAT(dialog.fire(after), AllOf(HasSubstr("does not count"), HasSubstr("Tell the person")));
  EXPECT_THAT(dialog.run({"signalbox", "inbox", "show", id}).output,
              AllOf(HasSubstr("came late"), HasSubstr("canary")));
}

TEST_F(DialogWalk, AChainOfFiveIsAskedOneByOne) {
  begin_chain(5);
  for (int i = 1; i <= 5; ++i) {
    EXPECT_THAT(dialog.question(), HasSubstr("D3." + std::to_string(i))) << i;
    EXPECT_THAT(dialog.labels(), SizeIs(4));
    dialog.answer(i == 3 ? kDefer : i == 4 ? kCut : kInclude);
  }
  EXPECT_THAT(dialog.question(), AllOf(HasSubstr("D3.final"), HasSubstr("E1 (Bot 1), E2 (Bot 2), E5 (Bot 5)")));
  dialog.answer("Revise one option");
  EXPECT_THAT(dialog.labels(), SizeIs(4));
  dialog.answer("More options");
  EXPECT_THAT(dialog.question(), HasSubstr("type back"));
  dialog.answer("back");
  dialog.answer("Bot 3 (recommended)");
  EXPECT_THAT(dialog.question(), HasSubstr("D3.revise-3"));
  dialog.answer(kInclude);
  EXPECT_THAT(dialog.answer("Ship this scope (recommended)"), HasSubstr("is answered"));
  EXPECT_EQ(to_json(dialog.decision()["values"]),
            R"({"E1":"include","E2":"include","E3":"include","E4":"cut","E5":"include"})");
}

// A full dialog has no row for it.
TEST_F(DialogWalk, NoneOfAGroupOfFourIsTyped) {
  begin_chain(4);
  EXPECT_THAT(dialog.labels(), SizeIs(4));
  EXPECT_THAT(dialog.answer("None of these"), Not(HasSubstr("on hold")));
  EXPECT_THAT(dialog.question(), HasSubstr("What about those not chosen"));
}

TEST_F(DialogWalk, HoldStopsUntilThePersonContinues) {
  begin_chain(5);
  dialog.answer(kInclude);
  const Value second = dialog.call();
  EXPECT_THAT(dialog.answer(kHold), AllOf(HasSubstr("on hold at D3.2"), Not(HasSubstr("{\"questions\""))));
  EXPECT_TRUE(dialog.call().is_null());
  // Nothing is queued behind it: neither the held question nor a later one can be asked by the agent itself.
  Value again = dialog.event("PreToolUse");
  again.set("tool_name", "AskUserQuestion");
  again.set("tool_input", second);
  EXPECT_THAT(dialog.fire(again), AllOf(HasSubstr("deny"), HasSubstr("on hold")));
  const std::string id = dialog.decision().string_at("decision").value_or("");
  EXPECT_EQ(dialog.run({"signalbox", "render", "--next", id, "--host", "ask_user_question"}).code, 1);
  EXPECT_EQ(dialog.say("what would it cost?"), "");
  EXPECT_THAT(dialog.say("continue"), HasSubstr("D3.2"));
  dialog.answer(kInclude);
  // A text holds the chain too; naming an option asks that one.
  EXPECT_THAT(dialog.answer("Is Bot 3 not the same as Bot 1?"), HasSubstr("on hold at D3.3"));
  EXPECT_THAT(dialog.say("E5"), HasSubstr("D3.5"));
  dialog.answer(kDefer);
  EXPECT_THAT(dialog.question(), HasSubstr("D3.3"));
  dialog.answer(kHold);
  EXPECT_THAT(dialog.say("reset"), HasSubstr("D3.1"));
  for (int i = 0; i < 5; ++i) dialog.answer(kInclude);
  EXPECT_THAT(dialog.answer("Ship this scope (recommended)"), HasSubstr("is answered"));
}

TEST_F(DialogWalk, ABrokenNeedIsWaivedInTheDialog) {
  begin_chain(5, ", requires: [E1]");
  dialog.answer(kCut);
  EXPECT_THAT(dialog.question(), HasSubstr("Needs E1 (Bot 1), which you cut."));
  for (int i = 2; i <= 5; ++i) dialog.answer(kInclude);
  EXPECT_THAT(dialog.question(), HasSubstr("E2"));
  dialog.answer("Leave it broken on purpose");
  EXPECT_THAT(dialog.answer("Ship this scope (recommended)"), HasSubstr(R"([["E2","E1"]])"));
  EXPECT_EQ(to_json(dialog.decision()["waived"]), R"([["E2","E1"]])");
}

TEST_F(DialogWalk, TwelveOptionsAreSplitAfterTheMetaQuestion) {
  begin_chain(12);
  EXPECT_THAT(dialog.question(), HasSubstr("D3.0"));
  dialog.answer(dialog.labels().at(2));  // in groups
  int prompts = 0;
  std::string seen;
  while (!dialog.call().is_null() && dialog.question().find("D3.final") == std::string::npos && ++prompts < 30) {
    for (const std::string& label : dialog.labels()) seen += label + "\n";
    const bool is_many = dialog.call()["questions"].items()[0]["multiSelect"] == Value(true);
    dialog.answer(is_many ? dialog.labels().front() + ", " + dialog.labels().at(1) : std::string("Defer all of them"));
  }
  for (int i = 1; i <= 12; ++i) EXPECT_THAT(seen, HasSubstr("Bot " + std::to_string(i))) << i;
  dialog.answer("Ship this scope (recommended)");
  const Value values = dialog.decision()["values"];
  EXPECT_EQ(values.size(), 12U);
  EXPECT_EQ(values.string_at("E2"), "include");
  EXPECT_EQ(values.string_at("E3"), "defer");
}

TEST_F(DialogWalk, SevenOptionsOfADecisionComeInPages) {
  dialog.write("seven.yaml",
               "decision: which\ninstruction: Which ones?\nselect: many\noptions: [a1, b2, c3, d4, e5, f6, g7]\n");
  dialog.begin("seven.yaml");
  EXPECT_THAT(dialog.labels(), ElementsAre("a1", "b2", "c3", "None of these"));
  EXPECT_THAT(dialog.answer("a1, None of these"), HasSubstr("is not an answer"));
  EXPECT_THAT(dialog.answer("a1, c3"), AllOf(HasSubstr("page 2 of 3"), HasSubstr("--page 2")));
  dialog.answer("None of these");
  EXPECT_THAT(dialog.answer("g7"), HasSubstr("a1, c3, g7"));
  EXPECT_EQ(to_json(dialog.decision()["options"]), R"(["a1","c3","g7"])");
}

TEST_F(DialogWalk, RenderNextWalksWithoutHooks) {
  dialog.begin("release.yaml");
  const std::string id = dialog.decision().string_at("decision").value_or("");
  const auto next = [&](std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"signalbox", "render", "--next", id, "--host", "request_user_input"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return dialog.run(arguments);
  };
  EXPECT_THAT(next().output, HasSubstr("release__branch"));
  // Only where the user lets an agent pass answers on.
  const std::string answer = R"({"answers":{"release__branch":{"answers":["main"]}}})";
  EXPECT_THAT(next({"--answer", answer}).errors, HasSubstr("may not relay"));
  dialog.write("../sb/config.yaml", "confirmations: relay\n");
  EXPECT_THAT(next({"--answer", answer}).output, HasSubstr("Which environments"));
  EXPECT_THAT(next().output, HasSubstr("Which environments"));
}

TEST_F(DialogWalk, AChainOfSevenBeginsWithHowToAskIt) {
  begin_chain(7);
  EXPECT_THAT(dialog.question(), HasSubstr("D3.0"));
  dialog.answer("Proceed with the full split (recommended)");
  for (int i = 1; i <= 7; ++i) {
    EXPECT_THAT(dialog.question(), HasSubstr("D3." + std::to_string(i) + " ")) << i;
    dialog.answer(i == 6 ? kCut : kInclude);
  }
  EXPECT_THAT(dialog.question(), HasSubstr("D3.final"));
  EXPECT_THAT(dialog.answer("Ship this scope (recommended)"), HasSubstr("is answered"));
  const Value values = dialog.decision()["values"];
  EXPECT_EQ(values.size(), 7U);
  EXPECT_EQ(values.string_at("E6"), "cut");
  EXPECT_EQ(values.string_at("E7"), "include");
}

// The hook is killed at many moments while it records an answer: each time it was recorded whole or not at all.
TEST_F(DialogWalk, AHookKilledInTheMiddleLosesNothing) {
  int asked_again = 0;
  for (std::int64_t after_us = 0; after_us <= 12'000; after_us += 1'500) {
    SCOPED_TRACE(after_us);
    Dialog killed;
    killed.write("release.yaml", kRelease);
    killed.begin("release.yaml");
    for (const char* given : {"release", "staging, canary", "tonight", "Confirm"}) {
      if (!killed.is_asked_again_after_kill(given, after_us)) continue;
      ++asked_again;
      killed.answer(given);
    }
    EXPECT_TRUE(killed.call().is_null());
    EXPECT_EQ(to_json(killed.decision()["values"]),
              R"({"branch":"release","env":["staging","canary"],"when":"tonight"})");
    EXPECT_EQ(killed.run({"signalbox", "store", "verify"}).code, 0);
  }
  EXPECT_GT(asked_again, 0);  // some were killed before they recorded it
}

TEST_F(DialogWalk, AOneCharacterIdCounts) {
  dialog.write("ids.yaml",
               "decision: plan\ninstruction: Which plan?\noptions: [{id: x, label: Extend}, {id: y, label: Yield}]\n");
  dialog.begin("ids.yaml");
  dialog.answer("y");
  EXPECT_EQ(to_json(dialog.decision()["options"]), R"(["y"])");
  // A number is the one shown, also where an id is a number.
  dialog.write("numbers.yaml",
               "decision: size\ninstruction: Which size?\noptions: [{id: '2', label: Small}, {id: '1', label: Big}]\n");
  dialog.begin("numbers.yaml");
  dialog.answer("1");
  EXPECT_THAT(dialog.run({"signalbox", "inbox", "list", "--all"}).output, HasSubstr("size"));
  EXPECT_THAT(dialog.run({"signalbox", "inbox", "list", "--all", "--json"}).output, HasSubstr(R"("options":["2"])"));
}

TEST_F(DialogWalk, AHoldEndsWithAnyWordForIt) {
  begin_chain(5);
  for (const char* word :
       {"Continue", "\u041f\u0440\u043e\u0434\u043e\u043b\u0436\u0438\u0442\u044c", "weiter", "CONTINUAR"}) {
    EXPECT_THAT(dialog.answer(kHold), HasSubstr("on hold at D3.1")) << word;
    EXPECT_THAT(dialog.say(word), HasSubstr("D3.1")) << word;
  }
  dialog.answer(kHold);
  EXPECT_THAT(dialog.say("e4"), HasSubstr("D3.4"));
  dialog.answer(kHold);
  EXPECT_EQ(dialog.say("continue with the tests"), "");
  EXPECT_THAT(dialog.say(" Abort\n"), HasSubstr("exactly FLOW_CANCEL"));
  EXPECT_EQ(dialog.decision().string_at("outcome"), "cancelled");
}

TEST_F(DialogWalk, AHeldChainIsAbortedWithoutAHook) {
  begin_chain(5);
  dialog.answer(kHold);
  const std::string id = dialog.decision().string_at("decision").value_or("");
  const auto ended =
      dialog.run({"signalbox", "render", "--next", id, "--host", "ask_user_question", "--resume", "abort"});
  EXPECT_EQ(ended.code, 1) << ended.errors;
  EXPECT_THAT(ended.output, HasSubstr(R"("outcome":"cancelled")"));
}

class CodexWalk : public DialogWalk {
 protected:
  CodexWalk() : DialogWalk(Dialog::Client::kCodex) {}
};

TEST_F(CodexWalk, AFlowWithAnEditIsWalkedToItsConfirmation) {
  dialog.begin("release.yaml");
  EXPECT_THAT(dialog.labels(), ElementsAre("main", "release", "hotfix"));
  EXPECT_THAT(dialog.answer("release"), AllOf(HasSubstr("2 of 3"), HasSubstr("Call request_user_input")));
  EXPECT_THAT(dialog.call()["questions"].items(), SizeIs(3));
  dialog.answer("staging, canary");
  dialog.answer("tonight");
  EXPECT_THAT(dialog.question(), AllOf(HasSubstr("- env: staging, canary"), HasSubstr("- when: tonight")));
  dialog.answer("Edit specific step");
  dialog.answer("env");
  dialog.answer("production");
  EXPECT_THAT(dialog.question(), HasSubstr("- env: production"));
  EXPECT_THAT(dialog.answer("Confirm"), HasSubstr("is answered"));
  const Value decision = dialog.decision();
  EXPECT_EQ(to_json(decision["values"]), R"({"branch":"release","env":["production"],"when":"tonight"})");
  EXPECT_EQ(decision.string_at("principal"), "codex");
  EXPECT_EQ(decision.string_at("resolved_by"), "human");
}

TEST_F(CodexWalk, AChainOfSevenIsWalkedToItsEnd) {
  begin_chain(7);
  EXPECT_THAT(dialog.question(), HasSubstr("Ask 7 questions, one per option?"));
  dialog.answer("Proceed with the full split (recommended)");
  for (int i = 1; i <= 7; ++i) {
    EXPECT_THAT(dialog.question(), HasSubstr("Bot " + std::to_string(i))) << i;
    EXPECT_THAT(dialog.labels(), SizeIs(3));  // as many as fit: what is not included is asked in a second question
    if (i == 6) dialog.answer(dialog.labels().at(1));
    dialog.answer(i == 6 ? kCut : kInclude);
  }
  EXPECT_THAT(dialog.answer("Ship this scope (recommended)"), HasSubstr("is answered"));
  const Value values = dialog.decision()["values"];
  EXPECT_EQ(values.size(), 7U);
  EXPECT_EQ(values.string_at("E6"), "cut");
  EXPECT_EQ(values.string_at("E7"), "include");
}

TEST_F(CodexWalk, ADroppedOptionIsDenied) {
  dialog.begin("release.yaml");
  Value call = dialog.call();
  call.find("questions")->items()[0].find("options")->items().pop_back();
  EXPECT_THAT(dialog.fire(dialog.before(call)), AllOf(HasSubstr("deny"), HasSubstr(R"(missing: \"hotfix\")")));
  // One of the questions that together ask a multi-select one.
  dialog.answer("main");
  call = dialog.call();
  call.find("questions")->items().pop_back();
  EXPECT_THAT(dialog.fire(dialog.before(call)), AllOf(HasSubstr("deny"), HasSubstr("missing: the question")));
}

TEST_F(CodexWalk, TypedTextKeepsTheQuestionOpenAndANameCounts) {
  dialog.begin("release.yaml");
  EXPECT_THAT(dialog.answer("what is on hotfix?"), AllOf(HasSubstr("still open"), HasSubstr("ask the same question")));
  EXPECT_THAT(dialog.run({"signalbox", "inbox", "show", dialog.decision().string_at("decision").value_or("")}).output,
              HasSubstr("what is on hotfix?"));
  dialog.answer("2");
  EXPECT_THAT(dialog.question(), HasSubstr("Which environments"));
}

TEST_F(CodexWalk, AHeldChainContinuesInItsOwnDialog) {
  begin_chain(5);
  dialog.answer(dialog.labels().back());
  EXPECT_TRUE(dialog.call().is_null());
  EXPECT_THAT(dialog.say("continue"), HasSubstr("Call request_user_input"));
  EXPECT_THAT(dialog.labels(), SizeIs(3));
}

TEST_F(CodexWalk, AQuestionForAnotherToolIsDenied) {
  const auto rendered = dialog.run({"signalbox", "render", "--def", "release.yaml", "--host", "ask_user_question"});
  EXPECT_THAT(dialog.fire(dialog.before(Dialog::call_in(rendered.output))),
              AllOf(HasSubstr("deny"), HasSubstr("--host request_user_input")));
}

}  // namespace
}  // namespace sb
