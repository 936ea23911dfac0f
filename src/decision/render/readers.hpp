// Helpers that hosts share to read an answer.
#pragma once

#include "decision/render/host_answer.hpp"

namespace sb::decision::readers {

HostAnswer invalid(std::string reason);
HostAnswer free_text(std::string text);
HostAnswer without_answer(HostAnswerKind result);

// What choosing these entries means: an answer, the next page, none, or invalid if there are too many or too few.
HostAnswer chosen(const AnswerShape& shape, const std::vector<const ShownOption*>& entries);

}  // namespace sb::decision::readers
