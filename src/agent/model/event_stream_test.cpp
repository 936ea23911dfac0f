#include "agent/model/event_stream.hpp"

#include <gtest/gtest.h>

namespace sb::agent {
namespace {

std::string read(std::string_view bytes, std::size_t step = 1'000) {
  SseParser stream(100);
  std::string all;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    for (const SseEvent& event : stream.feed(bytes.substr(at, step))) all += "[" + event.name + "|" + event.data + "]";
  }
  if (stream.is_too_large()) all += "too large";
  return all;
}

TEST(EventStreamTest, ReadsEventsWithAllLineEndings) {
  for (const std::size_t step : {1, 2, 3, 1'000}) {
    EXPECT_EQ(read("event: a\ndata: 1\n\ndata:2\ndata:  3\n\n", step), "[a|1][|2\n 3]");
    EXPECT_EQ(read("event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n", step), "[a|1][|2]");
    EXPECT_EQ(read("data: 1\r\rdata: 2\r\r", step), "[|1][|2]");
    EXPECT_EQ(read("\xEF\xBB\xBF"
                   "data: 1\n\n",
                   step),
              "[|1]");
    EXPECT_EQ(read(": ping\n\nid: 4\nretry: 1\nnonsense\ndata\n\n", step), "[|]");
  }
}

TEST(EventStreamTest, IgnoresAnUnfinishedEvent) {
  EXPECT_EQ(read("data: 1\n"), "");
  EXPECT_EQ(read("event: a\n\n"), "") << "an event without data is ignored";
}

TEST(EventStreamTest, StopsAtAnEventThatIsTooLarge) {
  EXPECT_EQ(read("data: " + std::string(94, 'x') + "\n\n"), "[|" + std::string(94, 'x') + "]");
  EXPECT_EQ(read("data: " + std::string(95, 'x') + "\n\n"), "too large");
  std::string many;
  for (int i = 0; i < 20; ++i) many += "data: " + std::string(10, 'x') + "\n";
  EXPECT_EQ(read(many + "\n", 7), "too large");
  EXPECT_EQ(read(std::string(101, 'x'), 1), "too large");
}

TEST(EventStreamTest, DetectsWhetherItIsAnEventStream) {
  for (const auto& [bytes, handles] : {std::pair{"<html>", false},
                                       {"", false},
                                       {"a: b\n\n", false},
                                       {": x", true},
                                       {"data: {", true},
                                       {"event: x\n", true},
                                       {"https://x", false}}) {
    SseParser stream(100);
    stream.feed(bytes);
    EXPECT_EQ(stream.has_begun(), handles) << bytes;
  }
}

}  // namespace
}  // namespace sb::agent
