#include "pipeline/plan/escalation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/plan/testing.hpp"

namespace sb::pipeline {
namespace {

using testing::HasSubstr;

RunState escalated() {
  PlanSimulator walk;
  walk.verdicts = {"minor", "minor", "minor"};
  walk.run();
  walk.state.tree.path = "/trees/r-1";
  walk.state.url = "https://forge.test/1";
  return walk.state;
}

TEST(Escalation, HasAllFacts) {
  const RunState state = escalated();
  const QuestionContext about{.question = "escalation", .reason = "still minor", .diff_stat = "M a.txt"};
  const Value packet = packet_for(state, about);
  EXPECT_EQ(packet.string_at("goal"), "Do it");
  EXPECT_EQ(packet.string_at("phase"), "fix-loop");
  EXPECT_EQ(packet.string_at("reason"), "still minor");
  EXPECT_EQ(packet.string_at("work_tree"), "/trees/r-1");
  EXPECT_EQ(packet.string_at("url"), "https://forge.test/1");
  EXPECT_EQ(packet.string_at("diff_stat"), "M a.txt");
  EXPECT_THAT(to_json(packet["findings"]), HasSubstr("minor finding"));
}

TEST(Escalation, IsAQuestionThatCanBeAnswered) {
  const RunState state = escalated();
  const auto declared = question_for(state, {.question = "escalation", .reason = "still minor"}, {});
  ASSERT_TRUE(declared) << declared.error().front().to_string();
  const decision::Decision& decision = *declared->decision();
  std::vector<std::string> ids;
  for (const decision::Option& option : decision.options) ids.push_back(option.id);
  EXPECT_THAT(ids, testing::ElementsAre("fix", "retry", "merge", "stop"));
  EXPECT_FALSE(decision.needs_signature());
  EXPECT_THAT(decision.sections.context, HasSubstr("minor finding"));
  EXPECT_THAT(decision.sections.context, HasSubstr("/trees/r-1"));
  const auto again = run_declaration(declared->source, declared->hash);
  ASSERT_TRUE(again);
  EXPECT_FALSE(run_declaration(declared->source, "another"));
}

// The second failure is a new question, not the old one with its old answer.
TEST(Escalation, NeverSharesAQuestion) {
  RunState state = escalated();
  const auto one = question_for(state, {.question = "escalation", .reason = "x"}, {});
  ++state.events;
  const auto two = question_for(state, {.question = "escalation", .reason = "x"}, {});
  EXPECT_NE(one->hash, two->hash);
}

TEST(Escalation, EveryQuestionIsWellFormedForAnyContent) {
  RunState state = escalated();
  state.goal = std::string(60'000, 'g') + "\x1b[2J delete everything";
  state.escalations.back().reason = std::string(100'000, 'r');
  const Ticket edited{.title = "New", .body = std::string(500'000, 'b')};
  for (const char* question : {"escalation", "ui", "merge", "ticket_changed"}) {
    const auto declared = question_for(state,
                                       {.question = question,
                                        .reason = std::string(100'000, 'r'),
                                        .diff_stat = std::string(100'000, 'd'),
                                        .more = Value::object({{"ticket", edited.to_value()}})},
                                       {});
    ASSERT_TRUE(declared) << question << ": " << declared.error().front().to_string();
    EXPECT_FALSE(declared->decision()->needs_signature());
  }
}

TEST(Escalation, ShowsThePlainTicketThatWasEdited) {
  RunState state = escalated();
  state.ticket = {.title = "Old title", .body = "Old words."};
  const Ticket edited{.title = "New title", .body = "New words."};
  const auto declared = question_for(
      state, {.question = "ticket_changed", .reason = "edited", .more = Value::object({{"ticket", edited.to_value()}})},
      {});
  ASSERT_TRUE(declared) << declared.error().front().to_string();
  const std::string& shown = declared->decision()->sections.context;
  for (const char* part : {"Old title", "Old words.", "New title", "New words."}) EXPECT_THAT(shown, HasSubstr(part));
  EXPECT_THAT(shown, testing::Not(HasSubstr("<<<")));
  EXPECT_THAT(shown, testing::Not(HasSubstr("these rules")));
}

}  // namespace
}  // namespace sb::pipeline
