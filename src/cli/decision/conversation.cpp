#include "cli/decision/conversation.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "cli/person.hpp"
#include "decision/text_block.hpp"
#include "decision/texts.hpp"

namespace sb::cli {
namespace {

std::string chosen_text(const inbox::AnswerInput& given) {
  if (!given.options.empty()) return fmt::format("{}", fmt::join(given.options, ", "));
  return printable(to_json(given.values));
}

constexpr int kInputPollMs = 1'000;

// Whether a line can be read. Waits at most kInputPollMs on a terminal, so that the caller can check for signals and
// for an answer from elsewhere.
bool has_input() {
  if (::isatty(STDIN_FILENO) == 0) return true;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, kInputPollMs) > 0;
}

std::string ended_text(const inbox::DecisionState& state) {
  if (!state.outcome) return "The question is closed.";
  const inbox::DecisionOutcome& outcome = *state.outcome;
  if (outcome.kind != inbox::OutcomeKind::kAnswered) {
    return fmt::format("The question was closed ({}).", to_string(outcome.kind));
  }
  return fmt::format("Answered elsewhere{}: {}", outcome.principal.empty() ? "" : " by " + printable(outcome.principal),
                     chosen_text({outcome.options, outcome.values}));
}

}  // namespace

bool is_person_here(const Context& context) {
  const Streams& streams = context.streams();
  if (!streams.is_terminal(Stream::kInput)) return false;
  if (!streams.is_terminal(Stream::kOutput) && !streams.is_terminal(Stream::kErrors)) return false;
  const Status allowed = refuse_known_agents(context);
  if (!allowed) context.err(fmt::format("{}\n", allowed.error().to_string()));
  return allowed.has_value();
}

void Conversation::say(std::string_view text) const {
  if (options_.uses_errors || !context_.streams().is_terminal(Stream::kOutput)) {
    context_.err(text);
  } else {
    context_.out(text);
  }
}

std::string Conversation::preface(const inbox::DecisionState& state) const {
  if (state.opened.needs_signature) return state.opened.question.text + "\n";
  const decision::Decision* decision = declaration_.decision();
  if (decision == nullptr || declaration_.profile.grammar == decision::Grammar::kLetters) return {};
  std::string text;
  for (const std::string& section : {decision->sections.context, decision->sections.stakes,
                                     decision->sections.safety_notice, decision->irreversible_note}) {
    if (!section.empty()) text += quoted(printable(section)) + "\n\n";
  }
  return text;
}

Result<std::string> Conversation::ask(const inbox::DecisionState& state) {
  const SignalWatch signals;
  const Status signable = check_signable(state);
  if (!signable) {
    say(state.opened.question.text + "\n");
    SB_TRY(refused(state.id, signable.error()));
    return std::string();
  }
  // What needs a signature is signed as a whole, so nothing of it is stored before.
  const bool is_stored = !state.opened.needs_signature;
  Value position = state.position;
  Dialogue dialogue = SB_TRY(begin_dialogue(declaration_, state.opened.question, is_stored ? position : Value()));
  std::string shown = preface(state) + dialogue.turn.output;
  say(shown);
  while (dialogue.turn.what == DialogueTurn::Kind::kShow) {
    say("> ");
    const auto line = read_next_line(state.id, signals);
    if (!line) {
      SB_TRY(leave_open(state.id));
      return std::string();
    }
    dialogue.feed(*line);
    if (!dialogue.turn.free_text.empty()) SB_TRY(note(state.id, dialogue.turn.free_text));
    if (is_stored && dialogue.position && dialogue.turn.what != DialogueTurn::Kind::kAnswered) {
      const Value now = dialogue.position();
      const inbox::Responder person = user_at(context_);
      if (now != position) {
        const auto stored = home_.inbox().store_position(state.id, position, now, person, *line);
        if (!stored && stored.error().code != ErrorCode::kConflict) return std::unexpected(stored.error());
        if (!stored) {
          SB_TRY(leave_open(state.id));
          return std::string();
        }
      }
      position = now;
    }
    shown = dialogue.turn.output;
    if (dialogue.turn.what == DialogueTurn::Kind::kShow) say("\n" + shown);
    raw_ = *line;
  }
  return end(state, dialogue.turn, shown);
}

Result<std::string> Conversation::end(const inbox::DecisionState& state, const DialogueTurn& turn,
                                      const std::string& shown) {
  if (turn.what == DialogueTurn::Kind::kSuspended) return std::string(decision::kStepAbort);
  if (turn.what == DialogueTurn::Kind::kCancelled) {
    SB_TRY(home_.inbox().cancel(state.id, user_at(context_)));
    return std::string(decision::kFlowCancel);
  }
  SB_TRY(submit_answer(state, turn, shown));
  return std::string();
}

// Checked before asking, so that a person does not choose first and then learn that the answer cannot be signed.
Status Conversation::check_signable(const inbox::DecisionState& state) const {
  if (has_unsigned_answer(state.opened) || state.opened.operators) return {};
  const inbox::DecisionFacts facts{true, false, state.opened.workspace};
  return inbox::may_answer(facts, user_at(context_), "", home_.config().policy);
}

Status Conversation::note(const std::string& id, const std::string& text) {
  SB_TRY(home_.inbox().note_free_text(id, text, user_at(context_)));
  const auto& cancel_words = declaration_.profile.commands;
  const bool can_choose = !declaration_.chain() && !cancel_words.empty();
  const std::string& locale =
      std::visit([](const auto& declared) -> const std::string& { return declared.locale; }, declaration_.what);
  std::string kept(decision::text(locale, "comment.kept"));
  if (can_choose) {
    kept += " " + decision::text_with(locale, "comment.choose", "word", fmt::format("`{}`", cancel_words.back()));
  }
  say(kept + "\n");
  return {};
}

Status Conversation::submit_answer(const inbox::DecisionState& state, const DialogueTurn& turn,
                                   const std::string& shown) {
  const std::string& typed = state.opened.question.typed_confirmation;
  if (!typed.empty()) {
    say(fmt::format("Type {} to continue: ", printable(typed)));
    const auto line = context_.streams().read_line(limits::kInputBytes);
    if (!line || *line != typed) return leave_open(state.id);
  }
  const inbox::AnswerInput given = SB_TRY(check_answer(state.opened.question, turn.given));
  if (needs_signature(state.opened, given)) say(fmt::format("Your answer: {}\n", chosen_text(given)));
  const auto signing = sign_for(context_, home_, state, given, options_.operator_name);
  if (!signing) return refused(state.id, signing.error());
  inbox::AnswerSubmission submission;
  submission.given = given;
  submission.from = signing->from;
  submission.signature = signing->signature;
  submission.raw = raw_;
  submission.waived = turn.waived;
  if (!signing->signature) submission.render_hash = sha256_hex(shown);
  const auto after = home_.inbox().answer(state.id, submission);
  if (!after && after.error().code != ErrorCode::kConflict) return refused(state.id, after.error());
  if (!after) context_.err(fmt::format("{}\n", after.error().to_string()));
  return {};
}

// A person who may not answer leaves the question open for someone who may.
Status Conversation::refused(const std::string& id, const Error& error) const {
  if (error.code != ErrorCode::kForbidden) return std::unexpected(error);
  context_.err(fmt::format("signalbox: {}\n", error.to_string()));
  return leave_open(id);
}

bool Conversation::is_asked(const std::string& id) const {
  const auto state = home_.inbox().load(id);
  if (state && !state->is_open()) return false;
  return !options_.is_wanted || options_.is_wanted();
}

std::optional<std::string> Conversation::read_next_line(const std::string& id, const SignalWatch& signals) const {
  while (!signals.was_received() && is_asked(id)) {
    if (!has_input() || signals.was_received()) continue;
    const auto line = context_.streams().read_line(limits::kInputBytes);
    if (line && !signals.was_received()) return *line;
    if (!line && line.error().code != ErrorCode::kUnavailable) return std::nullopt;
  }
  return std::nullopt;
}

Status Conversation::leave_open(const std::string& id) const {
  const auto state = home_.inbox().load(id);
  const bool is_closed = state && !state->is_open();
  if (!is_closed && is_asked(id)) {
    context_.err(fmt::format("\nNot answered. The question stays open in the inbox as {}.\n", id));
    return {};
  }
  // Discards half-typed input: it does not answer the next question.
  if (::isatty(STDIN_FILENO) != 0) ::tcflush(STDIN_FILENO, TCIFLUSH);
  context_.err(fmt::format("\n{}\n", is_closed ? ended_text(*state) : "This question was withdrawn."));
  return {};
}

}  // namespace sb::cli
