// `signalbox mcp install|uninstall`: adds Signalbox to the configuration of MCP clients, and removes it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/person.hpp"
#include "cli/server/mcp_commands.hpp"
#include "hook/install/client_config.hpp"
#include "hook/install/hook_settings.hpp"
#include "hook/project_folder.hpp"
#include "inbox/client_tokens.hpp"

namespace sb::cli {
namespace {

using hook::Client;
using hook::ClientTarget;
using hook::InstallScope;
using hook::ServerEntry;

struct InstallOptions {
  std::string client;
  std::string name = "signalbox";
  std::string url;
  std::string token_env;
  int port = 0;
  bool is_user = false;
  bool is_project = false;
  bool only_prints = false;
};

// A client that has no configuration we know: its entry is printed, with its secret, for the user to paste.
constexpr std::string_view kOther = "other";

// `writes`: the command writes into the project, so there must be one.
Result<ClientTarget> place_of(const Seams& seams, const InstallOptions& options, bool writes) {
  const hook::ClientRow* client = hook::find_client(options.client);
  if (client == nullptr) {
    return fail(ErrorCode::kInvalid, fmt::format("unknown client {}", quote_json(options.client)),
                fmt::format("Use one of {}, {}", fmt::join(hook::client_words(), ", "), kOther));
  }
  if (!hook::is_server_name(options.name)) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is not a valid server name", quote_json(options.name)),
                "Use at most 64 letters, digits, - and _");
  }
  const std::string here = SB_TRY(seams.files.canonical("."));
  std::string project = writes ? SB_TRY(hook::find_writable_project(seams.files, seams.environment, here))
                               : hook::find_project(seams.files, seams.environment, here);
  return ClientTarget{client->client, options.is_project ? InstallScope::kProject : InstallScope::kUser,
                      std::move(project)};
}

Status check_url(const std::string& url) {
  const std::size_t scheme = url.starts_with("http://") ? 7 : url.starts_with("https://") ? 8 : 0;
  const bool has_odd = std::ranges::any_of(url, [](unsigned char c) { return c <= 0x20 || c >= 0x7f || c == '"'; });
  const bool has_host = url.size() > scheme && url[scheme] != '/' && url[scheme] != ':';
  if (scheme > 0 && has_host && !has_odd) return {};
  return fail(ErrorCode::kInvalid, fmt::format("{} is not a valid server URL", quote_json(url)),
              "Use the form http://127.0.0.1:PORT/mcp");
}

Status check_variable(const std::string& name) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (std::ranges::all_of(name, is_part) && (name.empty() || name.front() > '9')) return {};
  return fail(ErrorCode::kInvalid, fmt::format("{} is not a valid variable name", quote_json(name)),
              "The token itself is never written into a configuration; put it into a variable and name that variable");
}

bool is_on_this_machine(const ServerEntry& entry) {
  return entry.url.empty() || hook::is_signalbox_entry(entry);
}

// A connection within this machine carries a secret of ours, unless the user manages the token. One that is shared with
// a project's other people must not contain any.
Result<bool> needs_secret(const InstallOptions& options, const ServerEntry& entry) {
  if (!entry.token_env.empty() || !is_on_this_machine(entry)) return false;
  if (!options.is_project) return true;
  if (entry.url.empty()) return false;
  return fail(ErrorCode::kInvalid, "a project's configuration may be shared, so it cannot contain a token",
              "Omit --project, or add --token-env VAR and set VAR to the output of signalbox serve token NAME");
}

Result<ServerEntry> wanted_entry(const Files& files, const InstallOptions& options, Client client) {
  SB_TRY(check_variable(options.token_env));
  SB_TRY(hook::check_entry(client, {.command = "", .args = {}, .url = "", .token_env = options.token_env}));
  if (options.port != 0) {
    return ServerEntry{"", {}, fmt::format("http://127.0.0.1:{}/mcp", options.port), options.token_env};
  }
  if (!options.url.empty()) {
    SB_TRY(check_url(options.url));
    return ServerEntry{"", {}, options.url, options.token_env};
  }
  if (!options.token_env.empty()) {
    return fail(ErrorCode::kInvalid, "--token-env needs a server to connect to", "Add --url or --port");
  }
  return hook::program_entry(client, SB_TRY(files.canonical("/proc/self/exe")));
}

std::string_view project_advice(Client client) {
  if (client == Client::kClaudeCode)
    return "Claude Code asks you to approve the server when it next starts in this project.\n";
  if (client == Client::kCodex) return "Codex reads it only in trusted projects; it asks when it starts in one.\n";
  return "";
}

bool has_hooks(const Context& context, const ClientTarget& place) {
  const auto hooks =
      hook::find_hooks(context.seams.files, context.seams.environment, place.client, place.scope, place.project);
  return hooks && !hooks->programs.empty();
}

// Prints what the user must or may do next.
void print_next_step(const Context& context, const ClientTarget& place, const ServerEntry& entry) {
  const hook::ClientRow& row = hook::row_of(place.client);
  const bool is_project = place.scope == InstallScope::kProject;
  if (!entry.url.empty()) context.out("The client can connect while `signalbox serve` runs.\n");
  const std::string_view advice = is_project ? project_advice(place.client) : "";
  context.out(advice.empty() ? fmt::format("Restart {} to use it.\n", row.name) : std::string(advice));
  if (is_project && entry.url.empty()) {
    context.out(
        fmt::format("Questions to a person go to the inbox: this file may be shared, so it contains no secret. To "
                    "answer them in the client, install it for you: signalbox mcp install --client {}\n",
                    row.word));
  }
  if ((is_project ? row.hooks.project : row.hooks.user).empty() || has_hooks(context, place)) return;
  context.out(fmt::format("To check questions and enforce steps, install the hooks: {}\n",
                          hook::hook_install_command(place.client, place.scope)));
}

void print_config_backup(const Context& context, const hook::InstallResult& changed) {
  if (!changed.backup.empty()) context.out(fmt::format("Backup of the old configuration: {}\n", changed.backup));
}

Status check_other(const InstallOptions& options) {
  if (options.is_project || options.name == InstallOptions().name || !hook::is_server_name(options.name)) {
    return fail(ErrorCode::kInvalid, "--client other needs --name, the name of the client, and no --project",
                "For example --client other --name zed");
  }
  return {};
}

// The entry is printed in the form that most clients read; only `env` and `headers` matter.
Status install_other(const Context& context, const InstallOptions& options) {
  SB_TRY(check_other(options));
  ServerEntry entry = SB_TRY(wanted_entry(context.seams.files, options, Client::kClaudeCode));
  if (!SB_TRY(needs_secret(options, entry))) {
    return fail(ErrorCode::kInvalid, "for a server on another machine there is nothing to install",
                "Create a token there: signalbox serve token NAME");
  }
  if (options.only_prints) {
    entry.secret = "SECRET-MADE-BY-INSTALL";
  } else {
    SB_TRY(refuse_known_agents(context, "set up clients"));
    inbox::ClientTokens tokens(context.seams.files, SB_TRY(homes(context.seams.environment)));
    entry.secret =
        SB_TRY(tokens.make_for_client(options.name, {"", options.name}, context.seams.clock, context.seams.random));
    context.err(fmt::format(
        "Add this to the configuration of {}. The secret is shown once; an earlier one is revoked.\n", options.name));
  }
  context.out(hook::format_common_entry("signalbox", entry));
  return {};
}

Status uninstall_other(const Context& context, const InstallOptions& options) {
  SB_TRY(check_other(options));
  inbox::ClientTokens tokens(context.seams.files, SB_TRY(homes(context.seams.environment)));
  const bool was_revoked = SB_TRY(tokens.revoke_client({"", options.name}));
  context.out(was_revoked
                  ? fmt::format("The secret of {} is revoked; remove the entry from its configuration\n", options.name)
                  : fmt::format("{} has no secret; nothing changed\n", options.name));
  return {};
}

// The secret that the entry has, if it is valid; else a new one.
hook::SecretSource secret_source(const Context& context, inbox::ClientTokens& tokens, const InstallOptions& options) {
  return [&](const std::string& path, const std::string& present) -> Result<std::string> {
    const inbox::ClientPlace place{path, options.name};
    if (!present.empty() && tokens.is_secret_of(place, present)) return present;
    return tokens.make_for_client(options.client, place, context.seams.clock, context.seams.random);
  };
}

Status install(const Context& context, const InstallOptions& options) {
  if (options.client == kOther) return install_other(context, options);
  const ClientTarget place = SB_TRY(place_of(context.seams, options, options.is_project));
  ServerEntry entry = SB_TRY(wanted_entry(context.seams.files, options, place.client));
  const bool has_secret = SB_TRY(needs_secret(options, entry));
  if (options.only_prints) {
    if (has_secret) entry.secret = "SECRET-MADE-BY-INSTALL";
    context.err(fmt::format("For {}:\n", SB_TRY(hook::config_path(place, context.seams.environment))));
    context.out(hook::format_entry(place.client, options.name, entry));
    return {};
  }
  inbox::ClientTokens tokens(context.seams.files, SB_TRY(homes(context.seams.environment)));
  const hook::InstallResult changed =
      SB_TRY(hook::install_server(context.seams, place, options.name, entry,
                                  has_secret ? secret_source(context, tokens, options) : hook::SecretSource()));
  // The secret that an earlier install wrote is no longer there.
  if (!has_secret) SB_TRY(tokens.revoke_client({changed.path, options.name}));
  if (!changed.is_changed) {
    context.out(fmt::format("Already installed in {}; nothing changed\n", changed.path));
    return {};
  }
  context.out(fmt::format("Installed as {} in {}\n", quote_json(options.name), changed.path));
  print_config_backup(context, changed);
  print_next_step(context, place, entry);
  return {};
}

Status uninstall(const Context& context, const InstallOptions& options) {
  if (options.client == kOther) return uninstall_other(context, options);
  const ClientTarget place = SB_TRY(place_of(context.seams, options, false));
  const hook::InstallResult changed = SB_TRY(hook::uninstall_server(context.seams, place, options.name));
  // Also if the entry was removed by hand.
  inbox::ClientTokens tokens(context.seams.files, SB_TRY(homes(context.seams.environment)));
  const bool was_revoked = SB_TRY(tokens.revoke_client({changed.path, options.name}));
  context.out(changed.is_changed ? fmt::format("Removed from {}\n", changed.path)
              : was_revoked      ? fmt::format("No longer in {}; its secret was revoked\n", changed.path)
                                 : fmt::format("Not installed in {}; nothing changed\n", changed.path));
  print_config_backup(context, changed);
  return {};
}

void add_place(App& app, InstallOptions& options) {
  app.add_option("--client", options.client, fmt::format("{} or {}", fmt::join(hook::client_words(), ", "), kOther))
      ->required();
  auto* user = app.add_flag("--user", options.is_user, "In the user's configuration (the default)");
  app.add_flag("--project", options.is_project, "In the configuration of the project that contains this folder")
      ->excludes(user);
  app.add_option("--name", options.name, "The server's name in the configuration")->shows_default();
}

Subcommand command(App& app, const std::shared_ptr<InstallOptions>& options,
                   Status (*work)(const Context&, const InstallOptions&)) {
  return {&app, [options, work](Context& context) {
            const Status done = work(context, *options);
            return done ? kExitOk : report(context, done.error());
          }};
}

}  // namespace

Subcommand declare_mcp_install(App& mcp) {
  auto options = std::make_shared<InstallOptions>();
  auto* app = mcp.add_subcommand("install", "Add Signalbox to a client's configuration");
  add_place(*app, *options);
  auto* url = app->add_option("--url", options->url, "Connect to this server instead of starting the program");
  app->add_option("--port", options->port, "Connect to `signalbox serve` on this machine at this port")
      ->range(1, 65535)
      ->excludes(url);
  app->add_option("--token-env", options->token_env, "The environment variable that holds the bearer token");
  app->add_flag("--print", options->only_prints, "Only print what would be written");
  return command(*app, options, install);
}

Subcommand declare_mcp_uninstall(App& mcp) {
  auto options = std::make_shared<InstallOptions>();
  auto* app = mcp.add_subcommand("uninstall", "Remove exactly what install wrote");
  add_place(*app, *options);
  return command(*app, options, uninstall);
}

}  // namespace sb::cli
