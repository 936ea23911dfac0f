// One exchange with a provider over HTTP: a request sent, its stream of events read into a reply, and everything that
// can go wrong told as a ModelError.
//
// Error texts carry what the provider said, cut, printable, and without the key.
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

// What a provider's events become. A reader is used for one reply.
class ReplyReader {
 public:
  virtual ~ReplyReader() = default;
  // `delta` gets the text that came with it.
  virtual std::optional<ModelError> take(const std::string& name, const Value& event, std::string& delta) = 0;
  virtual void done() {}              // the event [DONE], where a provider has one
  virtual bool is_whole() const = 0;  // the message has ended
  virtual ModelResult finish() = 0;   // what was read; only when is_whole()
  virtual Usage usage() const = 0;    // as far as it was heard
};

// How much of a reply there may be: limits::kReplyBytes of what it says.
class ReplySizeLimit {
 public:
  std::optional<ModelError> take(std::size_t bytes);

 private:
  std::size_t taken_ = 0;
};

// A call of a tool, its input as it came: an object, or the text where it is none (see model.hpp).
Value tool_use_block(std::string id, std::string name, const std::string& input);

// Bytes to events to a reply. Kind readers of files and for fuzzers as well as for HTTP.
class ReplyStream {
 public:
  explicit ReplyStream(ReplyReader& reader);
  // False: broken off, by on_delta or for what outcome() then says.
  bool feed(std::string_view bytes, const OnDelta& on_delta);
  bool is_whole() const { return !is_broken() && reader_.is_whole(); }
  bool is_broken() const { return error_ || is_stopped_; }
  // The beginning of what came, where that is no stream of events.
  const std::string& unexpected_text() const { return unexpected_text_; }
  // ScopeFilter no more comes.
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

// What an error object of a provider means: its type or code where that is known, else the status. `said` is its
// message.
ModelError::Kind error_kind(int status, std::string_view type, std::string_view said);
// {error: {type, code, message}}, or whatever else came.
ModelError error_from_response(int status, std::string_view body);
// The same with what its headers ask for.
ModelError error_from_response(const net::ClientResponse& answer, TimestampMs now_ms);
// Some servers say what is wrong in an answer whose status says that nothing is.
bool is_error_body(std::string_view body);
ModelError error_from_transport(const net::ClientFailure& failure);
ModelError error_in_stream(const Value& error);
// What a provider said, where it says the key too.
std::string without_key(std::string text, std::string_view key);
// Seconds, or a date of HTTP.
std::optional<std::int64_t> retry_after_ms(std::string_view header, TimestampMs now_ms);

struct ProviderCall {
  net::HttpClient& http;
  Clock& clock;
  std::string url;
  std::string key;  // kept out of what is told
  std::vector<std::pair<std::string, std::string>> headers;
  Value body;
};
ModelResult exchange(const ProviderCall& call, const ModelRequest& request, ReplyReader& reader,
                     const OnDelta& on_delta);

// As people write base addresses for each: without /v1 for Anthropic, with it for OpenAI. Both forms of the one and
// a bare host for the other are taken too.
std::string anthropic_endpoint(std::string_view base);
std::string openai_endpoint(std::string_view base, std::string_view path);

}  // namespace sb::agent
