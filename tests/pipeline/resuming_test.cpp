// What a resumed run compares with its start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "pipeline/place.hpp"
#include "pipeline/script.hpp"
#include "pipeline/under_way.hpp"

namespace sb::pipeline_tests {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string said(const ProgramResult& ended) {
  return ended.output + ended.errors;
}

// The logged changes, in order.
std::vector<std::string> changed(const RunFixture& place) {
  std::vector<std::string> all;
  const Value shown = place.shown();
  for (const Value& one : shown["changes"].items()) all.push_back(one.string_at("what").value_or("?"));
  return all;
}

void edit(const RunFixture& place, const std::string& file, const std::string& from, const std::string& to) {
  std::string text = place.read(file);
  const auto at = text.find(from);
  ASSERT_NE(at, std::string::npos) << text;
  place.write(file, text.replace(at, from.size(), to));
}

class Resumed : public testing::Test {
 protected:
  void begin() {
    place.configure("merge: ask");
    place.script(clean_run());
    ASSERT_EQ(place.run_goal("Make the check pass").code, 1);
    EXPECT_THAT(changed(place), IsEmpty());
  }
  RunFixture place{SB_PROGRAM};
};

// Also for phases that are over or never start: the log shows what the run really used.
TEST_F(Resumed, ReportsChangedWorkflows) {
  begin();
  EXPECT_NE(place.shown()["workflows"].string_at("small.fix").value_or(""), "");
  edit(place, "flows/shaping.yaml", "Do hand-off", "Do the whole hand-off");
  edit(place, "flows/fix.yaml", "Do fix", "Do really fix");
  const ProgramResult on = place.answer_and_resume("merge");
  ASSERT_EQ(on.code, 0) << said(on);
  EXPECT_THAT(changed(place), ElementsAre("small.fix", "small.shaping"));
  EXPECT_THAT(place.run({"runs", "show", "last"}).output, HasSubstr("changed   small.fix during the run"));
}

TEST_F(Resumed, ReportsAChangeOnce) {
  begin();
  edit(place, "flows/fix.yaml", "Do fix", "Do really fix");
  ASSERT_EQ(place.resume().code, 1);
  ASSERT_EQ(place.resume().code, 1);
  EXPECT_THAT(changed(place), ElementsAre("small.fix"));
}

TEST_F(Resumed, ReportsChangedSettings) {
  begin();
  place.configure("fix_rounds: 1");
  const ProgramResult on = place.resume();
  EXPECT_THAT(changed(place), ElementsAre("settings")) << said(on);
  EXPECT_THAT(place.run({"runs", "show", "last"}).output, HasSubstr("changed   settings during the run"));
}

// However long a provider is unavailable: the user may go and have lunch.
TEST(Parked, WaitsUntilInterrupted) {
  RunFixture place(SB_PROGRAM);
  place.script(lines({Line("discovery").error("overloaded", "busy", 16 * 60'000), clean_run()}));
  BackgroundProgram running(place, "Make the check pass");
  ASSERT_TRUE(becomes_true([&] { return place.shown()["status"] == Value("parked"); }));
  running.send(SIGINT);
  const ProgramResult left = running.wait();
  EXPECT_EQ(left.code, 1) << said(left);
  EXPECT_THAT(left.errors, HasSubstr("it was interrupted, parked until "));
  EXPECT_EQ(place.shown()["status"], Value("parked"));
  // The provider named the time, so no earlier request is made.
  const ProgramResult on = place.run({"runs", "resume", "last", "--wait", "1s"});
  EXPECT_EQ(on.code, 1) << said(on);
  EXPECT_THAT(on.errors, HasSubstr("it is parked until "));
}

TEST(Parked, EndsImmediatelyWithoutPatience) {
  RunFixture place(SB_PROGRAM);
  place.script(lines({Line("discovery").error("overloaded", "busy", 16 * 60'000), clean_run()}));
  const ProgramResult left = place.run_goal("Make the check pass", {"--wait", "15m"});
  EXPECT_EQ(left.code, 1) << said(left);
  EXPECT_THAT(left.errors, HasSubstr("it is parked until "));
}

}  // namespace
}  // namespace sb::pipeline_tests
