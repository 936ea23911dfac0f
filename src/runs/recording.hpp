// A run as it was recorded: enough to play it again offline, and to keep that as a test.
//
// As a folder (`runs export --as-test DIR`):
//   manifest.json   {v: 1, run, files: {NAME: hex SHA-256}}; written last, so a folder without it is not whole
//   events.jsonl    the run's events, one JSON object a line
//   cassette.json   what models and the forge were asked and answered
//   settings.json   those it ran with, without secrets and addresses
//   people.json     what people answered and told (run_records.hpp)
//   workflows/N.json    as its sessions pinned them
//   soul.md, pitch.md   where there were such
//   repository.bundle   the repository at the commit the run began from
//   replay          a script that plays it
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/seams.hpp"
#include "pipeline/run/run_log.hpp"
#include "pipeline/settings/run_settings.hpp"

namespace sb::runs {

struct Recording {
  pipeline::RunState state;
  std::vector<pipeline::RunEvent> events;
  Value cassette, people;
  std::vector<Value> workflows;
  std::string repository;  // a repository, or a bundle of one
  pipeline::RunSettings settings;
  std::string soul, pitch;         // texts
  std::vector<std::string> notes;  // why it may go another way
};

// `name`: a run, the beginning of its id, `last`, or a folder made by export_recording. kUnsupported for a run that
// cannot be played again; kInvalid for a folder that is not as it was exported, with the file.
Result<Recording> load_recording(const Seams& seams, const std::string& name);
// kConflict when the folder has anything in it.
Status export_recording(const Seams& seams, const Recording& recording, const std::string& directory);

// A ref under which a bundle has the commit.
std::string recorded_ref(const pipeline::RunState& state);
Value to_value(const pipeline::RunEvent& event);

}  // namespace sb::runs
