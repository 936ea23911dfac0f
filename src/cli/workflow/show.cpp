// `signalbox workflow show`: a workflow as a session start would pin it.
#include <fmt/format.h>

#include <algorithm>

#include "base/document/reader.hpp"
#include "base/text/printable.hpp"
#include "cli/workflow/open_catalog.hpp"
#include "cli/workflow/workflow_commands.hpp"
#include "workflow/catalog/catalog_view.hpp"
#include "workflow/catalog/walk.hpp"

namespace sb::cli {
namespace {

using workflow::Catalog;
using workflow::CatalogEntry;
using workflow::CompiledWorkflow;

Error not_a_workflow(const std::string& name) {
  return {ErrorCode::kInvalid,
          fmt::format("{} is not a workflow", quote_json(name)),
          "For contracts, use signalbox contract show",
          {},
          false};
}

bool is_file_name(const Files& files, const std::string& name) {
  if (name.find('/') != std::string::npos) return true;
  return workflow::is_source_name(name) && files.kind(name) == FileKind::kFile;
}

Result<const CatalogEntry*> entry_of_file(const Context& context, const Catalog& catalog, const std::string& name) {
  const std::string real = SB_TRY(context.seams.files.canonical(name));
  for (const CatalogEntry* entry : catalog.list(true)) {
    if (entry->origin.file == real) return entry;
  }
  return std::unexpected(not_a_workflow(name));
}

void add_list(std::string& out, std::string_view title, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  out += fmt::format("\n{}\n", title);
  for (const std::string& line : lines) out += fmt::format("  - {}\n", printable(line));
}

std::string describe(const CatalogEntry& entry, const CompiledWorkflow& compiled) {
  const auto& definition = compiled.definition;
  std::string out = fmt::format("{}  {}\n{}\n\n", definition.id, definition.name, definition.description);
  out += fmt::format("version  {}\nsource   {}", definition.version, to_string(entry.origin.kind));
  out += entry.origin.folder.empty() ? "\n" : fmt::format("  {}\n", entry.origin.file);
  if (entry.replaces_bundled) out += "         replaces the built-in workflow with this id\n";
  for (const auto& origin : entry.shadows)
    out += fmt::format("         shadows {} {}\n", to_string(origin.kind), origin.file);
  out += fmt::format("tags     {}\nhash     {}\n", fmt::join(entry.tags, ", "), compiled.hash);
  if (!entry.template_id.empty()) out += fmt::format("template {}\n", entry.template_id);
  if (definition.model_tier) out += fmt::format("model    {}\n", to_string(*definition.model_tier));
  if (!definition.recommended_autonomy.empty()) {
    out += fmt::format("advice   autonomy {}\n", definition.recommended_autonomy);
  }
  if (!definition.recommended_risk_policy.empty()) {
    out += fmt::format("advice   risk policy {}\n", definition.recommended_risk_policy);
  }
  if (definition.role) out += fmt::format("role     {}\n", to_string(*definition.role));
  for (const auto& [slot, bound] : compiled.bindings) out += fmt::format("binding  {} = {}\n", slot, bound);
  for (const auto& [called, hash] : compiled.calls) out += fmt::format("calls    {}  {}\n", called, hash);
  out = printable(out);
  add_list(out, "Before it starts", definition.preconditions);
  add_list(out, "Asked at the start", definition.clarification_prompts);
  add_list(out, "Throughout", definition.meta_guidance);
  out += "\nSteps\n" + printable(draw_steps(definition));
  return out;
}

}  // namespace

int show_workflow(const Context& context, const WorkflowOptions& options) {
  workflow::CatalogOptions opening;
  const bool is_file = is_file_name(context.seams.files, options.name);
  if (is_file && context.seams.files.kind(options.name) != FileKind::kFile) {
    return report(context, Error{ErrorCode::kNotFound, "there is no such file", "", {options.name, "", 0, 0}, false});
  }
  if (is_file) opening.overrides.push_back(options.name);
  auto workspace = workspace_of(context, options.workspace);
  if (!workspace) return report(context, workspace.error());
  opening.workspace = std::move(*workspace);
  const auto catalog = open_catalog(context, std::move(opening));
  if (!catalog) return report(context, catalog.error());
  const auto entry = is_file ? entry_of_file(context, *catalog, options.name) : catalog->find(options.name);
  if (!entry) return report(context, entry.error());
  const auto bundle = catalog->compile(**entry);
  if (!bundle) return report(context, bundle.error());
  const CompiledWorkflow& compiled = *bundle->back();
  if (options.wants_json) {
    context.out(to_json(Value::object({{"hash", compiled.hash},
                                       {"pinned", compiled.pinned},
                                       {"origin", workflow::origin_value((*entry)->origin)}})) +
                "\n");
  } else {
    context.out(describe(**entry, compiled));
  }
  return kExitOk;
}

}  // namespace sb::cli
