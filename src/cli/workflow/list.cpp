// `signalbox workflow list` and `signalbox workflow source list`.
#include <fmt/format.h>

#include <algorithm>

#include "base/document/reader.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "cli/workflow/open_catalog.hpp"
#include "cli/workflow/workflow_commands.hpp"
#include "workflow/catalog/catalog_view.hpp"

namespace sb::cli {
namespace {

using workflow::Catalog;
using workflow::CatalogEntry;
using workflow::SourceReport;
using workflow::Staleness;

struct Listed {
  const CatalogEntry* entry = nullptr;
  Faults faults;  // why it does not load
};

std::vector<Listed> listed(const Catalog& catalog, const WorkflowOptions& options) {
  std::vector<Listed> out;
  for (const CatalogEntry* entry : catalog.list(options.wants_all)) {
    if (!options.tag.empty() && std::ranges::find(entry->tags, options.tag) == entry->tags.end()) continue;
    auto bundle = catalog.compile(*entry);
    out.push_back({entry, bundle ? Faults{} : std::move(bundle).error()});
  }
  return out;
}

Value to_value(const Listed& listed) {
  const CatalogEntry& entry = *listed.entry;
  Value shadows = Value::array();
  for (const auto& origin : entry.shadows) shadows.push_back(workflow::origin_value(origin));
  Value out = Value::object({{"id", entry.id}});
  if (const auto* definition = entry.definition.get()) {
    out.set("name", definition->name);
    out.set("description", definition->description);
    out.set("version", definition->version);
    out.set("examples", Value::array(definition->examples));
  }
  out.set("source", to_string(entry.origin.kind));
  out.set("origin", workflow::origin_value(entry.origin));
  out.set("tags", Value::array(entry.tags));
  out.set("loads", listed.faults.empty());
  if (!listed.faults.empty()) {
    out.set("reason", listed.faults.front().to_string());
    out.set("faults", workflow::fault_values(listed.faults));
  }
  out.set("replacesOurs", entry.replaces_bundled);
  out.set("shadows", std::move(shadows));
  out.set("staleness", to_string(entry.staleness));
  if (entry.is_routine) out.set("templateId", entry.template_id.empty() ? Value() : Value(entry.template_id));
  if (entry.is_internal) out.set("internal", true);
  if (entry.is_hidden) out.set("hidden", true);
  return out;
}

Value to_value(const SourceReport& source) {
  return Value::object({{"source", to_string(source.origin.kind)},
                        {"folder", source.origin.folder.empty() ? Value() : Value(source.origin.folder)},
                        {"files", source.files},
                        {"effective", source.effective},
                        {"shadowed", source.shadowed},
                        {"broken", source.broken},
                        {"missing", source.is_missing},
                        {"stopped", source.stopped.empty() ? Value() : Value(source.stopped)},
                        {"notes", workflow::fault_values(source.notes)}});
}

// Without the remedy if it would be the same on many rows; `show` and `check` print it.
std::string short_reason(const Error& fault) {
  if (fault.rule != "reserved_name") return fault.to_string();
  return fmt::format("{}: its id is reserved", fault.location.file);
}

std::string marks_of(const Listed& listed) {
  const CatalogEntry& entry = *listed.entry;
  std::vector<std::string> marks;
  if (entry.is_internal) marks.emplace_back("internal");
  if (entry.is_hidden) marks.emplace_back("hidden");
  if (entry.replaces_bundled) marks.emplace_back("replaces the bundled one");
  if (!entry.shadows.empty()) marks.push_back(fmt::format("shadows {}", entry.shadows.size()));
  if (entry.is_routine && !entry.is_internal && entry.definition && entry.template_id.empty())
    marks.emplace_back("template name already taken");
  if (entry.staleness == Staleness::kLikely) marks.emplace_back("stale: written for an older format");
  if (!listed.faults.empty()) marks.push_back("does not load: " + short_reason(listed.faults.front()));
  return fmt::format("{}", fmt::join(marks, "; "));
}

std::string padded(std::string text, std::size_t width) {
  const std::size_t used = count_code_points(text);
  if (used < width) text.append(width - used, ' ');
  return text;
}

void print_rows(const Context& context, const std::vector<Listed>& workflows) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::size_t> widths(4, 0);
  for (const Listed& each : workflows) {
    const CatalogEntry& entry = *each.entry;
    std::vector<std::string> row = {entry.id, entry.definition ? entry.definition->name : "-",
                                    std::string(to_string(entry.origin.kind)),
                                    fmt::format("{}", fmt::join(entry.tags, ", ")), marks_of(each)};
    for (std::string& cell : row) {
      cell = printable(cell);
      std::ranges::replace(cell, '\n', ' ');
    }
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], count_code_points(row[i]));
    rows.push_back(std::move(row));
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < widths.size(); ++i) line += padded(row[i], widths[i]) + "  ";
    line += row.back();
    line.erase(line.find_last_not_of(' ') + 1);
    context.out(line + "\n");
  }
}

void print_warnings(const Context& context, const Catalog& catalog) {
  for (const Error& warning : workflow::warnings_of(catalog)) {
    context.err(fmt::format("warning: {}\n", printable(warning.to_string())));
  }
}

Status check_tag(const Catalog& catalog, const std::string& tag) {
  if (tag.empty()) return {};
  std::vector<std::string> known;
  const Value tags = catalog.tags();
  for (const Value& each : tags.items()) known.push_back(each["id"].as_string());
  if (std::ranges::find(known, tag) != known.end()) return {};
  const std::string nearest = nearest_name(tag, known);
  return fail(ErrorCode::kInvalid, fmt::format("unknown tag {}", quote_json(tag)),
              nearest.empty() ? fmt::format("Known tags: {}", fmt::join(known, ", "))
                              : fmt::format("Did you mean {}?", quote_json(nearest)));
}

Status list(const Context& context, const WorkflowOptions& options) {
  workflow::CatalogOptions opening;
  opening.workspace = SB_TRY(workspace_of(context, options.workspace));
  const Catalog catalog = SB_TRY(open_catalog(context, std::move(opening)));
  SB_TRY(check_tag(catalog, options.tag));
  const auto workflows = listed(catalog, options);
  if (!options.wants_json) {
    print_rows(context, workflows);
    print_warnings(context, catalog);
    return {};
  }
  Value rows = Value::array();
  for (const Listed& each : workflows) rows.push_back(to_value(each));
  Value sources = Value::array();
  for (const SourceReport& source : catalog.sources()) sources.push_back(to_value(source));
  context.out(to_json(Value::object({{"workflows", std::move(rows)},
                                     {"tags", catalog.tags()},
                                     {"sources", std::move(sources)},
                                     {"warnings", workflow::fault_values(workflow::warnings_of(catalog))}})) +
              "\n");
  return {};
}

std::string describe(const SourceReport& source) {
  std::string line = fmt::format("{:<8} {}", to_string(source.origin.kind),
                                 source.origin.folder.empty() ? "(built in)" : source.origin.folder);
  if (source.is_missing) return line + "  missing";
  line += fmt::format("  {} {}, {} in use", source.files, source.files == 1 ? "file" : "files", source.effective);
  if (source.shadowed > 0) line += fmt::format(", {} shadowed", source.shadowed);
  if (source.broken > 0) line += fmt::format(", {} with faults", source.broken);
  if (!source.stopped.empty()) line += fmt::format("; not everything was read: {}", source.stopped);
  return line;
}

Status sources(const Context& context, const WorkflowOptions& options) {
  workflow::CatalogOptions opening;
  opening.workspace = SB_TRY(workspace_of(context, options.workspace));
  const Catalog catalog = SB_TRY(open_catalog(context, std::move(opening)));
  if (!options.wants_json) {
    for (const SourceReport& source : catalog.sources()) context.out(printable(describe(source)) + "\n");
    print_warnings(context, catalog);
    return {};
  }
  Value out = Value::array();
  for (const SourceReport& source : catalog.sources()) out.push_back(to_value(source));
  context.out(to_json(out) + "\n");
  return {};
}

}  // namespace

int list_workflows(const Context& context, const WorkflowOptions& options) {
  const Status done = list(context, options);
  return done ? kExitOk : report(context, done.error());
}

int list_sources(const Context& context, const WorkflowOptions& options) {
  const Status done = sources(context, options);
  return done ? kExitOk : report(context, done.error());
}

}  // namespace sb::cli
