// What the store knows of a run besides its events and its exchanges, and a replay needs: the workflows as its sessions
// pinned them, what people answered, and what they told its agents.
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

// Of all its phases and of the agents they started: each {bundle: [pinned, …]} (workflow/catalog/source_file.hpp).
// kNotFound when one cannot be had any more. `notes` gets what people should know of it.
Result<std::vector<Value>> pinned_workflows(const RunRecords& source, std::vector<std::string>& notes);

// {answers: […], told: […]}
//   answers  one for each that state.asked has: {ending, options, values, waived, texts}, or null while it is open
//   told     {phase, round, attempt, turn, type, text, in_call, [by]}: steered, kill_asked; resumed or afresh, when the
//            process that worked it had ended. `turn`: the newest at that time; `in_call`: in the middle of which call
// kUnsupported when a person worked a session by hand.
Result<Value> collect_people(const RunRecords& source);

// kUnsupported when an agent program worked any of its phases: what it asks is never twice the same.
Status check_programs(const RunRecords& source, const agent::AgentSettings& settings);

}  // namespace sb::runs
