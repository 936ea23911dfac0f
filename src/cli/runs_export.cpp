// `runs export`: a run as lines.
#include "cli/runs_parts.hpp"
#include "inbox/desk.hpp"
#include "pipeline/run_log.hpp"

namespace sb::cli {

int export_run(const Context& context, const RunsOptions& options) {
  const auto desk = inbox::Desk::open(context.seams, store::Access::kReadWrite);
  if (!desk) return report(context, desk.error());
  pipeline::RunLog log((*desk)->store(), context.seams.clock);
  const auto id = log.resolve(options.id);
  if (!id) return report(context, id.error());
  const auto events = log.read(*id);
  if (!events) return report(context, events.error());
  for (const pipeline::RunEvent& event : *events) {
    context.out(to_json(Value::object({{"seq", event.seq},
                                       {"time", to_rfc3339(event.time_ms)},
                                       {"type", event.type},
                                       {"payload", event.payload}})) +
                "\n");
  }
  return kDone;
}

}  // namespace sb::cli
