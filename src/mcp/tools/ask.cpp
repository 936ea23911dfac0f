// ask: its description for clients; the implementation is in mcp/asking/ask.hpp.
#include "mcp/asking/ask.hpp"

#include <fmt/format.h>

#include "mcp/tools/tools.hpp"

namespace sb::mcp {
namespace {

const std::string kDeclarationHelp = fmt::format(
    "A decision: instruction (at most 15 words), options (all real ones: strings or {{id, label}}, labels of at most 5 "
    "words); optional: select (one, many, text, form), door: one-way with irreversible_note. {}\nA flow, several "
    "questions: {}\nA chain, five or more independent items: {}",
    kDeclarationExample, kFlowExample, kChainExample);

HandlerResult run_ask(WorkerContext& worker, const ToolSpec&, const Inputs& inputs, Call& call) {
  return ask(worker, inputs.given, call);
}

}  // namespace

Tool ask_tool() {
  return {
      {.name = "ask",
       .title = "Ask a person",
       .description = "Asks the person you work for to decide, outside any workflow: a choice, an approval, a "
                      "confirmation, missing facts. Without an answer it stays in their inbox and the result says how "
                      "to answer it; call again with the same declaration to get it. You cannot answer it yourself.",
       .fields = {{.name = "declaration",
                   .kind = Field::Kind::kJson,
                   .description = kDeclarationHelp,
                   .is_required = true,
                   .placeholder = kDeclarationExample},
                  workspace_field(false),
                  {.name = "again",
                   .kind = Field::Kind::kFlag,
                   .description = "Ask again instead of returning an answer that is less than a day old"}},
       .is_idempotent = true},
      run_ask};
}

}  // namespace sb::mcp
