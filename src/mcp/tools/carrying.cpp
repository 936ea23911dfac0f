#include "mcp/tools/carrying.hpp"

#include "mcp/tools/answers.hpp"

namespace sb::mcp {

std::optional<Outcome> carried_on(ToolBench&, Call&) {
  return {};
}

std::optional<Outcome> relay_answer(ToolBench&, const Value&, Call&) {
  return error_result(Error{ErrorCode::kForbidden,
                            "an answer cannot be passed on here",
                            "The person answers in the inbox: signalbox inbox",
                            {},
                            false});
}

Outcome carry_decision(ToolBench&, engine::Answer answer, Call&, std::string_view note) {
  return answer_result(answer, note);
}

}  // namespace sb::mcp
