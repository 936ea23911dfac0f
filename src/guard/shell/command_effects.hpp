// What a shell command line would do to files, as far as its text tells: the data file commands.yaml and a few programs
// whose options decide (find, sed, tar, …). Pure.
//
// It errs to the strict side and is no sandbox: a program that is not known is called so, not harmless. Test runners
// and compilers are not known, since they write caches and results.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sb::guard {

enum class Effect {
  kReads,
  kRepository,  // changes what git keeps, and no file beside it
  kPaths,       // writes the files it names
  kTree,        // may change any file of the folder it runs in
  kInstalls,    // puts packages where it likes
  kOutside,     // changes something that is no file: a pull request, a cluster
  kUnknown,
};

struct Target {
  std::string path;      // as written, relative to where the command line runs
  bool is_known = true;  // false: a variable or the like stands in it, or nobody knows which folder it is relative to
  bool is_pattern = false;
};

inline constexpr std::string_view kRedirection = "a redirection";  // the name of what a line writes by `>`

struct CommandEffect {
  Effect effect = Effect::kUnknown;
  std::string name;             // `git commit`, `python3`
  std::vector<Target> targets;  // of kPaths
  bool is_recursive = false;    // what lies in a folder it names is changed too
  std::string why;              // of kUnknown, when there is more to say than that
};

// One entry a command that does more than read; empty when the whole only reads.
std::vector<CommandEffect> effects_of(std::string_view command_line);

}  // namespace sb::guard
