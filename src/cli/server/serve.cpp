// `signalbox serve`: the MCP server for many clients over HTTP, and its bearer tokens.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/text/printable.hpp"
#include "cli/command.hpp"
#include "cli/server/mcp_commands.hpp"
#include "host/hook_path.hpp"
#include "inbox/client_tokens.hpp"
#include "mcp/http/http_server.hpp"
#include "mcp/tools/signalbox_server.hpp"
#include "net/limits.hpp"
#include "sandbox/sandbox.hpp"

namespace sb::cli {
namespace {

struct ServeOptions {
  int port = kServePort;
  std::string address = "127.0.0.1";
  std::vector<std::string> hosts;
  std::string token_file;
  bool is_json = false;
  std::string token_name;
  bool replaces = false;
};

std::string url_of(const ServeOptions& options, int port) {
  const bool is_v6 = options.address.find(':') != std::string::npos;
  return fmt::format("http://{}:{}/mcp", is_v6 ? "[" + options.address + "]" : options.address, port);
}

void print_address(const Context& context, const ServeOptions& options, int port) {
  const std::string url = url_of(options, port);
  context.err(fmt::format("Listening on {}\n", url));
  if (!options.is_json) return;
  context.out(to_json(Value::object({{"url", url}, {"port", port}})) + "\n");
  (void)context.streams().flush();
}

// Each connection is an open file, and the default limit is too low for many connections.
void allow_many_connections() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = std::max(files.rlim_cur, std::min<rlim_t>(files.rlim_max, net::limits::kConnections + 256));
  ::setrlimit(RLIMIT_NOFILE, &files);
}

Status check_host(const std::string& host) {
  // One colon means a port; an IPv6 address has more.
  if (std::ranges::count(host, ':') != 1 && host.find_first_of("/ ") == std::string::npos && !host.empty()) return {};
  return fail(ErrorCode::kInvalid, fmt::format("--host takes only a name or address, not {}", quote_json(host)),
              "Remove the port and http://");
}

// The names under which clients reach a server that is not on loopback.
std::vector<std::string> own_names() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return {};
  return {name};
}

// For a client without a valid token.
std::string token_advice(const std::string& port) {
  return fmt::format(
      "Set up a client with: signalbox mcp install --client claude-code --port {}; for other programs: signalbox serve "
      "token NAME",
      port);
}

std::optional<mcp::Caller> caller_with(inbox::ClientTokens& tokens, std::string_view token) {
  auto holder = tokens.holder_of(token);
  if (!holder) return std::nullopt;
  // A client that was set up on this machine belongs to its user; another token may be used from anywhere.
  return mcp::Caller{.principal = std::move(holder->name),
                     .is_local_user = holder->is_installed_client,
                     .is_installed_client = holder->is_installed_client};
}

Status serve(const Context& context, const ServeOptions& options) {
  for (const std::string& host : options.hosts) SB_TRY(check_host(host));
  inbox::ClientTokens tokens(context.seams.files, SB_TRY(homes(context.seams.environment)));
  SB_TRY(tokens.load());
  if (!options.token_file.empty()) SB_TRY(tokens.load_token_file(options.token_file));
  tokens.note_uses(context.seams.clock);
  allow_many_connections();

  net::EventLoop loop;
  host::HookEndpoint hook(
      loop, [&tokens](std::string_view token) { return tokens.holder_of(token).has_value(); },
      host::answer_as_program(context.seams));
  mcp::HttpOptions http{.address = options.address, .port = options.port, .hosts = options.hosts};
  http.fallback = [&hook](net::HttpRequest request, const net::ExchangePtr& exchange) {
    hook.handle(std::move(request), exchange);
  };
  // On loopback the first token may also be created later.
  const bool is_loopback = net::HttpListener(loop, {.address = options.address}, {}).is_loopback();
  if (!tokens.empty() || is_loopback) {
    http.bearer = [&tokens](std::string_view token) { return caller_with(tokens, token); };
    http.token_advice = token_advice(options.port == 0 ? std::string("P") : std::to_string(options.port));
  }
  if (!is_loopback) std::ranges::copy(own_names(), std::back_inserter(http.hosts));
  mcp::HttpServer server(loop, mcp::make_server_parts(context.seams), std::move(http));
  if (auto opened = server.open(); !opened) {
    if (opened.error().code == ErrorCode::kForbidden) {
      opened.error().remedy = "Create one with `signalbox serve token NAME`, or pass --token-file";
    }
    return opened;
  }
  if (::geteuid() == 0) context.err(fmt::format("Warning: {}\n", sandbox::kRootWarning));
  print_address(context, options, server.port());
  if (tokens.empty())
    context.err(fmt::format("No client has a token yet. {}\n", token_advice(std::to_string(server.port()))));
  loop.on_stop_signal([&] { server.close([&loop] { loop.stop(); }); });
  loop.run();
  // A running handler could delay the exit indefinitely; what it stores is committed completely or not at all.
  if (server.has_work()) std::_Exit(kExitOk);
  return {};
}

Result<inbox::ClientTokens> own_tokens(const Context& context) {
  inbox::ClientTokens tokens(context.seams.files, SB_TRY(homes(context.seams.environment)));
  SB_TRY(tokens.load());
  return tokens;
}

Status make_token(const Context& context, const ServeOptions& options) {
  if (options.token_name.empty())
    return fail(ErrorCode::kInvalid, "the token needs a name", "signalbox serve token NAME");
  auto tokens = SB_TRY(own_tokens(context));
  const std::string token =
      SB_TRY(tokens.make(options.token_name, context.seams.clock, context.seams.random, options.replaces));
  context.err("Shown once; clients send it as `Authorization: Bearer TOKEN`:\n");
  context.out(token + "\n");
  return {};
}

Status revoke_token(const Context& context, const ServeOptions& options) {
  auto tokens = SB_TRY(own_tokens(context));
  if (!SB_TRY(tokens.revoke(options.token_name))) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no token named {}", quote_json(options.token_name)),
                "List them: signalbox serve token list");
  }
  context.err(fmt::format("Token {} revoked\n", quote_json(options.token_name)));
  return {};
}

Status list_tokens(const Context& context, const ServeOptions& options) {
  const std::vector<inbox::TokenFacts> all = SB_TRY(own_tokens(context)).list();
  if (options.is_json) {
    Value rows = Value::array();
    for (const inbox::TokenFacts& one : all) {
      Value row =
          Value::object({{"name", one.name}, {"made_at", one.made_at}, {"last_used", Value()}, {"client", Value()}});
      if (!one.last_used.empty()) row.set("last_used", one.last_used);
      if (one.client) row.set("client", one.client->config);
      rows.push_back(std::move(row));
    }
    context.out(to_json(Value::object({{"tokens", rows}})) + "\n");
    return {};
  }
  if (all.empty()) context.out("There are no tokens.\n");
  for (const inbox::TokenFacts& one : all) {
    const std::string used = one.last_used.empty() ? std::string("never used") : "used " + one.last_used;
    const std::string client = !one.client                  ? std::string()
                               : one.client->config.empty() ? std::string("  for a client")
                                                            : "  for " + one.client->config;
    context.out(fmt::format("{}  made {}  {}{}\n", one.name, one.made_at, used, printable(client)));
  }
  return {};
}

}  // namespace

Action declare_serve(App& app) {
  auto options = std::make_shared<ServeOptions>();
  app.add_option("--port", options->port, "Port to listen on; 0 picks a free one (default 3917)")->range(0, 65535);
  app.add_option("--bind", options->address, "Address to listen on (default 127.0.0.1)");
  app.add_option("--host", options->hosts, "Another host name clients may use; may be repeated");
  app.add_option("--token-file", options->token_file, "File (mode 0600) with one `NAME TOKEN` per line");
  app.add_flag("--json", options->is_json, "Print the address as one line of JSON");
  app.require_subcommand(0, 1);
  auto* token = app.add_subcommand("token", "Create a client's token, or list or revoke tokens");
  token->require_subcommand(0, 1);
  token->add_option("NAME", options->token_name, "The client that uses it");
  token->add_flag("--replace", options->replaces, "Replace a token with this name; the old one becomes invalid");
  auto* list = token->add_subcommand("list", "List the tokens and when each was last used");
  list->add_flag("--json", options->is_json, "Print JSON");
  auto* revoke = token->add_subcommand("revoke", "Revoke a token, also in running servers");
  revoke->add_option("NAME", options->token_name, "The token's name")->required();
  return [&app, token, list, revoke, options](Context& context) {
    if (options->address == "localhost") options->address = "127.0.0.1";
    const auto run = !app.got_subcommand(token)      ? serve
                     : token->got_subcommand(list)   ? list_tokens
                     : token->got_subcommand(revoke) ? revoke_token
                                                     : make_token;
    const Status done = run(context, *options);
    return done ? kExitOk : report(context, done.error());
  };
}

}  // namespace sb::cli
