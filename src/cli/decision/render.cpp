// `signalbox render`: renders a declaration for a host, and records it as a planned prompt.
//
// stdout holds only the rendered prompt, so that it can be passed on unchanged; what the host cannot show is listed on
// stderr.
#include "decision/render/render.hpp"

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/decision/declaration_file.hpp"
#include "decision/chain/chain_prompt.hpp"
#include "decision/chain/machine.hpp"
#include "inbox/home.hpp"

namespace sb::cli {
namespace {

using decision::Declaration;
using decision::Host;
using decision::Prompt;
using decision::Rendered;

struct RenderArguments {
  std::string definition;
  std::string host;
  int page = 1;
};

// The question to show, and the part of the declaration it belongs to.
struct AskedPrompt {
  std::vector<Prompt> pages;
  std::string part;
};

// If the first question of a chain has several pages, the last option of each page opens the next.
Result<AskedPrompt> first_of_chain(const Declaration& declaration, int cap) {
  const decision::ChainModel model(declaration);
  auto turn = SB_TRY(decision::chain_begin(model, cap));
  const bool is_child = turn.state.open == decision::OpenPrompt::kChild;
  AskedPrompt asked{{decision::chain_prompt(model, turn.state)},
                    is_child ? declaration.chain()->options[turn.state.option].key : std::string()};
  while (asked.pages.back().page < asked.pages.back().pages) {
    turn = SB_TRY(decision::chain_answer(model, turn.state, {asked.pages.back().options.back().id}));
    asked.pages.push_back(decision::chain_prompt(model, turn.state));
  }
  return asked;
}

Result<AskedPrompt> first_question(const Declaration& declaration, const Host& host) {
  const int cap = decision::cap_of(host, declaration.profile);
  if (const auto* decision = declaration.decision()) {
    return AskedPrompt{prompts_of(*decision, declaration.profile, declaration.hash, cap), ""};
  }
  if (const auto* flow = declaration.flow()) {
    const decision::FlowStep& step = flow->steps.front();
    return AskedPrompt{prompts_of(*flow, step, declaration.profile, declaration.hash, cap), step.key()};
  }
  return first_of_chain(declaration, cap);
}

Result<Prompt> page_of(const AskedPrompt& asked, int page) {
  const int pages = static_cast<int>(asked.pages.size());
  if (page < 1 || page > pages) {
    return fail(ErrorCode::kInvalid, fmt::format("there is no page {}", page),
                pages == 1 ? "All options fit on one page" : fmt::format("Use --page 1 to {}", pages));
  }
  return asked.pages[static_cast<std::size_t>(page) - 1];
}

// The options as a hook will see them in the host's own call: for tools, the label they show and answer with.
std::vector<inbox::Choice> shown_choices(const Rendered& rendered) {
  const bool answers_with_label = rendered.shape.host->answers_with_label;
  const bool is_by_rows = rendered.shape.questions.size() > 1;
  std::vector<inbox::Choice> choices;
  for (const decision::ShownQuestion& question : rendered.shape.questions) {
    for (const decision::ShownOption& option : question.options) {
      if (option.entry == decision::EntryKind::kNo) continue;
      choices.push_back({option.id, answers_with_label && !is_by_rows ? option.shown : option.label});
    }
  }
  return choices;
}

inbox::PlannedPrompt planned_from(const Prompt& prompt, const Rendered& rendered, const std::string& part,
                                  const inbox::DecisionState& state) {
  inbox::PlannedPrompt planned;
  planned.decision = state.id;
  planned.fingerprint = state.opened.fingerprint;
  planned.render_hash = rendered.render_hash;
  planned.host = rendered.shape.host->name;
  planned.part = part;
  planned.page = prompt.page;
  planned.pages = prompt.pages;
  planned.is_many = prompt.select.mode == decision::SelectMode::kMany;
  planned.question = rendered.shape.questions.front().text;
  planned.options = shown_choices(rendered);
  planned.elsewhere = prompt.shown_elsewhere;
  planned.header = rendered.header;
  return planned;
}

// Opens the question (or joins the same one), records the planned prompt, and renders it with its marker.
Result<Rendered> plan(Context& context, inbox::Home& home, const Declaration& declaration, const Host& host, int page) {
  const AskedPrompt asked = SB_TRY(first_question(declaration, host));
  const Prompt prompt = SB_TRY(page_of(asked, page));
  const std::string place(inbox::kNoncePlaceholder);
  const Rendered draft = SB_TRY(render(prompt, declaration.profile, host, {.nonce = place}));
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
  const auto planned = SB_TRY(home.inbox().plan_prompt(planned_from(prompt, draft, asked.part, state)));
  return render(prompt, declaration.profile, host, {.nonce = planned.nonce});
}

int run_render(Context& context, const RenderArguments& arguments) {
  const Host* host = decision::host_named(arguments.host);
  if (!host) {
    return report(context, Error{ErrorCode::kInvalid,
                                 fmt::format("unknown host {}", quote_json(arguments.host)),
                                 "Use " + decision::host_names(),
                                 {},
                                 false});
  }
  auto home = inbox::Home::open(context.seams, store::Access::kReadWrite);
  if (!home) return report(context, home.error());
  const auto author = author_of(context, **home, arguments.definition);
  const auto declaration = load_declaration(context, arguments.definition, author);
  if (!declaration) return report(context, declaration.error());
  const auto rendered = plan(context, **home, *declaration, *host, arguments.page);
  if (!rendered) return report(context, rendered.error());
  for (const std::string& field : rendered->omitted_fields) {
    context.err(fmt::format("not shown on {}: {}\n", arguments.host, field));
  }
  context.out(rendered->bytes() + "\n");
  return kExitOk;
}

}  // namespace

Action declare_render(App& app) {
  auto arguments = std::make_shared<RenderArguments>();
  app.add_option("--def", arguments->definition, "Declaration to render; - for stdin")->required();
  app.add_option("--host", arguments->host, decision::host_names())->required();
  app.add_option("--page", arguments->page, "Page number, from 1, if the options do not fit on one page");
  return [arguments](Context& context) { return run_render(context, *arguments); };
}

}  // namespace sb::cli
