// `signalbox flow start|step`: the flow machine for programs. Prints one JSON object and exits 0 for every event.
#include "decision/flow/flow.hpp"

#include <fmt/format.h>

#include "cli/decision/state_options.hpp"
#include "decision/state_blob.hpp"

namespace sb::cli {
namespace {

using decision::FlowOutcome;

void print(const Context& context, const StateOptions& options, const FlowOutcome& outcome,
           std::string_view previous_blob) {
  const std::string nonce = decision::next_nonce(previous_blob, options.input.value_or(""));
  const bool has_event = outcome.event != decision::FlowEvent::kNone;
  const Value line = Value::object({
      {"state", decision::save_flow(options.declaration, outcome.state, nonce, options.blob)},
      {"output", outcome.output},
      {"event", has_event ? Value(to_string(outcome.event)) : Value()},
      {"values", outcome.values},
      {"payload", outcome.payload ? Value(*outcome.payload) : Value()},
  });
  context.out(to_json(line) + "\n");
}

Result<FlowOutcome> advance(const StateOptions& options, StateUse use) {
  const decision::Declaration& declaration = options.declaration;
  SB_TRY(decision::check_not_expired(declaration.flow()->expires, options.blob));
  FlowOutcome outcome;
  if (options.state) {
    auto state = SB_TRY(decision::load_flow(declaration, *options.state, options.blob, use == StateUse::kStart));
    if (use == StateUse::kStep) return decision::flow_step(declaration, std::move(state), *options.input);
    outcome = decision::flow_resume(declaration, std::move(state));
  } else {
    outcome = decision::flow_begin(declaration);
  }
  if (!options.input) return outcome;
  return decision::flow_step(declaration, std::move(outcome.state), *options.input);
}

// A text block cannot show the note of an irreversible step, and the question must not be asked without it.
Status check_no_one_way_step(const decision::Flow& flow) {
  for (const auto& step : flow.steps) {
    if (step.decision.door != decision::Door::kOneWay || !step.decision.is_door_declared) continue;
    return fail(ErrorCode::kUnsupported,
                fmt::format("step \"{}\" is a one-way door, and a text flow cannot show its note", step.key()),
                "Ask it as a separate decision");
  }
  return {};
}

int run_flow(Context& context, StateUse use) {
  const auto options = read_state_options(context, use);
  if (!options) return report(context, options.error());
  const decision::Flow* flow = options->declaration.flow();
  if (!flow) {
    return report(
        context,
        Error{ErrorCode::kInvalid, "the definition is not a flow", "Use signalbox ask or signalbox split", {}, false});
  }
  if (const Status fits = check_no_one_way_step(*flow); !fits) return report(context, fits.error());
  const auto outcome = advance(*options, use);
  if (!outcome) return report(context, outcome.error());
  print(context, *options, *outcome, options->state.value_or(""));
  return kExitOk;
}

}  // namespace

Action declare_flow(App& app) {
  app.require_subcommand(1);
  App* start = app.add_subcommand("start", "Show the first question, or resume from a state");
  App* step = app.add_subcommand("step", "Process one input");
  declare_state_options(*start, StateUse::kStart);
  declare_state_options(*step, StateUse::kStep);
  return [&app, start](Context& context) {
    return run_flow(context, app.got_subcommand(start) ? StateUse::kStart : StateUse::kStep);
  };
}

}  // namespace sb::cli
