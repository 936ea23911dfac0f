#include "decision/walk/walk.hpp"

#include <gmock/gmock.h>

#include "decision/render/hosts.hpp"
#include "decision/render/render.hpp"
#include "decision/testing.hpp"

namespace sb::decision {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;
using Kind = WalkTurn::Kind;

constexpr const char* kRelease = R"(
flow: release
steps:
  - {key: branch, instruction: "Which branch?", options: [main, release, hotfix, dev, next]}
  - {key: env, instruction: "Which environments?", select: many, options: [s1, s2, s3, s4, s5]}
)";

std::string chain_of(int count) {
  std::string yaml = "chain: bots\nskill: roadmap\nnumber: 3\nrelation: independent\noptions:\n";
  for (int i = 1; i <= count; ++i) {
    const std::string key = std::to_string(i);
    yaml += "  - {key: E" + key + ", label: \"Bot " + key +
            "\", eli10: \"It answers.\", recommend: {choice: include, reason: r}}\n";
  }
  return yaml;
}

Walk walk_at(const Declaration& declaration, int cap, const Value& position = {}) {
  auto walk = Walk::at(declaration, position, cap);
  EXPECT_TRUE(walk) << walk.error().to_string();
  return *walk;
}

HostAnswer chosen(std::vector<std::string> ids) {
  HostAnswer answer;
  answer.result = HostAnswerKind::kSelected;
  answer.option_ids = std::move(ids);
  return answer;
}
HostAnswer said(std::string text) {
  HostAnswer answer;
  answer.result = HostAnswerKind::kFreeText;
  answer.text = std::move(text);
  return answer;
}

std::vector<std::string> ids_of(const Prompt& prompt) {
  std::vector<std::string> ids;
  for (const Option& option : prompt.options) ids.push_back(option.id);
  return ids;
}

TEST(Walk, AFlowIsPagedForTheHostAndCollectsOverPages) {
  const Declaration release = declared(kRelease);
  Walk walk = walk_at(release, 4);
  EXPECT_EQ(walk.place(), "1 of 2");
  EXPECT_THAT(ids_of(walk.prompt()), ElementsAre("main", "release", "hotfix", "more"));
  walk.answer(chosen({"more"}));
  EXPECT_THAT(ids_of(walk.prompt()), ElementsAre("dev", "next"));
  EXPECT_EQ(walk.take("back").kind, Kind::kAsk);
  EXPECT_EQ(walk.prompt().page, 1);
  walk.answer(said("next"));  // of the other page
  EXPECT_EQ(walk.part(), "env");
  walk.answer(chosen({"s1", "s3"}));
  EXPECT_EQ(walk.prompt().page, 2);
  walk.answer(chosen({"s5"}));
  EXPECT_EQ(walk.text(),
            "Summary:\n- branch: next\n- env: s1, s3, s5\n\n1) Confirm\n2) Restart\n3) Edit specific step");
  const WalkTurn done = walk.answer(chosen({"confirm"}));
  EXPECT_EQ(done.kind, Kind::kAnswered);
  EXPECT_EQ(to_json(done.values), R"({"branch":"next","env":["s1","s3","s5"]})");
}

TEST(Walk, GoingBackChoosesAgain) {
  Walk walk = walk_at(declared(kRelease), 4);
  walk.answer(chosen({"main"}));
  walk.answer(chosen({"s1"}));
  walk.take("back");
  walk.answer(chosen({"s2"}));
  walk.answer(chosen({"s4"}));
  EXPECT_EQ(to_json(walk.answer(chosen({"confirm"})).values), R"({"branch":"main","env":["s2","s4"]})");
}

TEST(Walk, ContinuesOnAHostWithAnotherLimit) {
  const Declaration release = declared(kRelease);
  Walk small = walk_at(release, 4);
  small.answer(chosen({"hotfix"}));
  small.answer(chosen({"s1"}));
  Walk large = walk_at(release, 0, small.position());
  EXPECT_EQ(large.part(), "env");
  EXPECT_EQ(large.prompt().pages, 1);
  const Declaration bots = declared(chain_of(5));
  Walk claude = walk_at(bots, 4);
  claude.answer(chosen({"include"}));
  claude.answer(chosen({"cut"}));
  Walk codex = walk_at(bots, 3, claude.position());
  EXPECT_THAT(codex.prompt().label, "D3.3");
  EXPECT_THAT(ids_of(codex.prompt()), ElementsAre("include", "not-now", "hold"));
  codex.answer(chosen({"not-now"}));
  EXPECT_THAT(ids_of(codex.prompt()), ElementsAre("defer", "cut"));
  codex.answer(chosen({"defer"}));
  Walk back = walk_at(bots, 4, codex.position());
  EXPECT_EQ(back.prompt().label, "D3.4");
  EXPECT_EQ(back.prompt().options.size(), 4u);
}

TEST(Walk, AOneCharacterIdCountsAndANumberIsTheOneShown) {
  const auto answered = [](const char* options, const char* typed) {
    Walk walk = walk_at(declared(std::string("decision: which\ninstruction: Which?\noptions: ") + options), 4);
    const WalkTurn turn = walk.answer(said(typed));
    return turn.options.empty() ? turn.free_text.value_or(turn.error) : turn.options.front();
  };
  constexpr const char* kIds = "[{id: x, label: Extend}, {id: y, label: Yield}]";
  EXPECT_EQ(answered(kIds, "y"), "y");
  EXPECT_EQ(answered(kIds, "z"), "z");  // a text
  EXPECT_EQ(answered("[{id: '2', label: Small}, {id: '1', label: Big}]", "1"), "2");
}

TEST(Walk, AHoldEndsWithAWordForItInAnyLanguage) {
  for (const char* word : {"continue", "Continue", "ПРОДОЛЖИТЬ", "weiter", "续", "继续"}) {
    Walk walk = walk_at(declared(chain_of(5)), 4);
    walk.answer(chosen({"hold"}));
    EXPECT_EQ(walk.take(word).kind, std::string_view(word) == "续" ? Kind::kHeld : Kind::kAsk) << word;
  }
  Walk walk = walk_at(declared(chain_of(5)), 4);
  walk.answer(chosen({"hold"}));
  EXPECT_EQ(walk.take("e4").kind, Kind::kAsk);
  EXPECT_EQ(walk.part(), "E4");
  walk.answer(chosen({"hold"}));
  EXPECT_EQ(walk.take("Cancel").kind, Kind::kCancelled);
}

TEST(Walk, AHoldStaysAHoldEverywhere) {
  const Declaration bots = declared(chain_of(5));
  Walk walk = walk_at(bots, 4);
  EXPECT_EQ(walk.answer(chosen({"hold"})).kind, Kind::kHeld);
  Walk elsewhere = walk_at(bots, 3, walk.position());
  EXPECT_TRUE(elsewhere.is_held());
  EXPECT_THAT(ids_of(elsewhere.hold_prompt()), ElementsAre("continue", "E2", "E3", "E4", "E5", "reset"));
  EXPECT_EQ(elsewhere.answer(said("why?")).kind, Kind::kHeld);
  EXPECT_EQ(elsewhere.take("E4").kind, Kind::kAsk);
  EXPECT_EQ(elsewhere.prompt().label, "D3.4");
}

TEST(Walk, TypedLettersMayBeLowerCase) {
  Walk walk = walk_at(declared(chain_of(5)), 0);
  walk.take("b");
  EXPECT_EQ(walk.prompt().label, "D3.2");
  EXPECT_FALSE(walk.take("3.1: a").error.empty());
  walk.take("3.2: a");
  EXPECT_EQ(walk.prompt().label, "D3.3");
  EXPECT_EQ(walk.take("a good one?").kind, Kind::kHeld);
}

TEST(Walk, NoneIsChosenAlone) {
  const Declaration many =
      declared("{decision: d, instruction: Which?, select: many, options: [{id: none, label: Nothing}, a, b]}");
  Walk walk = walk_at(many, 4);
  EXPECT_FALSE(walk.answer(chosen({"none", "a"})).error.empty());
  EXPECT_THAT(walk.answer(chosen({"none"})).options, ElementsAre("none"));
}

TEST(Walk, APersonSeesNoMarkers) {
  const Walk walk = walk_at(declared(chain_of(5)), 0);
  EXPECT_THAT(walk.text(), StartsWith("D3.1 — Bot 1\n"));
  EXPECT_THAT(walk.text(), testing::Not(HasSubstr("gstack-qid")));
  EXPECT_THAT(walk.text(), testing::Not(HasSubstr("completeness")));
}

TEST(Walk, AForeignPositionIsRejected) {
  const Declaration release = declared(kRelease);
  for (const char* position :
       {"{}", "[]", "7", R"({"phase":"confirm","from":"step","step":0,"page":0,"chosen":[],"answers":[],"streak":0})",
        R"({"kind":"chain","v":1})"}) {
    EXPECT_FALSE(Walk::at(release, parse_json(position).value(), 4)) << position;
    EXPECT_FALSE(Walk::at(declared(chain_of(5)), parse_json(position).value(), 4)) << position;
  }
}

// Every prompt of every walk can be shown in the dialog of Claude Code and in that of Codex.
TEST(Walk, EveryPromptFitsItsHost) {
  for (const Host* host : {&hosts::kAskUserQuestion, &hosts::kRequestUserInput, &hosts::kElicitation}) {
    for (const std::string& yaml : {std::string(kRelease), chain_of(5), chain_of(7), chain_of(12)}) {
      const Declaration declaration = declared(yaml);
      for (std::size_t choice = 0; choice < 4; ++choice) {
        Walk walk = walk_at(declaration, cap_of(*host, declaration.profile));
        for (int i = 0; i < 60; ++i) {
          const Prompt prompt = walk.prompt();
          const auto shown = render(prompt, declaration.profile, *host, {.nonce = "abc"});
          ASSERT_TRUE(shown) << shown.error().to_string();
          const WalkTurn turn =
              walk.answer(chosen({prompt.options[(choice + static_cast<std::size_t>(i)) % prompt.options.size()].id}));
          if (turn.kind == Kind::kHeld) walk.take("continue");
          if (turn.kind == Kind::kAnswered) break;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sb::decision
