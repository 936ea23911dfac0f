#include "cli/help/command_tree.hpp"

#include <fmt/format.h>

#include "cli/examples.hpp"

namespace sb::cli {
namespace {

CommandTree describe_app(const App& app, const std::string& name, std::string_view example, std::string_view guide) {
  CommandTree tree{.name = "signalbox " + name,
                   .summary = app.summary(),
                   .example = std::string(example),
                   .guide = std::string(guide),
                   .options = app.options()};
  for (const App* sub : app.subcommands()) {
    const std::string sub_name = name + " " + sub->name();
    tree.subcommands.push_back(describe_app(*sub, sub_name, example_of(sub_name), guide));
  }
  return tree;
}

}  // namespace

CommandTree describe(const CommandRow& command) {
  App app(std::string(command.summary), fmt::format("signalbox {}", command.name));
  const Action action = declare(command, app);
  return describe_app(app, std::string(command.name), command.example, command.guide);
}

}  // namespace sb::cli
