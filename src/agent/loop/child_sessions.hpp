// Sessions below one that is worked: handed out by a step, by a gate, or by spawn_agent.
#pragma once

#include <string>
#include <vector>

#include "agent/loop/work_context.hpp"

namespace sb::agent {

struct ChildSession {
  std::string session;
  std::string tier = {};
  std::vector<std::string> tools = {};       // allowed ones; empty: as the parent
  std::vector<std::string> shown_keys = {};  // of its context, shown to its agent besides what its steps show
};

// All of them, at most limits::kChildrenAtOnce at a time, each with at most what the parent has left and what its role
// lets it know. Returns when every one has ended or left, in their order.
std::vector<WorkResult> run_children(WorkContext& work_context, const std::vector<ChildSession>& children);

// What ends the parent's own work for now, where one of its children left or the work was broken off.
std::optional<WorkResult> suspended_by_child(WorkContext& work_context, const std::vector<WorkResult>& ended);

}  // namespace sb::agent
