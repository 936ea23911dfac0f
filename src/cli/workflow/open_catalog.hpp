// How commands come to the catalog of workflows: which workspace is meant, and a progress line where reading takes
// long.
#pragma once

#include <string>

#include "cli/command.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::cli {

// As engine::find_workspace.
Result<std::string> workspace_of(const Context& context, const std::string& given);

// With the workspace in `opening.workspace` as workspace_of gave it.
Result<workflow::Catalog> open_catalog(const Context& context, workflow::CatalogOptions opening);

// A line on the error stream, once something has taken longer than a second and a terminal shows it. Gone at the end.
class ProgressLine {
 public:
  ProgressLine(const Context& context, std::string what);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void at(int count);

 private:
  const Context& context_;
  std::string what_;
  bool is_wanted_ = false;
  bool is_shown_ = false;
  TimestampMs next_ = 0;
};

}  // namespace sb::cli
