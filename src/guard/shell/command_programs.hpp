// Programs whose options or scripts decide what they do to files: sed, awk, tar, curl, … Pure.
#pragma once

#include <string>

#include "guard/shell/command_arguments.hpp"
#include "guard/shell/effect_list.hpp"

namespace sb::guard {

// False when it is none of them.
bool add_program(EffectList& effects, const std::string& name, WordSpan arguments);

// AttachedBy the lists of the data file alone; unknown when it is in none.
void add_listed(EffectList& effects, const std::string& name, WordSpan arguments);

// The files that options of the program name.
std::vector<ShellWord> outputs_among(const std::string& name, const CommandArguments& arguments);

}  // namespace sb::guard
