// `signalbox rules show|install|uninstall`: the rules for asking people, in the rules file that a
// client reads.
#include <fmt/format.h>

#include "cli/command.hpp"
#include "decision/rules_text.hpp"
#include "hook/install/rules_section.hpp"
#include "hook/project_folder.hpp"

namespace sb::cli {
namespace {

struct RulesOptions {
  std::string client;
  bool is_user = false, is_project = false;
};

Result<std::string> path_of(const Seams& seams, const RulesOptions& options, bool writes) {
  const hook::ClientRow& client = *hook::find_client(options.client);
  const auto scope = options.is_project ? hook::InstallScope::kProject : hook::InstallScope::kUser;
  std::string project;
  if (options.is_project) {
    const std::string here = SB_TRY(seams.files.canonical("."));
    project = writes ? SB_TRY(hook::find_writable_project(seams.files, seams.environment, here))
                     : hook::find_project(seams.files, seams.environment, here);
  }
  return hook::client_path(client, client.rules, scope, project, seams.environment);
}

Status install(const Context& context, const RulesOptions& options) {
  const std::string path = SB_TRY(path_of(context.seams, options, true));
  const auto done = SB_TRY(hook::install_rules(context.seams, path, decision::rules_section()));
  context.out(done.is_changed ? fmt::format("Installed in {}\nNew conversations of {} read it.\n", path,
                                            hook::find_client(options.client)->name)
                              : fmt::format("Already installed in {}; nothing changed\n", path));
  return {};
}

Status uninstall(const Context& context, const RulesOptions& options) {
  const std::string path = SB_TRY(path_of(context.seams, options, false));
  const auto done = SB_TRY(hook::uninstall_rules(context.seams, path));
  context.out(done.is_changed ? fmt::format("Removed from {}\n", path)
                              : fmt::format("Not installed in {}; nothing changed\n", path));
  return {};
}

App* place_command(App& app, const std::string& name, const std::string& summary, RulesOptions& options) {
  App* sub = app.add_subcommand(name, summary);
  sub->add_option("--client", options.client, "Client whose rules file to use")
      ->required()
      ->one_of(hook::client_words());
  auto* user = sub->add_flag("--user", options.is_user, "In the user's file (the default)");
  sub->add_flag("--project", options.is_project, "In the file of the project that contains this folder")
      ->excludes(user);
  return sub;
}

}  // namespace

Action declare_rules(App& app) {
  auto options = std::make_shared<RulesOptions>();
  app.require_subcommand(1);
  App* show_app = app.add_subcommand("show", "Print the rules");
  App* install_app = place_command(app, "install", "Add the rules to a client's file, as a marked section", *options);
  App* uninstall_app = place_command(app, "uninstall", "Remove exactly what install wrote", *options);
  return [=, &app](Context& context) {
    Status done;
    if (app.got_subcommand(show_app)) context.out(decision::rules_section());
    if (app.got_subcommand(install_app)) done = install(context, *options);
    if (app.got_subcommand(uninstall_app)) done = uninstall(context, *options);
    return done ? kExitOk : report(context, done.error());
  };
}

}  // namespace sb::cli
