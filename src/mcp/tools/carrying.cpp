#include "mcp/tools/carrying.hpp"

#include "mcp/tools/answers.hpp"

namespace sb::mcp {

std::optional<Outcome> carried_on(ToolBench&, Call&) {
  return {};
}

Outcome carry_decision(ToolBench&, engine::Answer answer, Call&, std::string_view note) {
  return answer_result(answer, note);
}

}  // namespace sb::mcp
