// One asked decision, folded from its events. Pure: the same events give the same state in every process.
//
// Stream `decision/ID`; every payload is canonical JSON. Times are the event's own unless named. Members in brackets
// may be absent.
//
//   opened     {v: 1, salt, fingerprint, definition, question, render_hash, [digest], [workspace], [session],
//               opened_at, on_timeout, [deadline], signed: bool, [gate: true], [two_way_over: word],
//               [operators: {root, head, count}], [source]}
//              ID is `d-` and the first 26 characters of the base32 SHA-256 of "sb-decision-1\n" and this payload. So
//              the id is a fingerprint of the question, of what was shown, and of whether and by whom a signature is
//              required: an opened event changed later no longer matches its id and is rejected.
//   answered   {options, values, principal, channel, resolved_by, render_hash, raw (base64url), host_result,
//               [waived], [signature: {at, key, sig, [delegation]}]}
//   closed     {outcome: declined|cancelled|defaulted|expired|superseded, [options], principal, channel, [resolved_by],
//               raw, host_result}
//   parked     {}                                   its deadline passed; it can still be answered
//   free_text  {text (base64url), principal, channel}    the decision stays open
//   no_answer  {host_result, principal, channel}    dismissed, skipped, timed out, empty, cancelled: it stays open
//   stepped    {position, principal, channel, raw}  one prompt of a walk (decision/walk) was answered; `position` is
//              where the walk is now; it stays open
//   late       {answer, principal, channel, raw}    an answer that came after it was closed: kept, and not counted
//   replied    {nonce, part, page, pages, options}  as `stepped`, written by earlier versions; asked again
//   withdrawn  {principal, channel}                 the answer is withdrawn; the decision is open again
//   taken      {by}                                 a waiting caller has read the outcome: it can no longer change
//
// An `answered` event that needs a signature and has no valid one is skipped: the decision stays open, and `rejected`
// says why.
#pragma once

#include <functional>
#include <map>
#include <span>

#include "inbox/outcome.hpp"
#include "inbox/question/question.hpp"
#include "store/store.hpp"

namespace sb::inbox {

inline constexpr std::string_view kDecisionStreams = "decision/";

// The operators when the question was asked: the registry's chain up to then. Later entries count if they continue it;
// any other registry does not count.
struct OperatorPin {
  std::string root;  // hex: the first key
  std::string head;  // hex: hash of the last entry
  int count = 0;

  bool operator==(const OperatorPin&) const = default;
};

// The content of an opened event.
struct OpenedDecision {
  std::string salt;         // hex
  std::string fingerprint;  // hex: the same question in the same workspace
  std::string definition;   // hex: hash of the declaration
  Question question;
  std::string render_hash;  // hex: SHA-256 of question.text
  std::string digest;       // of what is approved
  std::string workspace;
  std::string session;
  TimestampMs opened_at = 0;
  decision::OnTimeout on_timeout = decision::OnTimeout::kWait;
  std::optional<TimestampMs> deadline;
  bool needs_signature = false;          // for every option that is not safe
  bool is_gate = false;                  // a session or a run stops there until it is let on
  std::string overruled_word;            // `door: two-way` was declared although the question has this word
  std::optional<OperatorPin> operators;  // absent where a signature is required but no operator existed
  Value source;                          // the normalised declaration
};

// Of the same question (the declaration without its digest) in the same workspace and session.
std::string fingerprint_of(const Value& source, std::string_view workspace, std::string_view session);
// Whether both are the same question in the same workspace and session: equal except for salt, time, deadline and
// operators.
bool is_same_question(const OpenedDecision& one, const OpenedDecision& other);

// Whether this answer to it counts only with an operator's signature: every answer to a signed question does, except
// one that only chooses options that do nothing irreversible.
bool needs_signature(const OpenedDecision& opened, const AnswerInput& given);
// Whether the question can be answered without a signature.
bool has_unsigned_answer(const OpenedDecision& opened);
// The options of a single decision that need no signature, if others do: `keep, wait`.
std::string unsigned_options(const OpenedDecision& opened);

Value to_value(const OperatorPin& pin);
Result<OperatorPin> pin_from(const Value& value);
Value to_value(const OpenedDecision& opened);
Result<OpenedDecision> opened_from(const Value& value);
std::string instance_id_of(std::string_view opened_payload);

// An answer that came after another had closed the decision.
struct LateAnswer {
  std::string answer;  // for people: `reject`, `branch=main`, `declined`
  Channel channel = Channel::kProgram;
  std::string principal;
  TimestampMs at = 0;
};

struct DecisionState {
  std::string id;  // of this asking; Question::id is the declared one
  OpenedDecision opened;
  DecisionStatus state = DecisionStatus::kOpen;
  std::optional<DecisionOutcome> outcome;  // when closed
  bool is_consumed = false;
  std::string consumed_by;
  std::vector<std::string> free_texts;
  std::optional<HostResult> last_no_answer;
  Value position;  // of the walk through it (decision/walk); null before the first answer
  std::vector<LateAnswer> late;
  std::vector<std::string> rejected;  // why stored answers did not count
  bool is_damaged = false;            // only in listings: it could not be read, and `rejected` says why
  store::Head head;

  bool is_open() const { return state != DecisionStatus::kClosed; }
  bool is_answered() const { return outcome && outcome->kind == OutcomeKind::kAnswered; }
};

// Checks the signature of an answer: the operator's name, or why it does not count.
using SignatureCheck =
    std::function<Result<std::string>(const std::string& id, const OpenedDecision&, const DecisionOutcome&)>;

// kCorrupt when this program cannot have written the events, or the first does not match the stream's id.
Result<DecisionState> replay(std::span<const store::Event> events, const SignatureCheck& check);

// The output of `ask --json` and `inbox show --json`: {decision, state, outcome, resolved_by, options, values,
// principal, channel, at}; of a chain {waived}, of a cancelled one {event: FLOW_CANCEL}.
Value to_json_value(const DecisionState& state);

}  // namespace sb::inbox
