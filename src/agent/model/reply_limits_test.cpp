// Each limit of a reply, at the limit and one past it.
#include <gtest/gtest.h>

#include "agent/limits.hpp"
#include "agent/model/anthropic.hpp"
#include "agent/model/provider_testing.hpp"

namespace sb::agent {
namespace {

TEST(ReplyLimitsTest, LimitsTheBytesOfAReply) {
  ReplySizeLimit room;
  EXPECT_FALSE(room.take(limits::kReplyBytes - 1));
  EXPECT_FALSE(room.take(1));
  const auto error = room.take(1);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, ModelError::Kind::kTooLarge);
  EXPECT_EQ(error->error.message, "The model's reply is larger than 4 MiB");
}

TEST(ReplyLimitsTest, TreatsInputNestedTooDeepAsInvalidJson) {
  const auto nested = [](std::size_t depth) {
    return "{\"a\":" + std::string(depth - 1, '[') + std::string(depth - 1, ']') + "}";
  };
  EXPECT_TRUE(tool_use_block("i", "n", nested(limits::kReplyDepth))["input"].is_object());
  EXPECT_TRUE(tool_use_block("i", "n", nested(limits::kReplyDepth + 1))["input"].is_string());
}

TEST(ReplyLimitsTest, TheDeepestReplyCanStillBeStoredInAConversation) {
  const std::string input =
      "{\"a\":" + std::string(limits::kReplyDepth - 1, '[') + std::string(limits::kReplyDepth - 1, ']') + "}";
  ModelRequest request;
  request.messages = {{Message::From::kAssistant, {tool_use_block("i", "n", input)}}};
  EXPECT_TRUE(parse_json(to_canonical_json(to_value(request))));
}

TEST(ReplyLimitsTest, LimitsTheBytesOfAScriptedReply) {
  for (const std::size_t more : {0u, 1u}) {
    ProviderFixture at;
    ModelSettings settings;
    settings.provider = provider_named("scripted");
    settings.script = "/s.jsonl";
    ASSERT_TRUE(at.files.write_atomic(
        "/s.jsonl", "{\"content\": \"" + std::string(limits::kReplyBytes + more, 'x') + "\"}\n{\"content\": \"b\"}\n"));
    const auto model = at.make(settings);
    const ModelResult replied = model->reply(plain_request(), {});
    EXPECT_EQ(replied.has_value(), more == 0);
    if (!replied) {
      EXPECT_EQ(replied.error().kind, ModelError::Kind::kTooLarge);
      EXPECT_EQ(replied.error().error.message, "The model's reply is larger than 4 MiB");
    }
  }
}

TEST(ReplyLimitsTest, LimitsTheBytesOfAScript) {
  ProviderFixture at;
  ModelSettings settings;
  settings.provider = provider_named("scripted");
  settings.script = "/s.jsonl";
  std::string& script = at.files.contents()["/s.jsonl"] = "{\"content\": \"x\"}\n# ";
  script.append(limits::kScriptBytes - script.size(), 'x');
  EXPECT_TRUE(make_model(settings, {at.seams(), *at.http, *at.store, "r"}));
  script += 'x';
  const auto made = make_model(settings, {at.seams(), *at.http, *at.store, "r"});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kLimit);
}

TEST(ReplyLimitsTest, LimitsTheBytesOfAStream) {
  ProviderFixture at;
  net::RawServer server([](auto& peer, const auto& request) {
    const std::string stream = sse(test_apis()[0].events);
    const std::size_t all = limits::kReplyStreamBytes + (request.head.contains("/more") ? 1 : 0);
    peer.put(stream_head());
    for (std::size_t left = all - stream.size(); left > 0;) {
      const std::size_t size = std::min<std::size_t>(left, 1u << 20);
      if (!peer.put(":" + std::string(size - 2, 'p') + "\n")) return false;
      left -= size;
    }
    return peer.put(stream), false;
  });
  ModelSettings settings;
  settings.provider = provider_named("anthropic");
  settings.url = server.url("/v1");
  EXPECT_TRUE(at.make(settings)->reply(plain_request(), {}));
  settings.url = server.url("/more");
  const ModelResult replied = at.make(settings)->reply(plain_request(), {});
  ASSERT_FALSE(replied);
  EXPECT_EQ(replied.error().kind, ModelError::Kind::kTooLarge);
}

}  // namespace
}  // namespace sb::agent
