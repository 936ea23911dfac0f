// The arguments of a command, taken apart as getopt does: options, joined or long or shortened, and what is left. Pure.
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
  std::string name;  // `-o`, `--output`; of letters joined each is one
  std::string word;  // it stands in
  std::optional<ShellWord> value;
};

struct CommandArguments {
  std::vector<CommandOption> options;
  std::vector<ShellWord> operands;
};

// `with_value` names the options that take a value, of their own word or the next; `-i?` takes one of its own word
// only.
CommandArguments parse_arguments(WordSpan words, const NameSet& with_value);

// Whether the option is that one: `-o`; `--output` also shortened, `--out`; `-out` of programs with such words whole.
bool is_named(const CommandOption& option, std::string_view name);
// The first of these that is there.
const CommandOption* find_option(const CommandArguments& arguments, const NameSet& names);

bool is_option(const ShellWord& word);
bool is_assignment(const ShellWord& word);
// `--x=FILE` without the first bytes.
ShellWord suffix_of(const ShellWord& word, std::size_t from);

}  // namespace sb::guard
