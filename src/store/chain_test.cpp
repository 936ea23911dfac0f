#include "store/chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sb::store {
namespace {

// Computed by another program from the layout in chain.hpp. If these change, existing stores no longer verify.
TEST(EventHash, CoversExactlyTheseBytes) {
  const Digest first = event_hash(Digest{}, "decision/d-1", 1, "opened", 1'700'000'000'000, R"({"a":1})");
  EXPECT_EQ(to_hex(as_bytes(first)), "a86c0d9611c476c6872ccb1dd2de9c53e038ef25211deddebfe6f0c816a5d65c");
  const Digest second = event_hash(first, "decision/d-1", 2, "answered", -1, R"({"t":"é"})");
  EXPECT_EQ(to_hex(as_bytes(second)), "6e53637e4af224aef4f41ff3b7ead0e0b3cbb57637fd9f2b0f81952612f1b40f");
}

TEST(EventHash, ChangesWhenBytesMoveBetweenFields) {
  const Digest zero{};
  EXPECT_NE(event_hash(zero, "ab", 1, "c", 1, "d"), event_hash(zero, "a", 1, "bc", 1, "d"));
  EXPECT_NE(event_hash(zero, "a", 1, "bc", 1, "d"), event_hash(zero, "a", 1, "b", 1, "cd"));
  EXPECT_NE(event_hash(zero, "a", 1, "b", 2, ""), event_hash(zero, "a", 2, "b", 1, ""));
}

std::vector<Event> make_chain(int count) {
  std::vector<Event> events;
  Digest previous{};
  for (int seq = 1; seq <= count; ++seq) {
    Event event{seq, "s", seq, "t", 1, "{}", previous, {}};
    event.hash = previous = event_hash(previous, "s", seq, "t", 1, "{}");
    events.push_back(event);
  }
  return events;
}

void expect_corrupt(const std::vector<Event>& events, std::string_view said) {
  const Status status = check_chain(Head{}, events);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(status.error().message, testing::HasSubstr(std::string(said)));
}

TEST(CheckChain, NamesTheFirstWrongEvent) {
  EXPECT_TRUE(check_chain(Head{}, make_chain(4)));
  EXPECT_TRUE(check_chain(Head{}, {}));

  auto changed = make_chain(4);
  changed[2].payload = "[]";
  expect_corrupt(changed, "event 3 of stream \"s\"");

  auto missing = make_chain(4);
  missing.erase(missing.begin() + 1);
  expect_corrupt(missing, "event 2 of stream \"s\" is missing");

  // Rewritten with a matching hash: the link to the previous event reveals it.
  auto rewritten = make_chain(4);
  rewritten[1].payload = "[]";
  rewritten[1].hash = event_hash(rewritten[1].previous, "s", 2, "t", 1, "[]");
  expect_corrupt(rewritten, "event 3 of stream \"s\" does not follow the previous event");

  const auto chain = make_chain(4);
  EXPECT_TRUE(check_chain({2, chain[1].hash}, std::span(chain).subspan(2)));
  EXPECT_FALSE(check_chain({2, chain[0].hash}, std::span(chain).subspan(2)));
}

}  // namespace
}  // namespace sb::store
