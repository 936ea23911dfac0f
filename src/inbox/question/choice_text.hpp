// A question as part of a message to somebody who passes it on: first what must be known, then the choice block of the
// text grammar (decision/text_block.hpp). For where no dialog can be shown. Pure.
//
// Nothing is dropped: the declared profile's limits hold, not those of the grammar, and options beyond its cap come in
// further blocks, page by page. A label that is too long for a block becomes a letter, with its text above:
//
//   A: CursorMove the whole table in one night
//   B: CursorMove it in four parts over a month
//
//   How shall the table be moved?
//
//   1) A
//   2) B
#pragma once

#include <string>

#include "decision/declaration/declaration.hpp"

namespace sb::inbox {

inline constexpr int kBlockLabelWords = 5;

// Texts, forms, urls and chains have no block: they are shown as the inbox shows them. No line break at the end.
std::string choice_text(const decision::Declaration& declaration);

}  // namespace sb::inbox
