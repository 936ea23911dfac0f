// What a shell command line would do to files, as far as its text shows: from the data file commands.yaml and a few
// programs whose options decide (find, sed, tar, …). Pure.
//
// Errs on the strict side and is not a sandbox: an unknown program is reported as unknown, not as harmless. Test
// runners and compilers are unknown, since they write caches and results.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sb::guard {

enum class Effect {
  kReads,
  kRepository,  // changes git's data, and no other file
  kPaths,       // writes the files it names
  kTree,        // may change any file of the folder it runs in
  kInstalls,    // installs packages anywhere
  kOutside,     // changes something that is not a file: a pull request, a cluster
  kUnknown,
};

struct Target {
  std::string path;      // as written, relative to where the command line runs
  bool is_known = true;  // false: it contains a variable or the like, or its folder is unknown
  bool is_pattern = false;
  bool is_list = false;  // not known as such: it stands for several, any of which may be an option or a folder
};

inline constexpr std::string_view kRedirection = "a redirection";  // the name of a write by `>`

struct CommandEffect {
  Effect effect = Effect::kUnknown;
  std::string name;             // `git commit`, `python3`
  std::vector<Target> targets;  // of kPaths
  bool is_recursive = false;    // the contents of a folder it names are changed too
  std::string why;              // of kUnknown: a more specific reason, if any
};

// One entry per command that does more than read; empty when everything only reads.
std::vector<CommandEffect> effects_of(std::string_view command_line);

}  // namespace sb::guard
