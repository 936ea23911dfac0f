// `signalbox config check|show|get|set|edit|path`: the user's config.yaml and a workspace's signalbox.yaml.
#include "inbox/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/document/yaml_edit.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "cli/command.hpp"
#include "cli/setup/config_values.hpp"
#include "cli/terminal_program.hpp"
#include "cli/workflow/open_catalog.hpp"
#include "hook/install/settings_file.hpp"
#include "pipeline/settings/check.hpp"
#include "workflow/catalog/catalog_view.hpp"

namespace sb::cli {
namespace {

struct ConfigOptions {
  std::string directory;
  std::string key, value;
  bool is_projects = false;
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

std::string config_file(const Context& context, const ConfigOptions& options, const std::string& workspace) {
  if (options.is_projects) return join_path(workspace, pipeline::kWorkspaceFile);
  const auto homes = sb::homes(context.seams.environment);
  return homes ? join_path(homes->config, "config.yaml") : std::string();
}

// Both files that apply, the user's first. A faulty one is an error; so is a workspace's that is not trusted.
Checked<std::vector<Document>> documents_of(const Context& context, const std::string& workspace) {
  const auto homes = sb::homes(context.seams.environment);
  if (!homes) return std::unexpected(Faults{homes.error()});
  auto settings = pipeline::load_settings(context.seams, *homes, workspace);
  if (!settings) return std::unexpected(std::move(settings).error());
  std::vector<Document> documents;
  for (const auto& document : settings->documents) documents.push_back(*document);
  return documents;
}

Checked<std::vector<ConfigValue>> values_of(const Context& context, const ConfigOptions& options) {
  const auto workspace = workspace_of(context, options.directory);
  if (!workspace) return std::unexpected(Faults{workspace.error()});
  const auto documents = documents_of(context, *workspace);
  if (!documents) return std::unexpected(documents.error());
  return config_values(*documents);
}

std::string place_of(const ConfigValue& value) {
  return value.at.file.empty() ? "default" : fmt::format("{}:{}", value.at.file, value.at.line);
}

std::string text_of(const Value& value) {
  return value.is_string() ? value.as_string() : to_json(value);
}

int show(const Context& context, const ConfigOptions& options) {
  const auto values = values_of(context, options);
  if (!values) return report(context, values.error());
  if (options.wants_json) {
    Value all = Value::array();
    for (const ConfigValue& value : *values) {
      Value row = Value::object({{"key", value.name()}, {"value", value.value}, {"file", Value()}, {"line", Value()}});
      if (!value.at.file.empty()) row.set("file", value.at.file), row.set("line", value.at.line);
      all.push_back(std::move(row));
    }
    context.out(to_json(Value::object({{"settings", all}})) + "\n");
    return kExitOk;
  }
  std::vector<std::string> lines;
  std::size_t width = 0;
  for (const ConfigValue& value : *values) {
    lines.push_back(printable(fmt::format("{}: {}", value.name(), text_of(value.value))));
    width = std::max(width, std::min<std::size_t>(lines.back().size(), 60));
  }
  for (std::size_t i = 0; i < lines.size(); ++i) {
    context.out(fmt::format("{:<{}}  # {}\n", lines[i], width, printable(place_of((*values)[i]))));
  }
  return kExitOk;
}

int get(const Context& context, const ConfigOptions& options) {
  const auto values = values_of(context, options);
  if (!values) return report(context, values.error());
  const std::vector<std::string> path = config_path(options.key);
  Value below;  // if the key is an object: what it contains
  for (const ConfigValue& value : *values) {
    if (value.path == path) {
      context.out((options.wants_json ? to_json(value.value) : text_of(value.value)) + "\n");
      return kExitOk;
    }
    if (value.path.size() <= path.size() || !std::equal(path.begin(), path.end(), value.path.begin())) continue;
    set_value_at(below, std::span(value.path).subspan(path.size()), value.value);
  }
  if (below.is_null()) {
    context.err(fmt::format("signalbox: {} is not set and has no default\n", printable(options.key)));
    return kExitNegative;
  }
  context.out(to_json(below) + "\n");
  return kExitOk;
}

// The file with the value, if the configuration would be valid with it.
Checked<std::string> changed_file(const Context& context, const ConfigOptions& options, const std::string& path) {
  const std::vector<std::string> keys = config_path(options.key);
  const auto is_empty = [](const std::string& key) { return key.empty(); };
  if (!is_utf8(options.key) || !is_utf8(options.value) || std::ranges::any_of(keys, is_empty)) {
    return std::unexpected(Faults{Error(ErrorCode::kInvalid, "the key has an empty part, or the text is not UTF-8",
                                        "Write the key as merge or models.main.model")});
  }
  auto before = inbox::load_if_exists(context.seams.files, path);
  if (!before) return std::unexpected(Faults{before.error()});
  const Document document = *before ? std::move(**before) : Document{path, "", Value()};
  auto text = with_yaml_value(document, keys, config_value_of(options.value));
  if (!text) return std::unexpected(Faults{text.error()});
  const auto after = parse_document(path, *text);
  if (!after) return std::unexpected(Faults{after.error()});
  pipeline::RunSettings settings;
  Faults faults;
  const auto origin = options.is_projects ? pipeline::SettingsOrigin::kWorkspace : pipeline::SettingsOrigin::kUser;
  pipeline::read_settings(*after, origin, parent_path(path), settings, faults);
  // A project's roles may name the user's models.
  if (!options.is_projects && after->root.is_object()) {
    Fields root = Reader(*after, faults).fields();
    agent::check_model_names(root, settings.agents);
  }
  if (!faults.empty()) return std::unexpected(std::move(faults));
  return std::move(*text);
}

int set(const Context& context, const ConfigOptions& options) {
  const auto workspace = workspace_of(context, options.directory);
  if (!workspace) return report(context, workspace.error());
  const std::string path = config_file(context, options, *workspace);
  const auto lock = hook::lock_settings(context.seams);
  if (!lock) return report(context, lock.error());
  const auto text = changed_file(context, options, path);
  if (!text) {
    const int code = report(context, text.error());
    context.err(fmt::format("{} was not changed.\n", printable(path)));
    return code;
  }
  Status written = context.seams.files.make_directories(parent_path(path), 0700);
  if (written) written = context.seams.files.write_atomic(path, *text, options.is_projects ? 0644 : 0600);
  if (!written) return report(context, written.error());
  context.err(fmt::format("Changed {}\n", printable(path)));
  if (options.is_projects) context.err(fmt::format("It applies after: signalbox trust {}\n", quote_json(*workspace)));
  return kExitOk;
}

int edit(const Context& context, const ConfigOptions& options) {
  const auto workspace = workspace_of(context, options.directory);
  if (!workspace) return report(context, workspace.error());
  const std::string path = config_file(context, options, *workspace);
  std::optional<std::string> editor = context.seams.environment.get("VISUAL");
  if (!editor) editor = context.seams.environment.get("EDITOR");
  const Status made = context.seams.files.make_directories(parent_path(path), 0700);
  if (!made) return report(context, made.error());
  // By the shell, because the variable may contain arguments: `code --wait`.
  const auto code = run_at_terminal({"sh", "-c", fmt::format("exec {} \"$1\"", editor.value_or("vi")), "sh", path});
  if (!code) return report(context, code.error());
  if (*code != 0) {
    context.err(fmt::format("signalbox: the editor ended with {}\n", *code));
    return kExitNegative;
  }
  const auto checked = check(context, options);
  return checked ? *checked : report(context, checked.error());
}

int print_paths(const Context& context, const ConfigOptions& options) {
  const auto workspace = workspace_of(context, options.directory);
  if (!workspace) return report(context, workspace.error());
  context.out(config_file(context, options, *workspace) + "\n");
  return kExitOk;
}

using Run = int (*)(const Context&, const ConfigOptions&);

int run_check(const Context& context, const ConfigOptions& options) {
  const auto code = check(context, options);
  return code ? *code : report(context, code.error());
}

}  // namespace

Action declare_config(App& app) {
  auto options = std::make_shared<ConfigOptions>();
  app.require_subcommand(1);
  std::vector<Subcommand> all;
  const auto add = [&](const std::string& name, const std::string& summary, Run run) {
    App* sub = app.add_subcommand(name, summary);
    all.push_back({sub, [options, run](Context& context) { return run(context, *options); }});
    return sub;
  };
  App* check_app =
      add("check", "Report every fault in config.yaml and DIR/signalbox.yaml, and in the files they name", run_check);
  App* show_app = add("show", "Show every value that applies, and the file and line it comes from", show);
  App* get_app = add("get", "Print one value", get);
  get_app->add_option("KEY", options->key, "The key: merge, models.main.model, or a JSON pointer")->required();
  for (App* sub : {check_app, show_app, get_app}) {
    sub->add_option("DIR", options->directory, "The workspace (default: the current folder)");
    sub->add_flag("--json", options->wants_json, "Print JSON");
  }
  App* set_app = add("set", "Set one value in config.yaml; comments and everything else stay as they are", set);
  set_app->add_option("KEY", options->key, "The key: merge, models.main.model, or a JSON pointer")->required();
  set_app->add_option("VALUE", options->value, "The value, as YAML: auto, 30, [./check]")->required();
  App* edit_app = add("edit", "Open config.yaml in $VISUAL or $EDITOR, then check it", edit);
  App* path_app = add("path", "Print where config.yaml is", print_paths);
  for (App* sub : {set_app, edit_app, path_app}) {
    sub->add_flag("--project", options->is_projects, "The project's signalbox.yaml instead");
    sub->add_option("--workspace", options->directory, "The project's folder (default: the current folder)");
  }
  return [all, &app](Context& context) {
    for (const Subcommand& one : all) {
      if (app.got_subcommand(one.app)) return one.action(context);
    }
    return kExitUsage;
  };
}

}  // namespace sb::cli
