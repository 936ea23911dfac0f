// `signalbox split plan|start|step`: chains for programs. `start` and `step` print one JSON object and exit 0 for every
// event; `plan` prints what will be asked.
#include <fmt/format.h>

#include "cli/decision/declaration_file.hpp"
#include "cli/decision/state_options.hpp"
#include "decision/chain/machine.hpp"
#include "decision/chain/plan.hpp"
#include "decision/state_blob.hpp"

namespace sb::cli {
namespace {

using decision::ChainModel;
using decision::ChainTurn;

struct SplitOptions {
  int cap = 0;  // 0: only the profile's limit
  bool wants_json = false;
};

Error not_a_chain() {
  return Error{ErrorCode::kInvalid, "the definition is not a chain", "Use signalbox ask or signalbox flow", {}, false};
}

std::string table_of(const decision::ChainPlan& plan) {
  std::string table =
      fmt::format("{}, {} prompt{}\n", to_string(plan.shape), plan.prompts.size(), plan.prompts.size() == 1 ? "" : "s");
  std::size_t label_width = 0, id_width = 0;
  for (const auto& prompt : plan.prompts) {
    label_width = std::max(label_width, prompt.label.size());
    id_width = std::max(id_width, prompt.id.size());
  }
  for (const auto& prompt : plan.prompts) {
    table += fmt::format("{:<{}}  {:<{}}  {}{}\n", prompt.label, label_width, prompt.id, id_width,
                         fmt::join(prompt.options, ", "), prompt.stage ? "  (after \"not now\")" : "");
  }
  return table;
}

int run_plan(Context& context, const SplitOptions& options) {
  const auto path = context.exact_value("def");
  if (!path) {
    return report(context,
                  Error{ErrorCode::kInvalid, "--def is missing", "See signalbox split plan --help", {}, false});
  }
  const auto declaration = load_declaration(context, *path);
  if (!declaration) return report(context, declaration.error());
  if (!declaration->chain()) return report(context, not_a_chain());
  const auto plan = decision::plan_chain(*declaration->chain(), declaration->profile, options.cap);
  if (!plan) return report(context, plan.error());
  context.out(options.wants_json ? to_json(to_value(*plan)) + "\n" : table_of(*plan));
  return kExitOk;
}

// `start` with a state resumes it. An input is then the answer, or, while on hold, the word that ends the hold.
ChainTurn resume(const ChainModel& model, const decision::ChainState& state, const std::optional<std::string>& input) {
  if (!input) return decision::chain_resume(model, state);
  if (state.is_held) {
    auto turn = decision::chain_step(model, state, *input);
    if (!turn.state.is_held) return turn;
  }
  return decision::chain_step(model, decision::chain_resume(model, state).state, *input);
}

Result<ChainTurn> advance(const ChainModel& model, const StateOptions& options, StateUse use, int cap) {
  SB_TRY(decision::check_chain_not_expired(model.chain, options.blob));
  if (options.state) {
    const auto state = SB_TRY(decision::load_chain(model, *options.state, options.blob));
    if (use == StateUse::kStep) return decision::chain_step(model, state, *options.input);
    return resume(model, state, options.input);
  }
  auto turn = SB_TRY(decision::chain_begin(model, cap));
  if (!options.input) return turn;
  return decision::chain_step(model, std::move(turn.state), *options.input);
}

int run_turn(Context& context, StateUse use, int cap) {
  const auto options = read_state_options(context, use);
  if (!options) return report(context, options.error());
  if (!options->declaration.chain()) return report(context, not_a_chain());
  const ChainModel model(options->declaration);
  const auto turn = advance(model, *options, use, cap);
  if (!turn) return report(context, turn.error());
  const auto nonce = decision::next_nonce(options->state.value_or(""), options->input.value_or(""));
  context.out(to_json(to_value(*turn, decision::save_chain(turn->state, nonce, options->blob))) + "\n");
  return kExitOk;
}

}  // namespace

Action declare_split(App& app) {
  auto options = std::make_shared<SplitOptions>();
  static std::string ignored;
  app.require_subcommand(1);
  App* plan = app.add_subcommand("plan", "Print what will be asked, without asking");
  App* start = app.add_subcommand("start", "Show the first question, or resume from a state");
  App* step = app.add_subcommand("step", "Process one answer");
  plan->add_option("--def", ignored, "The definition: a YAML or JSON file; - for stdin");
  plan->add_option("--cap", options->cap, "The number of options the host can show in one question")
      ->range(1, 1'000'000);
  plan->add_flag("--json", options->wants_json, "Print the plan as JSON");
  declare_state_options(*start, StateUse::kStart);
  declare_state_options(*step, StateUse::kStep);
  start->add_option("--cap", options->cap, "The number of options the host can show in one question")
      ->range(1, 1'000'000);
  return [&app, options, plan, start](Context& context) {
    if (app.got_subcommand(plan)) return run_plan(context, *options);
    return run_turn(context, app.got_subcommand(start) ? StateUse::kStart : StateUse::kStep, options->cap);
  };
}

}  // namespace sb::cli
