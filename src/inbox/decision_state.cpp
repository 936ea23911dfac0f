#include "inbox/decision_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/crypto.hpp"
#include "base/document/stored_reader.hpp"
#include "base/random.hpp"
#include "decision/text_block.hpp"

namespace sb::inbox {
namespace {

using decision::OnTimeout;

constexpr std::array kTimeouts{std::pair{OnTimeout::kWait, "wait"}, std::pair{OnTimeout::kPark, "park"},
                               std::pair{OnTimeout::kDeny, "deny"}, std::pair{OnTimeout::kDefault, "default"}};

const char* timeout_name(OnTimeout wanted) {
  for (const auto& [value, name] : kTimeouts) {
    if (value == wanted) return name;
  }
  return "wait";
}

Result<AnswerSignature> signature_from(const Value& value) {
  StoredReader stored(value, "the signature of an answer");
  AnswerSignature signature;
  signature.signed_at = stored.integer("at");
  signature.public_key = stored.bytes("key");
  signature.signature = stored.bytes("sig");
  signature.delegation = stored.optional_string("delegation");
  SB_TRY(stored.done());
  return signature;
}

Result<DecisionOutcome> answer_from(StoredReader& stored, TimestampMs at) {
  DecisionOutcome outcome;
  outcome.at = at;
  outcome.options = stored.strings("options");
  outcome.values = stored.any("values");
  outcome.waived = stored.any("waived");
  outcome.principal = stored.string("principal");
  outcome.channel = stored.word("channel", channel_named);
  outcome.resolved_by = stored.word("resolved_by", resolved_by_named);
  outcome.render_hash = stored.string("render_hash");
  outcome.raw = stored.bytes("raw");
  outcome.host_result = stored.word("host_result", host_result_named);
  SB_TRY(stored.done());
  if (stored.has("signature")) outcome.signature = SB_TRY(signature_from(stored.any("signature")));
  return outcome;
}

// Folds the events of one decision. Fails only on events that this program never writes.
class DecisionFold {
 public:
  DecisionFold(DecisionState& state, const SignatureCheck& check) : state_(state), check_(check) {}

  Status step(const store::Event& event) {
    const Value payload = SB_TRY(parse_stored(event.payload));
    StoredReader stored(payload, event_name(event.stream, event.seq, event.type));
    SB_TRY(stored.done());
    if (event.type == "answered") return answered(stored, event.time_ms);
    if (event.type == "closed") return closed(stored, event.time_ms);
    if (event.type == "parked") return parked();
    if (event.type == "free_text") return free_text(stored);
    if (event.type == "no_answer") return no_answer(stored);
    if (event.type == "stepped") return stepped(stored);
    if (event.type == "late") return late(stored, event.time_ms);
    if (event.type == "replied") return {};
    if (event.type == "withdrawn") return withdrawn();
    if (event.type == "taken") return taken(stored);
    return unknown_event(event.stream, event.seq, event.type);
  }

 private:
  bool refuses(bool is_right, std::string_view why) {
    if (!is_right) state_.rejected.emplace_back(why);
    return !is_right;
  }

  Status answered(StoredReader& stored, TimestampMs at) {
    DecisionOutcome outcome = SB_TRY(answer_from(stored, at));
    if (refuses(state_.is_open(), "an answer came after it was closed")) return {};
    const Result<AnswerInput> given = check_answer(state_.opened.question, {outcome.options, outcome.values});
    if (!given) {
      state_.rejected.push_back(given.error().message);
      return {};
    }
    if (needs_signature(state_.opened, *given)) {
      const Result<std::string> signer = check_(state_.id, state_.opened, outcome);
      if (!signer) {
        state_.rejected.push_back(signer.error().message);
        return {};
      }
      outcome.principal = *signer;
      outcome.resolved_by = ResolvedBy::kHuman;
    }
    // As declared; stored JSON has its members sorted.
    outcome.values = given->values;
    close(std::move(outcome));
    return {};
  }

  Status closed(StoredReader& stored, TimestampMs at) {
    DecisionOutcome outcome;
    outcome.at = at;
    outcome.kind = stored.word("outcome", outcome_kind_named);
    outcome.principal = stored.string("principal");
    outcome.channel = stored.word("channel", channel_named);
    outcome.raw = stored.bytes("raw");
    outcome.host_result = stored.word("host_result", host_result_named);
    if (stored.has("resolved_by")) outcome.resolved_by = stored.word("resolved_by", resolved_by_named);
    SB_TRY(stored.done());
    if (refuses(state_.is_open(), "an ending came after it was closed")) return {};
    if (outcome.kind == OutcomeKind::kAnswered)
      return fail(ErrorCode::kCorrupt, "found an answer event where an ending was expected");
    if (outcome.kind == OutcomeKind::kDefaulted) {
      if (refuses(may_default(at), "a default was stored that was not declared")) return {};
      outcome.options = state_.opened.question.default_ids;
      outcome.values = Value::object();
    }
    close(std::move(outcome));
    return {};
  }

  // The same conditions as at the time of writing: a default that the opened event does not allow was forged.
  bool may_default(TimestampMs at) const {
    const OpenedDecision& opened = state_.opened;
    return opened.on_timeout == OnTimeout::kDefault && !opened.needs_signature && opened.deadline &&
           at >= *opened.deadline && opened.question.shape == QuestionShape::kDecision;
  }

  Status parked() {
    if (refuses(state_.is_open(), "it was parked after it was closed")) return {};
    state_.state = DecisionStatus::kParked;
    return {};
  }

  Status free_text(StoredReader& stored) {
    state_.free_texts.push_back(stored.bytes("text"));
    return stored.done();
  }

  Status no_answer(StoredReader& stored) {
    state_.last_no_answer = stored.word("host_result", host_result_named);
    return stored.done();
  }

  Status stepped(StoredReader& stored) {
    Value position = stored.any("position");
    SB_TRY(stored.done());
    if (refuses(state_.is_open(), "a step came after it was closed")) return {};
    state_.position = std::move(position);
    return {};
  }

  Status late(StoredReader& stored, TimestampMs at) {
    LateAnswer answer{stored.string("answer"), stored.word("channel", channel_named), stored.string("principal"), at};
    SB_TRY(stored.done());
    state_.late.push_back(std::move(answer));
    return {};
  }

  Status withdrawn() {
    if (refuses(state_.is_answered() && !state_.is_consumed, "it was withdrawn when it could not be")) return {};
    state_.state = DecisionStatus::kOpen;
    state_.outcome.reset();
    return {};
  }

  Status taken(StoredReader& stored) {
    if (refuses(!state_.is_open(), "it was consumed before it was closed")) return {};
    state_.is_consumed = true;
    state_.consumed_by = stored.string("by");
    return stored.done();
  }

  void close(DecisionOutcome outcome) {
    state_.state = DecisionStatus::kClosed;
    state_.outcome = std::move(outcome);
  }

  DecisionState& state_;
  const SignatureCheck& check_;
};

}  // namespace

std::string fingerprint_of(const Value& source, std::string_view workspace, std::string_view session) {
  Value subject = source;
  if (subject.is_object()) subject.erase("digest");
  return sha256_hex(fmt::format("sb-question-1\n{}\n{}\n{}", to_canonical_json(subject), workspace, session));
}

bool is_same_question(const OpenedDecision& one, const OpenedDecision& other) {
  const auto lasting = [](const OpenedDecision& opened) {
    Value value = to_value(opened);
    for (const char* name : {"salt", "opened_at", "deadline", "operators"}) value.erase(name);
    return to_canonical_json(value);
  };
  return lasting(one) == lasting(other);
}

bool needs_signature(const OpenedDecision& opened, const AnswerInput& given) {
  if (!opened.needs_signature) return false;
  const auto is_safe = [](const Part& part, const std::string& id) {
    const Choice* choice = part.find(id);
    return choice != nullptr && choice->safe;
  };
  if (opened.question.shape == QuestionShape::kDecision) {
    const Part& part = opened.question.parts.front();
    return given.options.empty() ||
           !std::ranges::all_of(given.options, [&](const std::string& id) { return is_safe(part, id); });
  }
  return !std::ranges::all_of(opened.question.parts, [&](const Part& part) {
    const Value& value = given.values[part.key];
    if (value.is_string()) return is_safe(part, value.as_string());
    return value.is_array() && value.size() > 0 && std::ranges::all_of(value.items(), [&](const Value& id) {
             return id.is_string() && is_safe(part, id.as_string());
           });
  });
}

bool has_unsigned_answer(const OpenedDecision& opened) {
  return !opened.needs_signature || std::ranges::all_of(opened.question.parts, &Part::has_safe);
}

std::string unsigned_options(const OpenedDecision& opened) {
  std::string ids;
  if (!opened.needs_signature || opened.question.shape != QuestionShape::kDecision) return ids;
  for (const Choice& choice : opened.question.parts.front().options) {
    if (choice.safe) ids += (ids.empty() ? "" : ", ") + choice.id;
  }
  return ids;
}

Value to_value(const OperatorPin& pin) {
  return Value::object({{"root", pin.root}, {"head", pin.head}, {"count", pin.count}});
}

Result<OperatorPin> pin_from(const Value& value) {
  StoredReader stored(value, "the pin of the operators");
  OperatorPin pin{stored.string("root"), stored.string("head"), stored.small("count")};
  SB_TRY(stored.done());
  return pin;
}

Value to_value(const OpenedDecision& opened) {
  Value value = Value::object({{"v", 1},
                               {"salt", opened.salt},
                               {"fingerprint", opened.fingerprint},
                               {"definition", opened.definition},
                               {"question", to_value(opened.question)},
                               {"render_hash", opened.render_hash},
                               {"opened_at", opened.opened_at},
                               {"on_timeout", timeout_name(opened.on_timeout)},
                               {"signed", opened.needs_signature},
                               {"source", opened.source}});
  if (opened.is_gate) value.set("gate", true);
  if (!opened.overruled_word.empty()) value.set("two_way_over", opened.overruled_word);
  if (!opened.digest.empty()) value.set("digest", opened.digest);
  if (!opened.workspace.empty()) value.set("workspace", opened.workspace);
  if (!opened.session.empty()) value.set("session", opened.session);
  if (opened.deadline) value.set("deadline", *opened.deadline);
  if (opened.operators) {
    value.set("operators", to_value(*opened.operators));
  }
  return value;
}

Result<OpenedDecision> opened_from(const Value& value) {
  StoredReader stored(value, "a stored decision");
  OpenedDecision opened;
  const std::int64_t version = stored.integer("v");
  SB_TRY(stored.done());
  if (version != 1) return newer_version("the decision");
  opened.salt = stored.string("salt");
  opened.fingerprint = stored.string("fingerprint");
  opened.definition = stored.string("definition");
  opened.question = SB_TRY(question_from(stored.any("question")));
  opened.render_hash = stored.string("render_hash");
  opened.opened_at = stored.integer("opened_at");
  opened.needs_signature = stored.boolean("signed");
  opened.is_gate = stored.optional_boolean("gate");
  opened.overruled_word = stored.optional_string("two_way_over");
  opened.source = stored.any("source");
  opened.digest = stored.optional_string("digest");
  opened.workspace = stored.optional_string("workspace");
  opened.session = stored.optional_string("session");
  if (stored.has("deadline")) opened.deadline = stored.integer("deadline");
  const std::string on_timeout = stored.string("on_timeout");
  for (const auto& [timeout, name] : kTimeouts) {
    if (on_timeout == name) opened.on_timeout = timeout;
  }
  if (stored.has("operators")) opened.operators = SB_TRY(pin_from(stored.any("operators")));
  SB_TRY(stored.done());
  if (opened.render_hash != sha256_hex(opened.question.text) || opened.question.parts.empty()) {
    return fail(ErrorCode::kCorrupt, "a stored question does not match its render hash");
  }
  // A question asked again is found by its fingerprint, and tokens are scoped by workspace: the two must match.
  if (opened.fingerprint != fingerprint_of(opened.source, opened.workspace, opened.session)) {
    return fail(ErrorCode::kCorrupt, "a stored question does not match its fingerprint");
  }
  return opened;
}

std::string instance_id_of(std::string_view opened_payload) {
  const Digest digest = sha256("sb-decision-1\n" + std::string(opened_payload));
  return "d-" + to_base32(as_bytes(digest)).substr(0, 26);
}

Result<DecisionState> replay(std::span<const store::Event> events, const SignatureCheck& check) {
  if (events.empty()) return fail(ErrorCode::kNotFound, "there is no such decision");
  const store::Event& first = events.front();
  DecisionState state;
  state.id = instance_id_of(first.payload);
  if (first.type != "opened" || first.stream != std::string(kDecisionStreams) + state.id) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} was changed after it was asked", quote_json(first.stream)),
                "Do not act on it; ask again");
  }
  state.opened = SB_TRY(opened_from(SB_TRY(parse_stored(first.payload))));
  DecisionFold fold(state, check);
  for (const store::Event& event : events.subspan(1)) SB_TRY(fold.step(event));
  state.head = {events.back().seq, events.back().hash};
  return state;
}

Value to_json_value(const DecisionState& state) {
  const DecisionOutcome* outcome = state.outcome ? &*state.outcome : nullptr;
  Value value = Value::object({{"decision", state.id}, {"state", to_string(state.state)}});
  value.set("outcome", outcome ? Value(to_string(outcome->kind)) : Value());
  value.set("resolved_by", outcome && outcome->resolved_by ? Value(to_string(*outcome->resolved_by)) : Value());
  value.set("options", outcome ? Value::array(outcome->options) : Value::array());
  value.set("values", outcome && outcome->values.is_object() ? outcome->values : Value::object());
  value.set("principal", outcome && !outcome->principal.empty() ? Value(outcome->principal) : Value());
  value.set("channel", outcome ? Value(to_string(outcome->channel)) : Value());
  value.set("at", outcome ? Value(to_rfc3339(outcome->at)) : Value());
  if (outcome && !outcome->waived.is_null()) value.set("waived", outcome->waived);
  if (outcome && outcome->kind == OutcomeKind::kCancelled) value.set("event", decision::kFlowCancel);
  return value;
}

}  // namespace sb::inbox
