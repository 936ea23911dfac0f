// `signalbox ask F`: asks the person at this terminal, or through the inbox.
//
// The question is stored in the inbox before it is shown, and the answer is one commit. So whatever ends this process
// (Ctrl-C, a closed terminal, a kill) leaves either an open question or an answered one.
#include <fmt/format.h>

#include "cli/decision/conversation.hpp"
#include "cli/decision/decision_view.hpp"
#include "cli/decision/declaration_file.hpp"
#include "cli/person.hpp"
#include "cli/signals.hpp"
#include "decision/text_block.hpp"
#include "inbox/question/answer_command.hpp"

namespace sb::cli {
namespace {

using inbox::DecisionState;
using inbox::Home;

struct AskOptions {
  std::string file;
  std::string wait = "0s";
  std::string operator_name;
  bool wants_json = false;
};

// Asks one question, from the declaration to the outcome.
class Asking {
 public:
  Asking(Context& context, const AskOptions& options, const decision::Declaration& declaration, Home& home)
      : context_(context), options_(options), declaration_(declaration), home_(home) {}

  // Returns the final state of the decision.
  Result<DecisionState> run(std::int64_t wait_ms) {
    const std::string workspace = SB_TRY(context_.seams.files.canonical("."));
    const inbox::DecisionHandle handle =
        SB_TRY(home_.inbox().open(declaration_, {.workspace = workspace, .session = ""}));
    id_ = handle.id;
    DecisionState state = SB_TRY(home_.inbox().load(id_));
    if (!state.is_open()) {
      state = SB_TRY(finish());
      if (!state.is_open()) {
        context_.err("This question was asked before; its outcome had not been read yet.\n");
        return state;
      }
    }
    if (options_.file == "-" || !is_person_here(context_)) return wait(state, wait_ms);
    Conversation conversation = this->conversation();
    code_ = SB_TRY(conversation.ask(state));
    state = SB_TRY(home_.inbox().load(id_));
    return state.is_open() ? state : finish();
  }

  // FLOW_CANCEL or STEP_ABORT, if the person ended it that way.
  const std::string& code() const { return code_; }

 private:
  Conversation conversation() const {
    return {context_, home_, declaration_, {options_.operator_name, options_.wants_json}};
  }

  Result<DecisionState> wait(const DecisionState& state, std::int64_t wait_ms) {
    constexpr std::int64_t kPollMs = 100;
    const SignalWatch signals;
    context_.err(fmt::format("No terminal; the question is in the inbox as {}.\nAnswer it with: {}\n", id_,
                             inbox::answer_command(id_, declaration_)));
    if (const Status signable = conversation().check_signable(state); !signable) {
      context_.err(fmt::format("{}\n", signable.error().to_string()));
    }
    Clock& clock = context_.seams.clock;
    const TimestampMs until = clock.now_ms() + wait_ms;
    for (;;) {
      DecisionState now = SB_TRY(home_.inbox().load(id_));
      if (!now.is_open()) now = SB_TRY(finish());
      if (!now.is_open()) return now;
      const std::int64_t left = until - clock.now_ms();
      if (left <= 0 && wait_ms > 0) {
        context_.err(fmt::format("Not answered within {}; the question stays open\n", options_.wait));
      }
      if (left <= 0 || signals.was_received()) return now;
      clock.sleep_ms(std::min(left, kPollMs));
      SB_TRY(home_.refresh_operators(context_.seams.files));
    }
  }

  // The result is still open if the answer was withdrawn meanwhile.
  Result<DecisionState> finish() { return home_.inbox().consume(id_, fmt::format("ask ({})", user_name())); }

  Context& context_;
  const AskOptions& options_;
  const decision::Declaration& declaration_;
  Home& home_;
  std::string id_, code_;
};

// Whether a declaration says that something is less dangerous than its words.
bool claims_safety(const Value& source) {
  if (source.string_at("door") == "two-way") return true;
  for (const std::string_view list : {"options", "steps"}) {
    if (!source[list].is_array()) continue;
    for (const Value& item : source[list].items()) {
      if (item.is_object() && (item.find("safe") != nullptr || claims_safety(item))) return true;
    }
  }
  return false;
}

int run_ask(Context& context, const AskOptions& options) {
  const auto wait_ms = parse_duration_ms(options.wait);
  if (!wait_ms) return report(context, wait_ms.error());
  const auto home = Home::open(context.seams, store::Access::kReadWrite);
  if (!home) return report_answer(context, home.error());
  const decision::Author author = author_of(context, **home, options.file);
  const auto declaration = load_declaration(context, options.file, author);
  if (!declaration) return report(context, declaration.error());
  if (author == decision::Author::kModel && claims_safety(declaration->source)) {
    context.err(fmt::format("note: `safe` and `door: two-way` do not count in {}, which is not in a trusted folder\n",
                            options.file == "-" ? "<stdin>" : options.file));
  }
  Asking asking(context, options, *declaration, **home);
  const auto state = asking.run(*wait_ms);
  if (!state) return report_answer(context, state.error());
  for (const std::string& why : state->rejected) context.err(fmt::format("warning: {}\n", why));
  const bool is_cancelled = state->outcome && state->outcome->kind == inbox::OutcomeKind::kCancelled;
  const std::string code = is_cancelled ? std::string(decision::kFlowCancel) : asking.code();
  if (options.wants_json) {
    Value outcome = to_json_value(*state);
    if (!code.empty()) outcome.set("event", code);
    context.out(to_json(outcome) + "\n");
  } else if (!code.empty()) {
    context.out(code + "\n");
  } else if (!state->is_open()) {
    context.out(summary_line(*state) + "\n");
  }
  return state->is_answered() ? kExitOk : kExitNegative;
}

}  // namespace

Action declare_ask(App& app) {
  auto options = std::make_shared<AskOptions>();
  app.add_option("F", options->file, "The declaration of a decision, flow or chain; - for stdin")->required();
  app.add_flag("--json", options->wants_json, "Print the outcome as JSON");
  app.add_option("--wait", options->wait,
                 "Without a terminal: how long to wait for an answer, such as 10m (default: do not wait)");
  app.add_option("--operator", options->operator_name, "The operator who signs, if there are several");
  return [options](Context& context) { return run_ask(context, *options); };
}

}  // namespace sb::cli
