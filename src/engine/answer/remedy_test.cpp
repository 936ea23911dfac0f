#include "engine/answer/remedy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace sb::engine {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Remedy, EachSurfaceHasItsOwnText) {
  for (const RemedyKind step : {RemedyKind::kFindSession, RemedyKind::kGiveContext, RemedyKind::kRewind}) {
    EXPECT_NE(remedy_for(step, Surface::kCommands), remedy_for(step, Surface::kTools));
    EXPECT_THAT(std::string(remedy_for(step, Surface::kTools)),
                testing::ContainsRegex("resume_session|start_workflow"));
    EXPECT_THAT(std::string(remedy_for(step, Surface::kTools)), Not(HasSubstr("--context")));
  }
}

}  // namespace
}  // namespace sb::engine
