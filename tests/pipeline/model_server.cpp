#include "pipeline/model_server.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/document.hpp"

namespace sb::pipeline_tests {
namespace {

std::string event(std::string_view type, Value data) {
  data.set("type", type);
  return fmt::format("event: {}\ndata: {}\n\n", type, to_json(data));
}

std::string block_events(int index, const Value& block) {
  const bool is_text = block["type"] == Value("text");
  Value begun = block;
  begun.set(is_text ? "text" : "input", is_text ? Value("") : Value::object());
  Value delta = is_text ? Value::object({{"type", "text_delta"}, {"text", block["text"]}})
                        : Value::object({{"type", "input_json_delta"}, {"partial_json", to_json(block["input"])}});
  return event("content_block_start", Value::object({{"index", index}, {"content_block", begun}})) +
         event("content_block_delta", Value::object({{"index", index}, {"delta", delta}})) +
         event("content_block_stop", Value::object({{"index", index}}));
}

std::string_view stop_of(const Value& content) {
  for (const Value& block : content.items()) {
    if (block["type"] == Value("tool_use")) return "tool_use";
  }
  return "end_turn";
}

Value message(const Value& content) {
  return Value::object({{"id", "msg_stand_in"},
                        {"type", "message"},
                        {"role", "assistant"},
                        {"model", "stand-in"},
                        {"content", content},
                        {"stop_reason", nullptr},
                        {"stop_sequence", nullptr},
                        {"usage", Value::object({{"input_tokens", 10}, {"output_tokens", 1}})}});
}

std::string stream_of(const Value& content) {
  std::string text = event("message_start", Value::object({{"message", message(Value::array())}}));
  int index = 0;
  for (const Value& block : content.items()) text += block_events(index++, block);
  text += event("message_delta", Value::object({{"delta", Value::object({{"stop_reason", stop_of(content)}})},
                                                {"usage", Value::object({{"output_tokens", 5}})}}));
  return text + event("message_stop", Value::object());
}

std::string whole_of(const Value& content) {
  Value whole = message(content);
  whole.set("stop_reason", stop_of(content));
  return to_json(whole);
}

}  // namespace

ModelServer::ModelServer(const std::string& script) {
  int number = 0;
  for (std::size_t at = 0; at < script.size();) {
    const std::size_t end = std::min(script.find('\n', at), script.size());
    const auto line = parse_json(std::string_view(script).substr(at, end - at));
    at = end + 1;
    ++number;
    if (!line) continue;
    Reply reply{.contains = {}, .content = Value::array(), .ids = {}};
    if (const Value& texts = (*line)["when"]["contains"]; texts.is_array()) {
      for (const Value& text : texts.items()) reply.contains.push_back(text.as_string());
    }
    const auto workflow = (*line)["when"].string_at("workflow"), step = (*line)["when"].string_at("step");
    if (workflow) reply.contains.push_back(fmt::format("of {} now.", *workflow));
    if (workflow && step) reply.contains.push_back(fmt::format("Do {} of {} now.", *step, *workflow));
    const Value& content = (*line)["content"];
    for (Value block : content.is_array() ? content.items() : Value::Array()) {
      if (block["type"] == Value("tool_use")) {
        reply.ids.push_back(fmt::format("toolu_stand_in_{}_{}", number, reply.ids.size()));
        block.set("id", reply.ids.back());
      }
      reply.content.push_back(std::move(block));
    }
    replies_.push_back(std::move(reply));
  }
  server_ = std::make_unique<net::RawServer>([this](auto& peer, const auto& request) { return answer(peer, request); });
}

void ModelServer::cut(int request, Cut how) {
  const std::lock_guard lock(mutex_);
  cuts_[request] = how;
}

void ModelServer::refuse_all(int status, const std::string& headers) {
  const std::lock_guard lock(mutex_);
  refused_with_ = status;
  refused_headers_ = headers;
}

void ModelServer::hang_all(bool hangs) {
  const std::lock_guard lock(mutex_);
  hangs_ = hangs;
}

std::vector<std::string> ModelServer::bodies() const {
  std::vector<std::string> bodies;
  for (const auto& request : server_->requests()) bodies.push_back(request.body);
  return bodies;
}

std::string ModelServer::heads() const {
  std::string heads;
  for (const auto& request : server_->requests()) heads += request.head;
  return heads;
}

const ModelServer::Reply* ModelServer::reply_to(const std::string& body) const {
  const auto is_in = [&](const std::string& text) { return body.find(text) != std::string::npos; };
  const auto found = std::ranges::find_if(replies_, [&](const Reply& reply) {
    return std::ranges::all_of(reply.contains, is_in) && std::ranges::none_of(reply.ids, is_in);
  });
  return found == replies_.end() ? nullptr : &*found;
}

bool ModelServer::answer(net::RawServer::Peer& peer, const net::RawServer::Request& request) {
  std::optional<Cut> cut;
  bool hangs = false;
  {
    const std::lock_guard lock(mutex_);
    hangs = hangs_;
    if (refused_with_ != 0) {
      return peer.answer(refused_with_, R"({"type":"error","error":{"type":"refused","message":"not now"}})",
                         refused_headers_);
    }
    if (const auto found = cuts_.find(request.number); found != cuts_.end()) cut = found->second;
  }
  if (hangs) peer.be_silent();
  if (hangs || cut == Cut::kBefore) return false;
  const Reply* reply = reply_to(request.body);
  if (reply == nullptr) {
    return peer.answer(400, R"({"type":"error","error":{"type":"invalid_request_error","message":"no line fits"}})");
  }
  if (request.body.find(R"("stream":true)") == std::string::npos) {
    if (cut) return false;
    return peer.answer(200, whole_of(reply->content), "Content-Type: application/json\r\n");
  }
  const std::string stream = stream_of(reply->content);
  const std::size_t size = cut == Cut::kMiddle ? stream.size() / 2 : stream.size();
  peer.put("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
  peer.put(fmt::format("{:x}\r\n{}\r\n", size, stream.substr(0, size)));
  if (cut) return false;
  return peer.put("0\r\n\r\n");
}

}  // namespace sb::pipeline_tests
