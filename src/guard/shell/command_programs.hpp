// Programs whose options or scripts decide what they do to files: sed, awk, tar, curl, … Pure.
#pragma once

#include <string>

#include "guard/shell/command_arguments.hpp"
#include "guard/shell/effect_list.hpp"

namespace sb::guard {

// False when it is not one of them.
bool add_program(EffectList& effects, const std::string& name, WordSpan arguments);

// Only by the lists of the data file; unknown when it is in none.
void add_listed(EffectList& effects, const std::string& name, WordSpan arguments);

// The files named by the program's options.
std::vector<ShellWord> outputs_among(const std::string& name, const CommandArguments& arguments);

}  // namespace sb::guard
