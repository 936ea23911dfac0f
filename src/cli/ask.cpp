// `signalbox ask F`: a question to whoever sits here, or else to the inbox.
//
// The question is in the inbox before it is shown, and the answer is one commit; so whatever ends this process (Ctrl-C,
// a closed terminal, a kill) leaves either an open question or an answered one.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "base/limits.hpp"
#include "cli/decision_view.hpp"
#include "cli/definition.hpp"
#include "cli/dialogue.hpp"
#include "cli/person.hpp"
#include "cli/signals.hpp"
#include "inbox/answer_command.hpp"
#include "inbox/printable.hpp"

namespace sb::cli {
namespace {

using inbox::DecisionState;
using inbox::Desk;

struct AskOptions {
  std::string file;
  std::string wait = "0s";
  std::string operator_name;
  bool wants_json = false;
};

// One asking, from the declaration to the outcome.
class Asking {
 public:
  Asking(Context& context, const AskOptions& options, const decision::Declaration& declaration, Desk& desk)
      : context_(context), options_(options), declaration_(declaration), desk_(desk) {}

  // The state it is left in.
  Result<DecisionState> run(std::int64_t wait_ms) {
    const std::string workspace = SB_TRY(context_.seams.files.canonical("."));
    const inbox::Ticket ticket = SB_TRY(desk_.inbox().open(declaration_, {.workspace = workspace, .session = ""}));
    id_ = ticket.id;
    DecisionState state = SB_TRY(desk_.inbox().load(id_));
    if (!state.is_open()) {
      state = SB_TRY(finish());
      if (!state.is_open()) {
        context_.err("This was asked before, and its outcome was read by nobody yet.\n");
        return state;
      }
    }
    if (is_person_here()) return converse(state);
    return wait(state, wait_ms);
  }

 private:
  bool is_person_here() const {
    const Streams& streams = context_.streams();
    if (options_.file == "-" || !streams.is_terminal(Stream::kInput)) return false;
    if (!streams.is_terminal(Stream::kOutput) && !streams.is_terminal(Stream::kErrors)) return false;
    const Status allowed = refuse_known_agents(context_);
    if (!allowed) context_.err(fmt::format("{}\n", allowed.error().to_string()));
    return allowed.has_value();
  }

  // With --json the output is for a program, so people read the error stream.
  void say(std::string_view text) const {
    if (options_.wants_json || !context_.streams().is_terminal(Stream::kOutput)) {
      context_.err(text);
    } else {
      context_.out(text);
    }
  }

  std::string preface(const DecisionState& state) const {
    if (state.opened.needs_signature) return state.opened.question.text + "\n";
    const decision::Decision* decision = declaration_.decision();
    if (decision == nullptr || declaration_.profile.grammar == decision::Grammar::kLetters) return {};
    std::string text;
    for (const std::string& section : {decision->sections.context, decision->sections.stakes,
                                       decision->sections.safety_notice, decision->irreversible_note}) {
      if (!section.empty()) text += inbox::quoted(inbox::printable(section)) + "\n\n";
    }
    return text;
  }

  Result<DecisionState> converse(const DecisionState& state) {
    const SignalWatch signals;
    const Status signable = check_signable(state);
    if (!signable) {
      say(state.opened.question.text + "\n");
      return refused(signable.error());
    }
    Dialogue dialogue = SB_TRY(begin_dialogue(declaration_, state.opened.question));
    std::string shown = preface(state) + dialogue.turn.output;
    say(shown);
    while (dialogue.turn.what == Turn::What::kShow) {
      say("> ");
      const auto line = context_.streams().read_line(limits::kInputBytes);
      if (!line && line.error().code == ErrorCode::kUnavailable && !signals.came()) continue;
      if (!line || !*line || signals.came()) return leave_open();
      dialogue.feed(**line);
      if (!dialogue.turn.free_text.empty()) SB_TRY(note(dialogue.turn.free_text));
      shown = dialogue.turn.output;
      if (dialogue.turn.what == Turn::What::kShow) say("\n" + shown);
      raw_ = **line;
    }
    return conclude(state, dialogue.turn, shown);
  }

  // Nobody should choose for minutes and then learn that it cannot be signed.
  Status check_signable(const DecisionState& state) const {
    if (!state.opened.needs_signature || state.opened.operators) return {};
    const inbox::DecisionFacts facts{true, false, state.opened.workspace};
    return inbox::may_answer(facts, {inbox::Channel::kTerminal, user_name()}, "", desk_.config().policy);
  }

  Status note(const std::string& text) {
    SB_TRY(desk_.inbox().note_free_text(id_, text, {inbox::Channel::kTerminal, user_name()}));
    say("(noted; the question stays open)\n");
    return {};
  }

  Result<DecisionState> conclude(const DecisionState& state, const Turn& turn, const std::string& shown) {
    const inbox::Credentials person{inbox::Channel::kTerminal, user_name()};
    if (turn.what == Turn::What::kSuspended) return leave_open();
    if (turn.what == Turn::What::kCancelled) {
      SB_TRY(desk_.inbox().cancel(id_, person));
      return finish();
    }
    const std::string& typed = state.opened.question.typed_confirmation;
    if (!typed.empty()) {
      say(fmt::format("Type {} to go on: ", inbox::printable(typed)));
      const auto line = context_.streams().read_line(limits::kInputBytes);
      if (!line || *line != typed) return leave_open();
    }
    const inbox::Given given = SB_TRY(check_answer(state.opened.question, turn.given));
    if (state.opened.needs_signature) say(fmt::format("You answer: {}\n", chosen_text(given)));
    const auto signing = sign_for(context_, desk_, state, given, options_.operator_name);
    if (!signing) return refused(signing.error());
    inbox::Submission submission;
    submission.given = given;
    submission.from = signing->from;
    submission.signature = signing->signature;
    submission.raw = raw_;
    submission.waived = turn.waived;
    if (!signing->signature) submission.render_hash = sha256_hex(shown);
    const auto after = desk_.inbox().answer(id_, submission);
    if (!after && after.error().code != ErrorCode::kConflict) return refused(after.error());
    if (!after) context_.err(fmt::format("{}\n", after.error().to_string()));
    return finish();
  }

  static std::string chosen_text(const inbox::Given& given) {
    if (!given.options.empty()) return fmt::format("{}", fmt::join(given.options, ", "));
    return inbox::printable(to_json(given.values));
  }

  // Who may not answer leaves it to somebody who may.
  Result<DecisionState> refused(const Error& error) {
    if (error.code != ErrorCode::kForbidden) return std::unexpected(error);
    context_.err(fmt::format("signalbox: {}\n", error.to_string()));
    return leave_open();
  }

  Result<DecisionState> leave_open() {
    context_.err(fmt::format("\nNot answered. The question stays open in the inbox as {}.\n", id_));
    return desk_.inbox().load(id_);
  }

  Result<DecisionState> wait(const DecisionState& state, std::int64_t wait_ms) {
    constexpr std::int64_t kPollMs = 100;
    const SignalWatch signals;
    context_.err(fmt::format("No terminal here; the question is in the inbox as {}.\nAnswer it with: {}\n", id_,
                             inbox::answer_command(id_, declaration_)));
    if (const Status signable = check_signable(state); !signable) {
      context_.err(fmt::format("{}\n", signable.error().to_string()));
    }
    Clock& clock = context_.seams.clock;
    const TimestampMs until = clock.now_ms() + wait_ms;
    for (;;) {
      DecisionState now = SB_TRY(desk_.inbox().load(id_));
      if (!now.is_open()) now = SB_TRY(finish());
      if (!now.is_open()) return now;
      const std::int64_t left = until - clock.now_ms();
      if (left <= 0 || signals.came()) return now;
      clock.sleep_ms(std::min(left, kPollMs));
      SB_TRY(desk_.refresh_operators(context_.seams.files));
    }
  }

  // Still open when the answer was withdrawn in that moment.
  Result<DecisionState> finish() { return desk_.inbox().take(id_, fmt::format("ask ({})", user_name())); }

  Context& context_;
  const AskOptions& options_;
  const decision::Declaration& declaration_;
  Desk& desk_;
  std::string id_;
  std::string raw_;
};

int run_ask(Context& context, const AskOptions& options) {
  const auto wait_ms = parse_duration_ms(options.wait);
  if (!wait_ms) return report(context, wait_ms.error());
  const auto desk = Desk::open(context.seams, store::Access::kReadWrite);
  if (!desk) return report_answer(context, desk.error());
  const auto declaration = load_declaration(context, options.file, author_of(context, **desk, options.file));
  if (!declaration) return report(context, declaration.error());
  const auto state = Asking(context, options, *declaration, **desk).run(*wait_ms);
  if (!state) return report_answer(context, state.error());
  for (const std::string& why : state->rejected) context.err(fmt::format("warning: {}\n", why));
  if (options.wants_json) {
    context.out(to_json(to_json_value(*state)) + "\n");
  } else if (!state->is_open()) {
    context.out(summary_line(*state) + "\n");
  }
  return state->is_answered() ? kDone : kNo;
}

}  // namespace

Action declare_ask(CLI::App& app) {
  auto options = std::make_shared<AskOptions>();
  app.add_option("F", options->file, "The declaration of a decision, flow or chain; - reads it from the input")
      ->required();
  app.add_flag("--json", options->wants_json, "Print the outcome as JSON");
  app.add_option("--wait", options->wait,
                 "Without a terminal: how long to wait for the inbox (10m); not at all when left out");
  app.add_option("--operator", options->operator_name, "Which operator signs, where there are several");
  return [options](Context& context) { return run_ask(context, *options); };
}

}  // namespace sb::cli
