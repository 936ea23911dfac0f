// A shell command line, taken apart as far as one must to see what it would run: every simple command in it, also those
// in subshells, substitutions and here-documents, with what it writes to. Pure.
//
// Nothing is expanded. A word that a shell would change says so. What cannot be followed (functions, `case`, unbalanced
// quotes, too much nesting) makes the whole unclear, with a word on why; the commands found so far are still there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sb::guard {

struct ShellWord {
  std::string text;         // quotes taken off
  bool is_known = true;     // false: variables, substitutions, braces or `~` stand in it
  bool is_pattern = false;  // `*`, `?` or `[` outside quotes
};

struct ShellCommand {
  std::vector<ShellWord> words;
  std::vector<ShellWord> outputs;  // files it is redirected into; not /dev/null and the like
  std::vector<int> shells;         // the subshells and substitutions around it, numbered, from the outside in
  bool is_in_pipe = false;         // or runs in the background: by a shell of its own, so that its `cd` leads nowhere
};

struct ShellScript {
  std::vector<ShellCommand> commands;  // in the order they stand
  std::string unclear;                 // empty when all of it was understood
};

ShellScript read_shell(std::string_view text);

// /dev/null and the like: writing there changes nothing.
bool is_harmless_file(std::string_view path);

}  // namespace sb::guard
