// Runs under way, seen and led from another terminal.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "base/document.hpp"
#include "pipeline/place.hpp"
#include "pipeline/script.hpp"
#include "pipeline/under_way.hpp"

namespace sb::piped {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::string said(const Ended& ended) {
  return ended.output + ended.errors;
}

// Every way to ask says the same.
void expect_standing(const Place& place, const std::string& word, bool is_driven, const std::string& status) {
  const Value shown = place.shown();
  EXPECT_EQ(shown["standing"], Value(word));
  EXPECT_EQ(shown["driven"], Value(is_driven));
  EXPECT_EQ(shown["status"], Value(status));
  EXPECT_THAT(place.run({"runs", "list"}).output, HasSubstr("  " + word + " "));
  const auto listed = parse_json(place.run({"runs", "list", "--json"}).output);
  ASSERT_TRUE(listed && listed->size() == 1);
  EXPECT_EQ(listed->items()[0]["standing"], Value(word));
  EXPECT_EQ(listed->items()[0]["driven"], Value(is_driven));
  EXPECT_EQ(listed->items()[0]["status"], Value(status));
  const std::string page = place.run({"runs", "show", "last"}).output;
  EXPECT_THAT(page, HasSubstr("  " + word + "\n"));
  const std::string resume = "Go on with: signalbox runs resume";
  if (is_driven) {
    EXPECT_THAT(page, Not(HasSubstr(resume)));
  } else {
    EXPECT_THAT(page, HasSubstr(resume));
  }
}

TEST(Standing, TellsADrivenRunFromOneWhoseProcessWasKilled) {
  Place place(SB_PROGRAM);
  place.script(lines({discovered(), shaped(), waiting_lines(), reviewed()}));
  UnderWay running(place, "Make the check pass");
  ASSERT_NE(wait_for_waiting(place), "");
  expect_standing(place, "running", true, "running");
  running.send(SIGKILL);
  running.wait();
  expect_standing(place, "left off", false, "running");
  place.run({"runs", "stop", "last"});
  EXPECT_EQ(place.shown()["standing"], Value("stopped"));
}

TEST(Standing, TellsWhoIsToMoveNext) {
  Place place(SB_PROGRAM);
  place.script(lines({discovered(), shaped(), waiting_lines(), reviewed()}));
  UnderWay running(place, "Make the check pass");
  ASSERT_NE(wait_for_waiting(place), "");
  const std::string session = session_of(place, "coding");
  ASSERT_EQ(place.run({"session", "pause", session}).code, 0);
  expect_standing(place, "paused", true, "running");
  EXPECT_THAT(place.run({"runs", "show", "last"}).output, HasSubstr("signalbox session go-on " + session));
  running.send(SIGINT);
  const Ended left = running.wait();
  EXPECT_EQ(left.last()["standing"], Value("paused")) << said(left);
  expect_standing(place, "paused", false, "running");
  ASSERT_EQ(place.run({"session", "take-over", session}).code, 0);
  expect_standing(place, "taken over", false, "running");
  EXPECT_THAT(place.run({"runs", "show", "last"}).output, HasSubstr("signalbox session retry " + session));
}

TEST(Standing, TellsWhatWaitsForAnAnswerFromWhatWasAnswered) {
  Place place(SB_PROGRAM);
  place.configure("merge: ask");
  place.script(clean_run());
  const Ended asked = place.go("Make the check pass");
  EXPECT_EQ(asked.last()["standing"], Value("waiting for you")) << said(asked);
  expect_standing(place, "waiting for you", false, "waiting");
  const std::string decision = place.open_decisions().at(0).string_at("decision").value_or("");
  EXPECT_THAT(place.run({"runs", "show", "last"}).output, HasSubstr("signalbox inbox answer " + decision));
  {
    const UnderWay waiting(place, {"runs", "resume", "last", "--wait", "10m", "--json"});
    ASSERT_TRUE(comes_true([&] { return place.shown()["driven"] == Value(true); }));
    expect_standing(place, "waiting for you", true, "waiting");
  }
  ASSERT_EQ(place.answer(decision, "merge").code, 0);
  expect_standing(place, "left off", false, "waiting");
}

}  // namespace
}  // namespace sb::piped
