// What goes over the wire between an agent program and its model: which API a request is of, what a reply cost, errors
// and scripted replies in the API's own shape. Pure.
//
// | path below /v1 | API | who speaks it |
// |---|---|---|
// | messages | Anthropic Messages | Claude Code |
// | responses | OpenAI Responses | Codex |
// | chat/completions | OpenAI ChainConversation Completions | OpenCode and others |
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "agent/model/model.hpp"

namespace sb::agent {

enum class Wire { kMessages, kResponses, kChat };
// AttachedBy the path behind the proxy's address; nothing for every other path.
std::optional<Wire> wire_of(std::string_view path);
// anthropic or openai, as the tables of providers and recipes name it.
std::string_view api_of(Wire wire);

// Reads usage, model and end out of a reply as it passes, streamed or whole. What it does not understand it lets pass.
class ReplyMeter {
 public:
  explicit ReplyMeter(Wire wire) : wire_(wire) {}
  void feed(std::string_view piece);
  // Behind the last piece.
  void finish();

  const Usage& usage() const { return usage_; }
  StopReason stop() const { return stop_; }
  const std::string& model() const { return model_; }
  // Behind finish(): what came instead of a reply, or of the rest of one.
  std::optional<ModelError> failure() const;

 private:
  void line(std::string_view text);
  void message_event(const Value& event);
  void response_event(const Value& event);
  void chat_event(const Value& event);
  void message_usage(const Value& usage);
  void openai_usage(const Value& usage, std::string_view input, std::string_view output);

  Wire wire_;
  std::string rest_;  // of a line that is not whole yet
  bool is_stream_ = false, is_known_ = false;
  Usage usage_;
  StopReason stop_ = StopReason::kOther;
  std::string model_;
  bool has_ended_ = false;  // the message came whole
  std::optional<ModelError> failure_;
};

// What a scripted model is asked with: texts, calls and results of the conversation, in the common form. kInvalid for
// what is no request of that API.
Result<ModelRequest> request_from(Wire wire, const Value& body);
bool wants_stream(const Value& body);

// A reply of a scripted model in the shape the program expects, whole or as a stream of events. Calls go to the tool
// the program has under that name, or as `mcp__SERVER__NAME`, so that one script does for our own loop too;
// where a program has only a shell, Bash, Read and Write become commands.
struct WireReply {
  std::string content_type, body;
};
WireReply reply_on(Wire wire, const Value& request_body, const ModelReply& reply, std::string_view id);

// Status and body for a program that may not ask, or whose question went wrong.
struct WireError {
  int status = 500;
  std::string body;
  std::optional<std::int64_t> retry_after_s = {};
};
WireError error_on(Wire wire, const ModelError& error);

}  // namespace sb::agent
