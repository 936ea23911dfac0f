// `signalbox serve`: the MCP server for many clients, over HTTP, and the tokens that let them in.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "cli/command.hpp"
#include "cli/server/mcp_commands.hpp"
#include "host/client_tokens.hpp"
#include "host/hook_path.hpp"
#include "mcp/http/http_server.hpp"
#include "mcp/tools/signalbox_server.hpp"
#include "net/limits.hpp"

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

// A stream each is a file each, and the usual limit was made for programs that have few.
void allow_many_connections() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = std::max(files.rlim_cur, std::min<rlim_t>(files.rlim_max, net::limits::kConnections + 256));
  ::setrlimit(RLIMIT_NOFILE, &files);
}

Status check_host(const std::string& host) {
  // One colon is a port; an address of the newer kind has more.
  if (std::ranges::count(host, ':') != 1 && host.find_first_of("/ ") == std::string::npos && !host.empty()) return {};
  return fail(ErrorCode::kInvalid, fmt::format("--host takes a name or address alone, not {}", quote_json(host)),
              "Leave the port and http:// away");
}

// What a server beyond loopback is called by.
std::vector<std::string> own_names() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return {};
  return {name};
}

Status serve(const Context& context, const ServeOptions& options) {
  for (const std::string& host : options.hosts) SB_TRY(check_host(host));
  host::ServeTokens tokens(context.seams.files, SB_TRY(homes(context.seams.environment)));
  SB_TRY(tokens.load());
  if (!options.token_file.empty()) SB_TRY(tokens.load_token_file(options.token_file));
  allow_many_connections();
  const auto name_of = [&tokens](std::string_view token) { return tokens.name_of(token); };

  net::EventLoop loop;
  host::HookEndpoint hook(loop, name_of, host::answer_as_program(context.seams));
  mcp::HttpOptions http{.address = options.address, .port = options.port, .hosts = options.hosts};
  http.fallback = [&hook](net::HttpRequest request, const net::ExchangePtr& exchange) {
    hook.handle(std::move(request), exchange);
  };
  // On loopback the first token may also be made later.
  const bool is_loopback = net::HttpListener(loop, {.address = options.address}, {}).is_loopback();
  if (!tokens.empty() || is_loopback) http.bearer = name_of;
  if (!is_loopback) std::ranges::copy(own_names(), std::back_inserter(http.hosts));
  mcp::HttpServer server(loop, mcp::make_server_parts(context.seams), std::move(http));
  if (auto opened = server.open(); !opened) {
    if (opened.error().code == ErrorCode::kForbidden) {
      opened.error().remedy = "Make one with `signalbox serve token NAME`, or bring some with --token-file";
    }
    return opened;
  }
  print_address(context, options, server.port());
  loop.on_stop_signal([&] { server.close([&loop] { loop.stop(); }); });
  loop.run();
  // A handler that still works would hold up the end for as long as it likes; what it stores is whole or not there.
  if (server.has_work()) std::_Exit(kExitOk);
  return {};
}

Status change_token(const Context& context, const ServeOptions& options) {
  host::ServeTokens tokens(context.seams.files, SB_TRY(homes(context.seams.environment)));
  if (!options.is_revoked) {
    const std::string token = SB_TRY(tokens.make(options.token_name, context.seams.clock, context.seams.random));
    context.err("Shown once; clients send it as `Authorization: Bearer TOKEN`:\n");
    context.out(token + "\n");
    return {};
  }
  if (!SB_TRY(tokens.revoke(options.token_name))) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no token named {}", quote_json(options.token_name)));
  }
  context.err(fmt::format("The token of {} lets nobody in any more\n", options.token_name));
  return {};
}

}  // namespace

Action declare_serve(App& app) {
  auto options = std::make_shared<ServeOptions>();
  app.add_option("--port", options->port, "Port to listen on; 0 takes a free one (default 3917)")->range(0, 65535);
  app.add_option("--bind", options->address, "Address to listen on (default 127.0.0.1); others need tokens");
  app.add_option("--host", options->hosts, "A further name clients may call it by; may be repeated");
  app.add_option("--token-file", options->token_file, "File of mode 0600 with a line `NAME TOKEN` each");
  app.add_flag("--json", options->is_json, "Say on the output where it listens, as one line of JSON");
  app.require_subcommand(0, 1);
  auto* token = app.add_subcommand("token", "Make a token that lets a client in, or take one away");
  token->add_option("name", options->token_name, "Who will use it")->required();
  token->add_flag("--revoke", options->is_revoked, "Let it count no more");
  return [&app, token, options](Context& context) {
    if (options->address == "localhost") options->address = "127.0.0.1";
    const Status done = app.got_subcommand(token) ? change_token(context, *options) : serve(context, *options);
    return done ? kExitOk : report(context, done.error());
  };
}

}  // namespace sb::cli
