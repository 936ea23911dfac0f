// The wire formats between an agent program and its model: which API a request uses, what a reply cost, errors and
// scripted replies in the API's own format. Pure.
//
// | path below /v1 | API | used by |
// |---|---|---|
// | messages | Anthropic Messages | Claude Code |
// | responses | OpenAI Responses | Codex |
// | chat/completions | OpenAI Chat Completions | OpenCode and others |
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/model/model.hpp"

namespace sb::agent {

enum class Wire { kMessages, kResponses, kChat };
// By the path after the proxy's address; nothing for every other path.
std::optional<Wire> wire_of(std::string_view path);
// anthropic or openai, as the tables of providers and recipes name it.
std::string_view api_of(Wire wire);

// Reads usage, model and end from a reply as it passes, streamed or whole. Ignores what it does not understand.
class ReplyMeter {
 public:
  explicit ReplyMeter(Wire wire) : wire_(wire) {}
  void feed(std::string_view piece);
  // After the last piece.
  void finish();

  const Usage& usage() const { return usage_; }
  StopReason stop() const { return stop_; }
  const std::string& model() const { return model_; }
  // A call of a tool of the program has begun: the reply does not end the turn.
  bool has_call() const { return has_call_ || stop_ == StopReason::kToolUse; }
  // After finish(): what came instead of the reply or of its rest.
  std::optional<ModelError> failure() const;

 private:
  void line(std::string_view text);
  void message_event(const Value& event);
  void response_event(const Value& event);
  void chat_event(const Value& event);
  void message_usage(const Value& usage);
  void openai_usage(const Value& usage, std::string_view input, std::string_view output);

  Wire wire_;
  std::string rest_;  // of an incomplete line
  bool is_stream_ = false, is_known_ = false, has_call_ = false;
  Usage usage_;
  StopReason stop_ = StopReason::kOther;
  std::string model_;
  bool has_ended_ = false;  // the message is complete
  std::optional<ModelError> failure_;
};

// The request to a scripted model: texts, calls and results of the conversation, in the common form. kInvalid for a
// request that is not of that API.
Result<ModelRequest> request_from(Wire wire, const Value& body);
bool wants_stream(const Value& body);
// The results of tools in it, in the common form; empty for what is not a request.
Value::Array tool_results(Wire wire, const Value& body);

// A scripted model's reply in the format the program expects, whole or as a stream of events. Calls go to the program's
// tool of that name, or to `mcp__SERVER__NAME`, so that one script also works in the built-in loop; where a program has
// only a shell, Bash, Read and Write become commands.
struct WireReply {
  std::string content_type, body;
};
WireReply reply_on(Wire wire, const Value& request_body, const ModelReply& reply, std::string_view id);

// Status and body for a program whose request is not allowed or failed.
struct WireError {
  int status = 500;
  std::string body;
  std::optional<std::int64_t> retry_after_s = {};
};
WireError error_on(Wire wire, const ModelError& error);

}  // namespace sb::agent
