// Random conversations: whatever a client sends, in any order, every request gets exactly one response or was
// cancelled, and nothing is left over at the end.
#include <gtest/gtest.h>

#include "mcp/limits.hpp"
#include "mcp/testing.hpp"

namespace sb::mcp {
namespace {

class RandomClient {
 public:
  RandomClient(std::uint64_t seed, bool has_batches) : random_(seed), has_batches_(has_batches) {
    talk_.checks_schema = false;  // ids repeat here, so the request of a response is ambiguous
    talk_.script->resources["test://a"] = "A";
    talk_.script->tools["greet"] = greet;
    talk_.script->tools["throw"] = [](const Value&, Call&) -> HandlerResult { throw std::runtime_error("broken"); };
    talk_.script->tools["refuse"] = [](const Value&, Call&) -> HandlerResult { return RpcError{-32000, "no"}; };
    talk_.script->tools["work"] = [this](const Value&, Call& call) -> HandlerResult {
      call.sink->progress(1, 2, "");
      call.sink->log(LogLevel::kError, "", "text");
      talk_.script->fingerprints["list:tools"] += "x";
      return tool_result({});
    };
    talk_.script->tools["moot"] = [this](const Value& arguments, Call& call) -> HandlerResult {
      HandlerResult outcome = greet(arguments, call);
      if (auto* ask = std::get_if<InputRequired>(&outcome)) ask->is_moot = [this] { return below(3) == 0; };
      return outcome;
    };
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      step();
      listen();
    }
    talk_.peer->end_of_input();
    talk_.scheduler.run_posted();
    talk_.peer->end_listening();
    listen();
    EXPECT_EQ(talk_.peer->running(), 0u);
    EXPECT_EQ(answered_ + talk_.silent_ends, requests_);
  }

 private:
  std::uint64_t below(std::uint64_t end) { return random_.next() % end; }
  Value id() { return below(2) == 0 ? Value(below(6)) : Value(std::to_string(below(6))); }
  std::string_view one_of(std::initializer_list<std::string_view> choices) {
    return *(choices.begin() + below(choices.size()));
  }

  Value request() {
    Value params = Value::object();
    const std::string_view method =
        one_of({"initialize", "ping", "server/discover", "tools/list", "tools/call", "tools/call", "tools/call",
                "resources/read", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen",
                "logging/setLevel", "prompts/get", "made/up"});
    params.set("protocolVersion", one_of({"2025-03-26", "2025-11-25", "2026-07-28", "x"}));
    if (has_batches_) params.set("protocolVersion", "2025-03-26");
    params.set("capabilities", json(one_of({"{}", R"({"elicitation":{}})", R"({"elicitation":{"url":{}}})"})));
    params.set("name", one_of({"greet", "throw", "refuse", "work", "moot", "none"}));
    params.set("uri", one_of({"test://a", "test://b"}));
    params.set("level", one_of({"debug", "error", "loud"}));
    params.set("notifications", json(one_of({"{}", R"({"toolsListChanged":true})", "[]"})));
    if (below(8) == 0) params = json(one_of({"{}", R"({"_meta":1})", R"({"name":{}})", R"({"cursor":1})"}));
    Value made = net::rpc_request(id(), method, params);
    return below(3) == 0 ? PeerFixture::stateless(made, one_of({"{}", R"({"elicitation":{}})"})) : made;
  }
  Value message() {
    const std::uint64_t kind = below(10);
    if (kind == 0 && !has_batches_)
      return net::rpc_notification("notifications/cancelled", Value::object({{"requestId", id()}}));
    if (kind == 1)
      return net::rpc_notification(one_of({"notifications/initialized", "notifications/x"}), Value::object());
    if (kind < 4 && !questions_.empty()) {
      const Value& question = questions_[below(questions_.size())];
      return below(4) == 0 ? net::rpc_error(question, {-1, "no"}) : accept(question, "Ada");
    }
    return request();
  }
  void step() {
    const std::uint64_t kind = below(12);
    if (kind == 0) return talk_.wait_ms(static_cast<std::int64_t>(below(50'000)));
    if (kind == 1) {
      const std::string_view bad = one_of({"{", "nonsense", "7", R"({"jsonrpc":"1.0","id":1,"method":"ping"})"});
      ++requests_;
      return talk_.say_line(bad);
    }
    if (kind == 2 && has_batches_ && talk_.peer->is_initialized()) {
      Value batch = Value::array();
      for (std::uint64_t i = below(4) + 1; i > 0; --i) batch.push_back(counted(message()));
      return talk_.say(batch);
    }
    talk_.say(counted(message()));
  }
  Value counted(Value made) {
    if (made.find("method") != nullptr && made.find("id") != nullptr) ++requests_;
    return made;
  }
  void listen() {
    for (const Value& heard : talk_.heard()) {
      if (heard.is_array()) {
        answered_ += heard.size();
      } else if (heard.find("method") == nullptr) {
        ++answered_;
      } else if (const Value* id = heard.find("id")) {
        questions_.push_back(*id);
      }
    }
  }

  FakeRandom random_;
  bool has_batches_;
  PeerFixture talk_;
  std::vector<Value> questions_;
  std::size_t requests_ = 0, answered_ = 0;
};

TEST(PeerProperty, EveryRequestIsAnsweredOnceWhateverIsSent) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    RandomClient(seed, seed % 3 == 0).run(60);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace sb::mcp
