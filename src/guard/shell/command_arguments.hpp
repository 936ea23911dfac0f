// Parses the arguments of a command like getopt: joined, long and abbreviated options, and the operands. Pure.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "guard/shell/shell_script.hpp"

namespace sb::guard {

using WordSpan = std::span<const ShellWord>;
using NameSet = std::set<std::string, std::less<>>;

struct CommandOption {
  std::string name;  // `-o`, `--output`; joined letters are one option each
  std::string word;  // the word that contains it
  std::optional<ShellWord> value;
};

struct CommandArguments {
  std::vector<CommandOption> options;
  std::vector<ShellWord> operands;
};

// `with_value` lists the options that take a value, in the same or the next word; `-i?` takes one in the same word
// only.
CommandArguments parse_arguments(WordSpan words, const NameSet& with_value);

// Whether the option is this one: `-o`; `--output`, also abbreviated as `--out`; `-out` for programs with such long
// options.
bool is_named(const CommandOption& option, std::string_view name);
// The first of these that is present.
const CommandOption* find_option(const CommandArguments& arguments, const NameSet& names);

bool is_option(const ShellWord& word);
bool is_assignment(const ShellWord& word);
// `--x=FILE` without its first bytes.
ShellWord suffix_of(const ShellWord& word, std::size_t from);

}  // namespace sb::guard
