#include "pipeline/plan/next_action.hpp"

#include <gmock/gmock.h>

#include "pipeline/limits.hpp"
#include "pipeline/plan/testing.hpp"

namespace sb::pipeline {
namespace {

const std::string kUpToReview = "discovery, shaping, coding, deliver 0, review";

TEST(Plan, FullCleanMergesOnALocalForge) {
  PlanSimulator walk;
  EXPECT_EQ(walk.run(), kUpToReview + ", merge, merged");
}

TEST(Plan, MinorIsFixedAndReviewedAgain) {
  PlanSimulator walk;
  walk.verdicts = {"minor", "clean"};
  EXPECT_EQ(walk.run(), kUpToReview + ", fix 1, deliver 1, review 1, merge, merged");
}

TEST(Plan, MinorThreeTimesGoesToAPerson) {
  PlanSimulator walk;
  walk.verdicts = {"minor", "minor", "minor"};
  EXPECT_EQ(walk.run(), kUpToReview +
                            ", fix 1, deliver 1, review 1, fix 2, deliver 2, review 2, escalate fix-loop, "
                            "ask escalation, and waits");
}

TEST(Plan, BlockingIsAuditedFixedAndNeverMergesByItself) {
  PlanSimulator walk;
  walk.verdicts = {"blocking", "clean"};
  EXPECT_EQ(walk.run(), kUpToReview + ", audit, fix 1, deliver 1, review 1, ask merge, and waits");
}

TEST(Plan, BlockingAgainAfterAnAuditGoesToAPerson) {
  for (const std::string second : {"blocking", "minor"}) {
    PlanSimulator walk;
    walk.verdicts = {"blocking", second};
    EXPECT_EQ(walk.run(),
              kUpToReview + ", audit, fix 1, deliver 1, review 1, escalate audit-chain, ask escalation, and waits");
  }
}

TEST(Plan, UnknownVerdictCountsAsBlocking) {
  PlanSimulator walk;
  walk.ends["review"] = {"partial"};
  EXPECT_EQ(walk.run(), kUpToReview + ", audit, fix 1, deliver 1, review 1, ask merge, and waits");
}

TEST(Plan, ARetriedSessionContinuesAndSettlesItsQuestion) {
  PlanSimulator walk;
  walk.ends["coding"] = {"killed", "stalled", "full"};
  walk.words["escalation"] = {"(retried)", "(retried)"};
  walk.words["merge"] = {"merge"};
  EXPECT_EQ(walk.run(),
            "discovery, shaping, coding, escalate coding, ask escalation, (retried), escalate coding, ask escalation, "
            "(retried), deliver 0, review, ask merge, merge, merge, merged");
  EXPECT_EQ(walk.state.asked.front().choice, "(retried)");
  EXPECT_EQ(walk.state.asked.front().by, "kim");
  EXPECT_EQ(walk.state.newest(Phase::kCoding)->attempt, 1);
}

TEST(Plan, AnImmediateRetryAsksNoQuestion) {
  PlanSimulator walk;
  walk.ends["coding"] = {"killed", "full"};
  walk.retries_at_once = true;
  EXPECT_EQ(walk.run(), "discovery, shaping, coding, escalate coding, (retried), deliver 0, review, merge, merged");
}

TEST(Plan, PersonMayHaveItFixedOnceMore) {
  PlanSimulator walk;
  walk.verdicts = {"minor", "minor", "minor", "clean"};
  walk.words["escalation"] = {"fix"};
  walk.words["merge"] = {"merge"};
  walk.remarks["fix"] = "Mind the index.";
  EXPECT_EQ(walk.run(), kUpToReview +
                            ", fix 1, deliver 1, review 1, fix 2, deliver 2, review 2, escalate fix-loop, "
                            "ask escalation, fix, fix 3, deliver 3, review 3, ask merge, merge, merge, merged");
  const auto findings = findings_before(walk.state, 3);
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[1].string_at("summary"), "Mind the index.");
}

TEST(Plan, PersonMayMergeAnEscalatedChange) {
  PlanSimulator walk;
  walk.verdicts = {"blocking", "blocking"};
  walk.words["escalation"] = {"merge"};
  EXPECT_EQ(walk.run(), kUpToReview +
                            ", audit, fix 1, deliver 1, review 1, escalate audit-chain, ask escalation, merge, merge, "
                            "merged");
}

TEST(Plan, PartialContinuesByDefault) {
  PlanSimulator walk;
  walk.ends["discovery"] = {"partial"};
  EXPECT_EQ(walk.run(), kUpToReview + ", merge, merged");
}

TEST(Plan, PartialMayBeRetriedOnce) {
  PlanSimulator walk;
  walk.settings.on_partial = OnPartial::kRetryOnce;
  walk.ends["discovery"] = {"partial", "partial"};
  EXPECT_EQ(walk.run(), "discovery, discovery again, shaping, coding, deliver 0, review, merge, merged");
}

TEST(Plan, PartialMayEscalate) {
  PlanSimulator walk;
  walk.settings.on_partial = OnPartial::kEscalate;
  walk.ends["shaping"] = {"partial"};
  walk.words["escalation"] = {"proceed"};
  EXPECT_EQ(walk.run(),
            "discovery, shaping, escalate shaping, ask escalation, proceed, coding, deliver 0, review, "
            "ask merge, and waits");
}

TEST(Plan, FallbackEscalatesAndMayBeRetried) {
  PlanSimulator walk;
  walk.ends["discovery"] = {"fallback", "full"};
  walk.words["escalation"] = {"retry"};
  walk.words["merge"] = {"merge"};
  EXPECT_EQ(walk.run(),
            "discovery, escalate discovery, ask escalation, retry, discovery again, shaping, coding, "
            "deliver 0, review, ask merge, merge, merge, merged");
}

TEST(Plan, ASecondFailureAsksAgain) {
  PlanSimulator walk;
  walk.ends["coding"] = {"agent_died", "stalled"};
  walk.words["escalation"] = {"retry", "stop"};
  EXPECT_EQ(walk.run(),
            "discovery, shaping, coding, escalate coding, ask escalation, retry, coding again, "
            "escalate coding, ask escalation, stop, stopped");
}

// D24: a loop that ends before its workflow has failed, whatever it wrote.
TEST(Plan, D24_EndingEarlyIsAFailure) {
  for (const char* state : {"stopped_early", "turn_limit", "repeating", "killed"}) {
    PlanSimulator walk;
    walk.ends["coding"] = {state};
    EXPECT_EQ(walk.run(), "discovery, shaping, coding, escalate coding, ask escalation, and waits") << state;
  }
}

TEST(Plan, TheInterfaceIsDesignedAndAPersonApproves) {
  PlanSimulator walk;
  walk.touches_ui = true;
  EXPECT_EQ(walk.run(), "discovery, shaping, design, ask ui, and waits");
  PlanSimulator answered;
  answered.touches_ui = true;
  answered.words["ui"] = {"again", "approve"};
  EXPECT_EQ(answered.run(),
            "discovery, shaping, design, ask ui, again, design again, ask ui, approve, coding, "
            "deliver 0, review, merge, merged");
}

TEST(Plan, HostedForgesAskBeforeMerging) {
  PlanSimulator walk;
  walk.is_hosted = true;
  EXPECT_EQ(walk.run(), kUpToReview + ", ask merge, and waits");
  PlanSimulator left;
  left.is_hosted = true;
  left.words["merge"] = {"leave"};
  EXPECT_EQ(left.run(), kUpToReview + ", ask merge, leave, requested");
  PlanSimulator fixed;
  fixed.is_hosted = true;
  fixed.words["merge"] = {"fix", "merge"};
  EXPECT_EQ(fixed.run(), kUpToReview + ", ask merge, fix, fix 1, deliver 1, review 1, ask merge, merge, merge, merged");
}

TEST(Plan, MergeNeverAndAutoAreHonoured) {
  PlanSimulator never;
  never.settings.merge = MergePolicy::kNever;
  EXPECT_EQ(never.run(), kUpToReview + ", requested");
  PlanSimulator automatic;
  automatic.is_hosted = true;
  automatic.settings.merge = MergePolicy::kAuto;
  EXPECT_EQ(automatic.run(), kUpToReview + ", merge, merged");
}

TEST(Plan, AChangeToWhatJudgesNeedsAPerson) {
  PlanSimulator walk;
  walk.settings.merge = MergePolicy::kAuto;
  walk.judges = {{0, "check"}};
  EXPECT_EQ(walk.run(), kUpToReview + ", ask merge, and waits");
  walk.words["merge"] = {"merge"};
  EXPECT_EQ(walk.resume(), kUpToReview + ", ask merge, merge, merge, merged");
  // Fixed: the change as a whole no longer touches it.
  PlanSimulator fixed;
  fixed.judges = {{0, "check"}};
  fixed.words["merge"] = {"fix"};
  EXPECT_EQ(fixed.run(), kUpToReview + ", ask merge, fix, fix 1, deliver 1, review 1, merge, merged");
  // An answer given before is none about this.
  PlanSimulator again;
  again.judges = {{0, "check"}, {1, "check"}};
  again.words["merge"] = {"fix", "leave"};
  EXPECT_EQ(again.run(), kUpToReview + ", ask merge, fix, fix 1, deliver 1, review 1, ask merge, leave, requested");
}

TEST(Plan, AnOutageParksTheRunAndItContinuesLater) {
  PlanSimulator walk;
  walk.ends["coding"] = {"outage", "outage", "full"};
  EXPECT_EQ(walk.run(), "discovery, shaping, coding, parked, parked, deliver 0, review, merge, merged");
}

TEST(Plan, ImplementTakesAPitchAndArchivesIt) {
  PlanSimulator walk;
  walk.mode = RunMode::kImplement;
  EXPECT_EQ(walk.run(), "coding, deliver 0, review, merge, archive, merged");
}

TEST(Plan, FindingsOfDeliveryAreFixedWithinTheRounds) {
  for (const char* step : {"scope", "checks", "secrets"}) {
    PlanSimulator walk;
    walk.steps[step] = {false};
    EXPECT_EQ(walk.run(), fmt::format("discovery, shaping, coding, {} 0 fails, fix 1, deliver 1, review 1, merge, "
                                      "merged",
                                      step));
    const auto findings = findings_before(walk.state, 1);
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].string_at("summary"), fmt::format("{} said no", step));
  }
}

TEST(Plan, FindingsOfDeliveryGoToAPersonAfterTheRounds) {
  PlanSimulator walk;
  walk.steps["scope"] = {false, false, false};
  walk.words["escalation"] = {"accept"};
  EXPECT_EQ(walk.run(),
            "discovery, shaping, coding, scope 0 fails, fix 1, scope 1 fails, fix 2, scope 2 fails, "
            "escalate delivery, ask escalation, accept, deliver 2, review 2, ask merge, and waits");
}

TEST(Plan, FailingChecksOfTheForgeAreFixed) {
  PlanSimulator walk;
  walk.steps["request_checks"] = {false};
  walk.causes["request_checks"] = "checks_failed";
  EXPECT_EQ(walk.run(), kUpToReview + ", request_checks 0 fails, fix 1, deliver 1, review 1, merge, merged");
}

PlanSimulator simulate_base_moves(int times) {
  PlanSimulator walk;
  walk.causes["merge"] = std::string(kBaseMoved);
  walk.steps["merge"] = std::deque<bool>(static_cast<std::size_t>(times), false);
  return walk;
}

TEST(Plan, AnAdvancedBaseIsMergedIntoTheBranchAndDelivered) {
  EXPECT_EQ(simulate_base_moves(1).run(), kUpToReview + ", merge 0 fails, update, deliver 0, merge, merged");
  PlanSimulator person = simulate_base_moves(1);
  person.settings.merge = MergePolicy::kAsk;
  person.words["merge"] = {"merge"};
  EXPECT_EQ(person.run(), kUpToReview + ", ask merge, merge, merge 0 fails, update, deliver 0, merge, merged");
}

TEST(Plan, AConflictWithTheBaseGoesToAPerson) {
  PlanSimulator walk = simulate_base_moves(1);
  walk.steps["update"] = {false};
  walk.words["escalation"] = {"retry"};
  EXPECT_EQ(walk.run(),
            kUpToReview +
                ", merge 0 fails, update 0 fails, escalate merge, ask escalation, retry, update, deliver 0, "
                "merge, merged");
  PlanSimulator left = simulate_base_moves(1);
  left.steps["update"] = {false};
  left.words["escalation"] = {"leave"};
  EXPECT_THAT(left.run(), testing::EndsWith("leave, requested"));
}

TEST(Plan, FailedChecksOnTheNewBaseAreFixedThere) {
  PlanSimulator walk = simulate_base_moves(1);
  walk.steps["checks"] = {true, false};
  EXPECT_EQ(walk.run(),
            kUpToReview + ", merge 0 fails, update, checks 0 fails, fix 1, deliver 1, review 1, merge, merged");
}

TEST(Plan, ABaseThatKeepsAdvancingGoesToAPerson) {
  PlanSimulator walk = simulate_base_moves(limits::kUpdates + 1);
  const std::string trace = walk.run();
  EXPECT_THAT(trace, testing::EndsWith("merge 0 fails, escalate merge, ask escalation, and waits"));
  EXPECT_EQ(
      std::ranges::count_if(walk.state.deliveries, [](const auto& made) { return made.step == DeliveryStep::kUpdate; }),
      limits::kUpdates);
  PlanSimulator enough = simulate_base_moves(limits::kUpdates);
  EXPECT_THAT(enough.run(), testing::EndsWith("merge, merged"));
}

TEST(Plan, ChecksThatNeverEndDoNotGoToTheFixer) {
  PlanSimulator walk;
  walk.steps["request_checks"] = {false};
  walk.failed_facts["request_checks"] = Value::object({{"state", "pending"}});
  EXPECT_THAT(walk.run(), testing::EndsWith("request_checks 0 fails, escalate delivery, ask escalation, and waits"));
}

// D19: a refused merge is not reported as merged.
TEST(Plan, D19_RefusedMergeGoesToAPerson) {
  for (const char* step : {"merge", "confirm"}) {
    PlanSimulator walk;
    walk.steps[step] = {false};
    EXPECT_THAT(walk.run(), testing::HasSubstr("fails, escalate merge, ask escalation, and waits"));
    EXPECT_EQ(walk.state.outcome, "");
  }
  PlanSimulator left;
  left.steps["merge"] = {false};
  left.words["escalation"] = {"leave"};
  EXPECT_THAT(left.run(), testing::EndsWith("leave, requested"));
  PlanSimulator again;
  again.steps["merge"] = {false, true};
  again.words["escalation"] = {"retry"};
  EXPECT_THAT(again.run(), testing::EndsWith("retry, merge, merged"));
}

TEST(Plan, ARejectedPushNeedsAPerson) {
  PlanSimulator walk;
  walk.steps["push"] = {false};
  EXPECT_EQ(walk.run(), "discovery, shaping, coding, push 0 fails, escalate delivery, ask escalation, and waits");
}

TEST(Plan, TheTicketIsClosedAfterTheMerge) {
  PlanSimulator walk;
  walk.ticket.id = "T-1";
  walk.ticket.title = "T";
  EXPECT_EQ(walk.run(), kUpToReview + ", merge, close, merged");
  PlanSimulator failing;
  failing.ticket = walk.ticket;
  failing.steps["close"] = {false};
  EXPECT_EQ(failing.run(), kUpToReview + ", merge, close 0 fails, merged");
}

TEST(Plan, EscalateModeAsksImmediately) {
  PlanSimulator walk;
  walk.mode = RunMode::kEscalate;
  walk.words["escalation"] = {"full"};
  EXPECT_EQ(walk.run(),
            "escalate routing, ask escalation, full, discovery, shaping, coding, deliver 0, review, "
            "ask merge, and waits");
}

// D23: a question that ended without an answer is not an approval.
TEST(Plan, D23_AnUnansweredQuestionIsNotAnApproval) {
  for (const char* ending : {"(declined)", "(cancelled)", "(expired)"}) {
    PlanSimulator walk;
    walk.touches_ui = true;
    walk.words["ui"] = {ending};
    EXPECT_EQ(walk.run(), fmt::format("discovery, shaping, design, ask ui, {}, escalated", ending));
  }
}

// However few turns each phase takes.
TEST(Plan, NothingStartsOnceTheBudgetIsUsedUp) {
  PlanSimulator walk;
  walk.phase_tokens = 600;
  walk.settings.agents.limits.tokens = 1'000;
  walk.words["escalation"] = {"retry"};
  EXPECT_EQ(
      walk.run(),
      "discovery, shaping, escalate budget, ask escalation, retry, coding, deliver 0, review, ask merge, and waits");
}

TEST(Plan, APhaseHasItsOwnTimeLimitUnlessTheSettingsSetOne) {
  RunSettings settings;
  settings.agents.limits.time_ms = 0;
  const std::pair<Phase, int> minutes[] = {{Phase::kDiscovery, 60}, {Phase::kShaping, 35}, {Phase::kDesign, 25},
                                           {Phase::kCoding, 65},    {Phase::kReview, 25},  {Phase::kFix, 65},
                                           {Phase::kAudit, 25}};
  for (const auto& [phase, usual] : minutes) {
    EXPECT_EQ(limits_for(phase, {}, settings).time_ms, usual * 60'000) << to_string(phase);
    for (const int limit : {59, 60, 61}) {
      RunSettings limited = settings;
      limited.agents.limits.time_ms = limit * 60'000;
      EXPECT_EQ(limits_for(phase, {}, limited).time_ms, limit * 60'000) << to_string(phase);
    }
  }
}

// D28: the time limit of a run is enforced.
TEST(Plan, D28_LongRunsAskBeforeTheNextPhase) {
  PlanSimulator walk;
  walk.phase_ms = 101LL * 60'000;
  walk.words["escalation"] = {"retry"};
  EXPECT_EQ(walk.run(),
            "discovery, shaping, escalate time, ask escalation, retry, coding, deliver 0, "
            "escalate time, ask escalation, and waits");
}

TEST(Plan, StopEndsTheRunAnywhere) {
  PlanSimulator walk;
  walk.touches_ui = true;
  EXPECT_EQ(walk.run(), "discovery, shaping, design, ask ui, and waits");
  RunState state = walk.state;
  state.stop_requested = true;
  state.stop_by = "kim";
  const RunAction action = next_action(state, walk.settings, false);
  ASSERT_TRUE(std::holds_alternative<EndRun>(action));
  EXPECT_EQ(std::get<EndRun>(action).reason, "requested by kim");
}

TEST(Plan, ReviewModesAreNotRunHere) {
  PlanSimulator walk;
  walk.mode = RunMode::kReviewOnly;
  EXPECT_EQ(walk.run(), "failed");
}

// A fixer may show that a finding is wrong; then there is nothing to commit.
TEST(Plan, FixThatChangesNothingIsReviewedAgain) {
  PlanSimulator walk;
  walk.verdicts = {"minor", "clean"};
  walk.steps["scope"] = {true, false};
  walk.causes["scope"] = "nothing_changed";
  EXPECT_EQ(walk.run(), kUpToReview + ", fix 1, scope 1 fails, review 1, merge, merged");
}

// Cancelled, out of date, unfinished: nothing that a fixer could fix.
TEST(Plan, InconclusiveForgeChecksGoToAPerson) {
  PlanSimulator walk;
  walk.steps["request_checks"] = {false};
  walk.causes["request_checks"] = "checks_stopped";
  walk.words["escalation"] = {"retry"};
  walk.words["merge"] = {"merge"};
  EXPECT_EQ(walk.run(), kUpToReview +
                            ", request_checks 0 fails, escalate delivery, ask escalation, retry, ask merge, merge, "
                            "merge, merged");
}

// What a later round delivered is reviewed and merged as the result of that round.
TEST(Plan, CodingThatChangesNothingIsFixedThenDeliveredAndReviewed) {
  PlanSimulator walk;
  walk.steps["scope"] = {false};
  walk.causes["scope"] = "nothing_changed";
  EXPECT_EQ(walk.run(), "discovery, shaping, coding, scope 0 fails, fix 1, deliver 1, review 1, merge, merged");
  const RunState::DeliveryRecord* merge = walk.state.newest(DeliveryStep::kMerge, 1);
  EXPECT_NE(merge, nullptr);
}

TEST(Plan, WithoutFixRoundsAPersonIsAskedImmediately) {
  PlanSimulator walk;
  walk.settings.fix_rounds = 0;
  walk.verdicts = {"minor"};
  EXPECT_EQ(walk.run(), kUpToReview + ", escalate fix-loop, ask escalation, and waits");
}

TEST(Plan, BlockingIsAuditedEvenWhenTheRoundsAreUsedUp) {
  PlanSimulator walk;
  walk.verdicts = {"minor", "minor", "blocking", "minor"};
  EXPECT_EQ(walk.run(), kUpToReview +
                            ", fix 1, deliver 1, review 1, fix 2, deliver 2, review 2, audit 2, fix 3, deliver 3, "
                            "review 3, escalate audit-chain, ask escalation, and waits");
}

TEST(Plan, WithoutRoundsBlockingIsAuditedAndGoesToAPerson) {
  PlanSimulator walk;
  walk.settings.fix_rounds = 0;
  walk.verdicts = {"blocking"};
  EXPECT_EQ(walk.run(), kUpToReview + ", audit, escalate audit-chain, ask escalation, and waits");
}

TEST(Plan, AReviewWithABlockingFindingIsNotClean) {
  PlanSimulator walk;
  walk.verdicts = {"clean but", "clean"};
  EXPECT_EQ(walk.run(), kUpToReview + ", audit, fix 1, deliver 1, review 1, ask merge, and waits");
}

TEST(Plan, DeliveryRoundsDoNotCountAsReviewRounds) {
  PlanSimulator walk;
  walk.steps["scope"] = {false};
  walk.verdicts = {"minor", "minor", "clean"};
  EXPECT_EQ(walk.run(),
            "discovery, shaping, coding, scope 0 fails, fix 1, deliver 1, review 1, fix 2, deliver 2, review 2, fix 3, "
            "deliver 3, review 3, merge, merged");
}

// Past decisions stay, whatever the settings are now.
TEST(Plan, ChangedSettingsDoNotAffectThePast) {
  PlanSimulator partial;
  partial.settings.merge = MergePolicy::kAsk;
  partial.ends["discovery"] = {"partial"};
  EXPECT_EQ(partial.run(), kUpToReview + ", ask merge, and waits");
  for (const OnPartial later : {OnPartial::kRetryOnce, OnPartial::kEscalate}) {
    PlanSimulator walk = partial;
    walk.settings.on_partial = later;
    walk.words["merge"] = {"merge"};
    EXPECT_EQ(walk.resume(), kUpToReview + ", ask merge, merge, merge, merged");
  }
  for (const bool is_refused : {false, true}) {
    PlanSimulator fixed;
    fixed.settings.merge = MergePolicy::kAsk;
    if (is_refused) fixed.steps["scope"] = {false};
    if (!is_refused) fixed.verdicts = {"minor", "clean"};
    ASSERT_THAT(fixed.run(), testing::EndsWith("fix 1, deliver 1, review 1, ask merge, and waits"));
    fixed.settings.fix_rounds = 0;
    fixed.words["merge"] = {"merge"};
    EXPECT_THAT(fixed.resume(), testing::EndsWith("review 1, ask merge, merge, merge, merged"));
  }
}

}  // namespace
}  // namespace sb::pipeline
