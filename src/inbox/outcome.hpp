// The status of a decision and how it ended: closed sets, and their names in JSON and in the log.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/document/value.hpp"

namespace sb::inbox {

enum class DecisionStatus { kOpen, kParked, kClosed };
enum class OutcomeKind { kAnswered, kDeclined, kCancelled, kDefaulted, kExpired, kSuperseded };
enum class ResolvedBy { kHuman, kPreference, kDeadline, kRelayed };

// The channel of an answer. kTerminal: someone at a terminal; kCommand: a command without one, such as a script.
// kProgram is Signalbox itself: a deadline, a preference, the asking caller.
enum class Channel { kTerminal, kCommand, kToken, kConsole, kElicitation, kHook, kLink, kRelay, kProgram };

// What the host reported: a selection, or one of the six ways of not answering. None of the six ever chooses; only
// kDeclined closes the decision.
enum class HostResult { kSelected, kDeclined, kCancelled, kDismissed, kSkipped, kTimedOut, kEmpty };

std::string_view to_string(DecisionStatus state);    // open, parked, closed
std::string_view to_string(OutcomeKind ending);      // answered, declined, ...
std::string_view to_string(ResolvedBy resolved_by);  // human, preference, deadline, relayed
std::string_view to_string(
    Channel channel);  // terminal, command, token, console, elicitation, hook, link, relay, program
std::string_view to_string(
    HostResult host_result);  // selected, declined, cancelled, dismissed, skipped, timed_out, empty
std::optional<OutcomeKind> outcome_kind_named(std::string_view name);
std::optional<ResolvedBy> resolved_by_named(std::string_view name);
std::optional<Channel> channel_named(std::string_view name);
std::optional<HostResult> host_result_named(std::string_view name);

// A signature over an answer, and the data needed to verify it. See inbox/operators/signature.hpp.
struct AnswerSignature {
  TimestampMs signed_at = 0;
  std::string public_key;  // 32 bytes: the key of an operator or a token
  std::string signature;   // 64 bytes
  std::string delegation;  // the public part of the token if the key is a token's; else empty
};

struct DecisionOutcome {
  OutcomeKind kind = OutcomeKind::kAnswered;
  std::optional<ResolvedBy> resolved_by;  // absent for cancelled and superseded: no one decided the question
  Channel channel = Channel::kProgram;
  std::string principal;  // who: a user's or operator's name, a client's name; empty for the program
  TimestampMs at = 0;
  std::vector<std::string> options;  // chosen ids of a single decision, in declared order
  Value values;                      // of a flow or chain: key to id or list of ids; of text and form: the input
  Value waived;                      // of a chain: [dependant, required] pairs waived on purpose; else null
  std::string render_hash;           // hex: of the text shown to the person who answered
  std::string raw;                   // the bytes of the answer exactly as received
  HostResult host_result = HostResult::kSelected;
  std::optional<AnswerSignature> signature;
};

}  // namespace sb::inbox
