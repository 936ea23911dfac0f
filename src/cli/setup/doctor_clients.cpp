// Doctor: the clients, their configuration, and the hooks.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/limits.hpp"
#include "cli/server/local_server.hpp"
#include "cli/setup/doctor.hpp"
#include "hook/install/client_config.hpp"
#include "hook/install/hook_settings.hpp"
#include "inbox/client_tokens.hpp"

namespace sb::cli {
namespace {

using hook::ClientTarget;
using hook::InstallScope;
using hook::NamedEntry;

constexpr std::int64_t kVersionMs = 5'000;
constexpr std::string_view kLoopback = "http://127.0.0.1:";

std::string_view flag_of(InstallScope scope) {
  return scope == InstallScope::kProject ? " --project" : "";
}

// The home folder is not a project: its files are the user's configuration.
std::vector<InstallScope> doctor_scopes(const DoctorInput& input) {
  if (input.seams.environment.get("HOME") == input.project) return {InstallScope::kUser};
  return {InstallScope::kUser, InstallScope::kProject};
}

// The version of a program; nothing if it is not signalbox.
std::optional<std::string> version_of(const DoctorInput& input, const std::string& command) {
  const auto real = input.seams.files.canonical(command);
  if (real && *real == input.program) return input.version;
  const auto exit =
      input.seams.process.run({.argv = {command, "--version"}, .timeout_ms = kVersionMs, .max_output_bytes = 4096});
  constexpr std::string_view kStart = "signalbox ";
  if (!exit || exit->code != 0 || exit->timed_out || !exit->output.starts_with(kStart)) return std::nullopt;
  return exit->output.substr(kStart.size(), exit->output.find('\n') - kStart.size());
}

Diagnosis check_program(const DoctorInput& input, const std::string& where, const std::string& command,
                        const std::string& remedy) {
  if (!command.starts_with('/')) {
    return {Health::kWarning, fmt::format("{} starts {}, which depends on the client's PATH", where, command), remedy};
  }
  if (input.seams.files.kind(command) != FileKind::kFile || ::access(command.c_str(), X_OK) != 0) {
    return {Health::kError, fmt::format("{} starts {}, which is missing or not executable", where, command), remedy};
  }
  const auto version = version_of(input, command);
  if (!version) return {Health::kError, fmt::format("{} starts {}, which is not signalbox", where, command), remedy};
  if (*version != input.version) {
    return {Health::kError,
            fmt::format("{} starts {} of version {}; this is {}", where, command, *version, input.version), remedy};
  }
  return {Health::kOk, fmt::format("{} starts {}", where, command)};
}

Diagnosis check_address(const std::string& where, const std::string& url) {
  const std::string_view rest = url.starts_with(kLoopback) ? std::string_view(url).substr(kLoopback.size()) : "";
  const int port = std::atoi(std::string(rest.substr(0, rest.find('/'))).c_str());
  if (port <= 0 || port > 65535) return {Health::kOk, fmt::format("{} connects to {}", where, url)};
  const LocalServer server = probe_port(port);
  const std::string what = fmt::format("{} connects to {}", where, url);
  switch (server.who) {
    case LocalServer::Owner::kSignalbox:
      return {Health::kOk, what};
    case LocalServer::Owner::kNone:
      return {Health::kWarning, what + ", where nothing is listening", fmt::format("signalbox serve --port {}", port)};
    case LocalServer::Owner::kOther:
      break;
  }
  return {Health::kError, what + ", where another program answers",
          "Install with another --port and serve on that port"};
}

// Whether questions are asked in this client, and a server lets it in.
std::optional<Diagnosis> check_secret(const DoctorInput& input, const ClientTarget& place, const std::string& path,
                                      const NamedEntry& each, const std::string& remedy) {
  const auto homes = sb::homes(input.seams.environment);
  if (!homes || place.scope == InstallScope::kProject || !each.entry.token_env.empty()) return std::nullopt;
  const bool connects = !each.entry.url.empty();
  if (each.entry.secret.empty()) {
    return Diagnosis{connects ? Health::kError : Health::kWarning,
                     fmt::format("the entry in {} has no secret, so {}", path,
                                 connects ? "signalbox serve refuses it" : "no questions are asked in the client"),
                     remedy};
  }
  inbox::ClientTokens tokens(input.seams.files, *homes);
  if (tokens.is_secret_of({path, each.name}, each.entry.secret)) return std::nullopt;
  return Diagnosis{Health::kError, fmt::format("the secret in {} is not valid here", path), remedy};
}

struct Configured {
  Diagnoses findings;
  bool has_ours = false;
};

void check_client_config(const DoctorInput& input, const ClientTarget& place, Configured& result) {
  const auto path = hook::config_path(place, input.seams.environment);
  if (!path) return;
  const auto text = input.seams.files.read(*path, limits::kDocumentBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return;
  const auto entries = text ? hook::read_entries(place.client, *path, *text) : std::unexpected(text.error());
  if (!entries) {
    Error error = entries.error();
    error.remedy.clear();
    result.findings.push_back({Health::kError, error.to_string(), "Fix the file; the client cannot read it either"});
    return;
  }
  for (const NamedEntry& each : *entries) {
    const std::string address = each.entry.url.empty() ? "" : " --url " + each.entry.url;
    const std::string remedy =
        fmt::format("signalbox mcp install --client {}{}{}{}", hook::row_of(place.client).word, flag_of(place.scope),
                    address, each.name == "signalbox" ? "" : " --name " + each.name);
    if (!hook::is_signalbox_entry(each.entry)) continue;
    result.has_ours = true;
    result.findings.push_back(each.entry.url.empty() ? check_program(input, *path, each.entry.command, remedy)
                                                     : check_address(*path, each.entry.url));
    if (auto found = check_secret(input, place, *path, each, remedy)) result.findings.push_back(std::move(*found));
  }
}

void check_client_hooks(const DoctorInput& input, const hook::ClientRow& client, InstallScope scope,
                        Diagnoses& findings) {
  const auto hooks = hook::find_hooks(input.seams.files, input.seams.environment, client.client, scope, input.project);
  const std::string remedy = hook::hook_install_command(client.client, scope);
  if (!hooks) {
    Error error = hooks.error();
    error.remedy.clear();
    findings.push_back({Health::kError, error.to_string(), "Fix the file; the client cannot read it either"});
    return;
  }
  for (const std::string& program : hooks->programs) {
    const bool is_there = input.seams.files.kind(program) == FileKind::kFile && ::access(program.c_str(), X_OK) == 0;
    if (is_there) {
      findings.push_back({Health::kOk, fmt::format("{} calls {}", hooks->path, program)});
    } else {
      findings.push_back({Health::kError,
                          fmt::format("{} calls {}, which is missing or not executable", hooks->path, program),
                          remedy});
    }
  }
  if (!hooks->is_complete) {
    findings.push_back({Health::kError, fmt::format("{} lacks some hooks of this version", hooks->path), remedy});
  }
}

}  // namespace

Diagnoses check_client(const DoctorInput& input, const hook::ClientRow& client) {
  const bool is_found = !program_in_path(input.seams, client.program).empty();
  Configured result;
  for (const InstallScope scope : doctor_scopes(input)) {
    check_client_config(input, {client.client, scope, input.project}, result);
  }
  if (is_found && !result.has_ours) {
    result.findings.push_back({Health::kWarning, fmt::format("Signalbox is not configured in {}", client.name),
                               fmt::format("signalbox mcp install --client {}", client.word)});
  } else if (!is_found && result.has_ours) {
    result.findings.push_back({Health::kWarning, fmt::format("{} is not in PATH", client.program)});
  }
  return std::move(result.findings);
}

Diagnoses check_hooks(const DoctorInput& input) {
  Diagnoses findings;
  for (const hook::ClientRow& client : hook::clients()) {
    const std::size_t before = findings.size();
    for (const InstallScope scope : doctor_scopes(input)) {
      const bool has_file = !(scope == InstallScope::kUser ? client.hooks.user : client.hooks.project).empty();
      if (has_file) check_client_hooks(input, client, scope, findings);
    }
    const bool is_found = !client.hooks.user.empty() && !program_in_path(input.seams, client.program).empty();
    if (!is_found || findings.size() > before) continue;
    findings.push_back({Health::kWarning, fmt::format("{} does not call signalbox-hook", client.name),
                        hook::hook_install_command(client.client, InstallScope::kUser)});
  }
  if (findings.empty()) return {{Health::kOk, "none; no client with hooks is installed"}};
  return findings;
}

}  // namespace sb::cli
