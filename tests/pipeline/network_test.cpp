// A model over HTTP whose connection is lost at any request, that refuses, or is down for a while.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "pipeline/model_server.hpp"
#include "pipeline/place.hpp"
#include "pipeline/script.hpp"
#include "pipeline/under_way.hpp"

namespace sb::pipeline_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr const char* kKey = "sk-stand-in-0123456789-key";

void use_server(RunFixture& place, const ModelServer& server, const std::string& more = {}) {
  place.configure("models: {net: {provider: anthropic, model: stand-in, key: $STAND_IN_KEY, url: \"" + server.url() +
                  "\"}}\nroles: {default: net}\n" + more);
}

ProgramResult with_key(const RunFixture& place, std::vector<std::string> arguments) {
  return place.run(Start{.arguments = std::move(arguments), .environment = {std::string("STAND_IN_KEY=") + kKey}});
}

ProgramResult run_goal(const RunFixture& place, std::vector<std::string> more = {}) {
  std::vector<std::string> words = {"run", "Make the check pass", "--workspace", place.repository(), "--json"};
  words.insert(words.end(), more.begin(), more.end());
  return with_key(place, std::move(words));
}

TEST(Network, ARunSendsItsKeyOnlyToTheModel) {
  ModelServer server(clean_run());
  RunFixture place(SB_PROGRAM);
  use_server(place, server);
  const ProgramResult ended = run_goal(place);
  ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
  EXPECT_THAT(server.heads(), HasSubstr(kKey));
  std::string all = ended.output + ended.errors + place.run({"runs", "export", "last"}).output +
                    place.read("home/signalbox.db") + place.read("home/signalbox.db-wal");
  for (const std::string& body : server.bodies()) all += body;
  EXPECT_THAT(all, Not(HasSubstr(kKey)));
}

TEST(Network, ACutAtAnyModelRequestDoesNotChangeTheResult) {
  int requests = 0;
  {
    ModelServer server(clean_run());
    RunFixture place(SB_PROGRAM);
    use_server(place, server);
    const ProgramResult ended = run_goal(place);
    ASSERT_EQ(ended.code, 0) << ended.output << ended.errors;
    requests = server.requests();
  }
  ASSERT_GE(requests, 7);
  std::atomic<int> next = 0;
  const auto cut_some = [&] {
    for (int i; (i = next++) < requests * 3;) {
      ModelServer server(clean_run());
      server.cut(i / 3 + 1, static_cast<Cut>(i % 3));
      RunFixture place(SB_PROGRAM);
      use_server(place, server);
      const ProgramResult ended = run_goal(place);
      EXPECT_EQ(ended.code, 0) << "request " << i / 3 + 1 << ", cut " << i % 3 << ": " << ended.output << ended.errors;
      EXPECT_EQ(place.shown()["outcome"], Value("merged"));
      EXPECT_EQ(place.delivered("answer.txt"), "right");
      EXPECT_EQ(place.delivered_commits(), 1);
      EXPECT_LE(server.requests(), requests + 1);
    }
  };
  {
    std::vector<std::jthread> threads;  // they mostly wait for the next retry
    for (int i = 0; i < 4; ++i) threads.emplace_back(cut_some);
  }
  std::printf("%d requests, each cut before, within and behind its answer\n", requests);
}

TEST(Network, AnOutageParksTheRunAndItContinuesLater) {
  ModelServer server(clean_run());
  server.refuse_all(529, "Retry-After: 1\r\n");
  RunFixture place(SB_PROGRAM);
  use_server(place, server);
  const ProgramResult ended = run_goal(place, {"--wait", "1s"});
  EXPECT_EQ(ended.code, 1) << ended.output << ended.errors;
  EXPECT_THAT(place.open_decisions(), IsEmpty());  // no question: it recovers by itself
  EXPECT_FALSE(place.events("parked").empty());
  server.refuse_all(0);
  ProgramResult on;
  for (int i = 0; i < 20; ++i) {
    on = with_key(place, {"runs", "resume", "last", "--json", "--wait", "30s"});
    if (on.code != 1) break;
  }
  EXPECT_EQ(on.code, 0) << on.output << on.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "right");
}

TEST(Network, ASilentProviderIsAnOutage) {
  ModelServer server(clean_run());
  server.hang_all(true);
  RunFixture place(SB_PROGRAM);
  use_server(place, server, "limits: {stall: 1s}\n");
  const ProgramResult ended = run_goal(place, {"--wait", "1s"});
  EXPECT_EQ(ended.code, 1) << ended.output << ended.errors;
  EXPECT_EQ(server.requests(), 5);
  EXPECT_THAT(place.events("phase_ended"), IsEmpty());
  ASSERT_THAT(place.events("parked"), SizeIs(1));
  EXPECT_THAT(place.events("parked")[0]["payload"].string_at("reason").value_or(""), HasSubstr("sent no data"));
  EXPECT_THAT(place.open_decisions(), IsEmpty());
  server.hang_all(false);
  const ProgramResult on = with_key(place, {"runs", "resume", "last", "--json"});
  EXPECT_EQ(on.code, 0) << on.output << on.errors;
  EXPECT_EQ(place.delivered("answer.txt"), "right");
}

TEST(Network, TheRetryTimeOfAProviderSurvivesARestart) {
  ModelServer server(clean_run());
  server.refuse_all(429, "Retry-After: 3600\r\n");
  RunFixture place(SB_PROGRAM);
  use_server(place, server);
  EXPECT_EQ(run_goal(place, {"--wait", "1s"}).code, 1);
  const ProgramResult again = with_key(place, {"runs", "resume", "last", "--wait", "1s"});
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.errors, HasSubstr("it is parked until"));
  EXPECT_THAT(again.errors, HasSubstr("answered 429"));
  EXPECT_EQ(server.requests(), 1);
  EXPECT_THAT(place.events("woken"), IsEmpty());
  EXPECT_THAT(place.run({"runs", "show", "last"}).output, HasSubstr("parked until 20"));
}

TEST(Network, AWaitForTheProviderIsShown) {
  ModelServer server(clean_run());
  server.refuse_all(529, "Retry-After: 100\r\n");
  RunFixture place(SB_PROGRAM);
  place.configure("models: {net: {provider: anthropic, model: stand-in, url: \"" + server.url() +
                  "\"}}\nroles: {default: net}\n");
  BackgroundProgram running(place, {"run", "Make the check pass", "--workspace", place.repository()});
  ASSERT_TRUE(becomes_true([&] {
    return place.run({"runs", "show", "last"}).output.find("waiting for the model until 20") != std::string::npos;
  }));
  EXPECT_THAT(place.shown()["model_wait"].string_at("reason").value_or(""), HasSubstr("answered 529"));
  place.run({"runs", "stop", "last"});
  EXPECT_THAT(running.wait().output, HasSubstr("waiting for the model until "));
  EXPECT_EQ(server.requests(), 1);
}

TEST(Network, WarnsOfAKeySentOverAPlainConnection) {
  RunFixture place(SB_PROGRAM);
  place.configure(
      "models: {net: {provider: openai, model: m, key: $STAND_IN_KEY, url: \"http://models.invalid/v1\"},\n"
      "         own: {provider: openai, model: m, url: \"http://models.invalid/v1\"},\n"
      "         here: {provider: openai, model: m, key: $STAND_IN_KEY, url: \"http://127.0.0.1:9/v1\"}}\n"
      "roles: {default: net}\n");
  const std::string warning = "models/net: its key is sent to http://models.invalid/v1 without encryption";
  const ProgramResult checked = with_key(place, {"config", "check", place.repository()});
  EXPECT_EQ(checked.code, 0) << checked.errors;
  EXPECT_THAT(checked.output, HasSubstr("warning: " + warning));
  EXPECT_THAT(checked.output, Not(HasSubstr("models/own")));
  EXPECT_THAT(checked.output, Not(HasSubstr("models/here")));
  EXPECT_THAT(run_goal(place, {"--wait", "1s"}).errors, HasSubstr("Warning: " + warning));
}

TEST(Network, AWrongKeyIsReportedImmediatelyAndNotRetried) {
  ModelServer server(clean_run());
  server.refuse_all(401);
  RunFixture place(SB_PROGRAM);
  use_server(place, server);
  const ProgramResult ended = run_goal(place);
  EXPECT_EQ(ended.code, 1) << ended.output << ended.errors;
  EXPECT_LE(server.requests(), 2);
  EXPECT_THAT(place.open_decisions(), SizeIs(1));
  EXPECT_THAT(ended.output + ended.errors, Not(HasSubstr(kKey)));
}

}  // namespace
}  // namespace sb::pipeline_tests
