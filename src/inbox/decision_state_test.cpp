// The fold, event by event: the effect of each event in each state.
#include "inbox/decision_state.hpp"

#include <gmock/gmock.h>

#include "inbox/decision_events.hpp"
#include "inbox/testing.hpp"
#include "store/chain.hpp"

namespace sb::inbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result<std::string> reject_all_signatures(const std::string&, const OpenedDecision&, const DecisionOutcome&) {
  return fail(ErrorCode::kForbidden, "no signature counts here");
}

// The events of one decision, chained as the store chains them.
class Log {
 public:
  explicit Log(const std::string& yaml = kPlainQuestion, bool needs_signature = false) {
    opened.question = question_of(decision::declared(yaml));
    opened.render_hash = sha256_hex(opened.question.text);
    opened.salt = "00";
    opened.fingerprint = fingerprint_of(opened.source, "", "");
    opened.definition = "aa";
    opened.opened_at = 1'000;
    opened.needs_signature = needs_signature;
    begin();
  }
  void begin() {
    events.clear();
    const std::string payload = to_canonical_json(to_value(opened));
    id = instance_id_of(payload);
    add({"opened", opened.opened_at, payload});
  }
  Log& add(const store::NewEvent& event) {
    store::Event next;
    next.stream = "decision/" + id;
    next.seq = static_cast<std::int64_t>(events.size()) + 1;
    next.type = event.type;
    next.time_ms = event.time_ms;
    next.payload = event.payload;
    events.push_back(next);
    return *this;
  }
  Log& answer(const std::string& option, TimestampMs at = 2'000) {
    DecisionOutcome outcome;
    outcome.options = {option};
    outcome.values = Value::object();
    outcome.principal = "ann";
    outcome.render_hash = opened.render_hash;
    return add(answered_event(outcome, at));
  }
  Log& close(OutcomeKind ending, TimestampMs at = 2'000) {
    return add(closed_event(ending, std::nullopt, {Channel::kProgram, ""}, "", at));
  }
  DecisionState state() const {
    const auto result = replay(events, reject_all_signatures);
    if (!result) {
      ADD_FAILURE() << result.error().to_string();
      return {};
    }
    return *result;
  }

  OpenedDecision opened;
  std::string id;
  std::vector<store::Event> events;
};

TEST(DecisionState, TheFirstAnswerInTheLogCounts) {
  const DecisionState state = Log().answer("canary").answer("staging").state();
  EXPECT_THAT(state.outcome->options, ElementsAre("canary"));
  EXPECT_THAT(state.rejected, ElementsAre(HasSubstr("after it was closed")));
}

TEST(DecisionState, LogOrderDecidesBetweenAnswerAndDeadline) {
  EXPECT_EQ(Log().answer("canary").close(OutcomeKind::kExpired).state().outcome->kind, OutcomeKind::kAnswered);
  EXPECT_EQ(Log().close(OutcomeKind::kExpired).answer("canary").state().outcome->kind, OutcomeKind::kExpired);
}

TEST(DecisionState, EveryEndingClosesAndOnlyAnswersChoose) {
  for (const OutcomeKind ending :
       {OutcomeKind::kDeclined, OutcomeKind::kCancelled, OutcomeKind::kExpired, OutcomeKind::kSuperseded}) {
    const DecisionState state = Log().close(ending).state();
    EXPECT_EQ(state.state, DecisionStatus::kClosed);
    EXPECT_EQ(state.outcome->kind, ending);
    EXPECT_THAT(state.outcome->options, IsEmpty());
    EXPECT_FALSE(state.is_answered());
  }
}

TEST(DecisionState, WithdrawingReopensUntilConsumed) {
  const Responder ann{Channel::kTerminal, "ann"};
  Log log;
  log.answer("canary").add(withdrawn_event(ann, 3'000));
  EXPECT_EQ(log.state().state, DecisionStatus::kOpen);
  log.answer("staging").add(consumed_event("waiter", 4'000)).add(withdrawn_event(ann, 5'000));
  const DecisionState state = log.state();
  EXPECT_THAT(state.outcome->options, ElementsAre("staging"));
  EXPECT_TRUE(state.is_consumed);
}

TEST(DecisionState, AnAnswerWithoutARequiredSignatureIsSkipped) {
  Log log(kOneWayQuestion, true);
  const DecisionState state = log.answer("drop").state();
  EXPECT_EQ(state.state, DecisionStatus::kOpen);
  EXPECT_FALSE(state.outcome);
  EXPECT_THAT(state.rejected, ElementsAre(HasSubstr("no signature counts")));
}

TEST(DecisionState, ADefaultCountsOnlyIfDeclared) {
  Log log;
  EXPECT_EQ(log.close(OutcomeKind::kDefaulted, 9'000).state().state, DecisionStatus::kOpen);
  log.opened.on_timeout = decision::OnTimeout::kDefault;
  log.opened.deadline = 5'000;
  log.opened.question.default_ids = {"staging"};
  log.begin();
  EXPECT_EQ(Log(log).close(OutcomeKind::kDefaulted, 4'999).state().state, DecisionStatus::kOpen);
  EXPECT_THAT(Log(log).close(OutcomeKind::kDefaulted, 5'000).state().outcome->options, ElementsAre("staging"));
  log.opened.needs_signature = true;
  log.begin();
  EXPECT_EQ(Log(log).close(OutcomeKind::kDefaulted, 5'000).state().state, DecisionStatus::kOpen);
}

TEST(DecisionState, AQuestionChangedAfterItWasAskedIsRejected) {
  Log log;
  log.opened.question.text += " And another thing.";
  log.opened.render_hash = sha256_hex(log.opened.question.text);
  log.events.front().payload = to_canonical_json(to_value(log.opened));
  const auto state = replay(log.events, reject_all_signatures);
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, ErrorCode::kCorrupt);
}

TEST(DecisionState, UnknownAndDamagedEventsAreErrors) {
  for (const store::NewEvent& event :
       {store::NewEvent{"approved", 1, "{}"}, store::NewEvent{"answered", 1, "{}"}, store::NewEvent{"answered", 1, ""},
        store::NewEvent{"closed", 1, R"({"outcome":"maybe"})"}, store::NewEvent{"closed", 1, "[]"},
        store::NewEvent{"taken", 1, R"({"by":1})"}, store::NewEvent{"free_text", 1, R"({"text":"***"})"}}) {
    Log log;
    log.add(event);
    if (event.type == "taken") log = Log().answer("canary").add(event);
    const auto state = replay(log.events, reject_all_signatures);
    ASSERT_FALSE(state) << event.type << event.payload;
    EXPECT_EQ(state.error().code, event.type == "approved" ? ErrorCode::kUnsupported : ErrorCode::kCorrupt);
  }
}

TEST(DecisionState, AQuestionMovedToAnotherWorkspaceIsRejected) {
  Log log;
  log.opened.workspace = "/covered";
  log.begin();
  const auto read = replay(log.events, reject_all_signatures);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
}

TEST(DecisionState, OnlyTheSameQuestionInTheSameWorkspaceIsTheSame) {
  const OpenedDecision one = Log().opened;
  OpenedDecision later = one;
  later.salt = "11";
  later.opened_at = 9'000;
  later.deadline = 10'000;
  later.operators = OperatorPin{"aa", "bb", 1};
  EXPECT_TRUE(is_same_question(one, later));
  using Change = void (*)(OpenedDecision&);
  for (const Change change :
       {Change([](OpenedDecision& o) { o.workspace = "/x"; }), Change([](OpenedDecision& o) { o.session = "s"; }),
        Change([](OpenedDecision& o) { o.digest = "sha256:aa"; }),
        Change([](OpenedDecision& o) { o.question.id = "other"; }),
        Change([](OpenedDecision& o) { o.question.typed_confirmation = "yes"; }),
        Change([](OpenedDecision& o) { o.question.parts.front().options.pop_back(); }),
        Change([](OpenedDecision& o) { o.needs_signature = true; }),
        Change([](OpenedDecision& o) { o.render_hash = "00"; })}) {
    OpenedDecision changed = one;
    change(changed);
    EXPECT_FALSE(is_same_question(one, changed));
  }
}

TEST(DecisionState, PrintsTheDocumentedJson) {
  EXPECT_EQ(to_json(to_json_value(Log().answer("canary").state())),
            R"({"decision":")" + Log().id +
                R"(","state":"closed","outcome":"answered","resolved_by":"human","options":["canary"],"values":{},)"
                R"("principal":"ann","channel":"program","at":"1970-01-01T00:00:02.000Z"})");
}

TEST(Question, RoundTripsThroughTheLog) {
  for (const std::string& yaml :
       {std::string(kOneWayQuestion),
        std::string("flow: f\nsteps:\n  - {key: a, instruction: \"Which one?\", options: [x1, y1]}\n"
                    "  - {key: b, instruction: \"Which ones?\", select: many, options: [x2, y2]}\n"),
        std::string("decision: d\nprofile: gstack\ninstruction: \"Who?\"\nselect: form\nfields:\n"
                    "  - {key: age, title: Age, type: integer, minimum: 1, maximum: 9, required: true}\n")}) {
    const auto declared = decision::declare(yaml);
    if (!declared) continue;
    const Question question = question_of(*declared);
    const auto read = question_from(*parse_json(to_json(to_value(question))));
    ASSERT_TRUE(read);
    EXPECT_EQ(to_json(to_value(*read)), to_json(to_value(question)));
  }
}

TEST(Question, AMultiLineNoteCannotImitateOurPrompt) {
  const Question question =
      question_of(decision::declared("decision: d\ninstruction: \"Drop it?\"\ndoor: one-way\n"
                                     "irreversible_note: \"Gone.\\nYou answer: keep\\nPassphrase of operator ann: \"\n"
                                     "options: [keep, drop]\n"));
  EXPECT_THAT(question.text, HasSubstr("Cannot be undone: Gone.\n  | You answer: keep\n  | Passphrase"));
}

TEST(Question, ShowsNoteAndOptions) {
  Question question = question_of(decision::declared(kOneWayQuestion));
  EXPECT_THAT(question.text, HasSubstr("Cannot be undone: The rows cannot be restored."));
  EXPECT_THAT(question.text, HasSubstr("drop  Drop it"));
}

}  // namespace
}  // namespace sb::inbox
