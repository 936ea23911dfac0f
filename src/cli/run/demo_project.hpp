// The folder a demonstration happens in: a small project with a ticket and a check that fails, its remote, and a home
// of its own for Signalbox, so that nothing of the user's is touched.
//
//   repo/         the work copy; `./check` is its test
//   remote.git    what it is pushed to and merged in
//   home/         SIGNALBOX_HOME: config.yaml, replies.jsonl, and what is kept
//   demo.json     says that the folder is one of ours, and ready
#pragma once

#include <string>

#include "base/document/value.hpp"
#include "base/seams.hpp"

namespace sb::cli {

struct DemoFolder {
  std::string directory;  // absolute, links resolved
  bool already_existed = false;

  std::string repository() const { return directory + "/repo"; }
  std::string remote() const { return directory + "/remote.git"; }
  std::string home() const { return directory + "/home"; }
  std::string ticket() const { return repository() + "/tickets/1-no-name.md"; }
};

// What is built in: {goal, default, files, replies}.
const Value& demo_data();

// Made in `given`, or in a new folder for temporary files when that is empty. A folder that was made before is taken as
// it is; kConflict for one that has anything else in it.
Result<DemoFolder> make_demo_folder(const Seams& seams, const std::string& given);

// The user's, with Signalbox at home in the place.
Environment demo_environment(const Environment& users, const DemoFolder& place);

}  // namespace sb::cli
