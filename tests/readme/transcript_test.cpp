#include "readme/transcript.hpp"

#include <gmock/gmock.h>

namespace sb::readme {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Lines kinds(const std::vector<Row>& rows) {
  static const char* const kNames[] = {"equal", "changed", "missing", "extra", "any"};
  Lines names;
  for (const Row& row : rows) names.emplace_back(kNames[row.kind]);
  return names;
}

TEST(Transcript, IsReadFromConsoleBlocksOnly) {
  const auto examples = read_examples(
      {"```sh", "$ no", "```", "```console", "$ one \\", "  two", "out", "> 1", "", "$ three", "```", "$ no"});
  ASSERT_EQ(examples.size(), 2u);
  EXPECT_EQ(examples[0].command, "one \\\n  two");
  EXPECT_EQ(examples[0].line, 5u);
  EXPECT_EQ(examples[0].first, 6u);
  EXPECT_THAT(examples[0].output, ElementsAre("out", "> 1"));
  EXPECT_THAT(answers_in(examples[0].output), ElementsAre("1"));
  EXPECT_THAT(answers_in({"> 1", ">", "->", "> a b"}), ElementsAre("1", "", "a b"));
  EXPECT_EQ(examples[1].command, "three");
  EXPECT_THAT(examples[1].output, IsEmpty());
}

TEST(Transcript, FindsEveryKindOfDifference) {
  EXPECT_THAT(kinds(align({"a", "b"}, {"a", "b"})), ElementsAre("equal", "equal"));
  EXPECT_THAT(kinds(align({"a", "b", "c"}, {"a", "x", "c"})), ElementsAre("equal", "changed", "equal"));
  EXPECT_THAT(kinds(align({"a", "b"}, {"b"})), ElementsAre("missing", "equal"));
  EXPECT_THAT(kinds(align({"a"}, {"a", "b"})), ElementsAre("equal", "extra"));
  EXPECT_THAT(kinds(align({}, {})), IsEmpty());
}

TEST(Transcript, AnEllipsisStandsForLinesOrForTheRestOfALine) {
  EXPECT_THAT(kinds(align({"a", "…", "z"}, {"a", "z", "x", "z"})), ElementsAre("equal", "any", "equal"));
  EXPECT_THAT(kinds(align({"a", "…"}, {"a"})), ElementsAre("equal", "any"));
  EXPECT_THAT(kinds(align({"a", "…", "z"}, {"a", "b"})), ElementsAre("equal", "any", "changed"));
  EXPECT_THAT(kinds(align({"one…"}, {"one and two"})), ElementsAre("equal"));
  EXPECT_THAT(kinds(align({"two…"}, {"one and two"})), ElementsAre("changed"));
}

TEST(Transcript, ComparesWhatIsTheSameInEveryRun) {
  EXPECT_EQ(normalised("s-06gxyqzh83st7c9xdpj0zzba1c  waiting"), normalised("s-783t9w56dd5hyzpen4t5eb830t  waiting"));
  EXPECT_EQ(normalised("Merged: 67cec9428ddd on main"), normalised("Merged: 8f29e87a7958 on main"));
  EXPECT_EQ(normalised("\"at\":\"2026-11-15T09:26:38.355Z\""), normalised("\"at\":\"2027-01-02T00:00:00.001Z\""));
  EXPECT_EQ(normalised("7 turns, 0s, 67.6 GB"), normalised("7 turns, 12s, 95 KB"));
  EXPECT_NE(normalised("7 turns"), normalised("8 turns"));
  EXPECT_NE(normalised("11 steps"), normalised("12 steps"));
  EXPECT_NE(normalised("waiting"), normalised("done"));
}

TEST(Transcript, ShowsTheScreenAfterLinesWereRedrawn) {
  EXPECT_THAT(screen_of("a\n\x1b[2Kold\n\x1b[1F\x1b[2Knew\nend\n\n"), ElementsAre("a", "new", "end"));
  EXPECT_THAT(screen_of("\x1b[1mbold\x1b[0m\n"), ElementsAre("bold"));
}

TEST(Transcript, UsesTheIdsOfThisRunInLaterCommands) {
  Ids ids;
  learn_ids(align({"continue with ct_25wnr0d1vxfz2g7k"}, {"continue with ct_9999r0d1vxfz2g7k"}), ids);
  EXPECT_EQ(with_ids_of_run("use ct_25wnr0d1vxfz2g7k --now", ids), "use ct_9999r0d1vxfz2g7k --now");
  EXPECT_EQ(with_ids_of_run("use ct_25wnr0d1vx… --now", ids), "use ct_9999r0d1vxfz2g7k --now");
  EXPECT_EQ(with_ids_of_run("use ct_77777777777777", ids), std::nullopt);
  EXPECT_EQ(with_ids_of_run("use ask-pick-4-1", ids), "use ask-pick-4-1");
}

TEST(Transcript, IsUpdatedWithItsOwnEllipsesAndIds) {
  const Lines expected = {"id s-06gxyqzh83st7c9xdp", "old", "…", "a long li…", "was s-06gxyqzh83st7c9xdp"};
  const Lines printed = {"id s-783t9w56dd5hyzpen4", "new", "x", "y", "another long line", "is s-783t9w56dd5hyzpen4"};
  const auto rows = align(expected, printed);
  Ids ids;
  learn_ids(rows, ids);
  EXPECT_THAT(updated(rows, ids),
              ElementsAre("id s-06gxyqzh83st7c9xdp", "new", "…", "another l…", "is s-06gxyqzh83st7c9xdp"));
}

}  // namespace
}  // namespace sb::readme
