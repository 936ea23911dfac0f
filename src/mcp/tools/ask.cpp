// ask: its description for clients; the implementation is in mcp/asking/ask.hpp.
#include "mcp/asking/ask.hpp"

#include "mcp/tools/tools.hpp"

namespace sb::mcp {
namespace {

HandlerResult run_ask(WorkerContext& worker, const ToolSpec&, const Inputs& inputs, Call& call) {
  return ask(worker, inputs.given, call);
}

}  // namespace

Tool ask_tool() {
  return {
      {.name = "ask",
       .title = "Ask a person",
       .description = "Asks the person you work for to decide, outside any workflow. Without an answer it stays "
                      "in their inbox and the result says how to answer it; call again with the same declaration to "
                      "get the answer. You cannot answer it yourself.",
       .fields = {{.name = "declaration",
                   .kind = Field::Kind::kJson,
                   .description = "decision (its id), instruction (one question), options (2 or more: strings or "
                                  "{id, label}, labels of at most five words); optional: select (one, many, text, "
                                  "form) and door: one-way with "
                                  "irreversible_note. Or a flow or chain",
                   .is_required = true,
                   .placeholder = kDeclarationExample},
                  workspace_field(false),
                  {.name = "again",
                   .kind = Field::Kind::kFlag,
                   .description = "Ask again even if it was answered within a day; otherwise you get that answer"}},
       .is_idempotent = true},
      run_ask};
}

}  // namespace sb::mcp
