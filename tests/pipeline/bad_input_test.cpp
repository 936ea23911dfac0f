// Unusual repositories and tickets. Each gets a clear message, and nothing is left half done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "pipeline/place.hpp"
#include "pipeline/script.hpp"

namespace sb::pipeline_tests {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string said(const ProgramResult& ended) {
  return ended.output + ended.errors;
}

TEST(Repository, ThatIsDirtyKeepsItsChangesUndelivered) {
  RunFixture place(SB_PROGRAM);
  place.write("repo/README.md", "half a thought\n");
  place.write("repo/scratch.txt", "mine\n");
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 0) << said(ended);
  EXPECT_EQ(place.read("repo/README.md"), "half a thought\n");
  EXPECT_EQ(place.read("repo/scratch.txt"), "mine\n");
  EXPECT_EQ(place.delivered("scratch.txt"), "");
  EXPECT_EQ(place.delivered("README.md"), "A place to try things.");
}

TEST(Repository, ThatIsDetachedIsLeftUnchanged) {
  RunFixture place(SB_PROGRAM);
  place.git(place.repository(), {"checkout", "--quiet", "--detach"});
  const auto head = place.git(place.repository(), {"rev-parse", "HEAD"});
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 0) << said(ended);
  EXPECT_EQ(place.git(place.repository(), {"rev-parse", "HEAD"}), head);
  EXPECT_FALSE(place.git(place.repository(), {"symbolic-ref", "HEAD"}));
}

TEST(Repository, WhoseOwnCommitsWouldBeDeliveredIsRejected) {
  RunFixture place(SB_PROGRAM);
  place.configure("branch: {strategy: none}");
  place.git(place.repository(), {"checkout", "--quiet", "-b", "feature"});
  place.write("repo/half.txt", "not for anybody\n");
  place.git(place.repository(), {"add", "--all"});
  place.git(place.repository(), {"commit", "--quiet", "--message", "Half done"});
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_NE(ended.code, 0) << said(ended);
  EXPECT_THAT(said(ended), HasSubstr("git checkout main"));
  EXPECT_EQ(place.run_id(), "");
  EXPECT_EQ(place.delivered("half.txt"), "");
  // At the base, it works in place.
  place.git(place.repository(), {"checkout", "--quiet", "main"});
  const ProgramResult on_base = place.run_goal("Make the check pass");
  EXPECT_EQ(on_base.code, 0) << said(on_base);
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  EXPECT_EQ(place.delivered("half.txt"), "");
}

TEST(Pitch, ThatIsInvalidIsRejectedBeforeTheRun) {
  const std::string long_one = "# Pitch\n" + std::string(300'000, 'w');
  for (const std::string& text : {long_one, std::string("# Pitch\ncaf\xe9\n"), std::string(" \n")}) {
    RunFixture place(SB_PROGRAM);
    place.write("repo/.signalbox/current-pitch.md", text);
    place.script(clean_run());
    const ProgramResult ended = place.run_goal("Build it");
    EXPECT_NE(ended.code, 0) << said(ended);
    EXPECT_THAT(said(ended), HasSubstr("the pitch .signalbox/current-pitch.md"));
    EXPECT_EQ(place.run_id(), "");
    EXPECT_TRUE(place.exists("repo/.signalbox/current-pitch.md"));
  }
}

TEST(Pitch, ThatIsALinkIsNotRead) {
  RunFixture place(SB_PROGRAM);
  place.write("secret.txt", "# not for a model\n");
  place.commit("README.md", "again\n");
  std::filesystem::create_directories(place.repository() + "/.signalbox");
  std::filesystem::create_symlink(place.root() + "/secret.txt", place.repository() + "/.signalbox/current-pitch.md");
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Build it");
  EXPECT_NE(ended.code, 0) << said(ended);
  EXPECT_THAT(said(ended), HasSubstr("is a link"));
  EXPECT_EQ(place.run_id(), "");
}

TEST(Repository, WithoutARemoteIsRejectedBeforeAnythingIsDone) {
  RunFixture place(SB_PROGRAM);
  place.git(place.repository(), {"remote", "remove", "origin"});
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 2) << said(ended);
  EXPECT_THAT(said(ended), HasSubstr("remote"));
  EXPECT_THAT(place.events("phase_started"), IsEmpty());
}

TEST(Repository, WhoseRemoteIsMissingIsReported) {
  RunFixture place(SB_PROGRAM);
  place.git(place.repository(), {"remote", "set-url", "origin", place.root() + "/nowhere.git"});
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_NE(ended.code, 0) << said(ended);
  EXPECT_THAT(said(ended), HasSubstr("nowhere.git"));
  EXPECT_THAT(place.events("phase_started"), IsEmpty());
}

TEST(Repository, ThatIsNotAGitRepositoryIsReported) {
  RunFixture place(SB_PROGRAM);
  place.write("plain/file.txt", "x\n");
  place.script(clean_run());
  const ProgramResult ended =
      place.run({"run", "Make the check pass", "--workspace", place.root() + "/plain", "--json"});
  EXPECT_EQ(ended.code, 2) << said(ended);
  EXPECT_THAT(said(ended), HasSubstr("git"));
}

// Adds the submodule `lib`, which is a repository beside the project's own.
void add_submodule(const RunFixture& place) {
  const std::string other = place.root() + "/other";
  place.git(place.root(), {"init", "--quiet", "--initial-branch=main", other});
  place.write("other/lib.txt", "lib\n");
  place.git(other, {"add", "--all"});
  place.git(other, {"commit", "--quiet", "--message", "Lib"});
  ASSERT_TRUE(
      place.git(place.repository(), {"-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "lib"}));
  place.git(place.repository(), {"commit", "--quiet", "--message", "Take lib in"});
  place.git(place.repository(), {"push", "--quiet", "origin", "main"});
}

TEST(Repository, WithSubmodulesKeepsThem) {
  RunFixture place(SB_PROGRAM);
  place.write("user/.gitconfig", "[protocol \"file\"]\n\tallow = always\n");
  add_submodule(place);
  place.configure("checks: ['./check && grep -q lib lib/lib.txt']");
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  ASSERT_EQ(ended.code, 0) << said(ended);
  EXPECT_EQ(place.delivered("answer.txt"), "right");
  EXPECT_EQ(place.git(place.remote(), {"ls-tree", "main", "lib"}).value_or("").substr(0, 6), "160000");
}

// git fetches submodules from files only if that is enabled.
TEST(Repository, ReportsSubmodulesThatCannotBeFetched) {
  RunFixture place(SB_PROGRAM);
  add_submodule(place);
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 3) << said(ended);
  EXPECT_THAT(said(ended), HasSubstr("cannot fetch its submodules"));
  EXPECT_THAT(place.events("phase_started"), IsEmpty());
}

TEST(Repository, WithABranchOfThatNameKeepsIt) {
  RunFixture place(SB_PROGRAM);
  place.configure("branch: {prefix: topic}");  // no slash: a branch `topic` does not block it
  place.git(place.repository(), {"branch", "topic"});
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 0) << said(ended);
  EXPECT_TRUE(place.git(place.repository(), {"rev-parse", "topic"}));
}

TEST(Repository, WithABlockingBranchIsReported) {
  RunFixture place(SB_PROGRAM);
  place.git(place.repository(), {"branch", "signalbox"});  // refs/heads/signalbox/… cannot be created now
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 2) << said(ended);
  EXPECT_THAT(said(ended), HasSubstr("the branch signalbox exists"));
  EXPECT_TRUE(place.git(place.repository(), {"rev-parse", "signalbox"}));
}

TEST(Disk, ThatFillsDuringCheckoutStopsTheRunUntilThereIsSpace) {
  RunFixture place(SB_PROGRAM);
  std::string big(24u << 20, 'x');
  for (std::size_t i = 0; i < big.size(); i += 64) big[i] = static_cast<char>('a' + (i * 2654435761u >> 20) % 26);
  place.commit("big.bin", big);
  place.script(clean_run());
  // No file may grow beyond 12 MiB: git cannot check the big one out.
  const ProgramResult ended =
      start_program("sh", place.environment(),
                    {.arguments = {"-c", "ulimit -f 24576; exec \"$@\"", "sh", place.program(), "run",
                                   "Make the check pass", "--workspace", place.repository(), "--json"},
                     .directory = place.repository()});
  EXPECT_EQ(ended.code, 3) << said(ended);
  EXPECT_THAT(place.events("phase_started"), IsEmpty());
  EXPECT_EQ(place.read("repo/big.bin").size(), big.size());
  const ProgramResult on = place.resume();
  EXPECT_EQ(on.code, 0) << said(on);
  EXPECT_EQ(place.delivered("answer.txt"), "right");
}

TEST(Ticket, ThatIsEmptyIsRejected) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  for (const std::string& text : {std::string(), std::string(" \n\t\n"), std::string("\xff\xfe\x00\x01", 4)}) {
    const ProgramResult ended = place.run_with_ticket("Make the check pass", text);
    EXPECT_EQ(ended.code, 2) << said(ended);
    EXPECT_THAT(said(ended), HasSubstr("ticket"));
  }
  EXPECT_THAT(place.run({"runs", "list", "--json"}).output, Not(HasSubstr("Make the check pass")));
}

TEST(Ticket, OfAMegabyteIsReadAndOneByteMoreIsRejected) {
  RunFixture place(SB_PROGRAM);
  place.script(clean_run());
  std::string text = "---\ntitle: Long\n---\n";
  text += std::string((1u << 20) - text.size() - 200, 'w');
  const ProgramResult ended = place.run_with_ticket("Make the check pass", text);
  EXPECT_EQ(ended.code, 0) << said(ended).substr(0, 2000);
  const ProgramResult refused = place.run_with_ticket("Make the check pass", text + std::string(1u << 20, 'w'));
  EXPECT_EQ(refused.code, 2) << said(refused).substr(0, 2000);
}

TEST(Ticket, ThatDoesNotExistIsReported) {
  RunFixture place(SB_PROGRAM);
  const ProgramResult ended = place.run_goal("Make the check pass", {"--ticket", place.root() + "/missing.md"});
  EXPECT_EQ(ended.code, 2) << said(ended);
  EXPECT_THAT(said(ended), HasSubstr("missing.md"));
}

TEST(Goal, ThatIsEmptyIsRejected) {
  RunFixture place(SB_PROGRAM);
  for (const char* goal : {"", "   "}) {
    const ProgramResult ended = place.run_goal(goal);
    EXPECT_EQ(ended.code, 2) << said(ended);
  }
}

TEST(Ticket, D14_ReachesTheAgentsCompletely) {
  RunFixture place(SB_PROGRAM);
  const std::string ticket =
      "---\ntitle: The answer is wrong\nlabels: [label-marker]\nacceptance: [acceptance-marker]\n"
      "links: ['https://example.org/link-marker']\n---\nbody-marker\n";
  place.script(lines({Line("discovery")
                          .step("interpret")
                          .expect("label-marker")
                          .expect("acceptance-marker")
                          .expect("link-marker")
                          .expect("body-marker")
                          .complete(long_notes(), {interpretation()}),
                      Line("discovery").step("hand-off").complete(long_notes(), {discovery_handoff()}), shaped(),
                      Line("coding")
                          .step("build")
                          .expect("label-marker")
                          .expect("acceptance-marker")
                          .expect("link-marker")
                          .expect("body-marker")
                          .call("Write", Value::object({{"file_path", "answer.txt"}, {"content", "right\n"}})),
                      Line("coding").step("build").complete(long_notes()),
                      Line("coding").step("hand-off").complete(long_notes(), {coding_handoff()}), reviewed()}));
  const ProgramResult ended = place.run_with_ticket("Fix it", ticket);
  EXPECT_EQ(ended.code, 0) << said(ended);
}

TEST(Ticket, WithoutATitleArrivesToo) {
  RunFixture place(SB_PROGRAM);
  place.script(
      lines({Line("discovery").step("interpret").expect("acceptance-marker").complete(long_notes(), {interpretation()}),
             Line("discovery").step("hand-off").complete(long_notes(), {discovery_handoff()}), shaped(), coded(),
             reviewed()}));
  place.write("ticket.json", R"({"acceptance": ["acceptance-marker"]})");
  const ProgramResult ended = place.run_goal("Fix it", {"--ticket", place.root() + "/ticket.json"});
  EXPECT_EQ(ended.code, 0) << said(ended);
}

// Whatever happens between the end of the old run and the start of the new one.
TEST(Ticket, EditedAndRestartedStartsEvenAfterAFailedAttempt) {
  RunFixture place(SB_PROGRAM);
  place.configure("merge: ask");
  place.script(lines({clean_run(), clean_run()}));
  place.write("ticket.md", "# Say right\n\nIt is urgent.\n");
  ASSERT_EQ(place.run({"run", "--ticket", place.root() + "/ticket.md", "--json"}).code, 1);
  const std::string old = place.run_id();
  place.write("ticket.md", "# Say right now\n\nIt is very urgent.\n");
  ASSERT_EQ(place.resume().code, 1);
  const std::string decision = place.events("asked").at(1)["payload"].string_at("decision").value_or("");
  ASSERT_EQ(place.answer(decision, "restart").code, 0);
  std::filesystem::rename(place.remote(), place.root() + "/away.git");
  EXPECT_NE(place.resume().code, 0);
  EXPECT_EQ(place.run_id(), old);
  EXPECT_EQ(place.shown()["outcome"], Value("abandoned"));
  std::filesystem::rename(place.root() + "/away.git", place.remote());
  ProgramResult on = place.resume();
  ASSERT_EQ(on.code, 1) << said(on);
  const std::string young = place.run_id();
  EXPECT_NE(young, old);
  EXPECT_THAT(place.shown(old).string_at("reason").value_or(""), HasSubstr(young));
  EXPECT_EQ(place.shown()["goal"], Value("Say right now"));
  // Once, whichever of them is resumed.
  on = place.resume(old);
  EXPECT_EQ(place.run_id(), young);
  EXPECT_EQ(place.answer_and_resume("merge").code, 0);
}

TEST(Ticket, EditedDuringTheRunIsAskedAbout) {
  for (const char* choice : {"old", "restart"}) {
    RunFixture place(SB_PROGRAM);
    place.configure("merge: ask");
    place.script(clean_run());
    ASSERT_EQ(place.run_with_ticket("Fix it", "# Title\nSay right.\n").code, 1);
    place.write("ticket.md", "# Title\nSay left instead.\n");
    ProgramResult ended = place.resume();
    ASSERT_EQ(ended.code, 1) << said(ended);
    ASSERT_THAT(place.events("asked"), SizeIs(2));
    EXPECT_EQ(place.events("asked")[1]["payload"]["question"], Value("ticket_changed"));
    EXPECT_EQ(place.delivered("answer.txt"), "");
    const std::string decision = place.events("asked")[1]["payload"].string_at("decision").value_or("");
    ASSERT_EQ(place.answer(decision, choice).code, 0);
    ended = place.resume();
    if (std::string_view(choice) == "old") {
      ended = place.answer_and_resume("merge");
      EXPECT_EQ(ended.code, 0) << said(ended);
    } else {
      EXPECT_NE(place.shown()["outcome"], Value("merged"));
    }
  }
}

TEST(Model, WithAnEndlessReplyIsStopped) {
  RunFixture place(SB_PROGRAM);
  place.script(discovered() + std::string(Line("shaping").text(std::string(5u << 20, 'a'))));
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 1) << said(ended).substr(0, 2000);
  EXPECT_LT(ended.output.size() + ended.errors.size(), 200'000u);
}

TEST(Model, ThatIsNotConfiguredIsReported) {
  RunFixture place(SB_PROGRAM);
  place.configure("models: {}\nroles: {}");
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 2) << said(ended);
  EXPECT_THAT(said(ended), HasSubstr("config.yaml"));
  EXPECT_THAT(place.work_trees(), IsEmpty());
}

TEST(Settings, OfAnUntrustedProjectStopTheRun) {
  RunFixture place(SB_PROGRAM);
  place.commit("signalbox.yaml", "merge: auto\nchecks: ['touch /tmp/never']\n");
  place.script(clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  EXPECT_EQ(ended.code, 2) << said(ended);
  EXPECT_THAT(said(ended), HasSubstr("signalbox trust"));
}

}  // namespace
}  // namespace sb::pipeline_tests
