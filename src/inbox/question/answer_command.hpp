// The command shown to a person for answering a decision in a terminal: it works exactly as printed. Pure.
//
// `signalbox inbox answer ID approve|reject` if one of a few options is chosen: the ids where the labels say the same,
// else the numbers or letters with which the profile marks options. Otherwise `signalbox inbox answer ID`, which shows
// the question and reads the answer.
#pragma once

#include <string>
#include <string_view>

#include "decision/declaration/declaration.hpp"
#include "inbox/question/question.hpp"

namespace sb::inbox {

std::string answer_command(std::string_view id, const decision::Declaration& declaration);

// The typed text with ids in place of everything else by which an option is shown: its number, its letter in either
// case, its label; in `key=…` of a flow or chain too. An id always means itself. Numbers and letters count over all
// options, also where they fill several pages.
std::string numbers_to_ids(const decision::Declaration& declaration, std::string_view typed);

// How to type the answer, for a person who sees the question's text: `Type one of: keep, drop`.
std::string answer_hint(const Question& question);

}  // namespace sb::inbox
