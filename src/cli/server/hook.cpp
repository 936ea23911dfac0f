// `signalbox hook`: the same as signalbox-hook, for hosts configured to call one program. `hook install|uninstall` add
// it to the settings of a client and remove it.
#include <fmt/format.h>

#include "cli/command.hpp"
#include "hook/hook_program.hpp"
#include "hook/install/hook_settings.hpp"
#include "hook/project_folder.hpp"

namespace sb::cli {
namespace {

struct HookOptions {
  std::string client = "claude-code";
  bool is_user = false;
  bool is_project = false;
  bool with_stop = false;
  bool with_statusline = false;
};

// signalbox-hook is installed next to this program.
Result<std::string> hook_program(const Files& files) {
  const std::string program = join_path(parent_path(SB_TRY(files.canonical("/proc/self/exe"))), "signalbox-hook");
  if (files.kind(program) == FileKind::kFile) return program;
  return fail(ErrorCode::kNotFound, fmt::format("there is no {}", program), "Install signalbox-hook next to signalbox");
}

// `writes`: the command writes into the project, so there must be one.
Result<hook::InstallRequest> installation(const Seams& seams, const HookOptions& options, bool writes) {
  const std::string here = SB_TRY(seams.files.canonical("."));
  std::string project = writes ? SB_TRY(hook::find_writable_project(seams.files, seams.environment, here))
                               : hook::find_project(seams.files, seams.environment, here);
  return hook::InstallRequest{.client = hook::find_client(options.client)->client,
                              .scope = options.is_project ? hook::InstallScope::kProject : hook::InstallScope::kUser,
                              .project = std::move(project),
                              .program = {},
                              .with_stop = options.with_stop,
                              .with_statusline = options.with_statusline};
}

void print_backup(const Context& context, const hook::InstallResult& changed) {
  if (!changed.backup.empty()) context.out(fmt::format("Backup of the old settings: {}\n", changed.backup));
}

// Not every client runs them without a word of its user's.
std::string_view hook_advice(hook::Client client) {
  if (client == hook::Client::kCodex) return "Codex asks you once, when it next starts, to trust these hooks.\n";
  if (client == hook::Client::kOpenCode) return "Restart OpenCode to load the plugin.\n";
  return "";
}

int install(Context& context, const HookOptions& options) {
  auto wanted = installation(context.seams, options, options.is_project || options.with_stop);
  if (!wanted) return report(context, wanted.error());
  auto program = hook_program(context.seams.files);
  if (!program) return report(context, program.error());
  wanted->program = *program;
  const auto changed = hook::install_hooks(context.seams, *wanted);
  if (!changed) return report(context, changed.error());
  context.out(changed->is_changed ? fmt::format("Installed in {}\n", changed->path)
                                  : fmt::format("Already installed in {}; nothing changed\n", changed->path));
  print_backup(context, *changed);
  if (changed->is_changed) context.out(hook_advice(wanted->client));
  if (options.with_stop)
    context.out(fmt::format("The agent's last message is checked at Stop in {}\n", wanted->project));
  return kExitOk;
}

int uninstall(Context& context, const HookOptions& options) {
  const auto wanted = installation(context.seams, options, false);
  if (!wanted) return report(context, wanted.error());
  const auto changed = hook::uninstall_hooks(context.seams, *wanted);
  if (!changed) return report(context, changed.error());
  context.out(changed->is_changed ? fmt::format("Removed from {}\n", changed->path)
                                  : fmt::format("Not installed in {}; nothing changed\n", changed->path));
  print_backup(context, *changed);
  return kExitOk;
}

void add_place(App& app, const std::shared_ptr<HookOptions>& options) {
  app.add_option("--client", options->client, "Client whose settings to change")
      ->one_of(hook::client_words())
      ->shows_default();
  auto* user = app.add_flag("--user", options->is_user, "In the user's settings (the default)");
  app.add_flag("--project", options->is_project, "In the settings of the project that contains this folder")
      ->excludes(user);
}

}  // namespace

Action declare_hook(App& app) {
  auto options = std::make_shared<HookOptions>();
  app.require_subcommand(0, 1);
  auto* install_app = app.add_subcommand("install", "Add the hook to the settings of a client");
  auto* uninstall_app = app.add_subcommand("uninstall", "Remove exactly what install wrote");
  add_place(*install_app, options);
  add_place(*uninstall_app, options);
  install_app->add_flag("--statusline", options->with_statusline, "Also set the status line, unless one is set");
  install_app->add_flag("--stop", options->with_stop, "Also check the agent's last message, in this project");
  return [&app, install_app, uninstall_app, options](Context& context) {
    if (app.got_subcommand(install_app)) return install(context, *options);
    if (app.got_subcommand(uninstall_app)) return uninstall(context, *options);
    return hook::run_process("signalbox-hook", {}, context.seams);
  };
}

}  // namespace sb::cli
