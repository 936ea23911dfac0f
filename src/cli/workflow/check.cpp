// `signalbox workflow check`: reports every fault in workflow, contract and feature files.
#include <fmt/format.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "cli/workflow/open_catalog.hpp"
#include "cli/workflow/workflow_commands.hpp"
#include "inbox/operators/trust.hpp"
#include "workflow/catalog/catalog_view.hpp"
#include "workflow/catalog/check_files.hpp"

namespace sb::cli {
namespace {

using workflow::FileCheckResult;

Result<FileCheckResult> check_input(const Context& context, const workflow::Catalog& catalog) {
  auto text = SB_TRY(context.streams().read_input(limits::kWorkflowBytes));
  auto document = parse_document("<stdin>", std::move(text));
  if (!document) return FileCheckResult{"<stdin>", {document.error()}, false};
  auto bundle = catalog.compile(*document);
  return FileCheckResult{"<stdin>", bundle ? Faults{} : std::move(bundle).error(), false};
}

Result<std::vector<FileCheckResult>> verdicts(const Context& context, const WorkflowOptions& options) {
  workflow::CatalogOptions opening;
  opening.workspace = SB_TRY(workspace_of(context, options.workspace));
  opening.overrides = options.files;
  const bool wants_input = std::erase(opening.overrides, "-") > 0;
  std::vector<FileCheckResult> out;
  if (wants_input) {
    const auto catalog = SB_TRY(open_catalog(context, opening));
    out.push_back(SB_TRY(check_input(context, catalog)));
  }
  if (opening.overrides.empty()) return out;
  ProgressLine progress(context, "files read");
  opening.on_file = [&](int count) { progress.at(count); };
  const HomeDirectories homes = SB_TRY(sb::homes(context.seams.environment));
  opening.is_trusted = inbox::file_trust(context.seams.files, homes);
  auto of_files = SB_TRY(check_files(context.seams.files, context.seams.environment, homes, std::move(opening)));
  std::ranges::move(of_files, std::back_inserter(out));
  return out;
}

void print_json(const Context& context, const std::vector<FileCheckResult>& all) {
  Value out = Value::array();
  for (const FileCheckResult& verdict : all) {
    for (const Error& fault : verdict.faults) out.push_back(workflow::fault_value(fault));
  }
  context.out(to_json(out) + "\n");
}

void print_text(const Context& context, const std::vector<FileCheckResult>& all) {
  std::size_t bad = 0;
  for (const FileCheckResult& verdict : all) {
    bad += verdict.faults.empty() ? 0 : 1;
    for (const Error& fault : verdict.faults) context.out(printable(fault.to_string()) + "\n");
  }
  if (bad > 0) return;
  context.out(all.size() == 1 ? fmt::format("{} is valid\n", printable(all.front().file))
                              : fmt::format("{} files are valid\n", all.size()));
}

}  // namespace

int check_workflows(const Context& context, const WorkflowOptions& options) {
  const auto all = verdicts(context, options);
  if (!all) return report(context, all.error());
  options.wants_json ? print_json(context, *all) : print_text(context, *all);
  int code = kExitOk;
  for (const FileCheckResult& verdict : *all) {
    if (!verdict.faults.empty()) code = std::max(code, verdict.is_missing ? kExitUsage : kExitNegative);
  }
  return code;
}

}  // namespace sb::cli
