// `signalbox workflow`: lists, shows and checks workflows, and manages their source folders.
#include <fmt/format.h>

#include "cli/workflow/open_catalog.hpp"
#include "cli/workflow/workflow_commands.hpp"

namespace sb::cli {
namespace {

using workflow::Catalog;

Status attach(const Context& context, const std::string& folder) {
  const HomeDirectories homes = SB_TRY(sb::homes(context.seams.environment));
  SB_TRY(Catalog::attach(context.seams.files, homes, folder));
  context.out(fmt::format("Added workflow source {}\n", SB_TRY(context.seams.files.canonical(folder))));
  return {};
}

Status detach(const Context& context, const std::string& folder) {
  const HomeDirectories homes = SB_TRY(sb::homes(context.seams.environment));
  SB_TRY(Catalog::detach(context.seams.files, homes, folder));
  context.out(fmt::format("Removed workflow source {}; its files were not changed\n", folder));
  return {};
}

App* with_workspace(App& app, const std::string& name, const std::string& summary, WorkflowOptions& options) {
  App* sub = app.add_subcommand(name, summary);
  sub->add_flag("--json", options.wants_json, "Print JSON");
  sub->add_option("--workspace", options.workspace, "The project's folder (default: the current folder)");
  return sub;
}

}  // namespace

Action declare_workflow(App& app) {
  auto options = std::make_shared<WorkflowOptions>();
  app.require_subcommand(1);
  App* list = with_workspace(app, "list", "List the workflows that can be started here", *options);
  list->add_option("--tag", options->tag, "Only workflows with this tag");
  list->add_flag("--all", options->wants_all, "Include internal and hidden workflows");
  App* show = with_workspace(app, "show", "Show a workflow's steps, and the hash a start would pin", *options);
  show->add_option("ID", options->name, "The workflow's id, or a file")->required();
  App* check = with_workspace(app, "check", "Report every fault in workflow files", *options);
  check->add_option("FILE", options->files, "Files, or folders (recursively); - for stdin")->required();
  App* source = app.add_subcommand("source", "Manage your own workflow folders");
  source->require_subcommand(1);
  App* add = source->add_subcommand("add", "Add a workflow folder; its workflows may replace built-in ones");
  add->add_option("DIR", options->folder, "The folder")->required();
  App* remove = source->add_subcommand("remove", "Remove a workflow folder");
  remove->add_option("DIR", options->folder, "The folder")->required();
  App* sources = with_workspace(*source, "list", "List every source; later ones override earlier ones", *options);
  return [=, &app](Context& context) {
    if (app.got_subcommand(list)) return list_workflows(context, *options);
    if (app.got_subcommand(show)) return show_workflow(context, *options);
    if (app.got_subcommand(check)) return check_workflows(context, *options);
    if (source->got_subcommand(sources)) return list_sources(context, *options);
    Status done;
    if (source->got_subcommand(add)) done = attach(context, options->folder);
    if (source->got_subcommand(remove)) done = detach(context, options->folder);
    return done ? kExitOk : report(context, done.error());
  };
}

}  // namespace sb::cli
