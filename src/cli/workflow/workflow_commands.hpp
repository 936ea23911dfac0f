// The subcommands of `signalbox workflow`, one file each.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::cli {

struct WorkflowOptions {
  std::string workspace, tag, name, folder;
  std::vector<std::string> files;
  bool wants_json = false, wants_all = false;
};

int list_workflows(const Context& context, const WorkflowOptions& options);
int show_workflow(const Context& context, const WorkflowOptions& options);
int check_workflows(const Context& context, const WorkflowOptions& options);
int list_sources(const Context& context, const WorkflowOptions& options);

// Draws a definition's steps as a tree.
std::string draw_steps(const workflow::Definition& definition);

}  // namespace sb::cli
