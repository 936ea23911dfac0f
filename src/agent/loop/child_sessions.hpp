// Child sessions, started by a step, by a gate, or by spawn_agent.
#pragma once

#include <string>
#include <vector>

#include "agent/loop/work_context.hpp"

namespace sb::agent {

struct ChildSession {
  std::string session;
  std::string tier = {};
  std::vector<std::string> tools = {};       // allowed ones; empty: as the parent
  std::vector<std::string> shown_keys = {};  // context keys shown to its agent in addition to those its steps show
};

// Works on all of them, at most limits::kChildrenAtOnce at a time, each limited to what the parent has left and to what
// its role may know. Returns when every child has ended or suspended, in their order.
std::vector<WorkResult> run_children(WorkContext& work_context, const std::vector<ChildSession>& children);

// Why the parent's own work ends for now: one of its children suspended, or the work was interrupted.
std::optional<WorkResult> suspended_by_child(WorkContext& work_context, const std::vector<WorkResult>& ended);

}  // namespace sb::agent
