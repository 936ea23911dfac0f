#include "hook/events/walk_words.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "decision/render/hosts.hpp"
#include "decision/text_block.hpp"
#include "hook/events/planned_call.hpp"
#include "inbox/next_prompt.hpp"

namespace sb::hook {
namespace {

using decision::WalkTurn;
using inbox::DecisionState;

std::string next_command(const DecisionState& state, const decision::Host& host) {
  return fmt::format("signalbox render --next {} --host {}", state.id, host.name);
}

std::string_view tool_of(const decision::Host& host) {
  return &host == &decision::hosts::kAskUserQuestion ? "AskUserQuestion" : host.name;
}

std::string keys_of(const decision::Declaration& declaration) {
  std::string keys;
  for (const decision::ChainOption& option : declaration.chain()->options) {
    keys += (keys.empty() ? "" : ", ") + option.key;
  }
  return printable(keys);
}

std::string on_hold(const DecisionState& state, const decision::Walk& walk, const decision::Host& host) {
  const std::string part = walk.part().empty() ? "it" : printable(walk.part());
  return fmt::format(
      "Signalbox: {} is on hold at {}. Stop asking about it, and discuss {} with the person first. Once they say "
      "\"continue\", \"reset\" or the key of an option ({}), the next question follows; \"abort\" ends it. Where no "
      "hook "
      "reports that, run {} --resume WORD with their word.",
      state.id, walk.place(), part, keys_of(walk.declaration()), next_command(state, host));
}

std::string answer_of(const DecisionState& state) {
  const inbox::DecisionOutcome& outcome = *state.outcome;
  std::string text =
      outcome.options.empty() ? to_json(outcome.values) : fmt::format("{}", fmt::join(outcome.options, ", "));
  if (outcome.waived.is_array() && outcome.waived.size() > 0) {
    text += fmt::format("; left broken on purpose: {}", to_json(outcome.waived));
  }
  return text;
}

// Why the same question is asked again.
std::string again(const DecisionState& state, const WalkTurn& turn) {
  if (turn.free_text) {
    return fmt::format(
        "Signalbox: {} is still open. The person wrote a text instead of choosing; it is recorded and chooses nothing. "
        "Act on what it asks, then ask the same question again.",
        state.id);
  }
  return fmt::format("Signalbox: {} is still open: that is not an answer to this question ({}). Ask it again.",
                     state.id, turn.error);
}

}  // namespace

Result<std::string> ask_next(inbox::Home& home, const DecisionState& state, const decision::Declaration& declaration,
                             const decision::Host& host, std::string_view lead) {
  const auto walk = SB_TRY(inbox::walk_of(state, declaration, host));
  if (walk.is_held()) return on_hold(state, walk, host);
  const auto next = SB_TRY(plan_next_prompt(home.inbox(), state, declaration, host, {.may_reuse = true}));
  return fmt::format("{}\nCall {} with exactly this input, and write nothing before it:\n{}", lead, tool_of(host),
                     next.rendered.bytes());
}

std::string ending_words(const DecisionState& state) {
  if (!state.outcome) return "";
  const inbox::DecisionOutcome& outcome = *state.outcome;
  if (outcome.kind == inbox::OutcomeKind::kAnswered) {
    return fmt::format("Signalbox: {} ({}) is answered: {}. Act on it now; write nothing before the result.", state.id,
                       state.opened.question.id, answer_of(state));
  }
  if (outcome.kind == inbox::OutcomeKind::kCancelled && !outcome.principal.empty()) {
    return fmt::format(
        "Signalbox: {} was cancelled by the person. Do none of it. Reply with exactly {} and nothing "
        "else.",
        state.id, decision::kFlowCancel);
  }
  return fmt::format("Signalbox: {} is closed ({}). Do not choose for the person.", state.id, to_string(outcome.kind));
}

Result<std::string> words_after(inbox::Home& home, const inbox::Walked& walked,
                                const decision::Declaration& declaration, const inbox::PlannedPrompt& prompt) {
  const DecisionState& state = walked.state;
  const decision::Host& host = *decision::host_named(prompt.host);
  switch (walked.turn.kind) {
    case WalkTurn::Kind::kAnswered: {
      // One question, one answer: the host has told the agent already.
      const bool is_plain = state.opened.question.shape == inbox::QuestionShape::kDecision && prompt.pages == 1;
      return is_plain ? std::string() : ending_words(state);
    }
    case WalkTurn::Kind::kCancelled:
      return ending_words(state);
    case WalkTurn::Kind::kSuspended:
      return fmt::format(
          "Signalbox: {} stays open, unanswered. Reply with exactly {} and nothing else. To resume it "
          "later: {}",
          state.id, decision::kStepAbort, next_command(state, host));
    case WalkTurn::Kind::kHeld:
    case WalkTurn::Kind::kAsk:
      break;
  }
  if (walked.turn.kind == WalkTurn::Kind::kAsk && walked.turn.is_same) {
    return ask_next(home, state, declaration, host, again(state, walked.turn));
  }
  const auto walk = SB_TRY(inbox::walk_of(state, declaration, host));
  const decision::Prompt next = walk.prompt();
  std::string lead = fmt::format("Signalbox: recorded. {} is not complete yet", state.id);
  if (next.pages > 1) {
    lead += fmt::format("; page {} of {} of this question follows ({} --page {})", next.page, next.pages,
                        next_command(state, host), next.page);
  } else if (const std::string place = walk.place(); !place.empty()) {
    lead += fmt::format("; {} is next", place);
  }
  if (!walked.turn.error.empty()) lead += fmt::format(" ({})", walked.turn.error);
  return ask_next(home, state, declaration, host, lead + ".");
}

Result<std::string> continued_by(const HookEvent& event, const std::string& folder, const Seams& seams) {
  const std::string_view said = trimmed(event.said);
  if (said.empty() || said.size() > limits::kIdBytes || said.contains('\n') || !is_utf8(said)) return std::string();
  const auto reading = SB_TRY(open_home(seams, store::Access::kReadOnly));
  if (!reading) return std::string();
  std::optional<DecisionState> held;  // the one asked last
  for (DecisionState& state : SB_TRY(reading->inbox().held_in(with_parents(folder)))) {
    if (!held || held->opened.opened_at < state.opened.opened_at) held = std::move(state);
  }
  if (!held) return std::string();
  const auto declaration = inbox::asked_declaration(held->opened, seams.files, seams.environment);
  const decision::Host& host = host_of(event);
  if (!declaration) return std::string();
  auto walk = SB_TRY(inbox::walk_of(*held, *declaration, host));
  if (walk.take(said).kind == WalkTurn::Kind::kHeld) return std::string();
  const auto home = SB_TRY(open_home(seams, store::Access::kReadWrite));
  const auto walked = SB_TRY(home->inbox().walk(held->id, *declaration, decision::cap_of(host, declaration->profile),
                                                {.given = std::string(said),
                                                 .from = {inbox::Channel::kHook, std::string(principal_of(event))},
                                                 .raw = std::string(said)}));
  if (!walked.state.is_open()) return ending_words(walked.state);
  return ask_next(*home, walked.state, *declaration, host,
                  fmt::format("Signalbox: the person continues {}. The open question follows.", held->id));
}

}  // namespace sb::hook
