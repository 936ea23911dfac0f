// A sealed value comes back unchanged or is rejected.
#include "mcp/peer/seal.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/testing/fakes.hpp"
#include "mcp/limits.hpp"

namespace sb::mcp {
namespace {

TEST(Seal, OpensWhatItSealed) {
  const Seal seal("key");
  for (const std::string& payload :
       {std::string(), std::string("a"), std::string("\0\xff.", 3), std::string(5000, 'x')})
    EXPECT_EQ(seal.open("label", seal.close("label", payload)), payload);
}

TEST(Seal, OpensNothingElse) {
  const Seal seal("key");
  const std::string sealed = seal.close("label", "payload");
  EXPECT_FALSE(seal.open("other", sealed));
  EXPECT_FALSE(Seal("another").open("label", sealed));
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string changed = sealed;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(seal.open("label", changed)) << i;
    EXPECT_FALSE(seal.open("label", sealed.substr(0, i))) << i;
  }
  for (const std::string& bad : {std::string("."), sealed + "A", sealed + ".", sealed + "-TAMPERED", "=" + sealed})
    EXPECT_EQ(seal.open("label", bad).error().code, ErrorCode::kInvalid) << bad;
}

TEST(Seal, DistinguishesLabelFromPayload) {
  const Seal seal("key");
  const std::string sealed = seal.close("ab", "c");
  const std::string moved = seal.close("a", "bc");
  EXPECT_NE(sealed.substr(sealed.find('.')), moved.substr(moved.find('.')));
}

class RequestStatesTest : public ::testing::Test {
 protected:
  FakeClock clock;
  FakeRandom random;
  std::set<std::string> used;
  RequestStates states{Seal("key"), clock, random, [this](std::string_view nonce, TimestampMs) -> Result<bool> {
                         return used.insert(std::string(nonce)).second;
                       }};
  const StateBinding binding{"ada", "digest"};
  const Value state = Value::object({{"decision", "d1"}});
};

TEST_F(RequestStatesTest, CanBeUsedOnce) {
  const std::string sealed = states.make(state, "s/d1", binding);
  EXPECT_EQ(states.take(sealed, binding), state);
  EXPECT_EQ(states.take(sealed, binding).error().code, ErrorCode::kConflict);
  EXPECT_EQ(states.take(states.make(state, "s/d1", binding), binding), state)
      << "another state for the same request is separate";
}

TEST_F(RequestStatesTest, CanContainWhatAMessageCan) {
  Value deep = Value::array();
  for (int i = 0; i < 150; ++i) deep = Value(Value::Array{std::move(deep)});
  EXPECT_EQ(states.take(states.make(deep, "", binding), binding), deep);
}

TEST_F(RequestStatesTest, AreValidOnlyForTheSameRequest) {
  const std::string sealed = states.make(state, "s/d1", binding);
  EXPECT_EQ(states.take(sealed, {"eve", "digest"}).error().code, ErrorCode::kInvalid);
  EXPECT_EQ(states.take(sealed, {"ada", "other"}).error().code, ErrorCode::kInvalid);
  EXPECT_TRUE(used.empty()) << "a failed attempt does not use it up";
  EXPECT_EQ(states.take(sealed, binding), state);
}

TEST_F(RequestStatesTest, Expire) {
  const std::string sealed = states.make(state, "", binding);
  clock.sleep_ms(limits::kStateLifeMs - 1);
  EXPECT_EQ(states.take(sealed, binding), state);
  const std::string another = states.make(state, "", binding);
  clock.sleep_ms(limits::kStateLifeMs);
  EXPECT_EQ(states.take(another, binding).error().code, ErrorCode::kConflict);
}

TEST_F(RequestStatesTest, AreRejectedIfTheirUseCannotBeStored) {
  RequestStates broken(Seal("key"), clock, random,
                       [](std::string_view, TimestampMs) -> Result<bool> { return fail(ErrorCode::kIo, "disk full"); });
  EXPECT_EQ(broken.take(states.make(state, "", binding), binding).error().code, ErrorCode::kIo);
}

}  // namespace
}  // namespace sb::mcp
