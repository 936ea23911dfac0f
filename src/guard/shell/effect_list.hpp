// Collects the effects of a command line, and tracks the folder set by `cd`. Not thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "guard/shell/command_arguments.hpp"
#include "guard/shell/command_effects.hpp"

namespace sb::guard {

class EffectList {
 public:
  struct WorkingFolder {
    std::string folder;  // absolute, or relative to where the line runs
    bool is_known = true;
  };

  void add_unknown(std::string_view name, std::string why = {});
  void add(Effect effect, std::string name);
  // Adds nothing when there are none. `own` decides whether it recurses into folders.
  void add_paths(std::string_view name, const std::vector<ShellWord>& words, const CommandArguments& own = {});

  WorkingFolder place;
  std::vector<CommandEffect> found;
};

}  // namespace sb::guard
