#include "pipeline/settings/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "agent/limits.hpp"
#include "agent/model/script_lines.hpp"
#include "agent/programs/command_agent.hpp"
#include "agent/programs/recipe.hpp"
#include "agent/secrets/secret_value.hpp"
#include "inbox/config.hpp"
#include "pipeline/forge/forge.hpp"
#include "pipeline/git/git.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::pipeline {
namespace {

using agent::ModelSettings;

// The error keeps its own location if no settings file has this key.
Error placed(Error error, const RunSettings& settings, std::string_view pointer) {
  if (SourceLocation place = settings.location_of(pointer); error.location.file.empty())
    error.location = std::move(place);
  return error;
}

void check_secret(const Seams& seams, const RunSettings& settings, const std::string& name, const std::string& pointer,
                  bool is_used, SettingsReport& report) {
  const auto value = agent::secret_of(name, seams);
  if (value) return;
  const bool is_unset = name.starts_with('$') && value.error().code == ErrorCode::kNotFound;
  Faults& into = !is_used ? report.warnings : is_unset ? report.missing : report.faults;
  into.push_back(placed(value.error(), settings, pointer));
}

class Checking {
 public:
  Checking(const Seams& seams, const HomeDirectories& homes, const RunSettings& settings, const std::string& workspace)
      : seams_(seams), homes_(homes), settings_(settings), workspace_(workspace) {}

  SettingsReport run() {
    check_workflows();
    check_models();
    check_roles();
    if (!settings_.soul.empty() && seams_.files.kind(settings_.soul) != FileKind::kFile) {
      add(report_.warnings, fail(ErrorCode::kNotFound, fmt::format("there is no file {}", settings_.soul)), "/soul");
    }
    return std::move(report_);
  }

 private:
  void add(Faults& into, const std::unexpected<Error>& failed, std::string_view pointer) {
    into.push_back(placed(failed.error(), settings_, pointer));
  }

  const sandbox::Sandbox& users_sandbox() {
    if (!sandbox_) sandbox_ = inbox::find_users_sandbox(seams_, homes_);
    return *sandbox_;
  }

  void check_workflows() {
    const auto catalog = open_run_catalog(seams_, homes_, workspace_);
    if (!catalog) return report_.faults.push_back(catalog.error());
    for (const auto& [phase, id] : settings_.phases) check_phase(*catalog, phase, id);
    for (const auto& [id, spec] : settings_.isolation) check_isolation(*catalog, id, spec);
  }

  void check_phase(const workflow::Catalog& catalog, Phase phase, const std::string& id) {
    const std::string pointer = fmt::format("/phases/{}", to_string(phase));
    const auto entry = catalog.find(id);
    if (!entry) return add(report_.faults, std::unexpected(entry.error()), pointer);
    const auto compiled = catalog.compile(**entry);
    if (!compiled) {
      Error error = compiled.error().front();
      error.message =
          fmt::format("{}, the workflow of the phase {}, does not load: {}", id, to_string(phase), error.message);
      return add(report_.faults, std::unexpected(std::move(error)), pointer);
    }
    const agent::ContextSpec spec = isolation_of(settings_, compiled->back()->definition);
    used_workflows_.insert(id);
    phase_roles_.insert(spec.role);
    for (const auto& called : *compiled) {
      if (called->definition.role) called_roles_.insert(std::string(workflow::to_string(*called->definition.role)));
    }
    if (settings_.isolation.contains(id)) return;  // check_isolation() checks it, with its location in the settings
    if (const Status granted = agent::check_context_spec(spec); !granted) {
      Error error = granted.error();
      error.message = fmt::format("the isolation that {} declares: {}", id, error.message);
      error.location = {(*entry)->origin.file, "/isolation", 0, 0};
      report_.faults.push_back(std::move(error));
    }
  }

  void check_isolation(const workflow::Catalog& catalog, const std::string& id, const agent::ContextSpec& spec) {
    const std::string pointer = fmt::format("/isolation/{}", id);
    const auto entry = catalog.find(id);
    if (!entry) return add(report_.faults, std::unexpected(entry.error()), pointer);
    if (!used_workflows_.contains(id) && id != "wr.architecture-scalability-audit") {
      return add(report_.warnings,
                 fail(ErrorCode::kInvalid, fmt::format("no phase uses {}, so this has no effect", id),
                      "Remove it, or name the workflow under phases"),
                 pointer);
    }
    agent::ContextSpec whole = spec;
    if ((*entry)->definition) whole = isolation_of(settings_, *(*entry)->definition);
    Status granted = agent::check_context_spec(whole);
    if (granted && (*entry)->definition) {
      RunSettings bare = settings_;
      bare.isolation.clear();
      const agent::ContextSpec declared = isolation_of(bare, *(*entry)->definition);
      if (agent::check_context_spec(declared)) granted = agent::check_is_narrower(whole, declared);
    }
    if (!granted) add(report_.faults, std::unexpected(granted.error()), pointer);
  }

  void check_models() {
    const auto general = settings_.agents.model_for("", "");
    if (!general) {
      Faults& into = settings_.agents.models.empty() ? report_.missing : report_.faults;
      add(into, std::unexpected(general.error()), "/models");
    } else {
      use(**general);
    }
    for (const auto* users : {&settings_.agents.roles, &settings_.agents.tiers}) {
      for (const auto& [user, name] : *users) {
        if (const auto model = settings_.agents.models.find(name); model != settings_.agents.models.end()) {
          use(model->second);
        }
      }
    }
    for (const auto& [name, model] : settings_.agents.models) check_model(model, used_models_.contains(name));
  }

  void use(const ModelSettings& model) {
    used_models_.insert(model.name);
    if (!model.upstream.empty()) used_models_.insert(model.upstream);
  }

  void check_model(const ModelSettings& model, bool is_used) {
    const std::string pointer = "/models/" + model.name;
    Faults& into = is_used ? report_.faults : report_.warnings;
    check_secret(seams_, settings_, model.key, pointer + "/key", is_used, report_);
    if (model.is_scripted()) {
      const auto text = seams_.files.read(model.script, agent::limits::kScriptBytes);
      if (!text) {
        const std::string why = fmt::format("the script {}: {}", model.script, text.error().message);
        return add(into, fail(text.error().code, why, "Name a file with replies, one per line"), pointer + "/script");
      }
      const auto lines = agent::read_script(model.script, *text);
      if (!lines) into.push_back(lines.error());
    }
    if (!model.is_program()) return;
    const auto recipe = agent::recipe_for(model);
    if (!recipe) return add(into, std::unexpected(recipe.error()), pointer);
    if (const Status fits = agent::check_command(settings_.agents, model, "", {}); !fits) {
      return add(into, std::unexpected(fits.error()), pointer + "/upstream");
    }
    if (const auto program = agent::find_program(seams_, recipe->command.front()); !program) {
      add(into, std::unexpected(program.error()), pointer + (model.recipe.empty() ? "/command" : "/recipe"));
    }
  }

  // Roles of phases, and those that the settings name, must work. Other roles are needed only by steps that start
  // another workflow.
  void check_roles() {
    std::set<std::string> named = phase_roles_;
    for (const auto& [role, model] : settings_.agents.roles) named.insert(role);
    named.erase("default");
    for (const std::string& role : named) check_role(role, report_.faults);
    for (const std::string& role : called_roles_) {
      if (!named.contains(role)) check_role(role, report_.warnings);
    }
  }

  void check_role(const std::string& role, Faults& into) {
    const auto model = settings_.agents.model_for(role, "");
    if (!model || !agent::is_restricted(role) || !(*model)->is_program()) return;
    const Status fits = agent::check_command(settings_.agents, **model, role, users_sandbox());
    if (fits || fits.error().code != ErrorCode::kForbidden) return;  // other errors are reported with the model
    const std::string own = "/roles/" + role;
    const bool is_own = !settings_.location_of(own).file.empty();
    add(into, std::unexpected(fits.error()), is_own ? own : "/models/" + (*model)->name);
  }

  const Seams& seams_;
  const HomeDirectories& homes_;
  const RunSettings& settings_;
  const std::string& workspace_;
  SettingsReport report_;
  std::set<std::string> used_workflows_, phase_roles_, called_roles_, used_models_;
  std::optional<sandbox::Sandbox> sandbox_;
};

// A remote that is a folder on this machine can be checked.
Status check_remote(const Seams& seams, const RepositoryFacts& repository, const std::string& remote) {
  if (std::ranges::find(repository.remotes, remote) == repository.remotes.end()) {
    return fail(ErrorCode::kInvalid,
                fmt::format("{} has no remote named {}, which a run needs for delivery", repository.root, remote),
                repository.remotes.empty()
                    ? "Add one with git remote add"
                    : fmt::format("Set forge: {{remote: NAME}}; there are: {}", fmt::join(repository.remotes, ", ")));
  }
  std::string url = SB_TRY(Git(seams, repository.root).run({"remote", "get-url", remote}));
  while (url.ends_with('\n')) url.pop_back();
  if (url.starts_with("file://")) url.erase(0, 7);
  const bool is_path = url.starts_with('/') || url.starts_with('.') || url.find(':') == std::string::npos;
  const std::string path = url.starts_with('/') ? url : join_path(repository.root, url);
  if (!is_path || seams.files.kind(path) == FileKind::kDirectory) return {};
  return fail(ErrorCode::kNotFound, fmt::format("the remote {} points to {}, which does not exist", remote, shown(url)),
              fmt::format("git remote set-url {} URL", remote));
}

}  // namespace

SettingsReport check_settings(const Seams& seams, const HomeDirectories& homes, const RunSettings& settings,
                              const std::string& workspace) {
  return Checking(seams, homes, settings, workspace).run();
}

void check_forge(const Seams& seams, const RunSettings& settings, const std::string& workspace,
                 SettingsReport& report) {
  check_secret(seams, settings, settings.forge.token, "/forge/token", true, report);
  const auto http = net::make_http_client();
  if (const auto forge = make_forge({seams, *http, settings.forge, workspace}); !forge) {
    report.faults.push_back(placed(forge.error(), settings, "/forge"));
  }
  const auto repository = inspect_repository(seams, workspace);
  // Settings can be valid before there is a repository.
  if (!repository) {
    Error error = repository.error();
    error.message = fmt::format("no run can be started in {}: {}", workspace, error.message);
    return report.warnings.push_back(std::move(error));
  }
  if (const Status remote = check_remote(seams, *repository, settings.forge.remote); !remote) {
    report.faults.push_back(placed(remote.error(), settings, "/forge/remote"));
  }
}

}  // namespace sb::pipeline
