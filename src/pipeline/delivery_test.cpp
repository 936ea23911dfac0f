// From a work tree to a merged change, with real git; each step twice, and each with its facts thrown away.
#include "pipeline/delivery.hpp"

#include <gmock/gmock.h>

#include "pipeline/delivery_testing.hpp"

namespace sb::pipeline {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

struct Delivering : testing::Test {
  GitPlace place;
  std::unique_ptr<Forge> forge = place.local_forge();
  DeliveryParts parts = place.parts(*forge);
  WorkTree tree = place.tree();
  DeliveryWish wish = place.wish(tree);

  void change(const std::string& path = "src/price.txt", const std::string& text = "120\n") {
    place.put("trees/run1/" + path, text);
  }
  StepDone step(DeliveryStep which, const Value& before = Value::object()) {
    return must(deliver(which, wish, before, parts));
  }
};

TEST_F(Delivering, TakesAChangeToTheBase) {
  change();
  const Value facts = go_through(wish, parts, DeliveryStep::kClose);
  const std::string commit = *facts["commit"].string_at("commit");
  EXPECT_EQ(place.in_remote("refs/heads/main"), commit);
  EXPECT_EQ(facts["confirm"].string_at("merged_as"), commit);
  EXPECT_EQ(place.sh("git -C remote.git show main:src/price.txt"), "120");
  EXPECT_EQ(place.sh("git -C remote.git log -1 --format=%an,%ae,%at,%s main"),
            "Signalbox,signalbox@localhost,1700000000,fix(shop): raise the price");
  EXPECT_EQ(place.sh("git -C remote.git log -1 --format='%(trailers)' main"),
            "Signalbox-Run: run1\nSignalbox-Session: sess_1");
  // The user's own checkout and configuration are as they were.
  EXPECT_EQ(place.read("repo/src/price.txt"), "100\n");
  EXPECT_EQ(place.sh("git -C repo config --get user.name", 1), "");
}

// What a kill between the effect and its event comes to: the step is made again with what was known before.
TEST_F(Delivering, EveryStepTwiceIsOnce) {
  change();
  const Value facts = go_through(wish, parts, DeliveryStep::kClose, 2);
  EXPECT_EQ(place.sh("git -C remote.git rev-list --count main"), "2");
  EXPECT_EQ(place.sh("git -C remote.git for-each-ref --format='%(refname)' refs/heads refs/signalbox"),
            "refs/heads/main\nrefs/heads/signalbox/run1\nrefs/signalbox/requests/run1");
  for (const DeliveryStep which :
       {DeliveryStep::kCommit, DeliveryStep::kPush, DeliveryStep::kRequest, DeliveryStep::kMerge}) {
    const StepDone again = must(deliver(which, wish, facts, parts));
    EXPECT_TRUE(again.passed && again.was_there) << to_string(which);
  }
}

}  // namespace
}  // namespace sb::pipeline
