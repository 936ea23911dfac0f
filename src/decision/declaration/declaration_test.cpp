#include "decision/declaration/declaration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decision/testing.hpp"

namespace sb::decision {
namespace {

using testing::HasSubstr;

std::string decision_with(std::string_view rest) {
  return "decision: d\ninstruction: Which one?\noptions: [alpha, beta]\n" + std::string(rest);
}

TEST(Declaration, TheThreeExamplesLoad) {
  const Declaration decision = declared(R"(
decision: drop-table
instruction: "Drop the table users_old?"
select: one
door: one-way
irreversible_note: The rows cannot be restored after the nightly backup rotates.
options:
  - {id: keep, label: Keep it, recommended: true}
  - {id: drop, label: Drop it}
)");
  ASSERT_TRUE(decision.decision());
  EXPECT_TRUE(decision.decision()->needs_signature());
  EXPECT_EQ(decision.decision()->options[1].id, "drop");
  const Declaration chain = declared(R"(
chain: chat-integrations
skill: plan-ceo-review
profile: gstack
number: 3
relation: independent
options:
  - {key: E1, label: Slack DM bot, eli10: A bot that answers in direct messages.,
     recommend: {choice: include, reason: 40 % of requests}}
  - {key: E2, label: Discord guild bot, eli10: The same on Discord.,
     recommend: {choice: defer, reason: 15 % for three weeks of work}, requires: [E1]}
)");
  ASSERT_TRUE(chain.chain());
  EXPECT_EQ(chain.chain()->options[1].required_keys, std::vector<std::string>{"E1"});
}

TEST(Declaration, JsonAndYamlHashTheSame) {
  const auto json =
      parse_document("d.json", R"({"decision":"d","instruction":"Which one?","options":["alpha","beta"]})");
  ASSERT_TRUE(json);
  EXPECT_EQ(parse_declaration(*json, Profiles::built_in())->hash, declared(decision_with("")).hash);
}

TEST(ReqInt9, FifteenWords) {
  const auto with = [](int words) {
    std::string text;
    for (int i = 0; i < words; ++i) text += (i ? " w" : "W") + std::to_string(i);
    return faults_of("decision: d\ninstruction: " + text + "?\noptions: [alpha, beta]\n");
  };
  EXPECT_EQ(with(15), "");
  EXPECT_THAT(
      with(16),
      HasSubstr(
          "def.yaml:2:1: /instruction: the instruction has 16 words; the interaction profile allows 15. Shorten it."));
}

TEST(ReqInt11, FiveWordsPerOption) {
  EXPECT_EQ(faults_of("decision: d\ninstruction: Which?\noptions: [one two three four five, beta]\n"), "");
  EXPECT_THAT(faults_of("decision: d\ninstruction: Which?\noptions: [one two three four five six, beta]\n"),
              HasSubstr("has 6 words; the interaction profile allows 5"));
}

TEST(ReqInt8, OneSentence) {
  EXPECT_THAT(faults_of("decision: d\ninstruction: \"Tests passed. Deploy now?\"\noptions: [alpha, beta]\n"),
              HasSubstr("one sentence"));
  EXPECT_EQ(faults_of("decision: d\ninstruction: \"Release v0.2.9, e.g. today?\"\noptions: [alpha, beta]\n"), "");
}

TEST(ReqInt7, TheInstructionHasNoLeadingNoise) {
  for (const char* bad :
       {"\"# Which one?\"", "\"**Which** one?\"", "\"> Which one?\"", "\"🚀 Which one?\"", "\" Which one?\""}) {
    EXPECT_NE(faults_of("decision: d\ninstruction: " + std::string(bad) + "\noptions: [alpha, beta]\n"), "") << bad;
  }
  EXPECT_EQ(faults_of("decision: d\ninstruction: \"¿Cuál rama?\"\noptions: [alpha, beta]\n"), "");
}

TEST(ReqInt61, NoOtherOption) {
  for (const char* other : {"Other", "Something else…", "Другое", "Sonstiges", "Other (please specify)"}) {
    EXPECT_THAT(faults_of("decision: d\ninstruction: Which?\noptions: [alpha, \"" + std::string(other) + "\"]\n"),
                HasSubstr("stands for \"something else\""))
        << other;
  }
  EXPECT_EQ(faults_of("decision: d\ninstruction: Which?\noptions: [alpha, None, Other team's branch]\n"), "");
}

TEST(ReqInt10, EightOptionsArePagedNotRejected) {
  EXPECT_EQ(faults_of("decision: d\ninstruction: Which?\noptions: [a1, b1, c1, d1, e1, f1, g1, h1]\n"), "");
}

TEST(Amb28, OptionsThatReadAsCommandsOrNumbers) {
  for (const char* bad : {"cancel", "Abort", "cancel!", "\"2\"", "\"1,3\"", "\"٣\"", "\"１\""}) {
    EXPECT_THAT(faults_of("decision: d\ninstruction: Which?\noptions: [alpha, " + std::string(bad) + "]\n"),
                HasSubstr("reads as a"))
        << bad;
  }
  EXPECT_EQ(faults_of("decision: d\ninstruction: Which?\noptions: [\"Python 3.12\", \"2 replicas\"]\n"), "");
}

TEST(Declaration, DefaultsOnlyWhereAllowed) {
  const std::string timed = "on_timeout: default\ndefault: alpha\ndeadline: 8h\n";
  EXPECT_THAT(faults_of(decision_with(timed)), HasSubstr("the interaction profile allows no default"));
  const std::string gstack = "profile: gstack\n" + timed;
  EXPECT_EQ(faults_of(decision_with(gstack)), "");
  EXPECT_THAT(faults_of(decision_with(gstack), Author::kModel),
              HasSubstr("only an operator's configuration or a workflow"));
  EXPECT_THAT(faults_of(decision_with(gstack + "door: one-way\nirreversible_note: gone\n")),
              HasSubstr("a one-way door has no default"));
  EXPECT_THAT(
      faults_of("decision: d\nprofile: gstack\ninstruction: Delete the branch?\noptions: [alpha, beta]\n" + timed),
      HasSubstr("a one-way door has no default"));
  EXPECT_THAT(faults_of(decision_with("profile: gstack\non_timeout: default\n")), HasSubstr("needs a deadline"));
  EXPECT_THAT(faults_of(decision_with("profile: gstack\ndefault: alpha\n")), HasSubstr("needs on_timeout: default"));
  EXPECT_THAT(faults_of(decision_with("profile: gstack\non_timeout: default\ndefault: gamma\ndeadline: 8h\n")),
              HasSubstr("no option has the id \"gamma\""));
  EXPECT_THAT(faults_of(decision_with("deadline: 8h\n")), HasSubstr("a deadline without on_timeout does nothing"));
}

TEST(Declaration, OneWayRequiresItsNote) {
  EXPECT_THAT(faults_of(decision_with("door: one-way\n")), HasSubstr("needs an irreversible_note"));
}

TEST(Gap6, WordsRaiseADoorAndNeverLowerIt) {
  const std::string deletion =
      "decision: d\ninstruction: Delete the production database?\noptions: [\"Yes\", \"No\"]\n";
  for (const Author author : {Author::kModel, Author::kOperator, Author::kWorkflow}) {
    EXPECT_EQ(declare(deletion, author)->decision()->door, Door::kOneWay);
  }
  const auto raised = declare(deletion + "door: two-way\n", Author::kModel);
  EXPECT_EQ(raised->decision()->door, Door::kOneWay);
  EXPECT_THAT(raised->decision()->irreversible_note, HasSubstr("Delete"));
  EXPECT_EQ(declared(decision_with("door: one-way\nirreversible_note: x\n")).decision()->door, Door::kOneWay);
}

TEST(Declaration, OnlyATrustedAuthorOverrulesTheWords) {
  const std::string deletion =
      "decision: d\ninstruction: Delete the cache?\ndoor: two-way\n"
      "options: [{id: keep, label: Keep it, safe: true}, {id: drop, label: Drop it}]\n";
  for (const Author author : {Author::kOperator, Author::kWorkflow}) {
    const auto trusted = declare(deletion, author);
    ASSERT_TRUE(trusted);
    EXPECT_EQ(trusted->decision()->door, Door::kTwoWay);
    EXPECT_EQ(trusted->decision()->overruled_word, "Delete");
    EXPECT_TRUE(trusted->decision()->options[0].safe);
    EXPECT_FALSE(trusted->decision()->options[1].safe);
  }
  const auto submitted = declare(deletion, Author::kModel);
  ASSERT_TRUE(submitted);
  EXPECT_EQ(submitted->decision()->door, Door::kOneWay);
  EXPECT_EQ(submitted->decision()->overruled_word, "");
  EXPECT_FALSE(submitted->decision()->options[0].safe);
  // Declared one-way stays so, whatever its options.
  const auto both = declare(
      "decision: d\ninstruction: Reset it?\ndoor: one-way\nirreversible_note: x\n"
      "options: [{label: Keep, safe: true}, {label: Reset, safe: true}]\n",
      Author::kOperator);
  EXPECT_EQ(both->decision()->door, Door::kOneWay);
  EXPECT_THAT(faults_of("decision: d\ninstruction: Go?\noptions: [{label: Aa, safe: maybe}, Bb]\n"),
              HasSubstr("/options/0/safe"));
}

TEST(Declaration, ASafeOptionIsNotADefault) {
  const std::string text =
      "decision: d\nprofile: gstack\ninstruction: Drop the table?\ndoor: one-way\nirreversible_note: gone\n"
      "options: [{id: keep, label: Keep, safe: true}, {id: drop, label: Drop}]\n"
      "on_timeout: default\ndefault: keep\ndeadline: 8h\n";
  EXPECT_THAT(faults_of(text), HasSubstr("a one-way door has no default"));
}

TEST(Declaration, FaultsNameLocationAndRemedy) {
  EXPECT_THAT(faults_of(decision_with("selct: one\n")),
              HasSubstr("def.yaml:4:1: /selct: unknown key \"selct\". Did you mean select?"));
  EXPECT_THAT(faults_of(decision_with("select: two\n")),
              HasSubstr("\"two\" is not one of: one, many, text, form, url"));
  EXPECT_THAT(faults_of(decision_with("min: 2\n")), HasSubstr("\"min\" needs select: many"));
  EXPECT_THAT(faults_of(decision_with("select: many\nmin: 2\nmax: 1\n")), HasSubstr("min is more than max"));
  EXPECT_THAT(faults_of(decision_with("profile: gstak\n")), HasSubstr("Did you mean gstack?"));
  EXPECT_THAT(faults_of(decision_with("locale: xx\n")), HasSubstr("Use one of en, ru"));
  EXPECT_THAT(faults_of("decision: d\nflow: f\n"), HasSubstr("both"));
  EXPECT_THAT(faults_of("foo: 1\n"), HasSubstr("this declares nothing"));
  EXPECT_THAT(faults_of("- 1\n"), HasSubstr("expected an object"));
  EXPECT_THAT(faults_of("decision: d\ninstruction: Which?\noptions: [alpha, Alpha]\n"), HasSubstr("Alpha"));
  EXPECT_THAT(faults_of("decision: d\ninstruction: Which?\noptions: [alpha, 5]\n"), HasSubstr("put numbers in quotes"));
  EXPECT_THAT(faults_of("decision: d\ninstruction: Which?\noptions: [{id: more, label: x1}, beta]\n"),
              HasSubstr("is reserved for the pager"));
}

TEST(Declaration, AnEmptyStepKeyIsRejected) {
  EXPECT_THAT(faults_of("flow: f\nsteps: [{key: \"\", instruction: Which?, options: [x1, y1]}]\n"),
              HasSubstr("is not a valid step key"));
}

TEST(Declaration, IndistinguishableLabelsAreRejected) {
  EXPECT_THAT(
      faults_of("decision: d\ninstruction: Which?\noptions: [{id: a, label: \"x1\\u200b\"}, {id: b, label: x1}]\n"),
      HasSubstr("two options are called"));
  EXPECT_THAT(faults_of("decision: d\ninstruction: Which?\noptions: [\"a\\u202Eb\", x1]\n"), HasSubstr("direction"));
}

TEST(Declaration, PagerWordsAreOrdinaryLabels) {
  const Declaration d = declared("decision: d\ninstruction: Which?\noptions: [None of these, More, x1]\n");
  EXPECT_EQ(d.decision()->options[0].id, "option-none-of-these");
  EXPECT_EQ(d.decision()->options[1].id, "option-more");
}

TEST(Declaration, ManyOptionsUpToTheLimit) {
  const auto with = [](int count) {
    std::string yaml = "decision: d\ninstruction: Which?\noptions:\n";
    for (int i = 0; i < count; ++i) yaml += "  - option " + std::to_string(i) + "\n";
    return faults_of(yaml);
  };
  EXPECT_EQ(with(1000), "");
  EXPECT_THAT(with(1001), HasSubstr("at most 1000"));
}

std::string chain_with(std::string_view options, std::string_view rest = "") {
  return "chain: c\nskill: ship\n" + std::string(rest) + "options:\n" + std::string(options);
}
constexpr std::string_view kRecommend = ", eli10: Plain words., recommend: {choice: include, reason: cheap}";

std::string chain_option(std::string_view key, std::string_view more = "") {
  return "  - {key: " + std::string(key) + ", label: Label " + std::string(key) + std::string(kRecommend) +
         std::string(more) + "}\n";
}

TEST(ReqSplit10, DependenciesAreCheckedFirst) {
  EXPECT_EQ(faults_of(chain_with(chain_option("A") + chain_option("B", ", requires: [A]"))), "");
  EXPECT_THAT(faults_of(chain_with(chain_option("A") + chain_option("B", ", requires: [C]"))),
              HasSubstr("\"B\" requires \"C\", which is not an option here"));
  EXPECT_THAT(faults_of(chain_with(chain_option("A") + chain_option("B", ", conflicts: [B]"))),
              HasSubstr("\"B\" conflicts itself"));
  EXPECT_THAT(faults_of(chain_with(chain_option("A") + chain_option("B", ", requires: [A], conflicts: [A]"))),
              HasSubstr("both require and conflict"));
  EXPECT_THAT(faults_of(chain_with(chain_option("A", ", conflicts: [C]") + chain_option("B", ", requires: [A]") +
                                   chain_option("C", ", requires: [B]"))),
              HasSubstr("both require and conflict"));  // transitively
}

TEST(AmbS15, ARequirementCycleIsAllowed) {
  EXPECT_EQ(faults_of(chain_with(chain_option("A", ", requires: [B]") + chain_option("B", ", requires: [A]"))), "");
}

TEST(ReqSplit18, HoldIsNeverRecommended) {
  EXPECT_THAT(faults_of(chain_with(chain_option("A") +
                                   "  - {key: B, label: B1, eli10: x, recommend: {choice: hold, reason: y}}\n")),
              HasSubstr("hold cannot be recommended"));
}

TEST(ReqSplit17, EveryOptionRequiresEli10AndRecommendation) {
  const std::string faults = faults_of(chain_with(chain_option("A") + "  - {key: B, label: B1}\n"));
  EXPECT_THAT(faults, HasSubstr("option \"B\" has no eli10"));
  EXPECT_THAT(faults, HasSubstr("option \"B\" has no recommend"));
}

TEST(ReqSplit49, ASkillThatLeavesNoRoomIsRejected) {
  const std::string options = chain_option("A") + chain_option("B");
  EXPECT_EQ(faults_of("chain: c\nskill: " + std::string(53, 's') + "\noptions:\n" + options), "");
  EXPECT_THAT(faults_of("chain: c\nskill: " + std::string(54, 's') + "\noptions:\n" + options),
              HasSubstr("at most 53"));
}

TEST(Chain, HasNoDefault) {
  EXPECT_THAT(faults_of(chain_with(chain_option("A") + chain_option("B"), "default: A\n")),
              HasSubstr("a chain has no default"));
}

TEST(AmbS5, SlugsForAnyScript) {
  EXPECT_EQ(slug_of("E4 detect mappings"), "e4-detect-mappings");
  EXPECT_EQ(slug_of("Ещё Вариант"), "eshche-variant");
  EXPECT_EQ(slug_of("Объект"), "obekt");
  EXPECT_EQ(slug_of("Größe ß"), "grosse-ss");
  EXPECT_EQ(slug_of("Αθήνα"), "athina");
  EXPECT_EQ(slug_of("--A__b--"), "a-b");
  EXPECT_EQ(slug_of("数据库").substr(0, 2), "x-");
  EXPECT_EQ(slug_of("🚀").size(), 10u);
  EXPECT_NE(slug_of("数据"), slug_of("数库"));
}

TEST(Profile, UserProfilesInheritAndChangeSingleValues) {
  const auto mine = parse_document("mine.yaml", "profile: mine\ninherits: interaction\ntext: {option_max_words: 8}\n");
  const auto profiles = Profiles::with({*mine});
  ASSERT_TRUE(profiles);
  EXPECT_EQ(profiles->find("mine")->option_max_words, 8);
  EXPECT_EQ(profiles->find("mine")->instruction_max_words, 15);
  EXPECT_NE(profiles->find("mine")->source, profiles->find("interaction")->source);
}

TEST(Profile, InheritanceChainsAndTheirFaults) {
  const auto one = parse_document("one.yaml", "profile: one\ninherits: two\n");
  const auto two = parse_document("two.yaml", "profile: two\ninherits: gstack\ncap: {max_options: 3}\n");
  const auto profiles = Profiles::with({*one, *two});
  ASSERT_TRUE(profiles);
  EXPECT_EQ(profiles->find("one")->max_options, 3);
  const auto loop = parse_document("loop.yaml", "profile: loop\ninherits: loop\n");
  EXPECT_THAT(Profiles::with({*loop}).error()[0].to_string(), HasSubstr("inherits from itself"));
  const auto lost = parse_document("lost.yaml", "profile: lost\ninherits: nobody\n");
  EXPECT_THAT(Profiles::with({*lost}).error()[0].to_string(), HasSubstr("no profile \"nobody\""));
  const auto wrong = parse_document("wrong.yaml", "profile: wrong\ninherits: gstack\ncap: {max_option: 3}\n");
  EXPECT_THAT(Profiles::with({*wrong}).error()[0].to_string(), HasSubstr("Did you mean max_options?"));
  const auto taken = parse_document("taken.yaml", "profile: gstack\ninherits: interaction\n");
  EXPECT_FALSE(Profiles::with({*taken}));
}

}  // namespace
}  // namespace sb::decision
