// Shared by hosts where a person answers by typing an ordinal.
#pragma once

#include <string>
#include <vector>

#include "decision/declaration/profile.hpp"
#include "decision/prompt.hpp"
#include "decision/render/answer_shape.hpp"

namespace sb::decision::hosts {

// The question with each option shown by its ordinal.
ShownQuestion answered_by(OrdinalStyle style, const Prompt& prompt, std::string text);

// The entries behind these ordinals, in shown order; the ordinals are known to be in range and distinct.
std::vector<const ShownOption*> entries_at(const ShownQuestion& question, const std::vector<std::size_t>& indexes);

// The labels of this page and of the others.
std::vector<std::string> all_labels(const AnswerShape& shape);

}  // namespace sb::decision::hosts
