#include "agent/programs/command_agent.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "agent/programs/program_home.hpp"
#include "agent/programs/program_session.hpp"
#include "agent/programs/recipe.hpp"
#include "agent/programs/writable_folders.hpp"
#include "agent/tools/plain_text.hpp"
#include "sandbox/enclosed_run.hpp"

namespace sb::agent {
namespace {

constexpr int kStarts = 3;                       // of the program, when it stops early
constexpr std::size_t kOutputBytes = 64u << 10;  // kept, to report why it ended
constexpr std::size_t kShownOutputBytes = 600;
// The watchdog limits its time, because it knows about pauses.
constexpr std::int64_t kMarginMs = 24 * 3'600'000;

// Null: its own login.
Result<const ModelSettings*> upstream_of(const AgentSettings& settings, const ModelSettings& model) {
  if (model.upstream.empty()) return nullptr;
  const auto found = settings.models.find(model.upstream);
  if (found == settings.models.end()) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the model {} has an unknown upstream {}", model.name, quote_json(model.upstream)));
  }
  if (found->second.is_program()) {
    return fail(ErrorCode::kInvalid, fmt::format("the upstream of {} is itself an agent program", model.name),
                "Name a hosted or scripted model");
  }
  return &found->second;
}

Status check_isolation(const ModelSettings& model, std::string_view role, bool has_upstream,
                       const sandbox::Sandbox& sandbox) {
  if (!is_restricted(role)) return {};
  if (!has_upstream) {
    return fail(ErrorCode::kForbidden,
                fmt::format("the role {} is restricted, and {} uses its own login: its requests to the model "
                            "cannot be inspected, so its isolation cannot be proven",
                            role, model.name),
                fmt::format("Give {} an `upstream`, or the role another model: roles: {{{}: NAME}}", model.name, role));
  }
  if (sandbox.works()) return {};
  return fail(ErrorCode::kForbidden,
              fmt::format("the role {} is restricted, and there is no sandbox to keep {} from "
                          "reading more: {}",
                          role, model.name, sandbox.missing),
              fmt::format("Install bubblewrap, or give the role another model: roles: {{{}: NAME}}", role));
}

// The last output of a program that failed.
std::string last_output(const ProcessResult& exit) {
  std::string text = as_utf8(exit.errors.find_first_not_of(" \n") == std::string::npos ? exit.output : exit.errors);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.size() <= kShownOutputBytes) return text;
  std::size_t from = text.size() - kShownOutputBytes;
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0) == 0x80) ++from;
  return "…" + text.substr(from);
}

class CommandAgent {
 public:
  explicit CommandAgent(const CommandParts& parts)
      : parts_(parts),
        runner_(parts.work_context.parts),
        assignment_(parts.work_context.assignment),
        model_(parts.model) {}

  WorkResult work() {
    if (runner_.host == nullptr) {
      return work_result(
          EndState::kModelFailed,
          fmt::format("{} is an agent program, which cannot run here: a replay starts no programs", model_.name));
    }
    const Status fits = check_command(runner_.settings, model_, assignment_.role, parts_.sandbox);
    if (!fits) {
      const bool is_forbidden = fits.error().code == ErrorCode::kForbidden;
      return work_result(is_forbidden ? EndState::kForbidden : EndState::kModelFailed, fits.error().to_string());
    }
    upstream_ = *upstream_of(runner_.settings, model_);
    recipe_ = *recipe_for(model_);
    ProgramSession program_session(parts_, upstream_, sandbox_name());
    if (const Status ready = program_session.prepare(); !ready) {
      return work_result(EndState::kModelFailed, parts_.work_context.redactor.clean(ready.error().to_string()));
    }
    return program_session.finish(run_program(program_session));
  }

 private:
  std::string sandbox_name() const {
    std::string name = parts_.sandbox.name();
    return upstream_ == nullptr ? name + "; its own login, so its requests to the model are not logged" : name;
  }

  WorkResult run_program(ProgramSession& program_session) {
    if (auto end = program_session.enter()) return std::move(*end);
    for (int start = 1;;) {
      const auto exit = run(program_session, start > 1);
      if (!exit) return work_result(EndState::kAgentDied, parts_.work_context.redactor.clean(exit.error().to_string()));
      // The state of the workflow counts first, then why the program was stopped, then how it ended by itself.
      if (auto end = program_session.enter(); end && end->state == EndState::kComplete) return std::move(*end);
      if (auto end_result = program_session.end_result()) return std::move(*end_result);
      if (auto end = program_session.enter()) return std::move(*end);
      const auto waiting_result = program_session.waiting_result();
      // A program that waited for a person who has answered since did not stop early.
      if (waiting_result && waiting_result->state == EndState::kAwaiting) continue;
      if (waiting_result) return *waiting_result;
      if (auto end = ended_by_itself(program_session, *exit)) return std::move(*end);
      if (++start > kStarts) break;
    }
    return work_result(
        EndState::kStoppedEarly,
        fmt::format("{} was started {} times and ended before the workflow was complete", recipe_.name, kStarts));
  }

  // Nothing: it stopped early.
  std::optional<WorkResult> ended_by_itself(ProgramSession& program_session, const ProcessResult& exit) {
    if (exit.timed_out) return work_result(EndState::kTimeLimit, "the session's time limit was reached");
    if (auto outage = program_session.outage()) return outage;
    if (exit.code == 0) return std::nullopt;
    const std::string words = parts_.work_context.redactor.clean(last_output(exit));
    return work_result(EndState::kAgentDied, fmt::format("{} ended with code {}: {}", recipe_.name, exit.code, words));
  }

  Result<ProcessResult> run(ProgramSession& program_session, bool again) {
    const Seams& seams = runner_.seams;
    const HomeDirectories homes = SB_TRY(sb::homes(seams.environment));
    const AgentHome home = SB_TRY(AgentHome::make(seams, homes, assignment_.session));
    const auto place = SB_TRY(runner_.host->open(program_session, upstream_));
    const Launch launch = SB_TRY(fill_recipe(recipe_, {.prompt = SB_TRY(program_session.prompt(again)),
                                                       .mcp_url = place->mcp_url,
                                                       .mcp_token = place->mcp_token,
                                                       .hook_url = place->hook_url,
                                                       .proxy_url = place->proxy_url,
                                                       .home = home.path(),
                                                       .work_tree = assignment_.work_tree,
                                                       .model = model_name(),
                                                       .signalbox = parts_.sandbox.own_program(),
                                                       .is_writable = parts_.place.allows_writing()}));
    const std::string program = SB_TRY(find_program(seams, launch.argv.front()));
    SB_TRY(home.write(seams, launch.files));
    if (upstream_ == nullptr) SB_TRY(home.copy_login(seams));
    if (const auto& folders = parts_.place.writable_folders; folders && parts_.place.allows_writing()) {
      SB_TRY(make_folders(seams.files, parts_.place.root, *folders));
    }
    Command command{.argv = launch.argv,
                    .input = launch.input,
                    .environment = sandbox::clean_environment(seams.environment),
                    .timeout_ms = parts_.work_context.watchdog.left_ms() + kMarginMs,
                    .max_output_bytes = kOutputBytes,
                    .keep_tail = true,
                    .kill_descendants = true,
                    .should_continue = [&] { return program_session.should_continue(); },
                    .on_output = [&](std::string_view) { program_session.note_activity(); }};
    std::map<std::string, std::string>& variables = *command.environment;
    // Without a sandbox the program's own login is only available in the user's home.
    if (upstream_ != nullptr || parts_.sandbox.works()) variables["HOME"] = home.path();
    variables["TMPDIR"] = join_path(home.path(), "tmp");
    for (const auto& [name, value] : launch.environment) variables[name] = value;
    sandbox::Place reached = place_of({.work_tree = reached_in(parts_.place),
                                       .home = home.path(),
                                       .program = program,
                                       .has_own_login = upstream_ == nullptr,
                                       .login_servers = recipe_.login_servers,
                                       .host_ports = {place->port}},
                                      seams);
    parts_.work_context.watchdog.expect_activity(true);
    auto exit = sandbox::run_enclosed(seams, homes, parts_.sandbox, std::move(reached), std::move(command));
    parts_.work_context.watchdog.expect_activity(false);
    return exit;
  }

  // Scripted models have no name that a program would know.
  std::string model_name() const {
    if (upstream_ == nullptr) return model_.model;
    return upstream_->model.empty() ? upstream_->name : upstream_->model;
  }

  const CommandParts& parts_;
  const AgentRunnerParts& runner_;
  const Assignment& assignment_;
  const ModelSettings& model_;
  const ModelSettings* upstream_ = nullptr;
  Recipe recipe_;
};

}  // namespace

WorkResult run_agent_program(const CommandParts& parts) {
  return CommandAgent(parts).work();
}

Status check_command(const AgentSettings& settings, const ModelSettings& model, std::string_view role,
                     const sandbox::Sandbox& sandbox) {
  const ModelSettings* upstream = SB_TRY(upstream_of(settings, model));
  const Recipe recipe = SB_TRY(recipe_for(model));
  SB_TRY(check_isolation(model, role, upstream != nullptr, sandbox));
  const std::string_view api = upstream == nullptr ? "" : upstream->provider->api;
  if (api.empty() || recipe.api.empty() || api == recipe.api) return {};
  std::vector<std::string_view> fitting;
  for (const ModelProvider& provider : model_providers()) {
    if (provider.api == recipe.api) fitting.push_back(provider.name);
  }
  return fail(ErrorCode::kInvalid,
              fmt::format("{} uses the API of {}, but its upstream {} uses that of {}", recipe.name, recipe.api,
                          upstream->name, api),
              fmt::format("Name a model of the provider {}, or a scripted one", fmt::join(fitting, " or ")));
}

Result<std::string> find_program(const Seams& seams, const std::string& program) {
  const auto is_there = [&](const std::string& path) {
    return seams.files.kind(path) == FileKind::kFile && ::access(path.c_str(), X_OK) == 0;
  };
  if (program.find('/') != std::string::npos) {
    if (is_there(program)) return program;
    return fail(ErrorCode::kNotFound, fmt::format("program {} not found", quote_json(program)),
                "Give its path in `command:`");
  }
  const auto environment = sandbox::clean_environment(seams.environment);
  std::string_view folders = environment.at("PATH");
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    std::string path = join_path(folders.substr(0, end), program);
    if (is_there(path)) return path;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return fail(ErrorCode::kNotFound, fmt::format("{} is not installed: not found in PATH", program),
              "Install it, or give its path in `command:`");
}

}  // namespace sb::agent
