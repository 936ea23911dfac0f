#include "mcp/tools/prompts.hpp"

#include <fmt/format.h>

#include "base/text/unicode.hpp"

namespace sb::mcp {
namespace {

using workflow::Catalog;
using workflow::CatalogEntry;

constexpr std::string_view kAny = "workflow";
constexpr std::size_t kDescriptionBytes = 200;

Value goal_argument() {
  return Value::object({{"name", "goal"}, {"title", "Goal"}, {"description", "What to do"}});
}

Value prompt_item(const CatalogEntry& entry) {
  const std::string_view text = entry.definition->description;
  return Value::object(
      {{"name", entry.id},
       {"title", entry.definition->name},
       {"description", text.size() <= kDescriptionBytes ? std::string(text)
                                                        : fmt::format("{}…", utf8_prefix(text, kDescriptionBytes))},
       {"arguments", Value::Array{goal_argument()}}});
}

// Claude Code splits the text typed after a command at blanks and drops words beyond the declared arguments.
std::string goal_text(const std::string& goal) {
  if (is_blank(goal)) return "Goal: what the person asked for before this; if nothing, ask them.";
  return fmt::format("Goal: {}\nIf the person wrote more than this after the command, all of it is the goal.", goal);
}

// A server reached over HTTP does not run on its clients' machines: only they know their folder.
std::string workflow_prompt(const CatalogEntry& entry, const std::string& goal) {
  return fmt::format(
      "Work with the Signalbox workflow \"{}\".\n\n{}\n\nCall start_workflow with workflowId {}, the goal, and the "
      "absolute path of the folder you work in as workspacePath. Do each step as instructed and submit it with "
      "continue_workflow, until the workflow is complete.",
      entry.definition->name, goal_text(goal), quote_json(entry.id));
}

std::string text_argument(const Value& arguments, std::string_view name) {
  return arguments.string_at(name).value_or("");
}

}  // namespace

Value listed_prompts(WorkerContext& worker) {
  Value items = Value::array();
  items.push_back(Value::object(
      {{"name", kAny},
       {"title", "Start a workflow"},
       {"description", "Any workflow, by its id"},
       {"arguments", Value::Array{Value::object({{"name", "workflowId"}, {"title", "Workflow"}, {"required", true}}),
                                  goal_argument()}}}));
  const auto catalog = worker.catalog_here();
  if (!catalog) return items;
  for (const CatalogEntry* entry : catalog->list()) {
    if (entry->definition && entry->id != kAny) items.push_back(prompt_item(*entry));
  }
  return items;
}

std::optional<HandlerResult> prompt_messages(WorkerContext& worker, std::string_view name, const Value& arguments) {
  const auto catalog = worker.catalog_here();
  if (!catalog) return RpcError{net::rpc::kInternalError, catalog.error().to_string()};
  const std::string id = name == kAny ? text_argument(arguments, "workflowId") : std::string(name);
  const auto entry = catalog->find(id);
  if (!entry && name == kAny) return RpcError{net::rpc::kInvalidParams, entry.error().to_string()};
  if (!entry || !(*entry)->definition) return {};
  const std::string text = workflow_prompt(**entry, text_argument(arguments, "goal"));
  return Value::object(
      {{"description", (*entry)->definition->name},
       {"messages", Value::Array{Value::object(
                        {{"role", "user"}, {"content", Value::object({{"type", "text"}, {"text", text}})}})}}});
}

std::optional<std::vector<std::string>> prompt_completions(WorkerContext& worker, std::string_view prompt,
                                                           std::string_view argument, std::string_view begun) {
  const auto catalog = worker.catalog_here();
  if (!catalog) return {};
  if (prompt == kAny && argument == "workflowId") {
    std::vector<std::string> begins, holds;
    for (const CatalogEntry* entry : catalog->list()) {
      if (entry->id.starts_with(begun)) {
        begins.push_back(entry->id);
      } else if (entry->id.contains(begun)) {
        holds.push_back(entry->id);
      }
    }
    begins.insert(begins.end(), holds.begin(), holds.end());
    return begins;
  }
  if (argument != "goal" || (prompt != kAny && !catalog->find(prompt))) return {};
  return std::vector<std::string>{};
}

}  // namespace sb::mcp
