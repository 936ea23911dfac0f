// Pages as hosts show them: the announcement of what follows, the pager's own entry, and the names of a flow's
// questions.
#include <gmock/gmock.h>

#include "decision/render/render.hpp"
#include "decision/testing.hpp"

namespace sb::decision {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<Rendered> pages_of(const std::string& yaml, const Host& host) {
  const Declaration declaration = declared(yaml);
  std::vector<Rendered> pages;
  for (const Prompt& prompt :
       prompts_of(*declaration.decision(), declaration.profile, declaration.hash, cap_of(host, declaration.profile))) {
    auto page = render(prompt, declaration.profile, host);
    EXPECT_TRUE(page) << page.error().to_string();
    pages.push_back(std::move(*page));
  }
  return pages;
}

std::vector<std::string> rows_of(const Rendered& page) {
  std::vector<std::string> rows;
  for (const ShownOption& option : page.shape.questions.at(0).options) rows.push_back(option.shown);
  return rows;
}

TEST(Pages, OnlyAPageBeforeAnotherSaysWhatFollows) {
  const std::string yaml =
      "decision: d\nprofile: gstack\ninstruction: Which?\noptions: [a1, a2, a3, b1, b2, b3, c1, c2, c3]\n";
  const auto pages = pages_of(yaml, hosts::kAskUserQuestion);
  ASSERT_EQ(pages.size(), 3u);
  EXPECT_THAT(pages[0].shape.questions[0].text, HasSubstr("none of these fits: b1, b2, b3, c1, c2, c3"));
  EXPECT_THAT(pages[1].shape.questions[0].text, HasSubstr("none of these fits: c1, c2, c3"));
  EXPECT_THAT(pages[2].shape.questions[0].text, Not(HasSubstr("Not shown here")));
  EXPECT_EQ(pages[2].shape.elsewhere.size(), 6u);
  // Where many may be chosen, the next page follows even when something fits.
  for (const Rendered& page : pages_of(yaml + "select: many\n", hosts::kAskUserQuestion)) {
    EXPECT_THAT(page.shape.questions[0].text, Not(HasSubstr("Not shown here")));
  }
}

TEST(Pages, ADeclaredLabelLikeThePagersIsKeptAndThePagersIsNumbered) {
  const std::string yaml =
      "decision: d\nprofile: gstack\ninstruction: Which?\noptions: [{id: m, label: more OPTIONS}, {id: p, label: More "
      "options (page "
      "2)}, "
      "a3, a4, a5]\n";
  const auto pages = pages_of(yaml, hosts::kAskUserQuestion);
  ASSERT_EQ(pages.size(), 2u);
  EXPECT_THAT(rows_of(pages[0]), ElementsAre("more OPTIONS", "More options (page 2)", "a3", "More options (page 2.1)"));
  EXPECT_THAT(pages[0].omitted_fields, ElementsAre("pager_label"));
  EXPECT_THAT(rows_of(pages[1]), ElementsAre("a4", "a5"));
  EXPECT_THAT(pages[1].omitted_fields, testing::IsEmpty());
}

TEST(Pages, TheRussianPagerIsNumberedToo) {
  const auto pages = pages_of(
      "decision: d\nlocale: ru\ninstruction: Какой?\n"
      "options: [{id: m, label: Другие варианты}, a2, a3, a4, a5]\n",
      hosts::kAskUserQuestion);
  EXPECT_THAT(rows_of(pages[0]), ElementsAre("Другие варианты", "a2", "a3", "Другие варианты (страница 2)"));
}

TEST(Pages, NoneOfTheseIsNumberedIfDeclared) {
  const auto pages = pages_of(
      "decision: d\nprofile: gstack\ninstruction: Which?\nselect: many\n"
      "options: [{id: n, label: None of these}, a2, a3, a4, a5]\n",
      hosts::kElicitation);
  ASSERT_EQ(pages.size(), 2u);
  EXPECT_THAT(pages[0].bytes(), HasSubstr(R"json("title":"None of these (page 1)")json"));
  EXPECT_THAT(pages[1].bytes(), HasSubstr(R"json("title":"None of these (page 2)")json"));
  EXPECT_THAT(pages[0].omitted_fields, Contains("pager_label"));
}

TEST(FlowSteps, StepsWithTheSameKeyInTwoFlowsAreDistinguished) {
  const auto first_step = [](const std::string& flow, const std::string& key, const Host& host) {
    const Declaration declaration = declared("flow: " + flow + "\nsteps:\n  - {key: " + key +
                                             ", instruction: Where to?, options: [staging, production]}\n");
    const FlowStep& step = declaration.flow()->steps.front();
    const auto prompts = prompts_of(*declaration.flow(), step, declaration.profile, declaration.hash);
    return render(prompts.at(0), declaration.profile, host)->payload;
  };
  const auto source = [&](const std::string& flow) {
    return first_step(flow, "env", hosts::kAskUserQuestion)["metadata"]["source"].as_string();
  };
  EXPECT_EQ(source("release"), "release.env");
  EXPECT_EQ(source("rollback"), "rollback.env");
  const auto id = [&](const std::string& flow, const std::string& key) {
    return first_step(flow, key, hosts::kRequestUserInput)["questions"].items()[0]["id"].as_string();
  };
  EXPECT_EQ(id("release", "env"), "release__env");
  EXPECT_NE(id("a-b", "c"), id("a", "b-c"));
}

}  // namespace
}  // namespace sb::decision
