// The folder of a demo: a small project with a ticket and a failing check, its remote, and a separate home for
// Signalbox, so that the user's files are not touched.
//
//   repo/         the working copy; `./check` is its test
//   remote.git    the remote that changes are pushed to and merged in
//   home/         SIGNALBOX_HOME: config.yaml, replies.jsonl, and the store
//   demo.json     marks a complete demo folder
#pragma once

#include <string>

#include "base/document/value.hpp"
#include "base/seams.hpp"

namespace sb::cli {

struct DemoFolder {
  std::string directory;  // absolute, links resolved
  bool already_existed = false;
  std::string sandbox_is_missing = {};  // why; its config.yaml then says that agents run without one

  std::string repository() const { return directory + "/repo"; }
  std::string remote() const { return directory + "/remote.git"; }
  std::string home() const { return directory + "/home"; }
  std::string ticket() const { return repository() + "/tickets/1-no-name.md"; }
};

// The built-in data: {goal, default, files, replies}.
const Value& demo_data();

// Creates the demo in `given`, or in a new temporary folder if that is empty. An existing demo folder is used as it is;
// kConflict for a folder with other files in it.
Result<DemoFolder> make_demo_folder(const Seams& seams, const std::string& given);

// The user's environment with SIGNALBOX_HOME set to the demo's home and without other SIGNALBOX_ variables.
Environment demo_environment(const Environment& users, const DemoFolder& place);

}  // namespace sb::cli
