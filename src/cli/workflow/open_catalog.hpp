// How commands open the workflow catalog: finds the workspace, and shows a progress line if reading takes long.
#pragma once

#include <string>

#include "cli/command.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::cli {

// As engine::find_workspace.
Result<std::string> workspace_of(const Context& context, const std::string& given);

// `opening.workspace` must come from workspace_of.
Result<workflow::Catalog> open_catalog(const Context& context, workflow::CatalogOptions opening);

// A progress line on stderr. Shown after one second, only on a terminal, and erased by the destructor.
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
