// The interface of a model that is asked for its next message. Providers (anthropic, openai, scripted) and their
// wrappers (retries, budgets, cassettes) implement it.
//
// Messages have one form, the content blocks of the Messages API, as values:
//   {type: text, text}  {type: tool_use, id, name, input}  {type: tool_result, tool_use_id, content: text, is_error}
// and other blocks of a provider (thinking), which are sent back only to that provider. Providers translate. The input
// of a tool_use that was not a JSON object is kept as a string: the call is rejected, and the model sees the error.
//
// Threads: reply() from any; each call is one exchange.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb::agent {

struct Message {
  enum class From { kUser, kAssistant };
  From from = From::kUser;
  Value::Array content;  // blocks
};

struct ToolDeclaration {
  std::string name, description;
  Value input_schema;
};

// Who makes the request. Not sent; used by scripted models, ledgers and cassettes.
struct Requester {
  std::string run = {}, session = {}, workflow = {}, role = {}, step = {};
  int turn = 0;     // of the session, from 1
  int attempt = 1;  // at this turn: earlier replies were discarded (loop/reply_check.hpp)
};

struct ModelError;

struct ModelRequest {
  std::vector<std::string> system = {};  // named slots in order, those that change least first
  std::vector<Message> messages = {};
  std::vector<ToolDeclaration> tools = {};
  int max_tokens = 8'192;
  std::optional<double> temperature = {};
  Requester requester = {};
  // Called a few times a second, even while nothing arrives; false interrupts (kStopped). Does not count as progress.
  // Not sent.
  std::function<bool()> should_continue = {};
  // How long to wait for the next byte before giving up, and retrying if that can help. Not sent.
  std::int64_t idle_timeout_ms = 90'000;
  // Called after a failed attempt, before the wait, on the calling thread; the next attempt is at `at_ms`. Not sent.
  std::function<void(const ModelError& error, std::int64_t at_ms)> on_retry = {};
};
// What is sent, in the common form and without the requester: used by hashes, cassettes and the proof of isolation.
Value to_value(const ModelRequest& request);

struct Usage {
  std::int64_t input = 0, output = 0, cache_read = 0, cache_write = 0;  // tokens; input without the cached ones
  Usage& operator+=(const Usage& other);
  std::int64_t total() const { return input + output + cache_read + cache_write; }
  bool operator==(const Usage&) const = default;
};
Value to_value(const Usage& usage);            // {input, output, [cache_read], [cache_write]}
Usage usage_from(const Value& value);          // 0 for a member that is missing or not a count
std::int64_t token_count(const Value& value);  // for untrusted input: 0 for anything that is not a count; bounded

enum class StopReason { kEndTurn, kToolUse, kMaxTokens, kRefusal, kOther };
std::string_view to_string(StopReason reason);  // as in the Messages API: end_turn, tool_use, …
StopReason stop_reason_named(std::string_view name);

struct ModelReply {
  Value::Array content = {};  // blocks
  StopReason stop = StopReason::kEndTurn;
  Usage usage = {};
  std::string model = {};  // as the provider names it
  // Of a scripted model: the SCRIPT/LINE that was used. The loop adds a row RUN/MARK to the collection `script-used` in
  // the commit that stores the turn, so that a restart continues with the next line.
  std::string mark = {};
};
Value to_value(const ModelReply& reply);
Result<ModelReply> reply_from(const Value& value);
// Each block must be an object with a type and the members of that type; kInvalid names the first that is not.
Result<Value::Array> blocks_from(const Value& value);

struct ModelError {
  enum class Kind {
    kUnreachable,     // from here on, retrying can help
    kRateLimited,     // 429
    kOverloaded,      // 529 and other 5xx
    kTruncated,       // the stream ended before the message was complete
    kAuth,            // 401, 403; from here on, retrying does not help
    kRequest,         // 400: the request is invalid
    kContextTooLong,  // the conversation does not fit
    kMalformed,       // the response is not a message
    kTooLarge,        // the response is too large
    kBudget,          // a budget is used up
    kScript,          // the script has no line for this, or its guard does not hold
    kDiverged,        // a replay has no recorded answer to this request
    kStopped,         // interrupted by on_delta or should_continue
  };
  Kind kind = Kind::kUnreachable;
  Error error;
  std::optional<std::int64_t> retry_after_ms = {};  // as the provider asks
  Usage usage = {};                                 // as far as reported for an interrupted reply, which is billed too
  bool is_retryable() const { return kind <= Kind::kTruncated; }
};
std::string_view to_string(ModelError::Kind kind);  // unreachable, rate_limited, …
std::optional<ModelError::Kind> model_error_named(std::string_view name);
std::span<const std::string_view> model_error_names();
using ModelResult = std::expected<ModelReply, ModelError>;

// Receives text as it arrives, or an empty text as a sign of progress (a ping, a piece of a tool's input, a wait before
// the next attempt); false interrupts.
using OnDelta = std::function<bool(std::string_view text)>;

class Model {
 public:
  virtual ~Model() = default;
  virtual std::string name() const = 0;  // provider/model
  virtual ModelResult reply(const ModelRequest& request, const OnDelta& on_delta) = 0;
};

}  // namespace sb::agent
