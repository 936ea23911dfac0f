// A model that is asked for its next message. Providers (anthropic, openai, scripted) and what is put around them
// (retries, budgets, cassettes) all stand behind this.
//
// Messages are kept in one form, the content blocks of the Messages API, as values:
//   {type: text, text}  {type: tool_use, id, name, input}  {type: tool_result, tool_use_id, content: text, is_error}
// and whatever else a provider sent (thinking), which only that provider is given back. Providers translate. The input
// of a tool_use that was no JSON object stands as a string, as it came: misfit() refuses it, and the model is told.
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

// Who asks. Not sent; scripted models, ledgers and cassettes go by it.
struct Requester {
  std::string run = {}, session = {}, workflow = {}, role = {}, step = {};
  int turn = 0;  // of the session, from 1
};

struct ModelError;

struct ModelRequest {
  std::vector<std::string> system = {};  // named slots in order, those that change least first
  std::vector<Message> messages = {};
  std::vector<ToolDeclaration> tools = {};
  int max_tokens = 8'192;
  std::optional<double> temperature = {};
  Requester requester = {};
  // Asked a few times a second, also while nothing comes: false breaks off (kStopped). No sign of life. Not sent.
  std::function<bool()> should_continue = {};
  // Without a byte from the other side: after this it is given up, and asked again where that helps. Not sent.
  std::int64_t idle_timeout_ms = 90'000;
  // A try failed, and the next one is made at `at_ms`. Before the wait, on the thread that asks. Not sent.
  std::function<void(const ModelError& error, std::int64_t at_ms)> on_retry = {};
};
// What is sent, in the common form and without the asker: what hashes, cassettes and the proof of isolation look at.
Value to_value(const ModelRequest& request);

struct Usage {
  std::int64_t input = 0, output = 0, cache_read = 0, cache_write = 0;  // tokens; input without the cached ones
  Usage& operator+=(const Usage& other);
  std::int64_t total() const { return input + output + cache_read + cache_write; }
  bool operator==(const Usage&) const = default;
};
Value to_value(const Usage& usage);            // {input, output, [cache_read], [cache_write]}
Usage usage_from(const Value& value);          // what is not there, or no count, is 0
std::int64_t token_count(const Value& value);  // of somebody else's making: 0 for what is no count, and bounded

enum class StopReason { kEndTurn, kToolUse, kMaxTokens, kRefusal, kOther };
std::string_view to_string(StopReason reason);  // as the Messages API says: end_turn, tool_use, …
StopReason stop_reason_named(std::string_view name);

struct ModelReply {
  Value::Array content = {};  // blocks
  StopReason stop = StopReason::kEndTurn;
  Usage usage = {};
  std::string model = {};  // as the provider names it
  // Of a scripted one: SCRIPT/LINE that was used. The loop puts a row RUN/MARK into the collection `script-used` with
  // the commit that keeps the turn, so that a restart goes on with the next line.
  std::string mark = {};
};
Value to_value(const ModelReply& reply);
Result<ModelReply> reply_from(const Value& value);
// Each block an object with a type, and with what its type needs; kInvalid names the first that is not.
Result<Value::Array> blocks_from(const Value& value);

struct ModelError {
  enum class Kind {
    kUnreachable,     // retrying helps, from here on
    kRateLimited,     // 429
    kOverloaded,      // 529 and other 5xx
    kTruncated,       // the stream ended before the message did
    kAuth,            // 401, 403: retrying does not help, from here on
    kRequest,         // 400: what we sent is wrong
    kContextTooLong,  // the conversation does not fit
    kMalformed,       // what came is no message
    kTooLarge,        // an endless answer
    kBudget,          // a budget is used up
    kScript,          // the script has no line for this, or its guard does not hold
    kDiverged,        // a replay was asked something it has no answer for
    kStopped,         // on_delta said so
  };
  Kind kind = Kind::kUnreachable;
  Error error;
  std::optional<std::int64_t> retry_after_ms = {};  // as the provider asks
  Usage usage = {};  // what was heard of a reply that broke off: it is billed all the same
  bool is_retryable() const { return kind <= Kind::kTruncated; }
};
std::string_view to_string(ModelError::Kind kind);  // unreachable, rate_limited, …
std::optional<ModelError::Kind> model_error_named(std::string_view name);
std::span<const std::string_view> model_error_names();
using ModelResult = std::expected<ModelReply, ModelError>;

// Text as it comes, or nothing but a sign of life (a ping, a piece of a tool's input, a wait before the next try);
// false breaks off.
using OnDelta = std::function<bool(std::string_view text)>;

class Model {
 public:
  virtual ~Model() = default;
  virtual std::string name() const = 0;  // provider/model
  virtual ModelResult reply(const ModelRequest& request, const OnDelta& on_delta) = 0;
};

}  // namespace sb::agent
