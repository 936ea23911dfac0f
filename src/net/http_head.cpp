#include "net/http_head.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/text.hpp"
#include "base/text/unicode.hpp"
#include "net/limits.hpp"

namespace sb::net {
namespace {

constexpr std::size_t kMethodBytes = 32;
constexpr std::size_t kVersionBytes = 8;

std::unexpected<HttpRefusal> refuse(int status, std::string_view reason) {
  return std::unexpected(HttpRefusal{status, reason});
}

bool is_token_char(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return c != '\0' && std::string_view("!#$%&'*+-.^_`|~").contains(c);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// Takes off the next line, without its line end (CR LF).
std::string_view take_line(std::string_view& rest) {
  const auto end = rest.find("\r\n");
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(rest.size(), line.size() + 2));
  return line;
}

std::expected<HttpHead, HttpRefusal> read_request_line(std::string_view line) {
  const auto first = line.find(' '), last = line.rfind(' ');
  if (first == last) return refuse(400, "the request line must be: method, target, version");
  HttpHead head;
  head.method = line.substr(0, first);
  head.target = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (head.target.size() > limits::kTargetBytes) return refuse(414, "target too long");
  if (!is_token(head.method) || head.method.size() > kMethodBytes) return refuse(400, "invalid method");
  const bool is_visible = std::ranges::all_of(head.target, [](char c) { return c > 0x20 && c < 0x7f; });
  if (head.target.empty() || !is_visible) return refuse(400, "the target contains characters that must be escaped");
  if (version == "HTTP/1.1" || version == "HTTP/1.0") {
    head.is_http_11 = version.back() == '1';
    return head;
  }
  const bool is_version = version.size() == kVersionBytes && version.starts_with("HTTP/") && is_digit(version[5]) &&
                          version[6] == '.' && is_digit(version[7]);
  if (is_version) return refuse(505, "only HTTP/1.1 and HTTP/1.0 are supported");
  return refuse(400, "the request line must end with HTTP/1.1");
}

// How often the headers that define the message's length and host were seen.
struct Counts {
  int length = 0, encoding = 0, host = 0, expect = 0;
};

std::optional<HttpRefusal> take_field(HttpHead& head, Counts& counts, std::string_view name, std::string_view value) {
  if (equals_ignoring_case(name, "content-length")) {
    constexpr std::size_t kMostDigits = 18;
    if (++counts.length > 1) return HttpRefusal{400, "duplicate Content-Length"};
    if (value.empty() || !std::ranges::all_of(value, is_digit))
      return HttpRefusal{400, "Content-Length is not a number"};
    if (value.size() > kMostDigits) return HttpRefusal{413, "body too large"};
    std::uint64_t length = 0;
    std::from_chars(value.data(), value.data() + value.size(), length);
    head.content_length = length;
  } else if (equals_ignoring_case(name, "transfer-encoding")) {
    if (++counts.encoding > 1) return HttpRefusal{400, "duplicate Transfer-Encoding"};
    if (!equals_ignoring_case(value, "chunked"))
      return HttpRefusal{501, "the only supported Transfer-Encoding is chunked"};
    head.is_chunked = true;
  } else if (equals_ignoring_case(name, "host")) {
    if (++counts.host > 1) return HttpRefusal{400, "duplicate Host"};
    head.host = value;
  } else if (equals_ignoring_case(name, "expect")) {
    if (++counts.expect > 1 || !equals_ignoring_case(value, "100-continue")) {
      return HttpRefusal{417, "the only supported expectation is 100-continue"};
    }
    head.expects_continue = true;
  }
  return {};
}

std::optional<int> hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  const char letter = to_lower(c);
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  return {};
}

std::expected<std::string, HttpRefusal> decoded(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      out += path[i];
      continue;
    }
    const auto high = i + 2 < path.size() ? hex_digit(path[i + 1]) : std::nullopt;
    const auto low = i + 2 < path.size() ? hex_digit(path[i + 2]) : std::nullopt;
    if (!high || !low) return refuse(400, "invalid % escape in the target");
    out += static_cast<char>(*high * 16 + *low);
    i += 2;
    if (is_control(out.back())) return refuse(400, "escaped control character in the target");
  }
  if (!is_utf8(out)) return refuse(400, "the target is not UTF-8");
  return out;
}

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_token_char);
}

std::expected<std::optional<std::size_t>, HttpRefusal> HeadScan::next(std::string_view bytes) {
  for (; scanned_ < bytes.size(); ++scanned_) {
    const char c = bytes[scanned_];
    const char before = scanned_ == 0 ? '\0' : bytes[scanned_ - 1];
    if (scanned_ == 0 && c != '\r' && !is_token_char(c)) return refuse(400, "not HTTP");
    if (c == '\0') return refuse(400, "NUL byte in the headers");
    if ((c == '\n') != (before == '\r')) return refuse(400, "lines must end with CR LF");
    if (c != '\n') continue;
    const std::size_t end = scanned_ + 1;
    if (line_end_ == 0) {
      if (end == 2) return refuse(400, "the request line is empty");
      line_end_ = end;
    } else if (bytes.substr(0, end).ends_with("\r\n\r\n")) {
      if (end - 2 - line_end_ > limits::kHeaderBytes) return refuse(431, "headers too large");
      return end;
    }
  }
  constexpr std::size_t kLineBytes = kMethodBytes + 1 + limits::kTargetBytes + 1 + kVersionBytes + 1;
  if (line_end_ == 0 && scanned_ > kLineBytes) return refuse(414, "target too long");
  if (line_end_ > 0 && scanned_ - line_end_ > limits::kHeaderBytes + 1) return refuse(431, "headers too large");
  return std::nullopt;
}

std::expected<HttpHead, HttpRefusal> check_head(std::string_view bytes) {
  auto head = read_request_line(take_line(bytes));
  if (!head) return head;
  Counts counts;
  while (bytes != "\r\n" && !bytes.empty()) {
    const std::string_view line = take_line(bytes);
    if (line.starts_with(' ') || line.starts_with('\t')) return refuse(400, "folded header lines are not supported");
    const auto colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    if (colon == std::string_view::npos || !is_token(name)) return refuse(400, "invalid header name");
    const std::string_view value = trimmed(line.substr(colon + 1), " \t");
    if (std::ranges::any_of(value, [](char c) { return is_control(c) && c != '\t'; })) {
      return refuse(400, "control character in a header");
    }
    if (const auto refusal = take_field(*head, counts, name, value)) return std::unexpected(*refusal);
  }
  if (counts.length > 0 && counts.encoding > 0)
    return refuse(400, "Content-Length and Transfer-Encoding cannot be combined");
  if (!head->is_http_11 && head->is_chunked) return refuse(400, "HTTP/1.0 has no Transfer-Encoding");
  if (head->is_http_11 && counts.host == 0) return refuse(400, "the Host header is missing");
  return head;
}

std::expected<HttpTarget, HttpRefusal> read_target(const HttpHead& head) {
  std::string_view target = head.target;
  if (target.contains('#')) return refuse(400, "the target contains a fragment");
  if (target == "*" && head.method == "OPTIONS") return HttpTarget{"*", {}};
  if (!target.starts_with('/')) {
    const auto scheme = target.find("://");
    const std::string_view name = target.substr(0, std::min(scheme, target.size()));
    if (scheme == std::string_view::npos ||
        !(equals_ignoring_case(name, "http") || equals_ignoring_case(name, "https"))) {
      return refuse(400, "the target must be a path");
    }
    target.remove_prefix(scheme + 3);
    const auto end = std::min(target.find_first_of("/?"), target.size());
    const std::string_view authority = target.substr(0, end);
    if (!equals_ignoring_case(authority, head.host) || authority.empty())
      return refuse(400, "the target does not match the Host header");
    target.remove_prefix(end);
  }
  const auto question = target.find('?');
  auto path = decoded(target.substr(0, question));
  if (!path) return std::unexpected(path.error());
  if (path->empty()) *path = "/";
  return HttpTarget{std::move(*path),
                    question == std::string_view::npos ? std::string() : std::string(target.substr(question + 1))};
}

}  // namespace sb::net
