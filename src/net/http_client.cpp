#include "net/http_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>

#include "base/text.hpp"
#include "net/curl_library.hpp"
#include "net/http_head.hpp"
#include "net/limits.hpp"

namespace sb::net {

namespace {

using Kind = ClientFailure::Kind;
using Instant = std::chrono::steady_clock::time_point;

constexpr std::size_t kKeptLines = 8;       // idle handles and their connections, kept for later requests
constexpr long kConnectionAgeSeconds = 50;  // servers close theirs after a minute or so
constexpr int kPollMs = 50;
constexpr std::int64_t kLookMs = 150;  // between calls of should_continue

std::unexpected<ClientFailure> failure(Kind kind, ErrorCode code, std::string message, std::string remedy = {}) {
  Error error{code, std::move(message), std::move(remedy), {}};
  error.is_retryable = kind == Kind::kUnreachable || kind == Kind::kLost || kind == Kind::kTimeout;
  return std::unexpected(ClientFailure{kind, std::move(error)});
}

std::int64_t ms_since(Instant start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
}

bool has_control(std::string_view text) {
  return std::ranges::any_of(text,
                             [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; });
}

// Parts of a URL: what error messages may show, and whether it names this machine.
struct Target {
  std::string place;  // host:port, as written
  bool is_loopback = false;
};

bool is_loopback_host(std::string_view host) {
  return host == "localhost" || host.ends_with(".localhost") || host.starts_with("127.") || host == "[::1]";
}

std::optional<Target> target_of(std::string_view url) {
  std::string_view rest = url;
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (to_lower(url.substr(0, scheme.size())) == scheme) rest = url.substr(scheme.size());
  }
  const bool is_plain =
      std::ranges::none_of(url, [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; });
  const std::string place = to_lower(rest.substr(0, rest.find_first_of("/?#\\")));
  if (rest.size() == url.size() || !is_plain || place.empty() || place.contains('@')) return std::nullopt;
  const std::size_t end = place.starts_with('[') ? place.find(']') + 1 : place.find(':');
  return Target{place, is_loopback_host(std::string_view(place).substr(0, end))};
}

std::expected<Target, ClientFailure> checked(const ClientRequest& request) {
  const auto refused = [](std::string message) {
    return failure(Kind::kRequest, ErrorCode::kInvalid, std::move(message));
  };
  if (!is_token(request.method)) return refused("Invalid request method");
  for (const auto& [name, value] : request.headers) {
    if (!is_token(name)) return refused("Invalid request header name");
    if (has_control(value))
      return refused(fmt::format("The header {} contains a line break or a control character", name));
  }
  auto target = target_of(request.url);
  if (!target) return refused("Not an http or https URL, or it contains spaces, line breaks or a password");
  return std::move(*target);
}

// State of one transfer, shared with the callbacks.
struct Transfer {
  const ClientRequest& request;
  ClientResponse answer = {};
  std::size_t sent = 0;      // of the request body
  std::size_t received = 0;  // of the response body
  std::size_t header_bytes = 0;
  curl_off_t uploaded = 0;
  bool has_headers = false;
  std::optional<Kind> broken = {};  // why we aborted
  Instant last_byte = std::chrono::steady_clock::now();

  void touch() { last_byte = std::chrono::steady_clock::now(); }
  bool is_streamed() const { return request.on_piece && answer.status >= 200 && answer.status < 300; }
};

std::size_t on_read(char* buffer, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::string& body = transfer.request.body;
  const std::size_t taken = std::min(size * count, body.size() - transfer.sent);
  if (taken > 0) std::memcpy(buffer, body.data() + transfer.sent, taken);
  transfer.sent += taken;
  return taken;
}

void take_status(std::string_view line, ClientResponse& answer) {
  answer = {};
  const std::size_t at = line.find(' ');
  for (std::size_t i = at + 1; at != std::string_view::npos && i < line.size() && i < at + 4; ++i) {
    if (line[i] < '0' || line[i] > '9') break;
    answer.status = answer.status * 10 + (line[i] - '0');
  }
}

std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  std::string_view line(bytes, size * count);
  transfer.touch();
  transfer.header_bytes += line.size();
  if (transfer.header_bytes > limits::kResponseHeaderBytes) {
    transfer.broken = Kind::kTooLarge;
    return 0;
  }
  const std::size_t whole = line.size();
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/") && (transfer.answer.status == 0 || transfer.has_headers)) {
    take_status(line, transfer.answer);
    transfer.has_headers = false;
  } else if (line.empty()) {
    transfer.has_headers = true;
  } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos && !transfer.has_headers) {
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
    while (!value.empty() && (value.back() == ' ' || value.back() == '\t')) value.remove_suffix(1);
    transfer.answer.headers.emplace_back(to_lower(line.substr(0, colon)), value);
  }
  return whole;
}

std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self) {
  auto& transfer = *static_cast<Transfer*>(self);
  const std::string_view piece(bytes, size * count);
  transfer.received += piece.size();
  if (transfer.received > transfer.request.max_bytes) {
    transfer.broken = Kind::kTooLarge;
    return 0;
  }
  if (!transfer.is_streamed()) {
    transfer.answer.body += piece;
  } else if (!transfer.request.on_piece(piece)) {
    transfer.broken = Kind::kStopped;
    return 0;
  }
  transfer.touch();
  return piece.size();
}

int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t uploaded) {
  auto& transfer = *static_cast<Transfer*>(self);
  if (uploaded != std::exchange(transfer.uploaded, uploaded)) transfer.touch();
  return 0;
}

// The headers for libcurl; headers that it would add by itself are disabled.
class HeaderList {
 public:
  HeaderList(const CurlLibrary& curl, const ClientRequest& request) : curl_(curl) {
    bool has_type = false, has_agent = false;
    for (const auto& [name, value] : request.headers) {
      add(value.empty() ? name + ";" : name + ": " + value);
      has_type |= to_lower(name) == "content-type";
      has_agent |= to_lower(name) == "user-agent";
    }
    add("Expect:");
    if (!has_type) add("Content-Type:");
    if (!has_agent) add("User-Agent: signalbox/" SIGNALBOX_VERSION);
  }
  ~HeaderList() { curl_.slist_free_all(list_); }
  HeaderList(const HeaderList&) = delete;
  curl_slist* get() const { return list_; }

 private:
  void add(const std::string& line) { list_ = curl_.slist_append(list_, line.c_str()); }
  const CurlLibrary& curl_;
  curl_slist* list_ = nullptr;
};

// A handle for one transfer at a time, with its kept connections.
struct Line {
  const CurlLibrary& curl;
  CURLM* multi;
  CURL* easy;
  explicit Line(const CurlLibrary& library) : curl(library), multi(library.multi_init()), easy(library.easy_init()) {}
  ~Line() {
    curl.easy_cleanup(easy);
    curl.multi_cleanup(multi);
  }
  Line(const Line&) = delete;
};

void set_up(Line& line, const ClientRequest& request, const Target& target, const HeaderList& headers,
            Transfer& transfer) {
  const auto set = [&](CURLoption option, auto value) { line.curl.easy_setopt(line.easy, option, value); };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_FOLLOWLOCATION, 0L);
  if (target.is_loopback) set(CURLOPT_PROXY, "");
  set(CURLOPT_MAXAGE_CONN, kConnectionAgeSeconds);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request.connect_ms));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(request.total_ms));
  set(CURLOPT_HTTPHEADER, headers.get());
  set(CURLOPT_HEADERFUNCTION, &on_header);
  set(CURLOPT_HEADERDATA, &transfer);
  set(CURLOPT_WRITEFUNCTION, &on_body);
  set(CURLOPT_WRITEDATA, &transfer);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, &on_progress);
  set(CURLOPT_XFERINFODATA, &transfer);
  if (request.method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
  } else if (request.method != "GET" || !request.body.empty()) {
    // The body is read piece by piece and cannot be rewound, so libcurl cannot resend it by itself when a kept
    // connection dies; it would do so even for requests that must not run twice. A request without a body needs a fresh
    // connection to get the same guarantee.
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_READFUNCTION, &on_read);
    set(CURLOPT_READDATA, &transfer);
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    if (request.body.empty()) set(CURLOPT_FRESH_CONNECT, 1L);
  }
}

// Runs until the transfer ends, the caller cancels, or a limit is exceeded.
CURLcode run(Line& line, Transfer& transfer) {
  const ClientRequest& request = transfer.request;
  line.curl.multi_add_handle(line.multi, line.easy);
  CURLcode code = CURLE_OK;
  Instant last_look = std::chrono::steady_clock::now();
  for (int running = 1; running > 0;) {
    if (line.curl.multi_perform(line.multi, &running) != CURLM_OK) {
      code = CURLE_FAILED_INIT;
      break;
    }
    if (running == 0) break;
    if (ms_since(transfer.last_byte) > request.idle_ms) {
      transfer.broken = Kind::kTimeout;
      break;
    }
    if (request.should_continue && ms_since(last_look) >= kLookMs) {
      if (!request.should_continue()) {
        transfer.broken = Kind::kStopped;
        break;
      }
      last_look = std::chrono::steady_clock::now();
    }
    line.curl.multi_poll(line.multi, nullptr, 0, kPollMs, nullptr);
  }
  int left = 0;
  while (const CURLMsg* message = line.curl.multi_info_read(line.multi, &left)) {
    if (message->msg == CURLMSG_DONE) code = message->data.result;
  }
  return code;
}

std::unexpected<ClientFailure> broken_off(Kind kind, const Target& target, const ClientRequest& request) {
  switch (kind) {
    case Kind::kTooLarge:
      return failure(kind, ErrorCode::kLimit, fmt::format("The response from {} is too large", target.place));
    case Kind::kStopped:
      return failure(kind, ErrorCode::kUnavailable, fmt::format("The request to {} was cancelled", target.place));
    default:
      return failure(Kind::kTimeout, ErrorCode::kUnavailable,
                     fmt::format("{} sent no data for {} ms", target.place, request.idle_ms));
  }
}

std::unexpected<ClientFailure> failed(CURLcode code, Line& line, const Transfer& transfer, const Target& target) {
  long request_bytes = 0;
  line.curl.easy_getinfo(line.easy, CURLINFO_REQUEST_SIZE, &request_bytes);
  const std::string why = line.curl.easy_strerror(code);
  if (request_bytes == 0 && (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL)) {
    return failure(Kind::kRequest, ErrorCode::kInvalid, fmt::format("Invalid URL for {}: {}", target.place, why));
  }
  if (request_bytes == 0) {
    return failure(Kind::kUnreachable, ErrorCode::kUnavailable, fmt::format("Cannot reach {}: {}", target.place, why));
  }
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return failure(Kind::kTimeout, ErrorCode::kUnavailable,
                   fmt::format("{} did not respond within {} ms", target.place, transfer.request.total_ms));
  }
  return failure(Kind::kLost, ErrorCode::kUnavailable,
                 fmt::format("The connection to {} ended before the response was complete: {}", target.place, why));
}

class CurlClient final : public HttpClient {
 public:
  HttpResult send(const ClientRequest& request) override {
    auto target = checked(request);
    if (!target) return std::unexpected(std::move(target).error());
    const CurlLibrary* curl = curl_library();
    if (!curl) {
      return failure(Kind::kUnreachable, ErrorCode::kUnsupported, "The library libcurl.so.4 is not installed",
                     "Install libcurl4");
    }
    std::unique_ptr<Line> line = take_line(*curl);
    Transfer transfer{request};
    const HeaderList headers(*curl, request);
    set_up(*line, request, *target, headers, transfer);
    const CURLcode code = run(*line, transfer);
    HttpResult sent = outcome(code, *line, transfer, *target, request);
    curl->multi_remove_handle(line->multi, line->easy);
    curl->easy_reset(line->easy);
    give_back(std::move(line));
    return sent;
  }

 private:
  static HttpResult outcome(CURLcode code, Line& line, Transfer& transfer, const Target& target,
                            const ClientRequest& request) {
    if (transfer.broken) return broken_off(*transfer.broken, target, request);
    if (code != CURLE_OK) return failed(code, line, transfer, target);
    return std::move(transfer.answer);
  }

  std::unique_ptr<Line> take_line(const CurlLibrary& curl) {
    const std::scoped_lock lock(mutex_);
    if (lines_.empty()) return std::make_unique<Line>(curl);
    auto line = std::move(lines_.back());
    lines_.pop_back();
    return line;
  }
  void give_back(std::unique_ptr<Line> line) {
    const std::scoped_lock lock(mutex_);
    if (lines_.size() < kKeptLines) lines_.push_back(std::move(line));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Line>> lines_;
};

}  // namespace

bool is_loopback(std::string_view url) {
  const auto target = target_of(url);
  return target && target->is_loopback;
}

std::string_view ClientResponse::header(std::string_view lower_name) const {
  for (const auto& [name, value] : headers) {
    if (name == lower_name) return value;
  }
  return {};
}

std::unique_ptr<HttpClient> make_http_client() {
  return std::make_unique<CurlClient>();
}

}  // namespace sb::net
