#include "mcp/http/sse.hpp"

#include <gtest/gtest.h>

namespace sb::mcp {
namespace {

TEST(EventIds, SurviveARoundTrip) {
  for (const Value& request : {Value(), Value(7), Value("a-b_c"), Value("\xC3\xA4"), Value(-1)}) {
    const EventId id{.boot = "abc123", .stream = 3, .number = 17, .request = request};
    EXPECT_EQ(parse_event_id(to_text(id)), id) << to_text(id);
  }
}

TEST(EventIds, OmitARequestThatIsTooLong) {
  const EventId id{.boot = "a", .stream = 1, .number = 2, .request = std::string(200, 'x')};
  EXPECT_EQ(to_text(id), "a-1-2");
}

TEST(EventIds, AreVisibleAscii) {
  const std::string text = to_text({.boot = "a", .stream = 1, .number = 2, .request = "\n\x01 \xE2\x82\xAC"});
  for (const char c : text) EXPECT_TRUE(c > ' ' && c < 127) << text;
}

TEST(EventIds, RejectOtherFormats) {
  for (const char* text : {"", "a", "a-1", "-1-2", "A-1-2", "a-x-2", "a-1-", "a--2", "a-1-2-", "a-1-2-!",
                           "a-1-2-bnVsbA", "a-1-2-e30", "a-99999999999999999999-1", "a-1-2-MSwy"}) {
    EXPECT_FALSE(parse_event_id(text)) << text;
  }
  EXPECT_FALSE(parse_event_id("a-1-2-" + std::string(1000, 'A')));
  EXPECT_FALSE(parse_event_id(std::string("a-1-2\0x", 7)));
}

TEST(Events, HaveOneLineOfDataEach) {
  const std::string text = event_text("a-1-2", Value::object({{"text", "one\ntwo\r\nthree"}}));
  EXPECT_EQ(text, "event: message\nid: a-1-2\ndata: {\"text\":\"one\\ntwo\\r\\nthree\"}\n\n");
  EXPECT_EQ(event_text("", Value(1)), "event: message\ndata: 1\n\n");
  EXPECT_EQ(priming_text("a-1-0"), "id: a-1-0\nretry: 2000\ndata:\n\n");
}

}  // namespace
}  // namespace sb::mcp
