// ask, as clients are told of it; mcp/asking/ask.hpp is what it does.
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
       .description = "Puts a decision to the person you work for, outside any workflow. Without an answer it stays "
                      "in their inbox and the result says how they answer; call again with the same declaration to "
                      "pick the answer up. You cannot answer it yourself.",
       .fields = {{.name = "declaration",
                   .kind = Field::Kind::kJson,
                   .description = "decision (its id), instruction (one question), options (2 or more: texts or "
                                  "{id, label}, a label of at most five words); where wanted select (one, many, text, "
                                  "form) and door: one-way with "
                                  "irreversible_note. Or a flow or chain",
                   .is_required = true,
                   .placeholder = kDeclarationExample},
                  workspace_field(false),
                  {.name = "again",
                   .kind = Field::Kind::kFlag,
                   .description = "Ask anew what was answered within a day; else you get that answer"}},
       .is_idempotent = true},
      run_ask};
}

}  // namespace sb::mcp
