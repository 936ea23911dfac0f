// FULL and IMPLEMENT without obstacles, and with reviews that find something.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/place.hpp"
#include "pipeline/script.hpp"

namespace sb::pipeline_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::vector<std::string> phases_of(const RunFixture& place) {
  std::vector<std::string> names;
  for (const Value& event : place.events("phase_ended")) {
    names.push_back(event["payload"].string_at("phase").value_or("?"));
  }
  return names;
}

TEST(FullRun, BecomesAMergedChange) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_EQ(place.shown()["outcome"], Value("merged"));
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  EXPECT_EQ(place.delivered_commits(), 1);
  EXPECT_THAT(place.work_trees(), IsEmpty());
  EXPECT_EQ(place.git(place.repository(), {"status", "--porcelain"}), "");
  EXPECT_THAT(phases_of(place), ::testing::ElementsAre("discovery", "shaping", "coding", "review"));
}

TEST(FullRun, EveryPhaseGetsTheResultsOfEarlierOnes) {
  RunFixture place(SB_PROGRAM);
  place.script(lines({discovered(),
                      Line("shaping")
                          .expect("Write the answer file.")
                          .expect("must say right")
                          .complete(long_notes(), {shaping_handoff()}),
                      Line("coding")
                          .step("build")
                          .expect("Anything but the answer.")
                          .expect("must say right")
                          .call("Write", Value::object({{"file_path", "answer.txt"}, {"content", "right\n"}})),
                      Line("coding").step("build").complete(long_notes()),
                      Line("coding").step("hand-off").complete(long_notes(), {coding_handoff()}),
                      Line("review")
                          .expect("The answer is right.")
                          .expect("Plain text.")
                          .expect("must say right")
                          .complete(long_notes(), {verdict("clean")})}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
}

TEST(FullRun, MinorFindingsAreFixedPushedAndReviewedAgain) {
  RunFixture place(SB_PROGRAM);
  place.script(
      lines({discovered(), shaped(), coded(), reviewed("minor", {finding("minor", "It is not tidy.")}),
             Line("fix").expect("It is not tidy.").call("Read", Value::object({{"file_path", "answer.txt"}})),
             Line("fix").call("Write", Value::object({{"file_path", "answer.txt"}, {"content", "right\nand tidy\n"}})),
             Line("fix").complete(long_notes(), {coding_handoff({"answer.txt"}, {"Fixed as found."})}),
             Line("review").expect("Fixed as found.").complete(long_notes(), {verdict("clean")})}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_EQ(place.shown()["outcome"], Value("merged"));
  EXPECT_EQ(place.delivered("answer.txt"), "right\nand tidy");
  EXPECT_EQ(place.delivered_commits(), 2);  // the fix is a separate commit, reviewed after the push
  EXPECT_THAT(phases_of(place), ::testing::ElementsAre("discovery", "shaping", "coding", "review", "fix", "review"));
}

TEST(FullRun, FixesAtMostTwoRounds) {
  RunFixture place(SB_PROGRAM);
  const Value::Array found = {finding("minor", "It is not tidy.")};
  place.script(lines({discovered(), shaped(), coded(), reviewed("minor", found), fixed("right\n1\n"),
                      reviewed("minor", found), fixed("right\n2\n"), reviewed("minor", found)}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 1) << ended.output << ended.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "");
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  EXPECT_THAT(place.open_decisions()[0].string_at("text").value_or(""), HasSubstr("It is not tidy."));
  EXPECT_THAT(place.work_trees(), SizeIs(1));  // undelivered work stays
}

TEST(FullRun, BlockingFindingsAreAuditedAndFixedThenAPersonDecides) {
  RunFixture place(SB_PROGRAM);
  const Value::Array found = {finding("critical", "It opens a door.", "security")};
  place.script(
      lines({discovered(), shaped(), coded(), reviewed("blocking", found),
             Line("audit")
                 .expect("It opens a door.")
                 .complete(long_notes(), {Value::object({{"kind", "small.audit"}, {"summary", "The door is real."}})}),
             Line("fix")
                 .expect("It opens a door.")
                 .expect("The door is real.")
                 .call("Read", Value::object({{"file_path", "answer.txt"}})),
             Line("fix").call("Write", Value::object({{"file_path", "answer.txt"}, {"content", "right\nsafe\n"}})),
             Line("fix").complete(long_notes(), {coding_handoff()}), reviewed("blocking", found)}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "");
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  // All the facts: what was found, and where to look.
  EXPECT_THAT(place.open_decisions()[0].string_at("text").value_or(""), HasSubstr("It opens a door."));

  const ProgramResult merged = place.answer_and_resume("merge");
  EXPECT_EQ(merged.code, 0) << merged.output << merged.errors;
  EXPECT_EQ(place.shown()["outcome"], Value("merged"));
  EXPECT_EQ(place.delivered("answer.txt"), "right\nsafe");
}

TEST(FullRun, AChangeThatWasBlockedNeverMergesWithoutAPerson) {
  RunFixture place(SB_PROGRAM);
  place.configure("merge: auto");
  place.script(lines({discovered(), shaped(), coded(), reviewed("blocking", {finding("major", "It is wrong.")}),
                      audited(), fixed(), reviewed("clean")}));
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "");
  const ProgramResult merged = place.answer_and_resume("merge");
  EXPECT_EQ(merged.code, 0) << merged.output << merged.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "right\nand tidy");
}

TEST(FullRun, AsksBeforeMergingIfTheSettingsSaySo) {
  RunFixture place(SB_PROGRAM);
  place.configure("merge: ask");
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;
  EXPECT_THAT(ended.output + ended.errors, HasSubstr("runs resume"));
  EXPECT_EQ(place.delivered("answer.txt"), "");
  EXPECT_EQ(place.resume().code, 1);  // not answered yet
  const ProgramResult merged = place.answer_and_resume("merge");
  EXPECT_EQ(merged.code, 0) << merged.output << merged.errors;
  EXPECT_EQ(place.shown()["outcome"], Value("merged"));
}

TEST(FullRun, MergeNeverLeavesTheRequestOpen) {
  RunFixture place(SB_PROGRAM);
  place.configure("merge: never");
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_EQ(place.shown()["outcome"], Value("requested"));
  EXPECT_EQ(place.delivered("answer.txt"), "");
  EXPECT_THAT(place.remote_branches(), SizeIs(2));
}

TEST(FullRun, AFinishedRunIsNotResumed) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  ASSERT_EQ(place.run_goal("Make the check pass").code, 0);
  const std::size_t events = place.events().size();
  const ProgramResult again = place.resume();
  EXPECT_EQ(again.code, 0) << again.output << again.errors;
  EXPECT_EQ(place.events().size(), events);
}

TEST(ImplementRun, BuildsThePitchOfTheWorkspaceAndArchivesIt) {
  RunFixture place(SB_PROGRAM);
  place.write("repo/.signalbox/current-pitch.md", "# Pitch\nThe file answer.txt says right, in lower case.\n");
  place.script(lines({Line("coding")
                          .step("build")
                          .expect("in lower case")
                          .call("Write", Value::object({{"file_path", "answer.txt"}, {"content", "right\n"}})),
                      Line("coding").step("build").complete(long_notes()),
                      Line("coding").step("hand-off").complete(long_notes(), {coding_handoff()}), reviewed()}));
  const ProgramResult ended = place.run_goal("Build what was pitched");
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_THAT(phases_of(place), ::testing::ElementsAre("coding", "review"));
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  EXPECT_EQ(place.delivered(".signalbox/current-pitch.md"), "");
  EXPECT_FALSE(place.exists("repo/.signalbox/current-pitch.md"));  // so that the next task does not use it
  ASSERT_THAT(place.events("pitch_archived"), SizeIs(1));
}

// A pitch tracked by git is removed by the change; nothing is deleted in the user's checkout.
TEST(ImplementRun, ACommittedPitchIsRemovedByTheMergeAndNotBuiltTwice) {
  RunFixture place(SB_PROGRAM);
  const std::string file = ".signalbox/current-pitch.md";
  place.commit(file, "# Pitch\nThe file answer.txt says right, in lower case.\n");
  place.script(lines({Line("coding")
                          .step("build")
                          .expect("in lower case")
                          .call("Write", Value::object({{"file_path", "answer.txt"}, {"content", "right\n"}})),
                      Line("coding").step("build").complete(long_notes()),
                      Line("coding").step("hand-off").complete(long_notes(), {coding_handoff()}), reviewed()}));
  const ProgramResult ended = place.run_goal("Build what was pitched");
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  EXPECT_EQ(place.delivered(file), "");
  EXPECT_EQ(place.delivered_commits(), 2);
  EXPECT_TRUE(place.exists("repo/" + file));
  EXPECT_EQ(place.git(place.repository(), {"status", "--porcelain"}), "");
  EXPECT_THAT(place.work_trees(), IsEmpty());
  // Not pulled yet: the next task does not use the old pitch.
  place.script(clean_run());
  place.run_goal("Another thing");
  EXPECT_EQ(place.events("routed").at(0)["payload"]["mode"], Value("FULL"));
  // A new pitch counts again.
  place.write("repo/" + file, "# Pitch\nSomething else.\n");
  place.run_goal("A third thing");
  EXPECT_EQ(place.events("routed").at(0)["payload"]["mode"], Value("IMPLEMENT"));
}

TEST(ImplementRun, WithoutAPitchIsReported) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Build what was pitched", {"--mode", "IMPLEMENT"});
  EXPECT_NE(ended.code, 0);
  EXPECT_THAT(ended.output + ended.errors, HasSubstr("pitch"));
}

TEST(UiChange, IsDesignedAndAPersonApprovesBeforeItIsBuilt) {
  RunFixture place(SB_PROGRAM);
  place.script(lines({discovered(), shaped(), designed(),
                      Line("coding")
                          .step("build")
                          .expect("One button, to the left.")
                          .call("Write", Value::object({{"file_path", "answer.txt"}, {"content", "right\n"}})),
                      Line("coding").step("build").complete(long_notes()),
                      Line("coding").step("hand-off").complete(long_notes(), {coding_handoff()}), reviewed()}));
  const ProgramResult ended = place.run_goal("Move the button on the settings screen");
  ASSERT_EQ(ended.code, 1) << ended.output << ended.errors;
  EXPECT_THAT(phases_of(place), ::testing::ElementsAre("discovery", "shaping", "design"));
  ASSERT_THAT(place.open_decisions(), SizeIs(1));
  EXPECT_THAT(place.open_decisions()[0].string_at("text").value_or(""), HasSubstr("One button, to the left."));
  const ProgramResult merged = place.answer_and_resume("approve");
  EXPECT_EQ(merged.code, 0) << merged.output << merged.errors;
  EXPECT_EQ(place.shown()["outcome"], Value("merged"));
}

TEST(UiChange, D10_PartsOfWordsDoNotNameAnInterface) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  const ProgramResult ended =
      place.run_goal("Build the suite, require a guid, review the preview of the redesigned viewport");
  EXPECT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_THAT(phases_of(place), ::testing::ElementsAre("discovery", "shaping", "coding", "review"));
}

}  // namespace
}  // namespace sb::pipeline_tests
