#include "agent/loop/work_context.hpp"

namespace sb::agent {

void WorkContext::report(Progress::Kind kind, std::string text, std::string step, std::int64_t until_ms) const {
  if (!on_progress) return;
  Progress progress;
  progress.kind = kind;
  progress.session = assignment.session;
  progress.workflow = assignment.workflow;
  progress.step = std::move(step);
  progress.text = std::move(text);
  progress.turn = turn;
  progress.until_ms = until_ms;
  if (totals) {
    const WorkResult now = totals();
    progress.usage = now.usage;
    progress.micro_cents = now.micro_cents;
  }
  on_progress(progress);
}

WorkLimits with_defaults(WorkLimits limits) {
  const WorkLimits usual;
  if (limits.turns <= 0) limits.turns = usual.turns;
  if (limits.time_ms <= 0) limits.time_ms = usual.time_ms;
  if (limits.stall_ms <= 0) limits.stall_ms = usual.stall_ms;
  if (limits.repeats <= 1) limits.repeats = usual.repeats;
  if (limits.depth < 0) limits.depth = usual.depth;
  return limits;
}

}  // namespace sb::agent
