// `signalbox workflow`: which workflows there are, what is in them, and what is wrong with them.
#include <fmt/format.h>

#include "cli/workflow/open_catalog.hpp"
#include "cli/workflow/workflow_commands.hpp"

namespace sb::cli {
namespace {

using workflow::Catalog;

Status attach(const Context& context, const std::string& folder) {
  const HomeDirectories homes = SB_TRY(sb::homes(context.seams.environment));
  SB_TRY(Catalog::attach(context.seams.files, homes, folder));
  context.out(fmt::format("{} is a source of workflows now\n", SB_TRY(context.seams.files.canonical(folder))));
  return {};
}

Status detach(const Context& context, const std::string& folder) {
  const HomeDirectories homes = SB_TRY(sb::homes(context.seams.environment));
  SB_TRY(Catalog::detach(context.seams.files, homes, folder));
  context.out(fmt::format("{} is no source any more; nothing in it was changed\n", folder));
  return {};
}

App* with_workspace(App& app, const std::string& name, const std::string& summary, WorkflowOptions& options) {
  App* sub = app.add_subcommand(name, summary);
  sub->add_flag("--json", options.wants_json, "Print JSON");
  sub->add_option("--workspace", options.workspace, "The project's folder; the current one when not given");
  return sub;
}

}  // namespace

Action declare_workflow(App& app) {
  auto options = std::make_shared<WorkflowOptions>();
  app.require_subcommand(1);
  App* list = with_workspace(app, "list", "Show which workflows can be started here", *options);
  list->add_option("--tag", options->tag, "Only those with this tag");
  list->add_flag("--all", options->wants_all, "Internal and hidden ones too");
  App* show = with_workspace(app, "show", "Draw a workflow's steps, and the hash a start would pin", *options);
  show->add_option("ID", options->name, "The workflow's id, or a file")->required();
  App* check = with_workspace(app, "check", "Say what is wrong with workflow files", *options);
  check->add_option("FILE", options->files, "Files, or folders with all that is in them; - for the input")->required();
  App* source = app.add_subcommand("source", "Folders of your own that workflows are taken from");
  source->require_subcommand(1);
  App* add = source->add_subcommand("add", "Take workflows from a folder; they may replace ours");
  add->add_option("DIR", options->folder, "The folder")->required();
  App* remove = source->add_subcommand("remove", "Take none from it any more");
  remove->add_option("DIR", options->folder, "The folder")->required();
  App* sources = with_workspace(*source, "list", "Show every source, strongest last", *options);
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
