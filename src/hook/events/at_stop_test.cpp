// Stop: lints the agent's last message where the user enabled it.
#include "guard/limits.hpp"
#include "hook/install/hook_settings.hpp"
#include "hook/testing.hpp"

namespace sb::hook {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kOffer = "All tests pass. Let me know if you want me to add more tests.";
constexpr const char* kPlain = "All 214 tests pass. The release notes are in docs/notes.md.";

class Stop : public HookFixture {
 protected:
  void enable() { (void)enable_stop(files_, homes(environment_).value(), InstallScope::kProject, project()); }
  std::string reason(const Value& event) {
    const Value answer = output_of(event);
    if (answer.is_null()) return "";
    EXPECT_EQ(answer.string_at("decision"), "block");
    return answer.string_at("reason").value_or("");
  }
};

TEST_F(Stop, IsOffUntilEnabledForTheProject) {
  EXPECT_EQ(reason(stop(kOffer)), "");
  (void)enable_stop(files_, homes(environment_).value(), InstallScope::kProject, root_ + "/other");
  EXPECT_EQ(reason(stop(kOffer)), "");
  enable();
  EXPECT_THAT(reason(stop(kOffer)), HasSubstr("INT020-SOFT-OFFER"));
}

TEST_F(Stop, AppliesToSubfoldersOfTheProject) {
  enable();
  Value event = stop(kOffer);
  event.set("cwd", project() + "/src");
  EXPECT_THAT(reason(event), HasSubstr("INT020"));
  event.set("cwd", project() + "-two");
  EXPECT_EQ(reason(event), "");
}

TEST_F(Stop, OrdinaryMessagesPass) {
  enable();
  EXPECT_EQ(reason(stop(kPlain)), "");
  EXPECT_EQ(reason(stop("")), "");
  EXPECT_EQ(reason(stop("Is the port taken? I checked: it is not.")), "");
}

TEST_F(Stop, WithoutAnOpenPromptOnlyQuestionsInProseBlock) {
  enable();
  EXPECT_EQ(reason(stop("I will now run the tests.\n\nOptions:\n- one\n")), "");
  EXPECT_THAT(reason(stop("The build is green. Reply \"yes\" to continue.")), HasSubstr("INT022"));
  EXPECT_THAT(reason(stop("Please confirm that I may drop the users table.")), HasSubstr("INT023"));
  EXPECT_THAT(reason(stop("Подтвердите удаление таблицы.")), HasSubstr("INT023"));
  EXPECT_EQ(reason(stop("The build is green.")), "") << "ends the row of three";
  EXPECT_THAT(reason(stop("A) merge or B) wait?")), HasSubstr("INT022"));
}

TEST_F(Stop, AnOptionDroppedBecauseOfACapIsSentBack) {
  enable();
  EXPECT_THAT(reason(stop("Conductor caps at 4 options. Trimming: E4 (codegen) is the largest-effort item, so it moves "
                          "to TODOS.md. Re-firing with 4.")),
              HasSubstr("GS009"));
  EXPECT_THAT(reason(stop("Лимит на 4 варианта, поэтому убираю E4 и оставляю остальные.")), HasSubstr("GS009"));
  EXPECT_EQ(reason(stop("SQLite allows at most 999 parameters, so I removed the loop.")), "");
}

TEST_F(Stop, OffersInOtherLanguagesBlockIfConfigured) {
  enable();
  const std::string offer = "Gib mir Bescheid, wenn ich weitermachen soll.";
  EXPECT_EQ(reason(stop(offer)), "");
  (void)files_.write_atomic(home() + "/config.yaml", "block_offers: [de]\n");
  EXPECT_THAT(reason(stop(offer)), HasSubstr("INT020"));
}

TEST_F(Stop, WithAnOpenPromptEveryRuleApplies) {
  enable();
  const Plan planned = plan(kBranch);
  const std::string block = "Which branch should be released?\n\n1) main\n2) release\n3) hotfix\n";
  EXPECT_EQ(reason(stop(block)), "");
  EXPECT_THAT(reason(stop("I have a question.\n\n" + block, "p2")), HasSubstr("INT001"));
  EXPECT_THAT(reason(stop("Which branch should be released?\n\n1) main\n2) release\n", "p3")), HasSubstr("INT051"));
  (void)fire(after(planned.input, answered(planned.input, "main")));
  EXPECT_EQ(reason(stop("I have a question.\n\nThe tests pass.", "p4")), "");
}

TEST_F(Stop, APromptThatWasPassedOverNoLongerRestrictsReplies) {
  enable();
  const std::string reply = "I fixed the typo in the README.";
  const Plan planned = plan(kBranch);
  EXPECT_THAT(reason(stop(reply)), HasSubstr("INT032"));
  EXPECT_EQ(reason(stop(reply, "p2")).substr(0, 6), "INT032") << "it was not shown yet";
  (void)fire(before(planned.input));
  EXPECT_THAT(reason(stop(reply)), HasSubstr("INT032")) << "the dialog is open";
  EXPECT_EQ(reason(stop(reply, "p2")), "") << "the person wrote something else";
  EXPECT_THAT(reason(stop(kOffer, "p2")), HasSubstr("INT020"));
  const Plan again = plan(kBranch);
  EXPECT_THAT(reason(stop(reply, "p2")), HasSubstr("INT032")) << "planned again in this turn";
}

TEST_F(Stop, APromptOfYesterdayNoLongerRestrictsReplies) {
  enable();
  (void)plan(kBranch);
  clock_.set(clock_.now_ms() + limits::kSessionMaxIdleMs);
  EXPECT_EQ(reason(stop("I fixed the typo in the README.")), "");
}

using ReqInt71 = Stop;
TEST_F(ReqInt71, SendsBackThreeTimesThenAcceptsAndLogs) {
  enable();
  for (int i = 0; i < 3; ++i) EXPECT_THAT(reason(stop(kOffer)), HasSubstr("INT020")) << i;
  EXPECT_EQ(errors(), "");
  EXPECT_EQ(reason(stop(kOffer)), "");
  EXPECT_THAT(errors(), AllOf(HasSubstr("INT020"), HasSubstr("3 times")));
}

TEST_F(ReqInt71, ACleanMessageResetsTheCount) {
  enable();
  for (int i = 0; i < 2; ++i) EXPECT_NE(reason(stop(kOffer)), "");
  EXPECT_EQ(reason(stop(kPlain)), "");
  for (int i = 0; i < 3; ++i) EXPECT_NE(reason(stop(kOffer)), "") << i;
}

TEST_F(ReqInt71, ANewUserMessageResetsTheCount) {
  enable();
  for (int i = 0; i < 2; ++i) EXPECT_NE(reason(stop(kOffer)), "");
  for (int i = 0; i < 3; ++i) EXPECT_NE(reason(stop(kOffer, "p2")), "") << i;
  EXPECT_EQ(reason(stop(kOffer, "p2")), "");
}

TEST_F(ReqInt71, SessionsAreCountedSeparately) {
  enable();
  Value other = stop(kOffer);
  other.set("session_id", "../../other");
  for (int i = 0; i < 3; ++i) EXPECT_NE(reason(stop(kOffer)), "");
  EXPECT_NE(reason(other), "");
}

TEST_F(ReqInt71, AMessageIsNotSentBackWhenTheCountCannotBeStored) {
  enable();
  (void)files_.write_atomic(home() + "/sent-back", "in the way");
  EXPECT_EQ(reason(stop(kOffer)), "");
  EXPECT_NE(errors(), "");
}

TEST_F(ReqInt71, TheModelSeesOneRuleAndItsViolation) {
  enable();
  EXPECT_THAT(reason(stop(kOffer)), AllOf(HasSubstr("Let me know if you want"), Not(HasSubstr("All tests pass"))));
}

}  // namespace
}  // namespace sb::hook
