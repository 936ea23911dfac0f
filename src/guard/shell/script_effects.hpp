// What a sed script or an awk program would do besides printing: the files it writes, and whether it runs commands.
// Pure. Errs on the strict side: a script that cannot be analyzed is not clear.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sb::guard {

struct ScriptEffects {
  std::vector<std::string> written;  // an empty one: a computed name
  bool runs = false;
  bool is_clear = true;
};

ScriptEffects effects_of_sed(std::string_view script);
ScriptEffects effects_of_awk(std::string_view program);

}  // namespace sb::guard
