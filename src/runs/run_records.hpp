// What a replay needs from the store besides the run's events and exchanges: the workflows as its sessions pinned them,
// people's answers, and their messages to its agents.
#pragma once

#include <string>
#include <vector>

#include "agent/settings/agent_settings.hpp"
#include "engine/session/session_home.hpp"
#include "pipeline/run/run_log.hpp"

namespace sb::runs {

struct RunRecords {
  engine::SessionHome& home;
  Clock& clock;
  const pipeline::RunLog& log;
  const pipeline::RunState& state;
};

// For all its phases and the agents they started: each {bundle: [pinned, …]} (workflow/catalog/source_file.hpp).
// kNotFound when one is no longer available. `notes` gets remarks for people.
Result<std::vector<Value>> pinned_workflows(const RunRecords& source, std::vector<std::string>& notes);

// {answers: […], told: […]}
//   answers  one for each of state.asked: {ending, options, values, waived, texts}, or null while it is open
//   told     {phase, round, attempt, turn, type, text, in_call, [by]}: steered, kill_asked; resumed or afresh, when the
//            working process had ended. `turn`: the newest at that time; `in_call`: the call that was interrupted
// kUnsupported when a person worked on a session by hand.
Result<Value> collect_people(const RunRecords& source);

// kUnsupported when an agent program worked on any of its phases: its requests are never the same twice.
Status check_programs(const RunRecords& source, const agent::AgentSettings& settings);

}  // namespace sb::runs
