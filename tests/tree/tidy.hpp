// Small rules that keep the sources readable, checked file by file.
#pragma once

#include "tree/source_tree.hpp"

namespace sb::tree {

// Finds lines over 120 characters, tabs, trailing blanks, a missing last line feed, the standard regex, notes of
// unfinished work, files over 600 lines in src/, and paths of a developer's machine.
Violations check_tidy(const SourceTree& tree);

}  // namespace sb::tree
