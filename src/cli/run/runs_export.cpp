// `runs export`: a run as JSON lines, or as a folder that can replay it.
#include <fmt/format.h>

#include "agent/secrets/redact.hpp"
#include "cli/run/runs_parts.hpp"
#include "inbox/home.hpp"
#include "runs/known_secrets.hpp"
#include "runs/recording.hpp"

namespace sb::cli {
namespace {

int export_test(const Context& context, const RunsOptions& options) {
  const auto recording = runs::load_recording(context.seams, options.id);
  if (!recording) return report(context, recording.error());
  const auto remarks = runs::export_recording(context.seams, *recording, options.directory);
  if (!remarks) return report(context, remarks.error());
  for (const std::string& remark : *remarks) context.err(remark + "\n");
  context.out(fmt::format("Exported run {} to {}; replay it with: {}/replay\n", recording->state.id, options.directory,
                          options.directory));
  return kExitOk;
}

}  // namespace

int export_run(const Context& context, const RunsOptions& options) {
  if (!options.directory.empty()) return export_test(context, options);
  const auto home = inbox::Home::open(context.seams, store::Access::kReadWrite);
  if (!home) return report(context, home.error());
  pipeline::RunLog log((*home)->store(), context.seams.clock);
  const auto id = log.resolve(options.id);
  if (!id) return report(context, id.error());
  const auto events = log.read(*id);
  if (!events) return report(context, events.error());
  const auto state = pipeline::fold_run(*events);
  const agent::Redactor redactor(runs::known_secrets(context.seams, state ? state->workspace : std::string()));
  for (const pipeline::RunEvent& event : *events) {
    context.out(to_json(redactor.clean_value(runs::to_value(event))) + "\n");
  }
  return kExitOk;
}

}  // namespace sb::cli
