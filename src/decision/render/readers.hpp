// One function a host: what it gave back, against what was shown. parse_answer() chooses among them.
#pragma once

#include "decision/render/host_answer.hpp"

namespace sb::decision::readers {

HostAnswer text(const AnswerShape& shape, const Value& given);
HostAnswer brief(const AnswerShape& shape, const Value& given);
HostAnswer ask_user_question(const AnswerShape& shape, const Value& given);
HostAnswer request_user_input(const AnswerShape& shape, const Value& given);
HostAnswer elicitation(const AnswerShape& shape, const Value& given);

HostAnswer invalid(std::string reason);
HostAnswer free_text(std::string text);
HostAnswer without_answer(HostAnswerKind result);

// What choosing these entries means: an answer, the next page, none, or invalid when they are too many or too few.
HostAnswer chosen(const AnswerShape& shape, const std::vector<const ShownOption*>& entries);

}  // namespace sb::decision::readers
