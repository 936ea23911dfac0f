// A scenario: given files and environment, programs to run, and what is expected of them. Each YAML file below
// tests/scenarios is a list of scenarios:
//
//   - name: a flow starts at its first step
//     requirement: [REQ-INT-1]            # ids this scenario covers; `--list-requirements` prints them
//     files:                              # created before the first step; `~/` is the home, others the current folder
//       release.yaml: |                   # TEXT, or one of the other two forms
//         flow: release
//       raw.bin: {base64: AAEC}
//       huge.txt: {repeat: "word ", times: 100000}
//     needs: sandbox                      # SKIPPED if bubblewrap is missing or cannot create namespaces
//            low-limits                   # SKIPPED with sanitizers, which need more memory and open files
//     env: {NO_COLOR: "1"}                # added to PATH, HOME, SIGNALBOX_HOME ($HOME/.sb), LC_ALL (C.UTF-8)
//     steps:
//       - run: [signalbox, flow, start, --def, release.yaml]
//         stdin: TEXT                     # or {base64}, {repeat, times}; empty by default
//         exit: 0                         # 0 by default; 128 + N if ended by signal N
//         stdout: TEXT                    # all of it, byte for byte
//         stdout_contains: [TEXT, …]      # also stdout_lacks, stderr_contains, stderr_lacks
//         stdout_empty: true              # also stderr_empty
//         stdout_matches: PATTERN         # PCRE2, anywhere in the output
//         stdout_json: {event: null}      # the output is JSON with these members, at any depth; lists in full
//         save: {STATE: /state}           # a JSON pointer into the output (`-`: all of it, without the last line feed;
//                                         # `/a#/b`: into the JSON in the text at /a)
//         files_after:
//           release.yaml: TEXT            # exactly; or {contains: [TEXT, …]}, {json: …}, {absent: true}
//
// The program is signalbox, signalbox-hook, one of the aliases of signalbox-hook (gstack-question-preference,
// gstack-question-log), `terminal` (tests/terminal: runs another program in a terminal and types into it), or sh, which
// finds all of them in its PATH. `${NAME}` of a saved name, and `${HOME}` and
// `${DIR}` (the current folder), are replaced in every text of a step. Each scenario has its own folder, which is
// removed afterwards; a step may take 60 seconds and print 64 MiB.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/document/document.hpp"
#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb::scenario {

struct StreamExpectation {
  std::optional<std::string> exact;
  std::vector<std::string> contains;
  std::vector<std::string> lacks;
  std::optional<std::string> pattern;
  std::optional<Value> json;
};

struct FileExpectation {
  std::string path;
  bool is_absent = false;
  StreamExpectation content;
};

struct Step {
  std::vector<std::string> argv;
  std::string input;
  int exit = 0;
  StreamExpectation output;
  StreamExpectation errors;
  std::vector<std::pair<std::string, std::string>> saves;  // name, pointer
  std::vector<FileExpectation> files_after;
};

struct Scenario {
  std::string name;
  std::vector<std::string> requirements;
  bool needs_sandbox = false;
  bool needs_low_limits = false;
  std::vector<std::pair<std::string, std::string>> files;
  std::map<std::string, std::string> environment;
  std::vector<Step> steps;
};

Checked<std::vector<Scenario>> read_scenarios(const Document& document);

// Describes what is wrong with `actual`; empty if nothing is. `what` names it: stdout, a file.
std::string mismatch(const StreamExpectation& expected, const std::string& actual, const std::string& what);

// Nothing if every step went as expected, otherwise what did not. `programs` is the folder with the built programs.
// Thread-safe.
std::optional<std::string> run_scenario(const Scenario& scenario, const std::string& programs);

}  // namespace sb::scenario
