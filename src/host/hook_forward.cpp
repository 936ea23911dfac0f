#include "host/hook_forward.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "net/http_client.hpp"

namespace sb::host {
namespace {

constexpr int kRefuses = 2;  // what hooks of Claude Code and Codex exit with to refuse a call
constexpr std::int64_t kHostMs = 30'000;

Result<std::string> host_answer(const Seams& seams) {
  const std::string url = seams.environment.get("SIGNALBOX_HOOK_URL").value_or("");
  const std::string token = seams.environment.get("SIGNALBOX_PLACE_TOKEN").value_or("");
  if (url.empty() || token.empty()) {
    return fail(ErrorCode::kInvalid, "forward-hook is for agent programs that Signalbox started",
                "Use signalbox-hook for other clients");
  }
  net::ClientRequest request{
      .method = "POST", .url = url, .body = SB_TRY(seams.streams.read_input(limits::kHookEventBytes))};
  request.headers = {{"Content-Type", "application/json"}, {"Authorization", "Bearer " + token}};
  request.total_ms = request.idle_ms = kHostMs;
  const auto answer = net::make_http_client()->send(request);
  if (!answer) return std::unexpected(answer.error().error);
  if (answer->status != 200) return fail(ErrorCode::kIo, fmt::format("{} answered {}", url, answer->status));
  return answer->body;
}

}  // namespace

int forward_hook(const Seams& seams) {
  const auto answer = host_answer(seams);
  if (!answer) {
    seams.streams.err(
        fmt::format("Signalbox: this call could not be checked, so it is refused: {}\n", answer.error().to_string()));
    return kRefuses;
  }
  seams.streams.out(*answer);
  return seams.streams.flush() ? 0 : kRefuses;
}

}  // namespace sb::host
