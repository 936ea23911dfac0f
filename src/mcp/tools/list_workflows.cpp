// list_workflows: the workflows that can be started here, by tag.
#include <fmt/format.h>

#include <algorithm>

#include "base/document/reader.hpp"
#include "base/text/unicode.hpp"
#include "mcp/tools/tool_answers.hpp"
#include "mcp/tools/tools.hpp"
#include "workflow/catalog/catalog_view.hpp"

namespace sb::mcp {
namespace {

using workflow::Catalog;
using workflow::CatalogEntry;

constexpr std::size_t kShortBytes = 160;  // of a description, if all are listed

Value tag_texts(const Catalog& catalog) {
  Value out = Value::array();
  const Value tags = catalog.tags();
  for (const Value& tag : tags.items()) {
    if (tag["count"].is_integer() && tag["count"].as_integer() == 0) continue;
    out.push_back(tag);
  }
  return out;
}

// What an agent needs to choose; inspect_workflow shows the rest.
Value item_of(const Catalog& catalog, const CatalogEntry& entry, bool is_short) {
  Value item = Value::object({{"workflowId", entry.id}});
  if (const auto* definition = entry.definition.get()) {
    item.set("name", definition->name);
    const std::string_view text = definition->description;
    item.set("description", is_short && text.size() > kShortBytes ? fmt::format("{}…", utf8_prefix(text, kShortBytes))
                                                                  : std::string(text));
    item.set("version", definition->version);
  }
  item.set("source", to_string(entry.origin.kind));
  item.set("tags", Value::array(entry.tags));
  if (const auto bundle = catalog.compile(entry); !bundle) {
    item.set("loads", false);
    item.set("reason", bundle.error().front().to_string());
  }
  if (entry.replaces_bundled) item.set("replacesOurs", true);
  if (entry.staleness == workflow::Staleness::kLikely) item.set("staleness", to_string(entry.staleness));
  return item;
}

Value source_of(const workflow::SourceReport& source) {
  Value value = Value::object({{"source", to_string(source.origin.kind)}});
  if (!source.origin.folder.empty()) value.set("folder", source.origin.folder);
  value.set("files", source.files);
  value.set("effective", source.effective);
  value.set("shadowed", source.shadowed);
  value.set("broken", source.broken);
  if (source.is_missing) value.set("missing", true);
  return value;
}

// Unknown tags, each with the nearest known one.
void note_unknown_tags(const Catalog& catalog, const std::vector<std::string>& tags, Inputs& inputs) {
  std::vector<std::string> known;
  const Value all = catalog.tags();
  for (const Value& tag : all.items()) known.push_back(tag["id"].as_string());
  for (const std::string& tag : tags) {
    if (std::ranges::find(known, tag) != known.end()) continue;
    const std::string nearest = nearest_name(tag, known);
    inputs.notes.push_back(fmt::format("unknown tag {}{}", quote_json(utf8_prefix(tag, 64)),
                                       nearest.empty() ? fmt::format("; the tags are {}", fmt::join(known, ", "))
                                                       : fmt::format("; did you mean {}?", nearest)));
  }
}

HandlerResult run_list(WorkerContext& worker, const ToolSpec&, const Inputs& given, Call&) {
  Inputs inputs = given;
  const auto workspace = workspace_of(worker, inputs);
  if (!workspace) return error_result(workspace.error());
  const auto catalog = worker.catalog(*workspace);
  if (!catalog) return error_result(catalog.error());
  const std::vector<std::string> tags = inputs.texts("tags");
  note_unknown_tags(*catalog, tags, inputs);
  Value workflows = Value::array();
  for (const CatalogEntry* entry : catalog->list()) {
    const bool is_wanted = tags.empty() || std::ranges::any_of(tags, [&](const std::string& tag) {
                             return std::ranges::find(entry->tags, tag) != entry->tags.end();
                           });
    if (is_wanted) workflows.push_back(item_of(*catalog, *entry, tags.empty()));
  }
  Value out = Value::object({{"workflows", std::move(workflows)}});
  if (tags.empty()) out.set("tagSummary", tag_texts(*catalog));
  if (inputs.flag("includeSources")) {
    Value sources = Value::array();
    for (const auto& source : catalog->sources()) sources.push_back(source_of(source));
    out.set("sources", std::move(sources));
  }
  const Faults warnings = workflow::warnings_of(*catalog);
  for (const Error& warning : warnings) inputs.notes.push_back(warning.to_string());
  return structured_answer(std::move(out), inputs);
}

}  // namespace

Tool list_workflows_tool() {
  return {
      {.name = "list_workflows",
       .title = "List workflows",
       .description =
           "Lists the workflows you can start here. Use it when a task could follow one whose id you do not know. "
           "Without tags it lists all, with shortened descriptions.",
       .fields = {workspace_field(true),
                  {.name = "tags", .kind = Field::Kind::kTexts, .description = "Only those with one of these tags"},
                  {.name = "includeSources",
                   .kind = Field::Kind::kFlag,
                   .description = "Also list the folders workflows are loaded from"}},
       .refuses_unknown = false,
       .is_read_only = true,
       .is_idempotent = true,
       .output = object_schema({{"workflows", list_schema(object_schema({{"workflowId", type_schema("string")},
                                                                         {"name?", type_schema("string")},
                                                                         {"description?", type_schema("string")}}))},
                                {"tagSummary?", type_schema("array")},
                                {"sources?", type_schema("array")},
                                {"warnings?", list_schema(type_schema("string"))}})},
      run_list};
}

}  // namespace sb::mcp
