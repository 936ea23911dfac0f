// `signalbox inbox list|show|answer|watch|withdraw|decline|cancel`.
#include "inbox/inbox.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "cli/decision/conversation.hpp"
#include "cli/decision/decision_view.hpp"
#include "cli/paging.hpp"
#include "cli/person.hpp"
#include "cli/signals.hpp"
#include "inbox/next_prompt.hpp"
#include "inbox/question/answer_command.hpp"

namespace sb::cli {
namespace {

using inbox::AnswerInput;
using inbox::DecisionState;
using inbox::Home;

struct InboxOptions {
  std::string id;
  std::string choice;
  std::string operator_name;
  std::string reason;
  bool waives = false;
  bool wants_all = false;
  bool wants_json = false;
  store::PageRequest page = {};
};

using HomePointer = std::unique_ptr<Home>;

// For reading: falls back to read-only access if the home is not writable.
Result<HomePointer> open_for_reading(const Context& context) {
  Result<HomePointer> home = Home::open(context.seams, store::Access::kReadWrite);
  if (!home && home.error().code == ErrorCode::kIo) return Home::open(context.seams, store::Access::kReadOnly);
  return home;
}

// As it was called, for the next page.
std::string list_command(const InboxOptions& options) {
  std::string command = "signalbox inbox list";
  if (options.wants_all) command += " --all";
  if (options.page.limit != store::PageRequest().limit) command += fmt::format(" --limit {}", options.page.limit);
  return command;
}

Status list(const Context& context, const InboxOptions& options) {
  Result<HomePointer> home = open_for_reading(context);
  inbox::DecisionPage page;
  if (home) {
    page = SB_TRY((*home)->inbox().page(options.wants_all, options.page));
  } else if (home.error().code != ErrorCode::kNotFound) {
    return std::unexpected(home.error());
  }
  if (options.wants_json) {
    Value items = Value::array();
    for (const DecisionState& state : page.decisions) items.push_back(full_view(state));
    context.out(to_json(page_value("decisions", std::move(items), page.facts)) + "\n");
    return {};
  }
  if (page.decisions.empty()) context.out("No decision is open.\n");
  for (const DecisionState& state : page.decisions) context.out(summary_line(state) + "\n");
  context.out(more_line(page.facts, list_command(options)));
  return {};
}

Status show(const Context& context, const InboxOptions& options) {
  const HomePointer home = SB_TRY(open_for_reading(context));
  const std::string id = SB_TRY(home->inbox().resolve(options.id));
  const DecisionState state = SB_TRY(home->inbox().load(id));
  context.out(options.wants_json ? to_json(full_view(state)) + "\n" : full_text(state));
  return {};
}

// A confirmation that must be typed out is read from the terminal, or from the next line of stdin.
Status check_typed_confirmation(const Context& context, const DecisionState& state) {
  const std::string& wanted = state.opened.question.typed_confirmation;
  if (wanted.empty()) return {};
  context.err(fmt::format("Type {} to continue: ", printable(wanted)));
  const auto line = SB_TRY(context.streams().read_line(limits::kInputBytes));
  if (line == wanted) return {};
  return fail(ErrorCode::kForbidden, "the confirmation does not match; nothing changed");
}

// The choice from the command line; else shows the question and reads the choice.
Result<std::string> typed_choice(const Context& context, const InboxOptions& options, const inbox::Question& question) {
  if (!options.choice.empty()) return options.choice;
  context.err(fmt::format("{}\n{}: ", question.text, printable(inbox::answer_hint(question))));
  const auto line = SB_TRY(context.streams().read_line(limits::kInputBytes));
  if (line) return *line;
  return fail(ErrorCode::kInvalid, "the answer is empty", "Give it after the id, or type it");
}

// `E1=hold`, alone: stops the chain there, answers nothing.
std::string held_key(const inbox::Question& question, std::string_view choice) {
  constexpr std::string_view kHold = "=hold";
  if (question.shape != inbox::QuestionShape::kChain || !choice.ends_with(kHold)) return {};
  choice.remove_suffix(kHold.size());
  return question.find(choice) == nullptr ? std::string() : std::string(choice);
}

Status hold(const Context& context, Home& home, const DecisionState& state, const decision::Declaration& declaration,
            const std::string& key) {
  const inbox::Responder from = SB_TRY(credentials_for(context, home, state));
  auto walk = SB_TRY(decision::Walk::at(declaration, state.position, 0));
  SB_TRY(walk.hold_at(key));
  SB_TRY(home.inbox().store_position(state.id, state.position, walk.position(), from, key + "=hold"));
  context.out(fmt::format("On hold at {}. To continue: signalbox inbox answer {}\n", printable(key), state.id));
  return {};
}

// A flow or chain without a choice on the command line, at a terminal: question by question, from where it is.
Result<bool> is_walked(const Context& context, Home& home, const DecisionState& state, const InboxOptions& options,
                       const decision::Declaration& declaration) {
  const bool has_several = state.opened.question.shape != inbox::QuestionShape::kDecision;
  if (!options.choice.empty() || !has_several || options.wants_json || !is_person_here(context)) return false;
  Conversation conversation(context, home, declaration, {options.operator_name});
  const std::string code = SB_TRY(conversation.ask(state));
  if (!code.empty()) context.out(code + "\n");
  const DecisionState after = SB_TRY(home.inbox().load(state.id));
  if (code.empty() && !after.is_open()) context.out(summary_line(after) + "\n");
  return true;
}

Status answer(const Context& context, const InboxOptions& options) {
  const HomePointer home = SB_TRY(Home::open(context.seams, store::Access::kReadWrite));
  inbox::Inbox& inbox = home->inbox();
  const DecisionState state = SB_TRY(inbox.load(SB_TRY(inbox.resolve(options.id))));
  // Report a late answer before asking for a passphrase.
  if (!state.is_open()) {
    inbox::AnswerSubmission late{
        .given = {}, .from = user_at(context), .raw = options.choice, .waived = {}, .render_hash = {}, .signature = {}};
    if (!options.choice.empty()) late.given.options = {options.choice};
    return std::unexpected(inbox.answer(state.id, late, options.reason).error());
  }
  const inbox::Question& question = state.opened.question;
  const auto declaration = inbox::asked_declaration(state.opened, context.seams.files, context.seams.environment);
  if (declaration && SB_TRY(is_walked(context, *home, state, options, *declaration))) return {};
  const std::string typed = SB_TRY(typed_choice(context, options, question));
  // Replaces the numbers, letters and labels that people are shown.
  const std::string choice = declaration ? inbox::numbers_to_ids(*declaration, typed) : typed;
  if (const std::string key = held_key(question, choice); declaration && !key.empty()) {
    return hold(context, *home, state, *declaration, key);
  }
  const AnswerInput given = SB_TRY(inbox::check_answer(question, SB_TRY(inbox::parse_choice(question, choice))));
  if (!options.waives) SB_TRY(inbox::check_dependencies(question, given));
  if (needs_signature(state.opened, given)) {
    context.err(fmt::format("{}\nYour answer: {}\n", question.text, printable(choice)));
  }
  SB_TRY(check_typed_confirmation(context, state));
  const Signing signing = SB_TRY(sign_for(context, *home, state, given, options.operator_name));
  inbox::AnswerSubmission submission;
  submission.given = given;
  submission.from = signing.from;
  submission.signature = signing.signature;
  submission.raw = typed;
  if (question.shape == inbox::QuestionShape::kChain) submission.waived = broken_dependencies(question, given);
  if (!is_utf8(options.reason)) return fail(ErrorCode::kInvalid, "the reason is not UTF-8", "Send UTF-8 text");
  const DecisionState after = SB_TRY(inbox.answer(state.id, submission, options.reason));
  context.out(options.wants_json ? to_json(to_json_value(after)) + "\n" : summary_line(after) + "\n");
  return {};
}

enum class Act { kWithdraw, kDecline, kCancel };

Status act(const Context& context, const InboxOptions& options, Act what) {
  const HomePointer home = SB_TRY(Home::open(context.seams, store::Access::kReadWrite));
  inbox::Inbox& inbox = home->inbox();
  const std::string id = SB_TRY(inbox.resolve(options.id));
  const inbox::Responder from = SB_TRY(credentials_for(context, *home, SB_TRY(inbox.load(id))));
  const DecisionState after = SB_TRY(what == Act::kWithdraw  ? inbox.withdraw(id, from)
                                     : what == Act::kDecline ? inbox.decline(id, from, "")
                                                             : inbox.cancel(id, from));
  context.out(options.wants_json ? to_json(to_json_value(after)) + "\n" : summary_line(after) + "\n");
  return {};
}

// Prints the open decisions, then each decision again whenever it changes, until interrupted.
Status watch(const Context& context, const InboxOptions& options) {
  constexpr int kPollMs = 500;
  const SignalWatch signals;
  const HomePointer home = SB_TRY(Home::open(context.seams, store::Access::kReadWrite));
  std::set<std::string> open;  // as printed last
  const auto print = [&](const DecisionState& state) {
    context.out((options.wants_json ? to_json(full_view(state)) : summary_line(state)) + "\n");
    if (state.is_open()) {
      open.insert(state.id);
    } else {
      open.erase(state.id);
    }
  };
  const auto print_all = [&]() -> Result<std::int64_t> {
    const auto end = SB_TRY(home->store().read([](store::Snapshot& snapshot) { return snapshot.last_position(); }));
    std::set<std::string> before = std::exchange(open, {});
    for (const DecisionState& state : SB_TRY(home->inbox().list(false))) {
      print(state);
      before.erase(state.id);
    }
    // Decisions that closed meanwhile are not in the list of open ones.
    for (const std::string& id : before) print(SB_TRY(home->inbox().load_or_damaged(id)));
    return end;
  };
  auto position = SB_TRY(print_all());
  while (!signals.was_received() && !context.streams().output_closed()) {
    SB_TRY(context.streams().flush());
    const auto events =
        home->store().read([&](store::Snapshot& snapshot) { return snapshot.events_after(position, 1'000); });
    if (!events && events.error().code != ErrorCode::kCorrupt) return std::unexpected(events.error());
    if (!events) {
      // It is not known here which of the new events are damaged; the list shows it.
      context.err(fmt::format("warning: {}\n", events.error().to_string()));
      position = SB_TRY(print_all());
      continue;
    }
    std::vector<std::string> changed;
    for (const store::Event& event : *events) {
      position = event.position;
      if (!event.stream.starts_with(inbox::kDecisionStreams)) continue;
      const std::string id = event.stream.substr(inbox::kDecisionStreams.size());
      if (changed.empty() || changed.back() != id) changed.push_back(id);
    }
    SB_TRY(home->refresh_operators(context.seams.files));
    for (const std::string& id : changed) print(SB_TRY(home->inbox().load_or_damaged(id)));
    // No other process may be applying deadlines.
    SB_TRY(home->inbox().settle_due());
    if (events->empty()) context.seams.clock.sleep_ms(kPollMs);
  }
  return {};
}

App* with_id(App& app, const std::string& name, const std::string& summary, InboxOptions& options) {
  App* sub = app.add_subcommand(name, summary);
  sub->add_option("ID", options.id, "The decision: its id, a prefix of it, or its declared id")->required();
  sub->add_flag("--json", options.wants_json, "Print JSON");
  return sub;
}

}  // namespace

Action declare_inbox(App& app) {
  auto options = std::make_shared<InboxOptions>();
  app.require_subcommand(1);
  App* list_app = app.add_subcommand("list", "List open decisions, most urgent first");
  list_app->add_flag("--all", options->wants_all, "Include closed decisions");
  list_app->add_flag("--json", options->wants_json, "Print JSON: {decisions, total, more, next}");
  add_page_options(*list_app, options->page);
  App* show_app = with_id(app, "show", "Show one decision", *options);
  App* answer_app = with_id(app, "answer", "Answer one decision", *options);
  answer_app->add_option(
      "CHOICE", options->choice,
      "Option ids, or the numbers, letters or labels shown, joined by commas; for a flow key=id,key2=a+b; for a chain "
      "key=include,key2=cut, or key=hold alone to stop and discuss it; for a form "
      "field=value. Default: show the question and read the answer from the terminal or stdin");
  answer_app->add_option("--reason", options->reason, "The reason, stored with the answer and passed on with it");
  answer_app->add_flag("--waive", options->waives, "Leave the broken needs and conflicts of a chain as they are");
  answer_app->add_option("--operator", options->operator_name, "The operator who signs, if there are several");
  App* watch_app = app.add_subcommand("watch", "Show open decisions and their changes until interrupted");
  watch_app->add_flag("--json", options->wants_json, "Print one JSON object per line");
  App* withdraw_app = with_id(app, "withdraw", "Withdraw an answer that has not been read yet", *options);
  App* decline_app = with_id(app, "decline", "Close the decision as declined", *options);
  App* cancel_app = with_id(app, "cancel", "Close the decision without an answer", *options);
  return [=, &app](Context& context) {
    Status done;
    if (app.got_subcommand(list_app)) done = list(context, *options);
    if (app.got_subcommand(show_app)) done = show(context, *options);
    if (app.got_subcommand(answer_app)) done = answer(context, *options);
    if (app.got_subcommand(watch_app)) done = watch(context, *options);
    if (app.got_subcommand(withdraw_app)) done = act(context, *options, Act::kWithdraw);
    if (app.got_subcommand(decline_app)) done = act(context, *options, Act::kDecline);
    if (app.got_subcommand(cancel_app)) done = act(context, *options, Act::kCancel);
    return done ? kExitOk : report_answer(context, done.error());
  };
}

}  // namespace sb::cli
