#include "pipeline/plan/route.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sb::pipeline {
namespace {

struct Case {
  const char* goal;
  RunMode mode;
};
class Routed : public testing::TestWithParam<Case> {};
TEST_P(Routed, ByItsWords) {
  const Route made = route({.goal = GetParam().goal, .ticket = {}});
  EXPECT_EQ(to_string(made.mode), to_string(GetParam().mode)) << GetParam().goal;
  EXPECT_EQ(made.reasons.size(), 6u);
}
INSTANTIATE_TEST_SUITE_P(
    All, Routed,
    testing::Values(Case{"Make the export faster", RunMode::kFull}, Case{"Review PR #12", RunMode::kReviewOnly},
                    Case{"Look at pr 12", RunMode::kReviewOnly}, Case{"Look at MR !5", RunMode::kReviewOnly},
                    Case{"Look at MR #5", RunMode::kReviewOnly}, Case{"Fix #12", RunMode::kFull},
                    Case{"Bump zlib, PR #9", RunMode::kQuickReview}, Case{"chore: update, PR 9", RunMode::kQuickReview},
                    Case{"Dependency upgrade in PR #9", RunMode::kQuickReview}, Case{"Bump zlib", RunMode::kFull},
                    Case{"Sort the bumper cars of PR #9", RunMode::kReviewOnly},
                    Case{"A spr 12 of chores", RunMode::kFull}));

TEST(Route, PitchMeansImplement) {
  const Route made = route({.goal = "Build it", .ticket = {}, .has_pitch = true});
  EXPECT_EQ(made.mode, RunMode::kImplement);
  EXPECT_THAT(made.reasons, testing::Contains("pitch there: yes"));
}

TEST(Route, AnExplicitModeWins) {
  const Route made = route({.goal = "Review PR #12", .ticket = {}, .has_pitch = true, .wanted = RunMode::kFull});
  EXPECT_EQ(made.mode, RunMode::kFull);
  EXPECT_THAT(made.reasons, testing::Contains("change request named: yes"));
}

TEST(Route, PolledRequestsAreReviewed) {
  EXPECT_EQ(route({.goal = "x", .ticket = {}, .trigger = "github_prs_poll"}).mode, RunMode::kReviewOnly);
}

TEST(Route, D10_OnlyWholeWordsNameAUserInterface) {
  for (const char* text :
       {"build the suite", "require a guid", "review the queue", "equip", "overview", "redesigned"}) {
    EXPECT_FALSE(mentions_ui(text)) << text;
  }
  for (const char* text :
       {"the UI hangs", "a new screen", "Frontend: buttons", "front-end", "the user interface", "ui"}) {
    EXPECT_TRUE(mentions_ui(text)) << text;
  }
}

TEST(Route, LabelsAndTitleCountForTheInterface) {
  Ticket ticket;
  ticket.title = "Export";
  ticket.body = "There is no ui in it.";
  EXPECT_FALSE(route({.goal = "x", .ticket = ticket}).touches_ui);
  ticket.labels = {"frontend"};
  EXPECT_TRUE(route({.goal = "x", .ticket = ticket}).touches_ui);
}

bool touches_ui(const std::string& body, std::vector<std::string> acceptance = {}) {
  const Ticket ticket{.title = "Export", .body = body, .acceptance = std::move(acceptance)};
  return route({.goal = "Make the export faster", .ticket = ticket}).touches_ui;
}

TEST(Route, ABodyAboutTheInterfaceCounts) {
  EXPECT_TRUE(touches_ui("Add a second column to the settings screen. The layout must hold on small screens."));
  EXPECT_TRUE(touches_ui("The UI has no way to start it: the list component needs one."));
  const Ticket ticket{.title = "Export", .body = "A new screen with its layout."};
  EXPECT_THAT(route({.goal = "x", .ticket = ticket}).reasons,
              testing::Contains("words of a user interface: screen, layout (body)"));
}

TEST(Route, ABodyThatOnlyMentionsTheInterfaceDoesNotCount) {
  for (const char* body : {
           "It crashes, and the screen goes black.",
           "The screen goes black, and another screen, too.",              // one word, twice
           "The design of the component reads the view of the database.",  // words of any code
           "See https://example.com/ui/screen for the log.",
           "It says:\n```\nui: screen layout failed\n```\nand ends.",
           "Nothing to see.\n~~~\nui screen\n",  // never closed
           "",
       }) {
    EXPECT_FALSE(touches_ui(body)) << body;
  }
}

TEST(Route, AnUnambiguousAcceptanceCriterionCounts) {
  EXPECT_TRUE(touches_ui("", {"It is fast", "The screen shows how far it is"}));
  EXPECT_FALSE(touches_ui("", {"Anyone who can view the project can export it", "The component is tested"}));
}

TEST(Route, IgnoresInvalidUtf8) {
  EXPECT_FALSE(mentions_ui("ui \xff"));
}

TEST(Route, NamesOfModes) {
  EXPECT_EQ(run_mode_named("FULL"), RunMode::kFull);
  EXPECT_EQ(run_mode_named("full"), std::nullopt);
}

}  // namespace
}  // namespace sb::pipeline
