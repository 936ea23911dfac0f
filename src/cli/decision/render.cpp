// `signalbox render`: renders a declaration for a host, and records it as a planned prompt.
//
// stdout holds only the rendered prompt, so that it can be passed on unchanged; what the host cannot show is listed on
// stderr.
#include "decision/render/render.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/decision/declaration_file.hpp"
#include "cli/person.hpp"
#include "inbox/home.hpp"
#include "inbox/next_prompt.hpp"

namespace sb::cli {
namespace {

using decision::Declaration;
using decision::Host;
using inbox::DecisionState;
using inbox::NextPrompt;

struct RenderArguments {
  std::string definition;
  std::string next;  // an open decision
  std::string host;
  std::optional<int> page;
  std::string resume;
  std::string answer;
};

// What is shown, of which decision.
struct Planned {
  DecisionState state;
  std::optional<NextPrompt> prompt;  // absent: it is closed
};

// Opens the question, or joins the same one.
Result<DecisionState> opened_by(Context& context, inbox::Home& home, const Declaration& declaration) {
  const std::string workspace = SB_TRY(context.seams.files.canonical("."));
  const inbox::AskContext asking{.workspace = workspace, .session = ""};
  auto state = SB_TRY(home.inbox().load(SB_TRY(home.inbox().open(declaration, asking)).id));
  if (!state.is_open() && !state.is_answered()) {
    // Closed without an answer: rendering it again asks it again.
    SB_TRY(home.inbox().consume(state.id, "render"));
    state = SB_TRY(home.inbox().load(SB_TRY(home.inbox().open(declaration, asking)).id));
  }
  if (!state.is_open()) {
    return fail(ErrorCode::kConflict, fmt::format("{} is answered, but the answer has not been read yet", state.id),
                "Read it with signalbox ask; then it can be asked again");
  }
  return state;
}

// The host's answer to what was rendered last, or the word that ends a hold, passed on by the caller of this command.
Status pass_on(Context& context, inbox::Home& home, const DecisionState& state, const Declaration& declaration,
               const Host& host, const RenderArguments& arguments) {
  inbox::WalkAnswer passed{
      .given = arguments.resume, .from = {inbox::Channel::kRelay, user_name()}, .raw = arguments.resume, .reader = {}};
  if (!arguments.answer.empty()) {
    passed.raw = arguments.answer == "-" ? SB_TRY(context.streams().read_input(limits::kInputBytes)) : arguments.answer;
    const auto walk = SB_TRY(inbox::walk_of(state, declaration, host));
    const auto shown = SB_TRY(render(walk.prompt(), declaration.profile, host));
    const auto json = parse_json(passed.raw);
    passed.given = parse_answer(shown.shape, json ? *json : Value(without_trailing_newlines(passed.raw)));
    passed.reader = "render";
  } else if (!SB_TRY(inbox::walk_of(state, declaration, host)).is_held()) {
    return fail(ErrorCode::kConflict, fmt::format("{} is not on hold", state.id), "Omit --resume");
  }
  const auto walked =
      SB_TRY(home.inbox().walk(state.id, declaration, decision::cap_of(host, declaration.profile), passed));
  if (!walked.turn.error.empty()) context.err(fmt::format("not an answer: {}\n", walked.turn.error));
  if (walked.turn.free_text) context.err("Saved as a comment; the question stays open.\n");
  return {};
}

Result<Planned> plan_next(Context& context, inbox::Home& home, const Host& host, const RenderArguments& arguments) {
  inbox::Inbox& inbox = home.inbox();
  DecisionState state = SB_TRY(inbox.load(SB_TRY(inbox.resolve(arguments.next))));
  if (!state.is_open()) return Planned{std::move(state), std::nullopt};
  const auto declaration = inbox::asked_declaration(state.opened, context.seams.files, context.seams.environment);
  if (!declaration) {
    return fail(ErrorCode::kUnsupported, fmt::format("{} was asked by another version of this program", state.id),
                "Render its declaration again");
  }
  if (!arguments.answer.empty() || !arguments.resume.empty()) {
    SB_TRY(pass_on(context, home, state, *declaration, host, arguments));
    state = SB_TRY(inbox.load(state.id));
    if (!state.is_open()) return Planned{std::move(state), std::nullopt};
  }
  auto prompt = SB_TRY(plan_next_prompt(inbox, state, *declaration, host, {.page = arguments.page, .may_reuse = true}));
  return Planned{std::move(state), std::move(prompt)};
}

// How to continue, if the decision has more than one prompt.
void explain(const Context& context, const Planned& planned, const RenderArguments& arguments) {
  const std::string command = fmt::format("signalbox render --next {} --host {}", planned.state.id, arguments.host);
  const decision::Prompt& prompt = planned.prompt->prompt;
  for (const std::string& field : planned.prompt->rendered.omitted_fields) {
    context.err(fmt::format("not shown on {}: {}\n", arguments.host, field));
  }
  if (prompt.pages > 1) {
    const int other = prompt.page < prompt.pages ? prompt.page + 1 : prompt.page - 1;
    context.err(fmt::format("page {} of {}; {} page: {} --page {}\n", prompt.page, prompt.pages,
                            other > prompt.page ? "next" : "previous", command, other));
  }
  if (planned.state.opened.question.shape != inbox::QuestionShape::kDecision) {
    context.err(fmt::format("after the answer: {}\n", command));
  }
}

int run_render(Context& context, const RenderArguments& arguments) {
  const auto wrong = [&](std::string message, std::string remedy) {
    return report(context, Error{ErrorCode::kInvalid, std::move(message), std::move(remedy), {}, false});
  };
  const Host* host = decision::host_named(arguments.host);
  if (!host) return wrong(fmt::format("unknown host {}", quote_json(arguments.host)), "Use " + decision::host_names());
  const bool is_next = !arguments.next.empty();
  if (is_next == !arguments.definition.empty())
    return wrong("give either --def or --next", "See signalbox render --help");
  if (!is_next && (!arguments.answer.empty() || !arguments.resume.empty())) {
    return wrong("--answer and --resume need --next", "See signalbox render --help");
  }
  auto home = inbox::Home::open(context.seams, store::Access::kReadWrite);
  if (!home) return report(context, home.error());
  if (is_next) {
    const auto planned = plan_next(context, **home, *host, arguments);
    if (!planned) return report_answer(context, planned.error());
    if (!planned->prompt) {
      context.out(to_json(to_json_value(planned->state)) + "\n");
      return kExitNegative;
    }
    explain(context, *planned, arguments);
    context.out(planned->prompt->rendered.bytes() + "\n");
    return kExitOk;
  }
  const auto author = author_of(context, **home, arguments.definition);
  const auto declaration = load_declaration(context, arguments.definition, author);
  if (!declaration) return report(context, declaration.error());
  // A declaration that this host cannot show is not asked at all.
  auto walk = decision::Walk::at(*declaration, Value(), decision::cap_of(*host, declaration->profile));
  if (!walk) return report(context, walk.error());
  if (const Status page = walk->turn_to(arguments.page.value_or(1)); !page) return report(context, page.error());
  if (const auto shown = render(walk->prompt(), declaration->profile, *host); !shown) {
    return report(context, shown.error());
  }
  auto state = opened_by(context, **home, *declaration);
  if (!state) return report(context, state.error());
  auto prompt = plan_next_prompt((*home)->inbox(), *state, *declaration, *host, {.page = arguments.page});
  if (!prompt) return report(context, prompt.error());
  const Planned planned{std::move(*state), std::move(*prompt)};
  explain(context, planned, arguments);
  context.out(planned.prompt->rendered.bytes() + "\n");
  return kExitOk;
}

}  // namespace

Action declare_render(App& app) {
  auto arguments = std::make_shared<RenderArguments>();
  app.add_option("--def", arguments->definition, "Declaration to render; - for stdin");
  app.add_option("--next", arguments->next,
                 "Instead of --def: the open decision whose next question to render; once it is closed, prints its "
                 "outcome and exits 1");
  app.add_option("--host", arguments->host, decision::host_names())->required();
  app.add_option("--page", arguments->page, "Page number, from 1, if the options do not fit on one page");
  app.add_option("--resume", arguments->resume,
                 "With --next, while a chain is on hold: the person's word, continue, reset or the key of an option");
  app.add_option("--answer", arguments->answer,
                 "With --next: what the host returned for the last question, - for stdin; counts as relayed, and only "
                 "where your configuration allows that");
  return [arguments](Context& context) { return run_render(context, *arguments); };
}

}  // namespace sb::cli
