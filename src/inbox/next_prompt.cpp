#include "inbox/next_prompt.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "decision/declaration/written_profile.hpp"
#include "inbox/profile_files.hpp"

namespace sb::inbox {
namespace {

using decision::Declaration;
using decision::Host;
using decision::Prompt;
using decision::Rendered;

// The options as a hook will see them in the host's own call: for tools, the label they show and answer with.
std::vector<Choice> shown_choices(const Rendered& rendered) {
  const bool answers_with_label = rendered.shape.host->answers_with_label;
  const bool is_by_rows = rendered.shape.questions.size() > 1;
  std::vector<Choice> choices;
  for (const decision::ShownQuestion& question : rendered.shape.questions) {
    for (const decision::ShownOption& option : question.options) {
      if (option.entry == decision::EntryKind::kNo) continue;
      choices.push_back({option.id, answers_with_label && !is_by_rows ? option.shown : option.label});
    }
  }
  return choices;
}

PlannedPrompt planned_from(const Prompt& prompt, const Rendered& rendered, const std::string& part,
                           const DecisionState& state) {
  PlannedPrompt planned;
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

std::optional<Declaration> declared_under(const OpenedDecision& opened, const decision::Profiles& profiles) {
  const Document document{"the question", to_json(opened.source), opened.source};
  auto declaration = parse_declaration(document, profiles, decision::Author::kOperator);
  if (!declaration || declaration->hash != opened.definition) return std::nullopt;
  return std::move(*declaration);
}

// The nonce of the same question, planned before and not answered yet.
Result<std::string> nonce_of(Inbox& inbox, const DecisionState& state, const Rendered& rendered) {
  for (const PlannedPrompt& prompt : SB_TRY(inbox.open_prompts_of(state.id))) {
    if (prompt.host == rendered.shape.host->name && prompt.render_hash == rendered.render_hash) return prompt.nonce;
  }
  return std::string();
}

}  // namespace

std::optional<Declaration> asked_declaration(const OpenedDecision& opened, const Files& files,
                                             const Environment& environment) {
  const std::string profile = opened.source.string_at("profile").value_or("");
  const decision::Profiles built_in = decision::Profiles::built_in();
  if (profile.empty() || built_in.find(profile) != nullptr) return declared_under(opened, built_in);
  // A user may have a profile of the name that programs use for their own questions.
  if (const auto own = load_profiles(files, environment); own && own->find(profile) != nullptr) {
    if (auto declaration = declared_under(opened, *own)) return declaration;
  }
  return declared_under(opened, decision::with_written_profile(profile));
}

Result<decision::Walk> walk_of(const DecisionState& state, const Declaration& declaration, const Host& host) {
  return decision::Walk::at(declaration, state.position, decision::cap_of(host, declaration.profile));
}

Result<NextPrompt> plan_next_prompt(Inbox& inbox, const DecisionState& state, const Declaration& declaration,
                                    const Host& host, const NextPromptOptions& options) {
  decision::Walk walk = SB_TRY(walk_of(state, declaration, host));
  if (walk.is_held()) {
    return fail(ErrorCode::kConflict, fmt::format("{} is on hold at {}", state.id, walk.place()),
                "Discuss it; then say continue, reset, or the key of an option");
  }
  if (options.page) SB_TRY(walk.turn_to(*options.page));
  const Prompt prompt = walk.prompt();
  const decision::Profile& profile = declaration.profile;
  const Rendered draft = SB_TRY(render(prompt, profile, host, {.nonce = std::string(kNoncePlaceholder)}));
  std::string nonce;
  if (options.may_reuse) nonce = SB_TRY(nonce_of(inbox, state, draft));
  if (nonce.empty()) nonce = SB_TRY(inbox.plan_prompt(planned_from(prompt, draft, walk.part(), state))).nonce;
  return NextPrompt{SB_TRY(render(prompt, profile, host, {.nonce = nonce})), prompt};
}

}  // namespace sb::inbox
