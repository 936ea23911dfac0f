// One exchange with a provider over HTTP: sends a request, reads its event stream into a reply, and reports every
// failure as a ModelError.
//
// Error texts quote the provider: truncated, printable, and without the key.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/model/event_stream.hpp"
#include "agent/model/model.hpp"
#include "base/clock.hpp"
#include "net/http_client.hpp"

namespace sb::agent {

std::unexpected<ModelError> model_error(ModelError::Kind kind, std::string message, std::string remedy = {});

// Turns a provider's events into a reply. A reader is used for one reply.
class ReplyReader {
 public:
  virtual ~ReplyReader() = default;
  // `delta` receives the text of the event.
  virtual std::optional<ModelError> take(const std::string& name, const Value& event, std::string& delta) = 0;
  virtual void done() {}              // the event [DONE], if the provider sends one
  virtual bool is_whole() const = 0;  // the message has ended
  virtual ModelResult finish() = 0;   // the reply; only when is_whole()
  virtual Usage usage() const = 0;    // as far as reported
};

// Limits the size of a reply to limits::kReplyBytes of content.
class ReplySizeLimit {
 public:
  std::optional<ModelError> take(std::size_t bytes);

 private:
  std::size_t taken_ = 0;
};

// A tool call with its input as received: an object, or the text if it is not one (see model.hpp).
Value tool_use_block(std::string id, std::string name, const std::string& input);

// Turns bytes into events into a reply. For HTTP, and for tests and fuzzers that read bytes from elsewhere.
class ReplyStream {
 public:
  explicit ReplyStream(ReplyReader& reader);
  // False: stopped by on_delta, or by the error that outcome() then returns.
  bool feed(std::string_view bytes, const OnDelta& on_delta);
  bool is_whole() const { return !is_broken() && reader_.is_whole(); }
  bool is_broken() const { return error_ || is_stopped_; }
  // The start of the input, if it is not an event stream.
  const std::string& unexpected_text() const { return unexpected_text_; }
  // Call it after the last bytes.
  ModelResult outcome();

 private:
  bool take(const SseEvent& event, const OnDelta& on_delta);

  ReplyReader& reader_;
  SseParser events_;
  std::optional<ModelError> error_;
  std::string unexpected_text_;
  std::size_t bytes_ = 0;
  bool is_stopped_ = false;
};

// The kind of a provider's error: by its type or code if known, otherwise by the status. `said` is its message.
ModelError::Kind error_kind(int status, std::string_view type, std::string_view said);
// {error: {type, code, message}}, or any other body.
ModelError error_from_response(int status, std::string_view body);
// The same, with the wait that the headers ask for.
ModelError error_from_response(const net::ClientResponse& answer, TimestampMs now_ms);
// Some servers send an error with a status of success.
bool is_error_body(std::string_view body);
ModelError error_from_transport(const net::ClientFailure& failure);
ModelError error_in_stream(const Value& error);
// The provider's text without the key, if it contains it.
std::string without_key(std::string text, std::string_view key);
// Seconds, or an HTTP date.
std::optional<std::int64_t> retry_after_ms(std::string_view header, TimestampMs now_ms);

struct ProviderCall {
  net::HttpClient& http;
  Clock& clock;
  std::string url;
  std::string key;  // removed from error texts
  std::vector<std::pair<std::string, std::string>> headers;
  Value body;
};
ModelResult exchange(const ProviderCall& call, const ModelRequest& request, ReplyReader& reader,
                     const OnDelta& on_delta);

// Base addresses in the usual form of each provider: without /v1 for Anthropic, with it for OpenAI. Anthropic's may
// have /v1 too, and OpenAI's may be a bare host.
std::string anthropic_endpoint(std::string_view base);
std::string openai_endpoint(std::string_view base, std::string_view path);

}  // namespace sb::agent
