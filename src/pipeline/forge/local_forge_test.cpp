#include "pipeline/forge/local_forge.hpp"

#include "pipeline/forge/forge_conformance.hpp"

namespace sb::pipeline {
namespace {

struct LocalSubject {
  GitFixture place;
  std::unique_ptr<Forge> made;

  Forge& forge() {
    made = place.local_forge();
    return *made;
  }
  std::string add_ticket() {
    place.put("repo/ticket.md", "---\nid: T-1\ntitle: The price is too low\nlabels: [bug]\n---\nIt should be 120.\n");
    return "ticket.md";
  }
  bool ticket_is_closed() { return !place.sh("git -C remote.git for-each-ref refs/signalbox/closed").empty(); }
  int comments() {
    int count = 0;
    const std::string note =
        place.sh("git -C remote.git cat-file blob refs/signalbox/requests/run1 2>/dev/null || true");
    for (std::size_t at = note.find("\"mark\""); at != std::string::npos; at = note.find("\"mark\"", at + 1)) ++count;
    return count;
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(Local, ForgeConformance, LocalSubject);

TEST(LocalForge, ANoteOfAnotherProgramIsNotTrusted) {
  GitFixture place;
  place.sh("cd remote.git && git update-ref refs/signalbox/requests/run1 $(echo '[1' | git hash-object -w --stdin)");
  const auto found = place.local_forge()->find({.branch = "signalbox/run1", .run = "run1"});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kInvalid);
}

TEST(LocalForge, ARemovedBranchIsClosedOrMerged) {
  GitFixture place;
  const auto forge = place.local_forge();
  place.sh("cd repo && git checkout -q -b signalbox/run1 && echo 120 > src/price.txt && git add -A && " +
           GitFixture::commit("x") + " && git push -q origin signalbox/run1");
  const std::string commit = place.in_remote("signalbox/run1");
  const auto opened = forge->open_or_update({"run1", "signalbox/run1", "main", commit, "t", "b"});
  ASSERT_TRUE(opened);
  place.sh("git -C remote.git update-ref -d refs/heads/signalbox/run1");
  EXPECT_EQ((*forge->find({.branch = "signalbox/run1", .run = "run1"}))->state, ChangeRequest::State::kClosed);
  place.sh("git -C repo push -q origin signalbox/run1:main");
  EXPECT_EQ((*forge->find({.branch = "signalbox/run1", .run = "run1"}))->state, ChangeRequest::State::kMerged);
}

TEST(LocalForge, AMissingRemoteIsReportedWithARemedy) {
  GitFixture place;
  place.sh("git -C repo remote remove origin");
  const auto found = place.local_forge()->find({.branch = "signalbox/run1", .run = "run1"});
  ASSERT_FALSE(found);
  EXPECT_THAT(describe(found.error()), testing::HasSubstr("git init --bare"));
}

}  // namespace
}  // namespace sb::pipeline
