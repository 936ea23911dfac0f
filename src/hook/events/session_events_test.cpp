#include <fmt/format.h>

#include <algorithm>

#include "guard/open_step.hpp"
#include "hook/testing.hpp"

namespace sb::hook {
namespace {

using guard::OpenStep;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The notes a conversation gets.
class SessionEvents : public OpenStepFixture {
 protected:
  Value started(std::string_view source = "compact") const {
    Value value = event("SessionStart");
    value.set("source", source);
    return value;
  }
  Value prompted() const {
    Value value = event("UserPromptSubmit");
    value.set("prompt", "continue");
    return value;
  }
};

TEST_F(SessionEvents, ACompactedConversationGetsItsStepBack) {
  EXPECT_EQ(fire(started()).output, "");
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{};
  open(plan);
  for (const char* source : {"startup", "resume", "clear", "compact"}) {
    EXPECT_THAT(
        noted(started(source)),
        AllOf(HasSubstr("session s-1 of wr.x"), HasSubstr("\nGoal: Fix the roof\n"),
              HasSubstr("step 2 of 5: Plan it (plan)"), HasSubstr("Required: notes"), HasSubstr("change no file"),
              HasSubstr("\"continueToken\":\"ct_s-1\",\"intent\":\"rehydrate\",\"workspacePath\":\"" + project()),
              HasSubstr("Ignore it if you were asked for something else")));
  }
  fire(continued("s-1"));
  EXPECT_THAT(noted(started()), testing::Not(HasSubstr("Ignore it")));
  EXPECT_EQ(fire(prompted()).output, "");
  EXPECT_EQ(errors(), "");
}

// A killed conversation sends no SessionEnd.
TEST_F(SessionEvents, ASessionThatAnotherConversationLeftOpenIsOffered) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{};
  open(plan);
  fire(continued("s-1", "dead"));
  clock_.sleep_ms(3LL * 60 * 60 * 1'000);
  EXPECT_THAT(
      noted(started("startup")),
      AllOf(HasSubstr("session s-1 of wr.x was left open in " + project() + ", at step 2 of 5: Plan it (plan)."),
            HasSubstr("Another conversation works on it, last seen 3 hours ago."), HasSubstr("Goal: Fix the roof"),
            HasSubstr("only if the user asks for that or confirms it and that conversation has ended"),
            HasSubstr("\"continueToken\":\"ct_s-1\",\"intent\":\"rehydrate\"")));
  EXPECT_EQ(fire(started("compact")).output, "");
  EXPECT_EQ(denied(edit("a")), "") << "an offer restricts nothing";
  fire(continued("s-1"));
  EXPECT_NE(denied(edit("a")), "");
  EXPECT_THAT(noted(started("startup")), Not(HasSubstr("Another conversation")));
  // The other one was still alive: it is notified, once.
  Value alive = prompted();
  alive.set("session_id", "dead");
  EXPECT_THAT(noted(alive), HasSubstr("another conversation has continued session s-1 of wr.x"));
  EXPECT_EQ(fire(alive).output, "");
  EXPECT_EQ(denied(edit("a", "Edit", "dead")), "");
  EXPECT_EQ(errors(), "");
}

TEST_F(SessionEvents, AConversationWasLastSeenWhenItsTranscriptWasWritten) {
  open(step());
  Value used = continued("s-1", "alive");
  used.set("transcript_path", root_ + "/alive.jsonl");
  fire(used);
  clock_.sleep_ms(3LL * 60 * 60 * 1'000);
  EXPECT_THAT(noted(started("startup")), HasSubstr("last seen 3 hours ago"));
  (void)files_.write_atomic(root_ + "/alive.jsonl", "{}");
  EXPECT_THAT(noted(started("startup")), HasSubstr("last seen less than a minute ago"));
}

TEST_F(SessionEvents, OffersAreOfRecentSessionsThatPeopleWorkOn) {
  OpenStep plan = step();
  open(plan);
  clock_.sleep_ms(13LL * 60 * 60 * 1'000);
  EXPECT_THAT(noted(started("startup")),
              AllOf(HasSubstr("It was last used 13 hours ago."), Not(HasSubstr("conversation has"))));
  clock_.sleep_ms(7LL * 24 * 60 * 60 * 1'000);
  EXPECT_EQ(fire(started("startup")).output, "");
  OpenStep other = step("s-2");
  other.is_autonomous = true;
  open(other);
  OpenStep child = step("s-3");
  child.parent = "s-1";
  open(child);
  fire(continued("s-3", "dead"));
  EXPECT_EQ(fire(started("startup")).output, "");
  OpenStep huge = step("s-4");
  huge.title = huge.goal = std::string(2'000, 't');
  open(huge);
  fire(continued("s-4", "dead"));
  const std::string text = noted(started("startup"));
  EXPECT_LE(text.size(), 1'024u);
  EXPECT_THAT(text, HasSubstr("ct_s-4"));
}

TEST_F(SessionEvents, TheNoteFitsOneKibibyteAndKeepsTheToken) {
  OpenStep plan = step();
  plan.title = std::string(2'000, 't');
  plan.goal = std::string(2'000, 'g');
  plan.required_output = std::string(2'000, 'o');
  plan.writes = std::vector<std::string>(100, std::string(100, 'g'));
  open(plan);
  const std::string text = noted(started());
  EXPECT_LE(text.size(), 1'024u);
  EXPECT_THAT(text, AllOf(HasSubstr("…\n"), HasSubstr("ct_s-1")));
}

TEST_F(SessionEvents, AnAnswerIsReportedOnce) {
  const Plan asked = plan(R"(
decision: release-branch
instruction: Which branch should be released?
options: [{id: main, label: Main}, {id: hotfix, label: The small fix}]
)");
  OpenStep waiting = step();
  waiting.waiting = "decision";
  waiting.decision = asked.decision;
  open(waiting);
  fire(continued("s-1"));
  EXPECT_EQ(fire(prompted()).output, "");
  EXPECT_THAT(noted(started()), AllOf(HasSubstr("waits for a person to answer " + asked.decision),
                                      HasSubstr("continues once that is done; there is nothing to submit."),
                                      Not(HasSubstr("rehydrate")), Not(HasSubstr("submits it"))));
  inbox::AnswerSubmission elsewhere;
  elsewhere.given.options = {"hotfix"};
  elsewhere.from = {inbox::Channel::kTerminal, "ann"};
  ASSERT_TRUE(open_home()->inbox().answer(asked.decision, elsewhere));
  EXPECT_THAT(noted(prompted()),
              AllOf(HasSubstr("has been answered: hotfix (\"The small fix\")."), HasSubstr("ct_s-1")));
  EXPECT_EQ(fire(prompted()).output, "");
  // After a compaction it must be reported again.
  EXPECT_THAT(noted(started()),
              AllOf(HasSubstr("has been answered: hotfix"), HasSubstr("ct_s-1"),
                    HasSubstr("} continues; there is nothing to submit."), Not(HasSubstr("submits it"))));
  EXPECT_EQ(fire(prompted()).output, "");
  EXPECT_EQ(errors(), "");
}

TEST_F(SessionEvents, LateAnswersThatDoNotFitAreCounted) {
  std::vector<std::string> late;
  for (int i = 0; i < 12; ++i) {
    const std::string id = plan(fmt::format("decision: q-{}\ninstruction: Which?\noptions: [yes, no]\n", i)).decision;
    const auto opened_home = open_home();
    const auto answer = [&](const char* option, const char* who) {
      inbox::AnswerSubmission submission;
      submission.given.options = {option};
      submission.from = {inbox::Channel::kTerminal, who};
      submission.raw = option;
      return opened_home->inbox().answer(id, submission).has_value();
    };
    ASSERT_TRUE(answer("yes", "ann"));
    ASSERT_FALSE(answer("no", "bob"));
    late.push_back(id);
  }
  const std::string text = noted(prompted());
  EXPECT_LE(text.size(), 1'024u);
  const auto shown = std::ranges::count_if(late, [&](const std::string& id) { return text.contains(id); });
  EXPECT_GT(shown, 1);
  EXPECT_THAT(text, HasSubstr(fmt::format("that are not shown here: {}.", 12 - shown)));
  EXPECT_EQ(fire(prompted()).output, "");
}

TEST_F(SessionEvents, TheStatusLineNamesTheStepAndCountsQuestions) {
  const auto line = [&](const std::string& input) {
    FakeStreams streams(input);
    EXPECT_EQ(run_program("signalbox-hook", {"statusline"}, seams(streams)), 0);
    EXPECT_EQ(streams.errors, "");
    return streams.output;
  };
  const std::string here = R"({"session_id":"5b1c","cwd":"/","workspace":{"current_dir":")" + project() + R"("}})";
  EXPECT_EQ(line(here), "");
  open(step());
  EXPECT_EQ(line(here), "wr.x 2/5 Plan it\n");
  EXPECT_EQ(line(R"({"cwd":")" + project() + R"("})"), "wr.x 2/5 Plan it\n");
  plan(kBranch);
  EXPECT_EQ(line(here), "wr.x 2/5 Plan it · 1 question open\n");
  close(step());
  EXPECT_EQ(line(here), "1 question open\n");
  EXPECT_EQ(line(R"({"cwd":"/"})"), "");
  for (const char* odd : {"", "{", "[]", "null", "\xff", R"({"workspace":3,"cwd":[]})"}) (void)line(odd);
  corrupt_store();
  EXPECT_EQ(line(here), "");
}

}  // namespace
}  // namespace sb::hook
