// Any lines as messages from a client to a peer, both eras: nothing breaks, every request is answered exactly once
// unless it was cancelled, and everything sent is a message. A line that begins with `+` advances the clock by as many
// seconds as it has characters; one that begins with `?` answers the last question with its rest.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "mcp/peer/peer.hpp"
#include "net/testing.hpp"

namespace {

using namespace sb;

class FuzzService final : public mcp::Service {
 public:
  Value tools() override { return Value(Value::Array{Value::object({{"name", "ask"}})}); }
  mcp::HandlerResult call_tool(std::string_view name, const Value& arguments, mcp::Call& call) override {
    call.sink->progress(1, std::nullopt, "going");
    call.sink->log(mcp::LogLevel::kError, "fuzz", arguments);
    if (name == "ask" && call.inputs.size() < 2)
      return mcp::InputRequired{.requests = {{std::to_string(call.inputs.size()), "elicitation/create", arguments}},
                                .state = arguments};
    if (name == "throw") throw std::bad_alloc();
    return mcp::tool_result({mcp::text_content(std::string(name))});
  }
};

class FuzzPath final : public mcp::ReplyPath {
 public:
  void send(const Value& message) override { check(message); }
  void finish(const Value& response) override {
    ends += response.is_array() ? response.size() : 1;
    check(response);
  }
  void finish_silently() override { ++ends; }

  std::size_t ends = 0;
  Value last_question;

 private:
  void check(const Value& message) {
    const net::RpcRead read = net::read_rpc(to_json(message));
    for (const net::RpcMessage& part : read.messages) {
      if (const auto* question = std::get_if<net::RpcRequest>(&part)) last_question = question->id;
      // An error that cannot be assigned to a request has no id, which only readers of the stateless era accept.
      const auto* malformed = std::get_if<net::Malformed>(&part);
      SB_ASSERT(malformed == nullptr || message.find("error") != nullptr);
    }
  }
};

struct Client {
  net::FakeScheduler scheduler;
  FakeClock clock;
  FakeRandom random;
  net::WorkerPool<mcp::Service> workers{[] { return std::make_unique<FuzzService>(); }, 0, 0};
  mcp::RequestStates states{mcp::Seal("key"), clock, random, [](std::string_view, TimestampMs) { return true; }};
  mcp::ChangeWatcher watch{scheduler, workers};
  mcp::ServerFacts facts{.info = Value::object({{"name", "fuzz"}, {"version", "1"}}),
                         .has_resources = true,
                         .has_prompts = true,
                         .has_completions = true,
                         .has_logging = true};
  mcp::PeerShared shared{facts, scheduler, workers, states, random, clock, watch};
  std::shared_ptr<mcp::Peer> peer = std::make_shared<mcp::Peer>(shared, mcp::PeerOrigin{});
  std::shared_ptr<FuzzPath> path = std::make_shared<FuzzPath>();
  std::size_t wanted = 0;

  void say(std::string_view line) {
    const net::RpcRead read = net::read_rpc(line);
    const bool is_refused = read.is_batch && !(peer->is_initialized() && mcp::has_batches(peer->revision()));
    if (read.is_batch && !is_refused) return;  // cancelled parts of a batch cannot be counted
    for (const net::RpcMessage& message : read.messages)
      if (!is_refused && !std::holds_alternative<net::RpcNotification>(message) &&
          !std::holds_alternative<net::RpcResponse>(message))
        ++wanted;
    if (is_refused) ++wanted;
    peer->receive(read, path);
    scheduler.run_posted();
  }
  void act(std::string_view line) {
    if (line.starts_with('+')) {
      const std::int64_t wait_ms = 1'000 * static_cast<std::int64_t>(line.size());
      clock.sleep_ms(wait_ms);
      scheduler.advance_ms(wait_ms);
    } else if (line.starts_with('?')) {
      const auto answer = parse_json(line.substr(1));
      say(to_json(net::rpc_result(path->last_question, answer ? *answer : Value::object())));
    } else if (!line.empty()) {
      say(line);
    }
  }
  void end() {
    peer->end_of_input();
    scheduler.run_posted();
    peer->end_listening();
    SB_ASSERT(peer->running() == 0);
    SB_ASSERT(path->ends == wanted);
    peer->close();
    scheduler.run_posted();
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Client client;
  client.peer->set_general(client.path);
  std::string_view text(reinterpret_cast<const char*>(data), size);
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    client.act(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  client.end();
  return 0;
}
