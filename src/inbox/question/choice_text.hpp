// A question as part of a message to an agent that passes it on to a person: first the facts, then the choice block of
// the text grammar (decision/text_block.hpp). For hosts that cannot show a dialog. Pure.
//
// No option is dropped, and each has the number with which `signalbox inbox answer` takes it, so all are in one block.
// Where a label is too long for it, or the profile has letters, they become letters, with their text above:
//
//   A: Move the whole table in one night
//   B: Move it in four parts over a month
//
//   How should the table be moved?
//
//   1) A
//   2) B
#pragma once

#include <string>

#include "decision/declaration/declaration.hpp"

namespace sb::inbox {

inline constexpr int kBlockLabelWords = 5;

// Text, form, url and chain questions have no block: they are shown as in the inbox. No trailing line break.
std::string choice_text(const decision::Declaration& declaration);

}  // namespace sb::inbox
