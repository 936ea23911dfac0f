// Providers that hang, break off and recover, as seen by a running session.
#include "agent/loop/testing.hpp"
#include "net/raw_server.hpp"

namespace sb::agent {
namespace {

using net::RawServer;
using testing::Contains;
using testing::HasSubstr;
using testing::SizeIs;

constexpr const char* kStart =
    R"(data: {"type":"message_start","message":{"content":[],"model":"m-1","usage":{"input_tokens":1000,)"
    R"("output_tokens":1}}})"
    "\n\n";
constexpr const char* kHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";

// A reply that submits the open step.
std::string whole_reply() {
  return std::string(kHead) + kStart +
         R"(data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t",)"
         R"("name":"complete_step","input":{}}})"
         "\n\n"
         R"(data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta",)"
         R"("partial_json":"{\"notes\": \"This step is done as it was asked for.\"}"}})"
         "\n\n"
         R"(data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":20}})"
         "\n\n"
         R"(data: {"type":"message_stop"})"
         "\n\n";
}

class Outage : public testing::Test {
 protected:
  void serve(RawServer::Answer answer) {
    server = std::make_unique<RawServer>(std::move(answer));
    ModelSettings& model = place.settings.models["m"];
    model.provider = provider_named("anthropic");
    model.model = "m-1";
    model.url = server->url("");
    model.input_price = 100;
    model.output_price = 1'000;
    place.add_workflow("two-steps", kTwoSteps);
    session = place.start("two-steps");
  }
  WorkResult work() { return place.work(session); }

  LoopFixture place;
  std::unique_ptr<RawServer> server;
  std::string session;
};

TEST_F(Outage, ASilentProviderIsRetriedAndThenWaitedFor) {
  place.limits.stall_ms = 800;
  serve([](auto& peer, const auto&) { return peer.be_silent(), false; });
  const WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kOutage) << ended.reason;
  EXPECT_THAT(ended.reason, HasSubstr("sent no data for 600 ms"));
  EXPECT_THAT(ended.reason, HasSubstr("stall"));
  EXPECT_GT(ended.retry_at_ms, place.clock.now_ms());
  EXPECT_THAT(server->requests(), SizeIs(5));
  EXPECT_THAT(place.types(session), Contains("parked"));
}

TEST_F(Outage, AStreamThatFallsSilentIsRetried) {
  place.limits.stall_ms = 800;
  serve([](auto& peer, const auto& request) {
    if (request.number > 2) return peer.put(whole_reply()), false;
    peer.put(std::string(kHead) + kStart);
    return peer.be_silent(), false;
  });
  EXPECT_EQ(work().state, EndState::kComplete);
  EXPECT_THAT(server->requests(), SizeIs(4));
}

// Empty traffic keeps a connection alive, but not a session.
TEST_F(Outage, AModelThatNeitherRespondsNorFailsIsAStall) {
  place.limits.stall_ms = 800;
  serve([](auto& peer, const auto&) {
    peer.put(kHead);
    while (peer.put(": still here\n\n")) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return false;
  });
  const WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kStalled) << ended.reason;
  EXPECT_THAT(server->requests(), SizeIs(1));
}

TEST_F(Outage, AReplyCutInMidStreamIsCharged) {
  serve([](auto& peer, const auto& request) {
    return peer.put(request.number == 1 ? std::string(kHead) + kStart : whole_reply()), false;
  });
  const WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kComplete) << ended.reason;
  EXPECT_EQ(ended.usage, (Usage{.input = 3'000, .output = 41}));
  EXPECT_EQ(ended.micro_cents, 3'000 * 100 + 41 * 1'000);
  const auto setbacks = place.events_of(session, "setback");
  ASSERT_THAT(setbacks, SizeIs(1));
  EXPECT_EQ(setbacks[0].payload["kind"], Value("cut"));
  EXPECT_EQ(usage_from(setbacks[0].payload["usage"]), (Usage{.input = 1'000, .output = 1}));
}

TEST_F(Outage, AReplyStoppedByAPersonIsCharged) {
  serve([](auto& peer, const auto&) {
    peer.put(std::string(kHead) + kStart);
    return peer.be_silent(), false;
  });
  bool is_killed = false;
  place.on_progress = [&](const Progress& progress) {
    if (progress.kind != Progress::Kind::kDelta || std::exchange(is_killed, true)) return;
    place.append(session, "kill_asked", Value::object({{"by", "ann"}, {"reason", "enough"}}));
  };
  const WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kKilled) << ended.reason;
  EXPECT_EQ(ended.usage, (Usage{.input = 1'000, .output = 1}));
  EXPECT_EQ(ended.micro_cents, 101'000);
}

TEST_F(Outage, TheRetryTimeOfAProviderSurvivesARestart) {
  serve([](auto& peer, const auto&) { return peer.answer(429, "", "Retry-After: 600\r\n"); });
  const WorkResult ended = work();
  EXPECT_EQ(ended.state, EndState::kOutage) << ended.reason;
  EXPECT_TRUE(ended.is_retry_after);
  place.open();
  const WorkResult again = work();
  EXPECT_EQ(again.state, EndState::kOutage);
  EXPECT_EQ(again.reason, ended.reason);
  EXPECT_EQ(again.retry_at_ms, ended.retry_at_ms);
  EXPECT_THAT(server->requests(), SizeIs(1));
  EXPECT_THAT(place.events_of(session, "parked"), SizeIs(1));
  // The retry time does not apply to another model.
  place.settings.models["m"].model = "m-2";
  EXPECT_EQ(work().state, EndState::kOutage);
  EXPECT_THAT(server->requests(), SizeIs(2));
}

TEST_F(Outage, AnInterruptedWaitIsResumed) {
  serve([](auto& peer, const auto&) { return peer.answer(429, "", "Retry-After: 60\r\n"); });
  std::int64_t until = 0;
  place.on_progress = [&](const Progress& progress) {
    if (progress.kind == Progress::Kind::kWait) until = progress.until_ms;
  };
  Assignment assignment = place.assignment(session);
  assignment.should_continue = [&] { return until == 0; };  // like the end of the process
  EXPECT_EQ(place.work(assignment).state, EndState::kKilled);
  EXPECT_GE(until, place.clock.now_ms() + 30'000);
  place.open();
  const WorkResult again = work();
  EXPECT_EQ(again.state, EndState::kOutage);
  EXPECT_EQ(again.retry_at_ms, until);
  EXPECT_THAT(again.reason, HasSubstr("429"));
  EXPECT_THAT(server->requests(), SizeIs(1));
}

}  // namespace
}  // namespace sb::agent
