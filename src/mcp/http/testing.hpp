// For tests of the HTTP side: an exchange that records its response, one-line requests, parsed event streams, and a
// service with a few tools.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/document/document.hpp"
#include "base/document/value.hpp"
#include "mcp/service.hpp"
#include "net/http_listener.hpp"

namespace sb::mcp {

class FakeExchange : public net::HttpExchange {
 public:
  void respond(net::HttpResponse answer) override {
    status = answer.status;
    headers = std::move(answer.headers);
    body = std::move(answer.body);
    is_ended = true;
    gone_ = nullptr;
  }
  void begin(int code, net::Headers given) override {
    status = code;
    headers = std::move(given);
    is_stream = true;
  }
  bool send(std::string_view piece) override {
    if (is_lost || body.size() + piece.size() > room) return false;
    body += piece;
    return true;
  }
  void end() override {
    is_ended = true;
    gone_ = nullptr;
  }
  void on_disconnect(std::function<void()> gone) override { gone_ = std::move(gone); }

  // The client disconnects.
  void disconnect() {
    is_lost = true;
    if (const auto gone = std::exchange(gone_, nullptr)) gone();
  }

  std::optional<std::string> header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) return value;
    }
    return std::nullopt;
  }
  Value json() const { return parse_json(body).value_or(Value()); }

  int status = 0;
  net::Headers headers;
  std::string body;
  std::size_t room = 64u << 20;
  bool is_stream = false, is_ended = false, is_lost = false;

 private:
  std::function<void()> gone_;
};
using FakeExchangePtr = std::shared_ptr<FakeExchange>;

// What a test sees of the calls, from its own thread.
struct StubRecord {
  std::atomic<int> waiting = 0, cancelled = 0;
  std::atomic<bool> is_released = false;
};

class StubService : public Service {
 public:
  explicit StubService(std::shared_ptr<StubRecord> record = std::make_shared<StubRecord>())
      : record_(std::move(record)) {}

  Value tools() override {
    const auto tool = [](const char* name) {
      return Value::object(
          {{"name", name}, {"description", name}, {"inputSchema", Value::object({{"type", "object"}})}});
    };
    return Value(Value::Array{tool("echo"), tool("noisy"), tool("ask"), tool("close"), tool("wait")});
  }
  HandlerResult call_tool(std::string_view name, const Value& arguments, Call& call) override {
    if (name == "echo") return said(arguments.string_at("text").value_or("nothing"));
    if (name == "noisy") {
      const int count = arguments["count"].is_integer() ? static_cast<int>(arguments["count"].as_integer()) : 2;
      const std::string text(arguments["bytes"].is_integer() ? arguments["bytes"].as_integer() : 1, 'x');
      for (int i = 1; i <= count; ++i) call.sink->progress(i, count, text);
      return said("done");
    }
    if (name == "close") {
      call.sink->close_stream();
      return said("kept for you");
    }
    if (name == "wait") return wait(call);
    if (name != "ask") return RpcError{.code = net::rpc::kInvalidParams, .message = "no such tool"};
    const Input* answer = call.input("q");
    if (answer == nullptr) {
      Value schema = Value::object({{"type", "object"}, {"properties", Value::object()}});
      return InputRequired{
          .requests = {{"q", "elicitation/create",
                        Value::object({{"message", "Well?"}, {"requestedSchema", std::move(schema)}})}}};
    }
    return said(answer->kind == Input::Kind::kAnswered ? answer->value.string_at("action").value_or("?") : "parked");
  }

 private:
  // Blocks until it is cancelled or released.
  HandlerResult wait(const Call& call) {
    ++record_->waiting;
    while (!*call.is_cancelled && !record_->is_released) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (*call.is_cancelled) ++record_->cancelled;
    return said("waited");
  }
  static Value said(std::string text) { return tool_result({text_content(std::move(text))}); }

  std::shared_ptr<StubRecord> record_;
};

struct ParsedEvent {
  std::string id, data;
  bool has_retry = false;

  Value json() const { return parse_json(data).value_or(Value()); }
};

inline std::vector<ParsedEvent> events_of(std::string_view text) {
  std::vector<ParsedEvent> events;
  ParsedEvent event;
  bool has_field = false;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) {
      if (has_field) events.push_back(std::exchange(event, {}));
      has_field = false;
      continue;
    }
    if (line.starts_with(":")) continue;
    has_field = true;
    if (line.starts_with("id: ")) event.id = line.substr(4);
    if (line.starts_with("data: ")) event.data = line.substr(6);
    if (line.starts_with("retry: ")) event.has_retry = true;
  }
  return events;
}

inline net::HttpRequest http_request(std::string method, net::Headers headers = {}, std::string body = {}) {
  net::HttpRequest request;
  request.method = std::move(method);
  request.path = "/mcp";
  request.headers = std::move(headers);
  request.body = std::move(body);
  request.peer = "127.0.0.1";
  request.is_loopback = true;
  return request;
}

}  // namespace sb::mcp
