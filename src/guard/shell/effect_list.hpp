// The effects of a command line while they are gathered, and the folder that `cd` has led to so far. Not thread-safe.
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
    std::string folder;  // relative to where the line runs; or absolute
    bool is_known = true;
  };

  void add_unknown(std::string_view name, std::string why = {});
  void add(Effect effect, std::string name);
  // Nothing when there are none. `own` tells whether it goes into folders.
  void add_paths(std::string_view name, const std::vector<ShellWord>& words, const CommandArguments& own = {});

  WorkingFolder place;
  std::vector<CommandEffect> found;
};

}  // namespace sb::guard
