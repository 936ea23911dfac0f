// ask: its description for clients; the implementation is in mcp/asking/ask.hpp.
#include "mcp/asking/ask.hpp"

#include <fmt/format.h>

#include "mcp/tools/tools.hpp"

namespace sb::mcp {
namespace {

const std::string kDeclarationHelp = fmt::format(
    "One of three.\nA decision: instruction (one question, at most 15 words), options (2 or more: strings or "
    "{{id, label, description, recommended}}, labels of at most 5 words); optional: select (one, many, text, form), "
    "door: one-way with irreversible_note, where it cannot be undone. {}\nA flow, for several questions: steps with "
    "key; the person confirms all at the end. {}\nA chain, for five or more independent items, asked one by one "
    "(include, defer, cut or hold): options with key, eli10 (what it is, simply), recommend and requires. {}",
    kDeclarationExample, kFlowExample, kChainExample);

HandlerResult run_ask(WorkerContext& worker, const ToolSpec&, const Inputs& inputs, Call& call) {
  return ask(worker, inputs.given, call);
}

}  // namespace

Tool ask_tool() {
  return {
      {.name = "ask",
       .title = "Ask a person",
       .description =
           "Asks the person you work for to decide, outside any workflow: for a choice, an approval, a confirmation or "
           "missing facts, never in prose. Every real option, none for \"other\", none left out to fit a limit. "
           "Without "
           "an answer it stays in their inbox and the result says how to answer it; call again with the same "
           "declaration to get the answer. You cannot answer it yourself. Then act on the answer without narrating it.",
       .fields = {{.name = "declaration",
                   .kind = Field::Kind::kJson,
                   .description = kDeclarationHelp,
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
