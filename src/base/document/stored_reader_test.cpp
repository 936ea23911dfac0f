#include "base/document/stored_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>

namespace sb {
namespace {

using testing::ElementsAre;

std::string fault_of(const char* json, const std::function<void(StoredReader&)>& read, bool nothing_else = false) {
  const auto value = parse_stored(json);
  EXPECT_TRUE(value);
  StoredReader stored(*value, event_name("run/r-1", 3, "routed"));
  read(stored);
  const Status done = stored.done(nothing_else);
  if (done) return "";
  EXPECT_EQ(done.error().code, ErrorCode::kCorrupt);
  return done.error().message;
}

TEST(StoredReader, ReadsMembersOfEveryKind) {
  EXPECT_EQ(fault_of(
                R"({"s":"x","i":3,"b":true,"l":["a","b"],"o":{"p":1},"y":"aGk"})",
                [](StoredReader& stored) {
                  EXPECT_EQ(stored.string("s"), "x");
                  EXPECT_EQ(stored.integer("i"), 3);
                  EXPECT_TRUE(stored.boolean("b"));
                  EXPECT_THAT(stored.strings("l"), ElementsAre("a", "b"));
                  EXPECT_EQ(stored.object("o")["p"], Value(1));
                  EXPECT_EQ(stored.bytes("y"), "hi");
                },
                true),
            "");
}

TEST(StoredReader, AbsentOptionalMembersAreEmpty) {
  EXPECT_EQ(fault_of("{}",
                     [](StoredReader& stored) {
                       EXPECT_EQ(stored.optional_string("s"), "");
                       EXPECT_EQ(stored.optional_integer("i"), 0);
                       EXPECT_EQ(stored.optional_small("i"), 0);
                       EXPECT_FALSE(stored.optional_boolean("b"));
                       EXPECT_TRUE(stored.strings("l").empty());
                       EXPECT_TRUE(stored.optional_object("o").is_object());
                       EXPECT_TRUE(stored.any("a").is_null());
                     }),
            "");
}

TEST(StoredReader, NamesTheObjectAndTheFirstWrongMember) {
  const auto both = [](StoredReader& stored) {
    stored.string("mode");
    stored.integer("round");
  };
  EXPECT_EQ(fault_of("{}", both), R"(event 3 (routed) of run/r-1 is damaged: "mode" is not a string)");
  EXPECT_EQ(fault_of(R"({"mode":"FULL","round":"1"})", both),
            R"(event 3 (routed) of run/r-1 is damaged: "round" is not a whole number)");
  EXPECT_EQ(fault_of("[]", both), "event 3 (routed) of run/r-1 is not an object");
}

TEST(StoredReader, AnOptionalMemberOfTheWrongKindIsAFault) {
  EXPECT_NE(fault_of(R"({"x":1})", [](StoredReader& stored) { stored.optional_string("x"); }), "");
  EXPECT_NE(fault_of(R"({"x":"1"})", [](StoredReader& stored) { stored.optional_integer("x"); }), "");
  EXPECT_NE(fault_of(R"({"x":4294967296})", [](StoredReader& stored) { stored.optional_small("x"); }), "");
  EXPECT_NE(fault_of(R"({"x":0})", [](StoredReader& stored) { stored.optional_boolean("x"); }), "");
  EXPECT_NE(fault_of(R"({"x":[1]})", [](StoredReader& stored) { stored.strings("x"); }), "");
  EXPECT_NE(fault_of(R"({"x":"***"})", [](StoredReader& stored) { stored.bytes("x"); }), "");
}

TEST(StoredReader, RefusesWordsItDoesNotKnow) {
  const auto read = [](StoredReader& stored) {
    stored.word("x", [](std::string_view word) { return word == "one" ? std::optional(1) : std::nullopt; });
  };
  EXPECT_EQ(fault_of(R"({"x":"one"})", read), "");
  EXPECT_EQ(fault_of(R"({"x":"two"})", read), R"(event 3 (routed) of run/r-1 is damaged: "x" has an unknown value)");
}

TEST(StoredReader, RefusesWhatIsNotJson) {
  const auto value = parse_stored("{");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().code, ErrorCode::kCorrupt);
}

}  // namespace
}  // namespace sb
