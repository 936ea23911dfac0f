// FULL and IMPLEMENT as they go when nothing is in the way, and with reviews that find something.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/place.hpp"
#include "pipeline/script.hpp"

namespace sb::piped {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(FullRun, BecomesAMergedChange) {
  Place place(SB_PROGRAM);
  place.script(clean_run());
  const Ended ended = place.go("Make the check pass");
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_EQ(place.shown()["outcome"], Value("merged"));
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  EXPECT_EQ(place.delivered_commits(), 1);
  EXPECT_THAT(place.work_trees(), IsEmpty());
  EXPECT_EQ(place.git(place.repository(), {"status", "--porcelain"}), "");
}

}  // namespace
}  // namespace sb::piped
