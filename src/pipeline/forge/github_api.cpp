#include "pipeline/forge/github_api.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "agent/secrets/redact.hpp"
#include "agent/secrets/secret_value.hpp"
#include "base/document/document.hpp"
#include "base/text.hpp"
#include "pipeline/git/git.hpp"

namespace sb::pipeline {
namespace {

constexpr std::size_t kAnswerBytes = 8u << 20;
constexpr std::size_t kMessageBytes = 500;
constexpr std::size_t kPageItems = 100;
constexpr std::int64_t kSecondaryWaitMs = 60'000;  // what GitHub asks for if it gives no time
constexpr std::int64_t kMostWaitMs = 3'600'000;

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::unexpected<Error> unavailable(std::string message, std::string remedy = {}) {
  return std::unexpected(Error{ErrorCode::kUnavailable, std::move(message), std::move(remedy), {}, true});
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "127.0.0.1" || host == "[::1]";
}

bool is_rate_limit(const net::ClientResponse& answer, const std::string& message) {
  if (answer.status == 429) return true;
  if (answer.status != 403) return false;
  return answer.header("x-ratelimit-remaining") == "0" || !answer.header("retry-after").empty() ||
         message.find("rate limit") != std::string::npos || message.find("abuse") != std::string::npos;
}

std::int64_t wait_asked_for(const net::ClientResponse& answer, TimestampMs now) {
  if (const auto seconds = number_of(answer.header("retry-after")))
    return std::min(*seconds, kMostWaitMs / 1000) * 1000;
  // Until the hourly allowance is reset; a secondary limit is independent of it.
  const auto reset =
      answer.header("x-ratelimit-remaining") == "0" ? number_of(answer.header("x-ratelimit-reset")) : std::nullopt;
  if (reset && *reset < (1LL << 40)) return std::clamp<std::int64_t>(*reset * 1000 - now, 1'000, kMostWaitMs);
  return kSecondaryWaitMs;
}

// GitHub's message, without secrets and control characters.
std::string message_in(const Value& body, std::string token) {
  std::string text = body.string_at("message").value_or("");
  if (const Value* errors = body.find("errors"); errors && errors->is_array()) {
    for (const Value& error : errors->items()) {
      const std::string one = error.is_string() ? error.as_string() : error.string_at("message").value_or("");
      if (!one.empty()) text += (text.empty() ? "" : ": ") + one;
    }
  }
  return shortened(agent::Redactor({std::move(token)}).clean(shown(text)), kMessageBytes);
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          std::string_view("-._~").find(c) != std::string_view::npos;
    if (is_plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

Result<std::string> GithubApi::token() const {
  std::string value = SB_TRY(agent::secret_of(token_, seams_));
  if (value.empty()) {
    return fail(ErrorCode::kForbidden, "no token for GitHub is configured",
                "Set forge: {kind: github, token: $GITHUB_TOKEN} in signalbox.yaml, and the variable");
  }
  return value;
}

Result<GithubResponse> GithubApi::send(const std::string& method, const std::string& path, const Value& body,
                                       std::vector<int> accepted_codes) {
  retry_after_ms_ = 0;
  if (!url_.starts_with("https://") && !is_loopback(host_of_url(url_))) {
    return fail(ErrorCode::kForbidden, fmt::format("the token is not sent to {} in the clear", shown(url_)),
                "Use https:// in forge: {url: …}");
  }
  net::ClientRequest request{.method = method,
                             .url = url_ + path,
                             .headers = {{"Accept", "application/vnd.github+json"},
                                         {"Authorization", "Bearer " + SB_TRY(token())},
                                         {"User-Agent", "signalbox"},
                                         {"X-GitHub-Api-Version", "2022-11-28"}},
                             .idle_ms = 60'000,
                             .total_ms = 120'000,
                             .max_bytes = kAnswerBytes};
  if (!body.is_null()) {
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = to_json(body);
  }
  const std::string what = fmt::format("GitHub {} {}", method, shown(path.substr(0, path.find('?'))));
  const auto sent = http_.send(request);
  if (sent) return read(*sent, what, accepted_codes);
  using Kind = net::ClientFailure::Kind;
  const std::string why = sent.error().error.message;
  switch (sent.error().kind) {
    case Kind::kRequest:
      return fail(ErrorCode::kInvalid, fmt::format("{}: {}", what, why));
    case Kind::kTooLarge:
      return fail(ErrorCode::kInvalid, fmt::format("{}: the response is larger than {} MiB", what, kAnswerBytes >> 20));
    case Kind::kUnreachable:
    case Kind::kLost:
    case Kind::kTimeout:
    case Kind::kStopped:
      break;
  }
  return unavailable(fmt::format("{}: {}", what, why));
}

Result<GithubResponse> GithubApi::read(const net::ClientResponse& answer, const std::string& what,
                                       const std::vector<int>& accepted_codes) {
  GithubResponse got{.status = answer.status};
  auto parsed = answer.body.empty() ? Result<Value>(Value()) : parse_json(answer.body);
  if (parsed) got.body = std::move(*parsed);
  got.message = message_in(got.body, token().value_or(""));
  const bool is_fine = (answer.status >= 200 && answer.status < 300) ||
                       std::ranges::find(accepted_codes, answer.status) != accepted_codes.end();
  if (!is_fine) return refusal(answer, got, what);
  if (!parsed) return fail(ErrorCode::kInvalid, fmt::format("{}: the response is not JSON", what));
  return got;
}

std::unexpected<Error> GithubApi::refusal(const net::ClientResponse& answer, const GithubResponse& got,
                                          const std::string& what) {
  const std::string said = got.message.empty() ? fmt::format("status {}", answer.status) : got.message;
  const std::string text = fmt::format("{}: {}", what, said);
  if (is_rate_limit(answer, said)) {
    retry_after_ms_ = wait_asked_for(answer, seams_.clock.now_ms());
    return unavailable(fmt::format("{} (asks to wait {} s)", text, retry_after_ms_ / 1000));
  }
  switch (answer.status) {
    case 401:
      return fail(ErrorCode::kForbidden, text, "The token is invalid or has expired; create a new one");
    case 403:
      return fail(ErrorCode::kForbidden, text, "The token lacks a permission: contents, pull requests, issues");
    case 404:
      return fail(ErrorCode::kNotFound, text, "It does not exist, or the token has no access to it");
    case 405:
    case 409:
    case 422:
      return fail(ErrorCode::kConflict, text);
    default:
      break;
  }
  if (answer.status >= 300 && answer.status < 400) {
    return fail(ErrorCode::kInvalid, fmt::format("{}: the repository has moved", what),
                "Set its new name in forge: {repository: …}");
  }
  if (answer.status >= 500 || answer.status == 408) return unavailable(text);
  return fail(ErrorCode::kInvalid, text);
}

Result<std::vector<Value>> GithubApi::pages(const std::string& path, std::string_view member, std::size_t max_items) {
  std::vector<Value> items;
  for (int page = 1;; ++page) {
    GithubResponse answer = SB_TRY(send("GET", fmt::format("{}&per_page={}&page={}", path, kPageItems, page)));
    Value* list = member.empty() ? &answer.body : answer.body.find(member);
    if (!list || !list->is_array()) {
      return fail(ErrorCode::kInvalid, fmt::format("GitHub GET {}: the response is not a list", shown(path)));
    }
    const std::size_t count = list->items().size();
    for (Value& item : list->items()) items.push_back(std::move(item));
    if (items.size() > max_items) {
      return fail(ErrorCode::kLimit, fmt::format("GitHub GET {}: more than {} entries", shown(path), max_items));
    }
    if (count < kPageItems) return items;
  }
}

}  // namespace sb::pipeline
