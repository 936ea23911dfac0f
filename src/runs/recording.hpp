// A recorded run: enough to replay it offline, and to keep it as a test.
//
// As a folder (`runs export --as-test DIR`):
//   manifest.json   {v: 1, run, files: {NAME: hex SHA-256}}; written last, so a folder without it is incomplete
//   events.jsonl    the run's events, one JSON object per line
//   cassette.json   requests to models and the forge, with their answers
//   settings.json   the settings of the run, without secrets and addresses
//   people.json     people's answers and messages to agents (run_records.hpp)
//   workflows/N.json    as pinned by its sessions
//   soul.md, pitch.md   if there were any
//   repository.bundle   the repository at the start commit
//   replay          a script that replays it
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
  std::string soul, pitch;                       // texts
  std::vector<std::string> notes;                // why it may diverge
  std::vector<std::string> secrets = {};         // known values: redacted everywhere in it
  std::vector<std::string> unread_secrets = {};  // names of those whose values are not known here
};

// `name`: a run, a prefix of its id, `last`, or a folder made by export_recording. kUnsupported for a run that cannot
// be replayed; kInvalid for a folder that is not as exported, with the file.
Result<Recording> load_recording(const Seams& seams, const std::string& name);
// kConflict when the folder is not empty; kForbidden when the start commit or its history contains a known secret.
// Returns what a person should look at before sharing it: files with what looks like a secret, secrets not searched
// for.
Result<std::vector<std::string>> export_recording(const Seams& seams, const Recording& recording,
                                                  const std::string& directory);

// The ref under which a bundle has the commit.
std::string recorded_ref(const pipeline::RunState& state);
Value to_value(const pipeline::RunEvent& event);

}  // namespace sb::runs
