// For tests: what every forge must pass. A forge's own test file provides a subject:
//
//   struct Subject {            // a temporary repository with the remote of the forge
//     GitFixture place;
//     Forge& forge();           // created at each call, as after a restart
//     std::string add_ticket(); // adds an open ticket; returns its name
//     bool ticket_is_closed();
//     int comments();           // on requests and tickets
//   };
//   INSTANTIATE_TYPED_TEST_SUITE_P(Local, ForgeConformance, Subject);
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/delivery/testing.hpp"

namespace sb::pipeline {

template <class Subject>
struct ForgeConformance : testing::Test {
  Subject subject;
  GitFixture& place() { return subject.place; }

  // Pushes a branch with one commit on top of the base; returns the commit.
  std::string push(const std::string& run, const std::string& text = "120\n") {
    place().sh("cd repo && git checkout -q -B signalbox/" + run + " origin/main");
    place().put("repo/src/price.txt", text);
    place().sh("cd repo && git add -A && " + GitFixture::commit("by " + run) + " && git push -q -f origin signalbox/" +
               run + " && git checkout -q main");
    return place().in_remote("signalbox/" + run);
  }
  ChangeRequestSpec spec(const std::string& run, const std::string& commit) {
    return {.run = run,
            .branch = "signalbox/" + run,
            .base = "main",
            .commit = commit,
            .title = "Raise the price",
            .body = "It is too low.\n\nSignalbox-Run: " + run + "\n"};
  }
  ChangeRequest must_find(const std::string& run) {
    const auto found = subject.forge().find({"signalbox/" + run, run});
    EXPECT_TRUE(found) << (found ? "" : describe(found.error()));
    EXPECT_TRUE(found && *found);
    return found && *found ? **found : ChangeRequest{};
  }
};
TYPED_TEST_SUITE_P(ForgeConformance);

TYPED_TEST_P(ForgeConformance, FindsNothingBeforeItIsOpened) {
  this->push("run1");
  const auto found = this->subject.forge().find({"signalbox/run1", "run1"});
  ASSERT_TRUE(found) << describe(found.error());
  EXPECT_FALSE(*found);
}

TYPED_TEST_P(ForgeConformance, OpeningIsIdempotent) {
  const std::string commit = this->push("run1");
  const auto first = this->subject.forge().open_or_update(this->spec("run1", commit));
  ASSERT_TRUE(first) << describe(first.error());
  EXPECT_FALSE(first->already_existed);
  EXPECT_EQ(first->commit, commit);
  const auto second = this->subject.forge().open_or_update(this->spec("run1", commit));
  ASSERT_TRUE(second) << describe(second.error());
  EXPECT_TRUE(second->already_existed);
  EXPECT_EQ(second->id, first->id);
  EXPECT_EQ(this->must_find("run1").id, first->id);
  EXPECT_EQ(this->must_find("run1").state, ChangeRequest::State::kOpen);
}

TYPED_TEST_P(ForgeConformance, FollowsThePush) {
  auto opened = this->subject.forge().open_or_update(this->spec("run1", this->push("run1")));
  ASSERT_TRUE(opened);
  const std::string second = this->push("run1", "125\n");
  auto spec = this->spec("run1", second);
  spec.title = "Raise it more";
  const auto updated = this->subject.forge().open_or_update(spec);
  ASSERT_TRUE(updated) << describe(updated.error());
  EXPECT_EQ(updated->id, opened->id);
  EXPECT_EQ(updated->commit, second);
  EXPECT_EQ(this->must_find("run1").commit, second);
}

TYPED_TEST_P(ForgeConformance, SeparatesRuns) {
  const auto one = this->subject.forge().open_or_update(this->spec("run1", this->push("run1")));
  const auto two = this->subject.forge().open_or_update(this->spec("run2", this->push("run2", "7\n")));
  ASSERT_TRUE(one && two);
  EXPECT_NE(one->id, two->id);
  EXPECT_EQ(this->must_find("run1").id, one->id);
  EXPECT_EQ(this->must_find("run2").id, two->id);
}

TYPED_TEST_P(ForgeConformance, MergesAndReportsTheMerge) {
  const std::string commit = this->push("run1");
  const auto request = this->subject.forge().open_or_update(this->spec("run1", commit));
  ASSERT_TRUE(request);
  const Status merged = this->subject.forge().merge(*request, commit, "Raise the price");
  ASSERT_TRUE(merged) << describe(merged.error());
  const ChangeRequest shown = this->must_find("run1");
  EXPECT_EQ(shown.state, ChangeRequest::State::kMerged);
  EXPECT_EQ(shown.commit, commit);
  EXPECT_EQ(shown.merged_as, this->place().in_remote("main"));
  EXPECT_EQ(shown.merged_base, this->place().in_remote("main"));
  EXPECT_EQ(this->place().sh("git -C remote.git show main:src/price.txt"), "120");
}

TYPED_TEST_P(ForgeConformance, MergesOnlyTheGivenCommit) {
  const std::string commit = this->push("run1");
  const auto request = this->subject.forge().open_or_update(this->spec("run1", commit));
  ASSERT_TRUE(request);
  this->push("run1", "666\n");
  const std::string before = this->place().in_remote("main");
  const Status merged = this->subject.forge().merge(*request, commit, "");
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code, ErrorCode::kConflict) << describe(merged.error());
  EXPECT_EQ(this->place().in_remote("main"), before);
}

TYPED_TEST_P(ForgeConformance, RefusesToMergeAConflict) {
  const std::string commit = this->push("run1");
  const auto request = this->subject.forge().open_or_update(this->spec("run1", commit));
  ASSERT_TRUE(request);
  this->place().sh("git clone -q remote.git other && cd other && echo 90 > src/price.txt && git add -A && " +
                   GitFixture::commit("meanwhile") + " && git push -q");
  const std::string before = this->place().in_remote("main");
  const Status merged = this->subject.forge().merge(*request, commit, "");
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code, ErrorCode::kConflict);
  EXPECT_EQ(this->place().in_remote("main"), before);
  EXPECT_EQ(this->must_find("run1").state, ChangeRequest::State::kOpen);
}

TYPED_TEST_P(ForgeConformance, CommentsOncePerMark) {
  const auto request = this->subject.forge().open_or_update(this->spec("run1", this->push("run1")));
  ASSERT_TRUE(request);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(this->subject.forge().comment(*request, "review 1", "Two findings."));
    EXPECT_TRUE(this->subject.forge().comment(*request, "review 2", "None."));
  }
  EXPECT_EQ(this->subject.comments(), 2);
}

TYPED_TEST_P(ForgeConformance, ReadsAndClosesTickets) {
  const std::string name = this->subject.add_ticket();
  const auto ticket = this->subject.forge().ticket(name);
  ASSERT_TRUE(ticket) << describe(ticket.error());
  EXPECT_EQ(ticket->title, "The price is too low");
  EXPECT_THAT(ticket->body, testing::HasSubstr("120"));
  EXPECT_THAT(ticket->labels, testing::ElementsAre("bug"));
  EXPECT_FALSE(this->subject.ticket_is_closed());
  const int before = this->subject.comments();
  for (int i = 0; i < 2; ++i) {
    const Status closed = this->subject.forge().close_ticket(*ticket, "Done.");
    EXPECT_TRUE(closed) << describe(closed.error());
  }
  EXPECT_TRUE(this->subject.ticket_is_closed());
  EXPECT_LE(this->subject.comments(), before + 1);
}

TYPED_TEST_P(ForgeConformance, ClosesNothingWhereThereIsNoTicket) {
  EXPECT_TRUE(this->subject.forge().close_ticket(Ticket{}, "Done."));
}

// The whole delivery, each step twice.
TYPED_TEST_P(ForgeConformance, CompletesADelivery) {
  const WorkTree tree = this->place().tree("run9");
  this->place().put("trees/run9/src/price.txt", "120\n");
  DeliveryParts parts = this->place().parts(this->subject.forge());
  const Value facts = deliver_through(this->place().spec(tree, "run9"), parts, DeliveryStep::kClose, 2);
  EXPECT_EQ(facts["confirm"].string_at("merged_as"), this->place().in_remote("main"));
  EXPECT_EQ(this->place().sh("git -C remote.git show main:src/price.txt"), "120");
}

REGISTER_TYPED_TEST_SUITE_P(ForgeConformance, FindsNothingBeforeItIsOpened, OpeningIsIdempotent, FollowsThePush,
                            SeparatesRuns, MergesAndReportsTheMerge, MergesOnlyTheGivenCommit, RefusesToMergeAConflict,
                            CommentsOncePerMark, ReadsAndClosesTickets, ClosesNothingWhereThereIsNoTicket,
                            CompletesADelivery);

}  // namespace sb::pipeline
