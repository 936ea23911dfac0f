// `signalbox contract`: lists and shows contracts, and checks contract files.
#include "workflow/check/contract.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/document.hpp"
#include "base/document/reader.hpp"
#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "cli/workflow/open_catalog.hpp"
#include "cli/workflow/workflow_commands.hpp"
#include "workflow/catalog/catalog_view.hpp"

namespace sb::cli {
namespace {

using workflow::Catalog;
using workflow::Contract;
using workflow::Contracts;

struct ContractOptions {
  std::string workspace, ref;
  std::vector<std::string> files;
  bool wants_json = false;
};

Result<Catalog> catalog_of(const Context& context, const ContractOptions& options) {
  workflow::CatalogOptions opening;
  opening.workspace = SB_TRY(workspace_of(context, options.workspace));
  return open_catalog(context, std::move(opening));
}

std::string_view status_text(const Contract& contract) {
  const Contract* ours = Contracts::bundled().find(contract.ref);
  if (!ours) return "own";
  return ours->hash == contract.hash ? "built-in" : "replaces the bundled one";
}

Value to_value(const Contract& contract) {
  return Value::object({{"contract", contract.ref},
                        {"kind", contract.kind},
                        {"version", contract.version},
                        {"help", contract.help},
                        {"standing", status_text(contract)},
                        {"hash", contract.hash}});
}

int list_contracts(const Context& context, const ContractOptions& options) {
  const auto catalog = catalog_of(context, options);
  if (!catalog) return report(context, catalog.error());
  Value out = Value::array();
  for (const Contract* contract : catalog->contracts().all()) {
    out.push_back(to_value(*contract));
    if (options.wants_json) continue;
    const std::string mark = status_text(*contract) == "built-in" ? "" : fmt::format(" ({})", status_text(*contract));
    context.out(printable(fmt::format("{}  version {}{}\n", contract->ref, contract->version, mark)));
    context.out(continued(fmt::format("  {}", contract->help)) + "\n");
  }
  // Contracts that do not load are listed too: steps that refer to them do not load either.
  for (const Error& fault : catalog->contract_faults()) {
    out.push_back(Value::object({{"contract", Value()}, {"fault", workflow::fault_value(fault)}}));
    if (!options.wants_json) context.out(printable("does not load: " + fault.to_string()) + "\n");
  }
  if (options.wants_json) context.out(to_json(out) + "\n");
  return kExitOk;
}

Result<const Contract*> find(const Catalog& catalog, const std::string& ref) {
  if (const Contract* found = catalog.contracts().find(ref)) return found;
  for (const Contract* contract : catalog.contracts().all()) {
    if (contract->kind == ref) return contract;
  }
  const std::string nearest = nearest_name(ref, catalog.contracts().refs());
  return fail(ErrorCode::kNotFound, fmt::format("unknown contract {}", quote_json(ref)),
              nearest.empty() ? "See signalbox contract list" : fmt::format("Did you mean {}?", nearest));
}

int show_contract(const Context& context, const ContractOptions& options) {
  const auto catalog = catalog_of(context, options);
  if (!catalog) return report(context, catalog.error());
  const auto found = find(*catalog, options.ref);
  if (!found) return report(context, found.error());
  const Contract& contract = **found;
  if (options.wants_json) {
    Value out = to_value(contract);
    out.set("schema", contract.source["schema"]);
    out.set("example", contract.example);
    context.out(to_json(out) + "\n");
    return kExitOk;
  }
  context.out(printable(
      fmt::format("{}\n\nkind     {}\nversion  {}\nhash     {}\n{}\n{}\n\nExample\n{}\n\nSchema\n{}\n", contract.ref,
                  contract.kind, contract.version, contract.hash,
                  status_text(contract) == "built-in" ? "" : fmt::format("         {}\n", status_text(contract)),
                  contract.help, to_pretty_json(contract.example), to_pretty_json(contract.source["schema"]))));
  return kExitOk;
}

// The faults of one file.
Faults faults_of(const Context& context, const std::string& file, bool& is_missing) {
  Result<Document> document = fail(ErrorCode::kInternal, "");
  if (file == "-") {
    auto text = context.streams().read_input(limits::kWorkflowBytes);
    document = text ? parse_document("<stdin>", std::move(*text)) : std::unexpected(text.error());
  } else {
    document = load_document(context.seams.files, file);
  }
  if (!document) {
    is_missing = document.error().code == ErrorCode::kNotFound || document.error().code == ErrorCode::kIo;
    Error fault = std::move(document).error();
    if (fault.location.file.empty()) fault.location.file = file;
    return {std::move(fault)};
  }
  auto contract = workflow::read_contract(*document);
  return contract ? Faults{} : std::move(contract).error();
}

int check_contracts(const Context& context, const ContractOptions& options) {
  Value out = Value::array();
  int code = kExitOk;
  for (const std::string& file : options.files) {
    bool is_missing = false;
    const Faults faults = faults_of(context, file, is_missing);
    if (!faults.empty()) code = std::max(code, is_missing ? kExitUsage : kExitNegative);
    for (const Error& fault : faults) {
      out.push_back(workflow::fault_value(fault));
      if (!options.wants_json) context.out(printable(fault.to_string()) + "\n");
    }
    if (faults.empty() && !options.wants_json) context.out(printable(file) + " is valid\n");
  }
  if (options.wants_json) context.out(to_json(out) + "\n");
  return code;
}

}  // namespace

Action declare_contract(App& app) {
  auto options = std::make_shared<ContractOptions>();
  app.require_subcommand(1);
  App* list = app.add_subcommand("list", "List the contracts that steps can refer to here");
  App* show = app.add_subcommand("show", "Show a contract's schema and example");
  show->add_option("REF", options->ref, "The contract's name, or its artifact kind")->required();
  App* check = app.add_subcommand("check", "Check contract files, each against its own example");
  check->add_option("FILE", options->files, "Contract files; - for stdin")->required();
  for (App* sub : {list, show, check}) sub->add_flag("--json", options->wants_json, "Print JSON");
  for (App* sub : {list, show}) {
    sub->add_option("--workspace", options->workspace, "The project's folder (default: the current folder)");
  }
  return [=, &app](Context& context) {
    if (app.got_subcommand(list)) return list_contracts(context, *options);
    if (app.got_subcommand(show)) return show_contract(context, *options);
    return check_contracts(context, *options);
  };
}

}  // namespace sb::cli
