// The parsed data file commands.yaml: what is known about programs by name. Pure.
#pragma once

#include <map>
#include <string>

#include "guard/shell/command_arguments.hpp"

namespace sb::guard {

struct CommandTable {
  using ByProgram = std::map<std::string, NameSet, std::less<>>;

  // By the first operand, alone or with a second one or an option: `pr list`, `fmt --check`.
  struct Subcommands {
    NameSet options;  // before the first operand, with a value
    NameSet reads, bare, repository, installs, outside, tree, paths;
  };

  NameSet folders, environment;
  NameSet reads, writes_all, writes_last, tree, shells, patches;
  ByProgram asks, outputs, not_with, values, leading, inside, writes_second, writes_with, writes_without, wrappers,
      runners;
  std::map<std::string, Subcommands, std::less<>> subcommands;

  // The options of a program in one of the lists; none when it is not listed.
  static const NameSet& of(const ByProgram& list, std::string_view program);
  // Options that take a value, including those that name an output.
  NameSet valued(std::string_view program) const;
};

const CommandTable& command_table();

}  // namespace sb::guard
