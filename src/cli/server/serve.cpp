// `signalbox serve`: the MCP server for many clients over HTTP, and its bearer tokens.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

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
  bool is_revoked = false;
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

Status change_token(const Context& context, const ServeOptions& options) {
  inbox::ClientTokens tokens(context.seams.files, SB_TRY(homes(context.seams.environment)));
  if (!options.is_revoked) {
    const std::string token = SB_TRY(tokens.make(options.token_name, context.seams.clock, context.seams.random));
    context.err("Shown once; clients send it as `Authorization: Bearer TOKEN`:\n");
    context.out(token + "\n");
    return {};
  }
  if (!SB_TRY(tokens.revoke(options.token_name))) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no token named {}", quote_json(options.token_name)));
  }
  context.err(fmt::format("Token {} revoked\n", quote_json(options.token_name)));
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
  auto* token = app.add_subcommand("token", "Create or revoke a client's token");
  token->add_option("NAME", options->token_name, "The client that uses it")->required();
  token->add_flag("--revoke", options->is_revoked, "Revoke the token");
  return [&app, token, options](Context& context) {
    if (options->address == "localhost") options->address = "127.0.0.1";
    const Status done = app.got_subcommand(token) ? change_token(context, *options) : serve(context, *options);
    return done ? kExitOk : report(context, done.error());
  };
}

}  // namespace sb::cli
