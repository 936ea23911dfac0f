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

using Words = std::span<const ShellWord>;
using Names = std::set<std::string, std::less<>>;

struct Option {
  std::string name;  // `-o`, `--output`; of letters joined each is one
  std::string word;  // it stands in
  std::optional<ShellWord> value;
};

struct Arguments {
  std::vector<Option> options;
  std::vector<ShellWord> operands;
};

// `with_value` names the options that take a value, of their own word or the next; `-i?` takes one of its own word
// only.
Arguments take_apart(Words words, const Names& with_value);

// Whether the option is that one: `-o`; `--output` also shortened, `--out`; `-out` of programs with such words whole.
bool is_named(const Option& option, std::string_view name);
// The first of these that is there.
const Option* find_option(const Arguments& arguments, const Names& names);

bool is_option(const ShellWord& word);
bool is_assignment(const ShellWord& word);
// `--x=FILE` without the first bytes.
ShellWord rest_of(const ShellWord& word, std::size_t from);

}  // namespace sb::guard
