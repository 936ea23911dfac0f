// What a script of sed or a program of awk would do beside printing: the files it writes, and whether it runs commands.
// Pure. It errs to the strict side: what cannot be followed is not clear.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sb::guard {

struct ScriptEffects {
  std::vector<std::string> written;  // an empty one: a name the program works out
  bool runs = false;
  bool is_clear = true;
};

ScriptEffects effects_of_sed(std::string_view script);
ScriptEffects effects_of_awk(std::string_view program);

}  // namespace sb::guard
