#include "engine/recall/recall.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/limits.hpp"

namespace sb::engine {
namespace {

using testing::HasSubstr;
using testing::Not;

// A branch of steps 1, 2, …, each with its notes; node n+1 is the result of delivering node n.
class Branch {
 public:
  explicit Branch(std::vector<std::string> notes) : notes_(std::move(notes)) {}

  NodeNo tip() const { return static_cast<NodeNo>(notes_.size()) + 1; }
  std::string recalled(std::size_t budget = limits::kRecallBytes, bool knows_depth = true) {
    const auto before = [this](NodeNo node) -> Result<std::optional<RecalledStep>> {
      ++reads;
      if (node <= 1) return std::nullopt;
      return RecalledStep{node - 1, fmt::format("s-{}", node - 1), fmt::format("Step {}", node - 1),
                          notes_[static_cast<std::size_t>(node - 2)], node - 2};
    };
    const auto text = recall(tip(), budget, before, knows_depth ? static_cast<int>(notes_.size()) : -1);
    EXPECT_TRUE(text);
    return text.value_or("");
  }

  int reads = 0;

 private:
  std::vector<std::string> notes_;
};

TEST(Recall, ShowsEverythingThatFitsNewestFirst) {
  const std::string text = Branch({"first found", "second built", "third tested"}).recalled();
  EXPECT_EQ(text,
            "Noted so far, newest first:\n\n"
            "## Step 3 (s-3)\nthird tested\n\n"
            "## Step 2 (s-2)\nsecond built\n\n"
            "## Step 1 (s-1)\nfirst found\n\n");
}

TEST(Recall, IsEmptyIfNothingWasDelivered) {
  EXPECT_EQ(Branch({}).recalled(), "");
}

TEST(Recall, MarksAStepWithoutNotes) {
  EXPECT_THAT(Branch({"found", "  \n"}).recalled(), HasSubstr("## Step 2 (s-2): no notes\n"));
}

TEST(Pain9, RecallKeepsTheNewestNotes) {
  std::vector<std::string> notes;
  for (int i = 1; i <= 59; ++i) notes.push_back(fmt::format("note {} {}", i, std::string(1'000, 'x')));
  const std::string text = Branch(notes).recalled();
  EXPECT_LE(text.size(), limits::kRecallBytes);
  EXPECT_THAT(text, HasSubstr("note 59 "));
  EXPECT_THAT(text, HasSubstr("note 40 "));
  EXPECT_THAT(text, Not(HasSubstr("note 1 ")));
}

TEST(DoBetter, RecencyFirstRecallNamesOmittedNotes) {
  const std::string text = Branch({"old", std::string(3'000, 'x'), "new"}).recalled(2'000);
  EXPECT_THAT(text, HasSubstr("## Step 3 (s-3)\nnew\n"));
  EXPECT_THAT(text, HasSubstr("## Step 1 (s-1)\nold\n"));
  EXPECT_THAT(text, HasSubstr("Left out for length: Step 2 (s-2).\n"));
  EXPECT_THAT(text, Not(HasSubstr("xxx")));
}

TEST(Recall, CountsUnreadSteps) {
  Branch branch(std::vector<std::string>(10'000, std::string(600, 'n')));
  const std::string text = branch.recalled(4'096);
  EXPECT_THAT(text, HasSubstr("and 9987 more.\n"));
  EXPECT_LT(branch.reads, 20);
  EXPECT_THAT(branch.recalled(4'096, false), HasSubstr("and all earlier ones.\n"));
}

TEST(Recall, ReadsNoMoreThanItsBudgetAllows) {
  Branch branch(std::vector<std::string>(10'000, ""));
  EXPECT_LE(branch.recalled().size(), limits::kRecallBytes);
  EXPECT_LT(branch.reads, 2'000);
}

TEST(Recall, NeverExceedsItsBudgetAndNeverCutsANote) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  for (int round = 0; round < 500; ++round) {
    std::vector<std::string> notes;
    for (unsigned i = random() % 12; i > 0; --i) notes.push_back("<" + std::string(random() % 900, 'n') + ">");
    const std::size_t budget = random() % 3'000;
    const std::string text = Branch(notes).recalled(budget, random() % 2 == 0);
    EXPECT_LE(text.size(), budget);
    EXPECT_EQ(std::count(text.begin(), text.end(), '<'), std::count(text.begin(), text.end(), '>'));
  }
}

TEST(Recall, ReturnsTheReadersError) {
  const auto text = recall(2, 1'000, [](NodeNo) -> Result<std::optional<RecalledStep>> {
    return fail(ErrorCode::kCorrupt, "event 3 is damaged");
  });
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace sb::engine
