// The command with which a person answers a decision in a terminal, as they are told of it: one that works as it is
// printed. Pure.
//
// `signalbox inbox answer ID approve|reject` where one of a few options is chosen: their ids where the labels say the
// same, else the numbers that the choice block has (choice_text.hpp). For everything else `signalbox inbox answer ID`,
// which shows the question and reads the answer.
#pragma once

#include <string>
#include <string_view>

#include "decision/declaration/declaration.hpp"
#include "inbox/question/question.hpp"

namespace sb::inbox {

std::string answer_command(std::string_view id, const decision::Declaration& declaration);

// What was typed, with the ids for the numbers of the choice block. As it is where there is no block, where there are
// several, whose numbers begin anew, and where an option's id is itself a number.
std::string numbers_to_ids(const decision::Declaration& declaration, std::string_view typed);

// How to type the answer, for someone who sees the question's text: `Type one of: keep, drop`.
std::string answer_hint(const Question& question);

}  // namespace sb::inbox
