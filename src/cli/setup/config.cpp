// `signalbox config check`: checks config.yaml and a workspace's signalbox.yaml, and prints the resulting settings.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text/printable.hpp"
#include "cli/command.hpp"
#include "cli/workflow/open_catalog.hpp"
#include "pipeline/settings/check.hpp"
#include "workflow/catalog/catalog_view.hpp"

namespace sb::cli {
namespace {

struct ConfigOptions {
  std::string directory;
  bool wants_json = false;
};

struct SettingsCheck {
  std::optional<pipeline::RunSettings> settings;  // nothing if a file itself is invalid
  Faults faults, warnings;
};

SettingsCheck load_and_check(const Context& context, const HomeDirectories& homes, const std::string& workspace) {
  auto settings = pipeline::load_settings(context.seams, homes, workspace);
  if (!settings) return {std::nullopt, std::move(settings).error(), {}};
  pipeline::SettingsReport report = pipeline::check_settings(context.seams, homes, *settings, workspace);
  pipeline::check_forge(context.seams, *settings, workspace, report);
  for (std::string& text : agent::warnings_about(settings->agents)) {
    report.warnings.push_back({ErrorCode::kInvalid, std::move(text), {}, {}});
  }
  // Only warnings: variables that are not set in this shell may be set where runs are started.
  std::ranges::move(report.warnings, std::back_inserter(report.missing));
  return {std::move(*settings), std::move(report.faults), std::move(report.missing)};
}

void print_text(const Context& context, const SettingsCheck& found, const std::string& workspace) {
  for (const Error& fault : found.faults) context.out(printable(fault.to_string()) + "\n");
  if (found.settings) {
    const agent::AgentSettings& agents = found.settings->agents;
    const auto state = [&](const std::string& path) {
      if (context.seams.files.kind(path) == FileKind::kMissing) return "missing";
      const auto is_here = [&](const Error& fault) { return fault.location.file == path; };
      return std::ranges::any_of(found.faults, is_here) ? "invalid, see above" : "valid";
    };
    for (const std::string& path : {agents.file, join_path(workspace, pipeline::kWorkspaceFile)}) {
      context.out(fmt::format("{}: {}\n", printable(path), state(path)));
    }
    for (const auto& [role, name] : agents.roles) context.out(fmt::format("  {}: {}\n", role, name));
  }
  for (const Error& warning : found.warnings) {
    context.out(fmt::format("warning: {}\n", printable(warning.to_string())));
  }
}

void print_json(const Context& context, const SettingsCheck& found) {
  const auto values = [](const Faults& faults) {
    Value all = Value::array();
    for (const Error& fault : faults) all.push_back(workflow::fault_value(fault));
    return all;
  };
  Value out = Value::object(
      {{"valid", found.faults.empty()}, {"faults", values(found.faults)}, {"warnings", values(found.warnings)}});
  if (found.settings) {
    out.set("settings", to_value(*found.settings));
    out.set("hash", found.settings->hash);
  }
  context.out(to_json(out) + "\n");
}

Result<int> check(const Context& context, const ConfigOptions& options) {
  const std::string workspace = SB_TRY(workspace_of(context, options.directory));
  const HomeDirectories homes = SB_TRY(sb::homes(context.seams.environment));
  const SettingsCheck found = load_and_check(context, homes, workspace);
  if (options.wants_json) {
    print_json(context, found);
  } else {
    print_text(context, found, workspace);
  }
  return found.faults.empty() ? kExitOk : kExitNegative;
}

}  // namespace

Action declare_config(App& app) {
  auto options = std::make_shared<ConfigOptions>();
  app.require_subcommand(1);
  App* check_app = app.add_subcommand(
      "check", "Report every fault in config.yaml and DIR/signalbox.yaml, and in the files they name");
  check_app->add_option("DIR", options->directory, "The workspace (default: the current folder)");
  check_app->add_flag("--json", options->wants_json, "Print JSON");
  return [options](Context& context) {
    const auto code = check(context, *options);
    return code ? *code : report(context, code.error());
  };
}

}  // namespace sb::cli
