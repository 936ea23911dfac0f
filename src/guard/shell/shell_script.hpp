// Parses a shell command line as far as needed to see what it would run: every simple command in it, including those in
// subshells, substitutions and here-documents, with the files it writes. Pure.
//
// Nothing is expanded. A word that a shell would expand is marked. Constructs that cannot be analyzed (functions,
// `case`, unbalanced quotes, too much nesting) make the whole line unclear, with a reason; the commands found so far
// are kept.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sb::guard {

struct ShellWord {
  std::string text;         // without quotes
  bool is_known = true;     // false: it contains variables, substitutions, braces or `~`
  bool is_pattern = false;  // `*`, `?` or `[` outside quotes
  bool is_list = false;     // `{a,b}`, which stands for several words; in the text it is `*`
};

struct ShellCommand {
  std::vector<ShellWord> words;
  std::vector<ShellWord> outputs;      // files it is redirected into; not /dev/null and the like
  std::vector<std::size_t> documents;  // what it reads: positions in ShellScript::documents
  std::vector<int> shells;             // the enclosing subshells and substitutions, numbered, from the outside in
  bool is_in_pipe = false;  // or in the background: it runs in its own shell, so that its `cd` has no effect outside
};

struct ShellScript {
  std::vector<ShellCommand> commands;  // in order of appearance
  std::vector<ShellWord> documents;    // the texts of its here-documents
  std::string unclear;                 // empty when all of it was understood
};

ShellScript read_shell(std::string_view text);

// /dev/null and the like: writing there changes nothing.
bool is_harmless_file(std::string_view path);

}  // namespace sb::guard
