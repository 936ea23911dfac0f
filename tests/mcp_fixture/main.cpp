// signalbox-mcp-fixture --port P: src/mcp over HTTP on loopback, with everything the public conformance suite calls.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>
#include <string_view>

#include "fixture_service.hpp"
#include "mcp/http/http_server.hpp"

namespace {

// Port 0 picks a free one. Nothing for arguments other than `--port P`.
std::optional<int> port_of(int count, char** arguments) {
  if (count != 3 || std::string_view(arguments[1]) != "--port") return {};
  char* end = nullptr;
  const long port = std::strtol(arguments[2], &end, 10);
  if (end == arguments[2] || *end != '\0' || port < 0 || port > 65'535) return {};
  return static_cast<int>(port);
}

}  // namespace

int main(int count, char** arguments) {
  const auto port = port_of(count, arguments);
  if (!port) {
    fmt::print(stderr, "usage: signalbox-mcp-fixture --port P\n");
    return 2;
  }
  sb::SystemClock clock;
  sb::SystemRandom random;
  sb::fixture::FixtureLists lists;
  std::mutex mutex;
  std::set<std::string, std::less<>> used;
  sb::mcp::ServerParts parts{
      .facts = {.info = sb::Value::object({{"name", "signalbox-mcp-fixture"}, {"version", SIGNALBOX_VERSION}}),
                .instructions = "For the conformance suite.",
                .has_resources = true,
                .has_prompts = true,
                .has_completions = true,
                .has_logging = true},
      .make_service = [&lists] { return std::make_unique<sb::fixture::FixtureService>(lists); },
      .seal_key = [key = random.bytes(32)] { return key; },
      .is_first_use = [&](std::string_view nonce, sb::TimestampMs) -> sb::Result<bool> {
        const std::scoped_lock lock(mutex);
        return used.emplace(nonce).second;
      },
      .clock = clock,
      .random = random};
  sb::net::EventLoop loop;
  sb::mcp::HttpServer server(loop, std::move(parts), {.port = *port});
  if (const sb::Status opened = server.open(); !opened) {
    fmt::print(stderr, "signalbox-mcp-fixture: {}\n", opened.error().to_string());
    return 3;
  }
  loop.on_stop_signal([&] { server.close([&] { loop.stop(); }); });
  fmt::print("http://127.0.0.1:{}/mcp\n", server.port());
  std::fflush(stdout);
  loop.run();
  return 0;
}
