#include "agent/model/exchange.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "agent/limits.hpp"
#include "agent/tools/plain_text.hpp"
#include "base/document/document.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"

namespace sb::agent {

namespace {

using Kind = ModelError::Kind;

constexpr std::size_t kShownErrorBytes = 600;  // of a provider's error text
constexpr std::size_t kStrangeBytes = 64u << 10;
constexpr std::int64_t kConnectMs = 10'000;
constexpr std::int64_t kWholeMs = 3'600'000;

// Half a surrogate pair, which some programs send where they truncate a text, becomes U+FFFD.
std::string with_whole_characters(std::string_view json) {
  const auto is_half = [&](std::size_t at, std::string_view range) {
    return json.substr(at, 2) == "\\u" && at + 6 <= json.size() && (json[at + 2] == 'd' || json[at + 2] == 'D') &&
           range.contains(json[at + 3]);
  };
  std::string repaired;
  for (std::size_t at = 0; at < json.size();) {
    if (json[at] != '\\') {
      repaired += json[at++];
      continue;
    }
    const bool is_pair = is_half(at, "89abAB") && is_half(at + 6, "cdefCDEF");
    const bool is_alone = !is_pair && is_half(at, "89abcdefABCDEF");
    const std::size_t length = is_pair ? 12 : is_alone ? 6 : 2;
    repaired += is_alone ? std::string_view("\\ufffd") : json.substr(at, length);
    at += length;
  }
  return repaired;
}

Result<Value> parse_event(const std::string& data) {
  // Limited in depth so that it can still be parsed when it is nested in a log entry.
  const JsonBounds bounds{.bytes = 2 * limits::kReplyBytes, .depth = limits::kReplyDepth};
  auto parsed = parse_json(data, bounds);
  if (parsed || parsed.error().code == ErrorCode::kLimit) return parsed;
  return parse_json(with_whole_characters(as_utf8(data)), bounds);
}

std::string quoted(std::string_view said) {
  std::string text = printable(said);
  std::ranges::replace(text, '\n', ' ');
  if (text.size() <= kShownErrorBytes) return text;
  return std::string(utf8_prefix(text, kShownErrorBytes)) + " …";
}

bool is_about_length(std::string_view type, std::string_view said) {
  const std::string text = case_fold(as_utf8(said));
  return type == "context_length_exceeded" || type == "request_too_large" || text.contains("prompt is too long") ||
         text.contains("maximum context length") || text.contains("context window") ||
         text.contains("context length") || text.contains("exceed context limit") || text.contains("context size");
}

std::string_view remedy_for(Kind kind) {
  switch (kind) {
    case Kind::kAuth:
      return "Check the key and its account";
    case Kind::kRequest:
      return "Check model, url and api in the settings";
    default:
      return {};
  }
}

}  // namespace

std::string without_key(std::string text, std::string_view key) {
  for (std::size_t at = 0; key.size() > 5 && (at = text.find(key, at)) != std::string::npos;) {
    text.replace(at, key.size(), "[key]");
  }
  return text;
}

ModelError error_from_transport(const net::ClientFailure& failure) {
  using Failed = net::ClientFailure::Kind;
  Kind kind = Kind::kTruncated;
  if (failure.kind == Failed::kUnreachable) kind = Kind::kUnreachable;
  if (failure.kind == Failed::kRequest || failure.error.code == ErrorCode::kUnsupported) kind = Kind::kRequest;
  if (failure.kind == Failed::kTooLarge) kind = Kind::kTooLarge;
  if (failure.kind == Failed::kStopped) kind = Kind::kStopped;
  ModelError error{kind, failure.error};
  if (failure.kind == Failed::kTimeout) error.error.remedy = "If the model is only slow, increase limits: {stall}";
  return error;
}

std::unexpected<ModelError> model_error(Kind kind, std::string message, std::string remedy) {
  const bool helps = ModelError{kind, {}}.is_retryable();
  const ErrorCode code = helps ? ErrorCode::kUnavailable
                         : kind == Kind::kTooLarge || kind == Kind::kContextTooLong || kind == Kind::kBudget
                             ? ErrorCode::kLimit
                         : kind == Kind::kAuth ? ErrorCode::kForbidden
                                               : ErrorCode::kInvalid;
  return std::unexpected(ModelError{kind, {code, std::move(message), std::move(remedy), {}, helps}});
}

std::optional<ModelError> ReplySizeLimit::take(std::size_t bytes) {
  taken_ += bytes;
  if (taken_ <= limits::kReplyBytes) return std::nullopt;
  return model_error(Kind::kTooLarge, fmt::format("The model's reply is larger than {} MiB", limits::kReplyBytes >> 20))
      .error();
}

Value tool_use_block(std::string id, std::string name, const std::string& input) {
  Value block = Value::object({{"type", "tool_use"}, {"id", std::move(id)}, {"name", std::move(name)}});
  if (input.find_first_not_of(" \t\r\n") == std::string::npos) {
    block.set("input", Value::object());
    return block;
  }
  auto read = parse_json(input, {.bytes = limits::kReplyBytes, .depth = limits::kReplyDepth});
  block.set("input", read && read->is_object() ? std::move(*read) : Value(input));
  return block;
}

ReplyStream::ReplyStream(ReplyReader& reader) : reader_(reader), events_(2 * limits::kReplyBytes) {}

bool ReplyStream::feed(std::string_view bytes, const OnDelta& on_delta) {
  bytes_ += bytes.size();
  if (!events_.has_begun() && unexpected_text_.size() < kStrangeBytes)
    unexpected_text_ += bytes.substr(0, kStrangeBytes);
  for (const SseEvent& event : events_.feed(bytes)) {
    if (!take(event, on_delta)) return false;
  }
  if (events_.has_begun()) unexpected_text_.clear();
  if (events_.is_too_large())
    error_ = model_error(Kind::kTooLarge, "An event of the model's reply is too large").error();
  return !error_;
}

bool ReplyStream::take(const SseEvent& event, const OnDelta& on_delta) {
  if (event.data == "[DONE]") {
    reader_.done();
    return true;
  }
  const auto value = parse_event(event.data);
  if (!value || !value->is_object()) {
    error_ = model_error(Kind::kMalformed,
                         value ? "An event of the model's reply is not an object"
                               : fmt::format("An event of the model's reply is invalid: {}", value.error().message))
                 .error();
    return false;
  }
  std::string delta;
  error_ = reader_.take(event.name, *value, delta);
  if (error_) return false;
  is_stopped_ = on_delta && !on_delta(delta);
  return !is_stopped_;
}

ModelResult ReplyStream::outcome() {
  if (error_) return std::unexpected(*error_);
  if (is_stopped_) return model_error(Kind::kStopped, "Interrupted");
  if (reader_.is_whole()) return reader_.finish();
  if (!events_.has_begun() && bytes_ > 0) {
    return model_error(Kind::kMalformed, "The response is not an event stream", "Check url and api in the settings");
  }
  return model_error(Kind::kTruncated, "The model's reply is incomplete");
}

Kind error_kind(int status, std::string_view type, std::string_view said) {
  static constexpr std::array<std::pair<std::string_view, Kind>, 13> kTypes{{
      {"overloaded_error", Kind::kOverloaded},
      {"api_error", Kind::kOverloaded},
      {"server_error", Kind::kOverloaded},
      {"timeout_error", Kind::kOverloaded},
      {"rate_limit_error", Kind::kRateLimited},
      {"rate_limit_exceeded", Kind::kRateLimited},
      {"authentication_error", Kind::kAuth},
      {"permission_error", Kind::kAuth},
      {"billing_error", Kind::kAuth},
      {"insufficient_quota", Kind::kAuth},
      {"invalid_api_key", Kind::kAuth},
      {"not_found_error", Kind::kRequest},
      {"model_not_found", Kind::kRequest},
  }};
  if ((status == 0 || status == 200 || status == 400 || status == 413 || status == 422) &&
      is_about_length(type, said)) {
    return Kind::kContextTooLong;
  }
  for (const auto& [name, kind] : kTypes) {
    if (type == name) return kind;
  }
  if (status == 401 || status == 403) return Kind::kAuth;
  if (status == 413) return Kind::kContextTooLong;
  if (status == 429) return Kind::kRateLimited;
  if (status >= 500 || status == 408 || status == 409) return Kind::kOverloaded;
  return Kind::kRequest;
}

namespace {

struct ProviderMessage {
  std::string type, message;
  int status = 0;  // an error code that is an HTTP status
};

// The most useful of the members that providers, and servers that imitate them, put into an error.
ProviderMessage provider_message_in(const Value& error) {
  ProviderMessage said;
  if (error.is_string()) said.message = error.as_string();
  said.message = error.string_at("message").value_or(said.message);
  said.type = error.string_at("type").value_or("");
  if (auto code = error.string_at("code"); code && !code->empty()) said.type = *code;
  const Value& number = error["code"];
  if (number.is_integer() && number.as_integer() >= 400 && number.as_integer() < 600) {
    said.status = static_cast<int>(number.as_integer());
  }
  return said;
}

}  // namespace

ModelError error_from_response(int status, std::string_view body) {
  ProviderMessage said;
  if (const auto read = parse_json(body, {.bytes = limits::kReplyBytes}); read && read->is_object()) {
    said = provider_message_in(read->find("error") ? (*read)["error"] : *read);
  } else {
    said.message = body;
  }
  const bool is_fine = status >= 200 && status < 300;
  const Kind kind = error_kind(is_fine && said.status != 0 ? said.status : status, said.type, said.message);
  std::string message = fmt::format("The model's provider answered {}{}", status, is_fine ? " with an error" : "");
  if (status >= 300 && status < 400) message += ", a redirect, which is not followed";
  if (!said.message.empty()) message += ": " + quoted(said.message);
  return model_error(kind, std::move(message), std::string(remedy_for(kind))).error();
}

ModelError error_from_response(const net::ClientResponse& answer, TimestampMs now_ms) {
  ModelError error = error_from_response(answer.status, answer.body);
  if (error.is_retryable()) error.retry_after_ms = retry_after_ms(answer.header("retry-after"), now_ms);
  return error;
}

bool is_error_body(std::string_view body) {
  const auto read = parse_json(body, {.bytes = limits::kReplyBytes});
  if (!read || !read->is_object()) return false;
  return !(*read)["error"].is_null() || read->string_at("type") == "error";
}

ModelError error_in_stream(const Value& error) {
  const ProviderMessage said = provider_message_in(error);
  Kind kind = error_kind(0, said.type, said.message);
  // Once it streams, the request was accepted, so an unknown error is the provider's.
  if (kind == Kind::kRequest && said.type != "invalid_request_error" && said.type != "not_found_error") {
    kind = Kind::kOverloaded;
  }
  const std::string text = said.message.empty() ? said.type : said.message;
  return model_error(kind, fmt::format("The model's provider stopped its reply with an error: {}", quoted(text)),
                     std::string(remedy_for(kind)))
      .error();
}

std::optional<std::int64_t> retry_after_ms(std::string_view header, TimestampMs now_ms) {
  constexpr std::int64_t kMostMs = 7LL * 24 * 3'600 * 1'000;
  if (header.empty() || header.size() > 64) return std::nullopt;
  const std::string text(header);
  if (std::ranges::all_of(text.substr(0, text.find('.')), [](char c) { return c >= '0' && c <= '9'; })) {
    if (text.front() == '.') return std::nullopt;
    return static_cast<std::int64_t>(std::min(std::strtod(text.c_str(), nullptr) * 1'000, double(kMostMs)));
  }
  for (const char* form : {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"}) {
    struct tm time = {};
    const char* end = ::strptime(text.c_str(), form, &time);
    if (!end || *end != '\0') continue;
    return std::clamp<std::int64_t>(std::int64_t{::timegm(&time)} * 1'000 - now_ms, 0, kMostMs);
  }
  return std::nullopt;
}

namespace {

ModelResult outcome_of(const ProviderCall& call, net::HttpResult sent, ReplyStream& stream) {
  if (!sent && !stream.is_whole() && !stream.is_broken()) return std::unexpected(error_from_transport(sent.error()));
  const bool is_fine = !sent || sent->status / 100 == 2;
  if (is_fine && !(sent && is_error_body(stream.unexpected_text()))) return stream.outcome();
  if (is_fine) sent->body = stream.unexpected_text();
  return std::unexpected(error_from_response(*sent, call.clock.now_ms()));
}

}  // namespace

ModelResult exchange(const ProviderCall& call, const ModelRequest& request, ReplyReader& reader,
                     const OnDelta& on_delta) {
  ReplyStream stream(reader);
  int looks_after_end = 0;
  net::ClientRequest wire{.method = "POST", .url = call.url, .headers = call.headers, .body = to_json(call.body)};
  wire.headers.emplace_back("Content-Type", "application/json");
  wire.headers.emplace_back("Accept", "text/event-stream");
  wire.connect_ms = std::min(kConnectMs, request.idle_timeout_ms);
  wire.idle_ms = request.idle_timeout_ms;
  wire.total_ms = kWholeMs;
  wire.max_bytes = limits::kReplyStreamBytes;
  wire.on_piece = [&](std::string_view piece) { return stream.feed(piece, on_delta); };
  wire.should_continue = [&] {
    // Does not wait for a server that keeps the stream open after the complete message.
    if (stream.is_whole() && ++looks_after_end > 2) return false;
    return !request.should_continue || request.should_continue();
  };
  ModelResult replied = outcome_of(call, call.http.send(wire), stream);
  if (replied) return replied;
  replied.error().error.message = without_key(std::move(replied.error().error.message), call.key);
  replied.error().usage = reader.usage();
  return replied;
}

std::string anthropic_endpoint(std::string_view base) {
  while (base.ends_with('/')) base.remove_suffix(1);
  return fmt::format("{}{}/messages", base, base.ends_with("/v1") ? "" : "/v1");
}

std::string openai_endpoint(std::string_view base, std::string_view path) {
  while (base.ends_with('/')) base.remove_suffix(1);
  const std::size_t host = base.find("://");
  const bool is_bare = host != std::string_view::npos && base.find('/', host + 3) == std::string_view::npos;
  return fmt::format("{}{}{}", base, is_bare ? "/v1" : "", path);
}

}  // namespace sb::agent
