// `signalbox config check`: whether config.yaml and a workspace's signalbox.yaml are right, and what they come to.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/catalog.hpp"
#include "cli/command.hpp"
#include "inbox/printable.hpp"
#include "pipeline/settings.hpp"
#include "workflow/views.hpp"

namespace sb::cli {
namespace {

struct ConfigOptions {
  std::string directory;
  bool wants_json = false;
};

// What a run would stumble over although the files are right.
std::vector<std::string> missing_secret(const Context& context, std::string_view of, const std::string& name) {
  if (name.starts_with('$') && !context.seams.environment.get(name.substr(1))) {
    return {fmt::format("{}: the variable {} is not set here", of, name.substr(1))};
  }
  if (name.starts_with("file:") && context.seams.files.kind(name.substr(5)) != FileKind::kFile) {
    return {fmt::format("{}: there is no file {}", of, name.substr(5))};
  }
  return {};
}

std::vector<std::string> notes_on(const Context& context, const pipeline::Settings& settings) {
  std::vector<std::string> notes;
  const auto add = [&](std::vector<std::string> more) { std::ranges::move(more, std::back_inserter(notes)); };
  for (const auto& [name, model] : settings.agents.models) {
    add(missing_secret(context, "models/" + name, model.key));
    if (!model.script.empty() && context.seams.files.kind(model.script) != FileKind::kFile) {
      notes.push_back(fmt::format("models/{}: there is no file {}", name, model.script));
    }
  }
  add(missing_secret(context, "forge", settings.forge.token));
  if (!settings.soul.empty() && context.seams.files.kind(settings.soul) != FileKind::kFile) {
    notes.push_back(fmt::format("soul: there is no file {}", settings.soul));
  }
  if (const auto model = settings.agents.model_for("", ""); !model) notes.push_back(model.error().to_string());
  return notes;
}

void print_text(const Context& context, const pipeline::Settings& settings, const std::string& workspace) {
  const auto exists = [&](const std::string& path) {
    return context.seams.files.kind(path) == FileKind::kMissing ? "not there" : "fine";
  };
  const std::string project = join_path(workspace, pipeline::kWorkspaceFile);
  context.out(fmt::format("{}: {}\n", inbox::printable(settings.agents.file), exists(settings.agents.file)));
  context.out(fmt::format("{}: {}\n", inbox::printable(project), exists(project)));
  for (const auto& [role, name] : settings.agents.roles) context.out(fmt::format("  {}: {}\n", role, name));
  for (const std::string& note : notes_on(context, settings)) {
    context.out(fmt::format("note: {}\n", inbox::printable(note)));
  }
}

void print_json(const Context& context, const Checked<pipeline::Settings>& settings) {
  Value out = Value::object({{"valid", settings.has_value()}});
  Value faults = Value::array();
  if (!settings) {
    for (const Error& fault : settings.error()) faults.push_back(workflow::fault_value(fault));
  }
  out.set("faults", std::move(faults));
  if (settings) {
    out.set("notes", Value::array(notes_on(context, *settings)));
    out.set("settings", to_value(*settings));
    out.set("hash", settings->hash);
  }
  context.out(to_json(out) + "\n");
}

Result<int> check(const Context& context, const ConfigOptions& options) {
  const std::string workspace = SB_TRY(workspace_of(context, options.directory));
  const Homes homes = SB_TRY(sb::homes(context.seams.environment));
  const auto settings = pipeline::load_settings(context.seams, homes, workspace);
  if (options.wants_json) {
    print_json(context, settings);
  } else if (settings) {
    print_text(context, *settings, workspace);
  } else {
    for (const Error& fault : settings.error()) context.out(inbox::printable(fault.to_string()) + "\n");
  }
  return settings ? kDone : kNo;
}

}  // namespace

Action declare_config(CLI::App& app) {
  auto options = std::make_shared<ConfigOptions>();
  app.require_subcommand(1);
  CLI::App* check_app = app.add_subcommand("check", "Tell every fault of config.yaml and of DIR/signalbox.yaml");
  check_app->add_option("DIR", options->directory, "The workspace; else the current folder");
  check_app->add_flag("--json", options->wants_json, "As JSON");
  return [options](Context& context) {
    const auto code = check(context, *options);
    return code ? *code : report(context, code.error());
  };
}

}  // namespace sb::cli
