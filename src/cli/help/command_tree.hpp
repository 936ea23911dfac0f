// A command with its options and subcommands as data, for manual pages and completion scripts.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace sb::cli {

struct CommandTree {
  std::string name;  // as it is called: `signalbox mcp install`
  std::string summary;
  std::string example;
  std::string guide;
  std::vector<OptionFacts> options = {};
  std::vector<CommandTree> subcommands = {};
};

CommandTree describe(const CommandRow& command);

}  // namespace sb::cli
