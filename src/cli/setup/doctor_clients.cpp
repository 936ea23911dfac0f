// Doctor: the clients, whether they know Signalbox, and the hooks.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/limits.hpp"
#include "cli/server/local_server.hpp"
#include "cli/setup/doctor.hpp"
#include "hook/install/client_config.hpp"

namespace sb::cli {
namespace {

using hook::Client;
using hook::ClientPlace;
using hook::NamedEntry;
using hook::Scope;

constexpr std::int64_t kVersionMs = 5'000;
constexpr std::string_view kLoopback = "http://127.0.0.1:";

std::string_view flag_of(Scope scope) {
  return scope == Scope::kProject ? " --project" : "";
}

// In the user's home there is no project: its files are the user's.
std::vector<Scope> scopes(const Patient& patient) {
  if (patient.seams.environment.get("HOME") == patient.project) return {Scope::kUser};
  return {Scope::kUser, Scope::kProject};
}

std::string_view word_of(Client client) {
  return client == Client::kClaudeCode ? "claude-code" : "codex";
}

// Runs it only when its name is ours.
std::optional<std::string> version_of(const Patient& patient, const std::string& command) {
  const auto real = patient.seams.files.canonical(command);
  if (real && *real == patient.program) return patient.version;
  const auto exit =
      patient.seams.process.run({.argv = {command, "--version"}, .timeout_ms = kVersionMs, .max_output_bytes = 4096});
  constexpr std::string_view kStart = "signalbox ";
  if (!exit || exit->code != 0 || exit->timed_out || !exit->output.starts_with(kStart)) return std::nullopt;
  return exit->output.substr(kStart.size(), exit->output.find('\n') - kStart.size());
}

Finding check_program(const Patient& patient, const std::string& where, const std::string& command,
                      const std::string& remedy) {
  if (!command.starts_with('/')) {
    return {Health::kNote, fmt::format("{} starts {}, found by whatever PATH the client has", where, command), remedy};
  }
  if (patient.seams.files.kind(command) != FileKind::kFile || ::access(command.c_str(), X_OK) != 0) {
    return {Health::kWrong, fmt::format("{} starts {}, which is not there or cannot be run", where, command), remedy};
  }
  const auto version = version_of(patient, command);
  if (!version) return {Health::kWrong, fmt::format("{} starts {}, which is no signalbox", where, command), remedy};
  if (*version != patient.version) {
    return {Health::kWrong,
            fmt::format("{} starts {} of version {}; this is {}", where, command, *version, patient.version), remedy};
  }
  return {Health::kOk, fmt::format("{} starts {}", where, command)};
}

Finding check_address(const std::string& where, const std::string& url) {
  const std::string_view rest = url.starts_with(kLoopback) ? std::string_view(url).substr(kLoopback.size()) : "";
  const int port = std::atoi(std::string(rest.substr(0, rest.find('/'))).c_str());
  if (port <= 0 || port > 65535) return {Health::kOk, fmt::format("{} connects to {}", where, url)};
  const LocalServer server = look_at_port(port);
  const std::string what = fmt::format("{} connects to {}", where, url);
  switch (server.who) {
    case LocalServer::Who::kSignalbox:
      return {Health::kOk, what};
    case LocalServer::Who::kNobody:
      return {Health::kNote, what + ", where nobody listens now", fmt::format("signalbox serve --port {}", port)};
    case LocalServer::Who::kOther:
      break;
  }
  return {Health::kWrong, what + ", where something else answers", "Install with another --port, and serve there"};
}

struct Configured {
  Findings findings;
  bool has_ours = false;
};

void look_into(const Patient& patient, const ClientPlace& place, Configured& result) {
  const auto path = hook::config_path(place, patient.seams.environment);
  if (!path) return;
  const auto text = patient.seams.files.read(*path, limits::kDocumentBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return;
  const auto entries = text ? hook::read_entries(place.client, *path, *text) : std::unexpected(text.error());
  if (!entries) {
    Error error = entries.error();
    error.remedy.clear();
    result.findings.push_back({Health::kWrong, error.to_string(), "Mend the file; the client cannot read it either"});
    return;
  }
  for (const NamedEntry& each : *entries) {
    const std::string remedy =
        fmt::format("signalbox mcp install --client {}{}{}", word_of(place.client), flag_of(place.scope),
                    each.name == "signalbox" ? "" : " --name " + each.name);
    if (!hook::looks_like_ours(each.entry)) continue;
    result.has_ours = true;
    result.findings.push_back(each.entry.url.empty() ? check_program(patient, *path, each.entry.command, remedy)
                                                     : check_address(*path, each.entry.url));
  }
}

Findings check_client(const Patient& patient, Client client, std::string_view program) {
  const std::string found = program_in_path(patient.seams, program);
  Configured result;
  for (const Scope scope : scopes(patient)) look_into(patient, {client, scope, patient.project}, result);
  if (!found.empty() && !result.has_ours) {
    result.findings.push_back({Health::kNote, fmt::format("{} does not know Signalbox", found),
                               fmt::format("signalbox mcp install --client {}", word_of(client))});
  } else if (found.empty() && !result.has_ours) {
    result.findings.push_back({Health::kOk, "not installed"});
  } else if (found.empty()) {
    result.findings.push_back({Health::kNote, fmt::format("{} is not in PATH", program)});
  }
  return std::move(result.findings);
}

void look_at_hooks(const Patient& patient, Scope scope, Findings& findings) {
  const auto hooks = hook::find_hooks(patient.seams.files, patient.seams.environment, scope, patient.project);
  const std::string remedy = fmt::format("signalbox hook install{}", flag_of(scope));
  if (!hooks) {
    Error error = hooks.error();
    error.remedy.clear();
    findings.push_back({Health::kWrong, error.to_string(), "Mend the file; the client cannot read it either"});
    return;
  }
  for (const std::string& program : hooks->programs) {
    const bool is_there = patient.seams.files.kind(program) == FileKind::kFile && ::access(program.c_str(), X_OK) == 0;
    if (is_there) {
      findings.push_back({Health::kOk, fmt::format("{} calls {}", hooks->path, program)});
    } else {
      findings.push_back({Health::kWrong,
                          fmt::format("{} calls {}, which is not there or cannot be run", hooks->path, program),
                          remedy});
    }
  }
  if (!hooks->is_complete) {
    findings.push_back(
        {Health::kWrong, fmt::format("{} lacks some of the hooks of this version", hooks->path), remedy});
  }
}

}  // namespace

Findings check_claude_code(const Patient& patient) {
  return check_client(patient, Client::kClaudeCode, "claude");
}

Findings check_codex(const Patient& patient) {
  return check_client(patient, Client::kCodex, "codex");
}

Findings check_hooks(const Patient& patient) {
  Findings findings;
  for (const Scope scope : scopes(patient)) look_at_hooks(patient, scope, findings);
  if (!findings.empty()) return findings;
  if (program_in_path(patient.seams, "claude").empty()) return {{Health::kOk, "none, and no Claude Code"}};
  return {{Health::kNote, "Claude Code does not call signalbox-hook", "signalbox hook install"}};
}

}  // namespace sb::cli
