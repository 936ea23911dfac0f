// A run as it was recorded: enough to play it again offline, and to keep that as a test.
//
// As a folder (`runs export --as-test DIR`):
//   events.jsonl    the run's events, one JSON object a line
//   cassette.json   what models were asked and answered
//   repository.bundle   the repository at the commit the run began from
//   config.yaml     the user's settings, names of secrets only; workflows/N: the folders of SIGNALBOX_WORKFLOWS
//   pitch.md        of IMPLEMENT
//   replay          a script that plays it
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "pipeline/run_log.hpp"
#include "pipeline/settings.hpp"

namespace sb::cli {

struct Recording {
  pipeline::RunState state;
  std::vector<pipeline::RunEvent> events;
  Value cassette;
  std::string repository;  // a repository, or a bundle of one
  pipeline::Settings settings;
  std::string config, pitch;           // texts
  std::vector<std::string> workflows;  // folders that are named in the environment
};

// `name`: a run, the beginning of its id, `last`, or a folder made by keep_recording. All faults of the settings.
Checked<Recording> load_recording(const Context& context, const std::string& name);
// kConflict when the folder has anything in it.
Status keep_recording(const Context& context, const Recording& recording, const std::string& directory);

Value to_value(const pipeline::RunEvent& event);

}  // namespace sb::cli
