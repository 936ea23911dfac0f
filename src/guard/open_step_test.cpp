#include "guard/open_step.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sb::guard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(OpenStepRow, RoundTrips) {
  OpenStep step;
  step.session = "s-1";
  step.workspace = "/w";
  step.workflow = "wr.x";
  step.step = "plan";
  step.title = "Plan";
  step.number = 2;
  step.of = 5;
  step.token = "ct_1";
  step.at = 7;
  EXPECT_EQ(open_step_from(to_row(step)), step);
  step.writes = std::vector<std::string>{};
  step.commands_read_only = true;
  step.out_of_scope = {"src/legacy/**"};
  step.goal = "Fix it";
  step.required_output = "notes";
  step.waiting = "gate";
  step.decision = "d-1";
  step.parent = "s-0";
  step.is_autonomous = true;
  step.visible = {"ticket"};
  EXPECT_EQ(open_step_from(to_row(step)), step);
  step.writes = {"src/**"};
  EXPECT_EQ(open_step_from(to_row(step)), step);
  for (const char* row : {"", "{}", "[]", "null", R"({"session":1})"}) EXPECT_FALSE(open_step_from(row)) << row;
}

TEST(PathsNamed, AreWordsThatLookLikePaths) {
  EXPECT_THAT(paths_named("src/legacy/**"), ElementsAre("src/legacy/**"));
  EXPECT_THAT(paths_named("  README.md "), ElementsAre("README.md"));
  EXPECT_THAT(paths_named("docs/"), ElementsAre("docs/"));
  EXPECT_THAT(paths_named("Do not touch `src/legacy/` and `*.sql`, nor `users`."), ElementsAre("src/legacy/", "*.sql"));
  for (const char* text : {"Export to spreadsheets.", "", "  ", "nothing", "v1.2", "end.", "and/or is fine", "`open",
                           "https://example.com/x", "..", "/", "`rm x/y`"}) {
    EXPECT_THAT(paths_named(text), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace sb::guard
