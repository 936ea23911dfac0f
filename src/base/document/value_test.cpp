#include "base/document/value.hpp"

#include <gtest/gtest.h>

#include <bit>

#include "base/document/document.hpp"

namespace sb {
namespace {

std::string canonical(std::string_view json) {
  const auto value = parse_json(json);
  return value ? to_canonical_json(*value) : value.error().to_string();
}

// Test vectors from RFC 8785.
TEST(CanonicalJson, SortsAndFormatsLikeTheRfcExample) {
  EXPECT_EQ(canonical(R"({"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
                          "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
                          "literals": [null, true, false]})"),
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
            "\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
}

TEST(CanonicalJson, SortsByUtf16CodeUnits) {
  EXPECT_EQ(
      canonical(R"({"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
                          "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
                          "\u00f6": "Latin Small Letter O With Diaeresis"})"),
      "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xC2\x80\":\"Control\",\"ö\":\"Latin Small Letter O With "
      "Diaeresis\",\"€\":\"Euro Sign\",\"😀\":\"Emoji: Grinning Face\",\"\xEF\xAC\xB3\":\"Hebrew Letter Dalet With "
      "Dagesh\"}");
}

TEST(CanonicalJson, FormatsNumbersLikeEcmaScript) {
  const std::pair<std::uint64_t, const char*> rows[] = {
      {0x0000000000000000, "0"},
      {0x8000000000000000, "0"},
      {0x0000000000000001, "5e-324"},
      {0x8000000000000001, "-5e-324"},
      {0x7fefffffffffffff, "1.7976931348623157e+308"},
      {0xffefffffffffffff, "-1.7976931348623157e+308"},
      {0x4340000000000000, "9007199254740992"},
      {0xc340000000000000, "-9007199254740992"},
      {0x4430000000000000, "295147905179352830000"},
      {0x44b52d02c7e14af5, "9.999999999999997e+22"},
      {0x44b52d02c7e14af6, "1e+23"},
      {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
      {0x444b1ae4d6e2ef4e, "999999999999999700000"},
      {0x444b1ae4d6e2ef4f, "999999999999999900000"},
      {0x444b1ae4d6e2ef50, "1e+21"},
      {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
      {0x3eb0c6f7a0b5ed8d, "0.000001"},
      {0x41b3de4355555553, "333333333.3333332"},
      {0x41b3de4355555554, "333333333.33333325"},
      {0x41b3de4355555555, "333333333.3333333"},
      {0x41b3de4355555556, "333333333.3333334"},
      {0x41b3de4355555557, "333333333.33333343"},
      {0xbecbf647612f3696, "-0.0000033333333333333333"},
      {0x43143ff3c1cb0959, "1424953923781206.2"},
  };
  for (const auto& [bits, text] : rows) EXPECT_EQ(to_canonical_json(Value(std::bit_cast<double>(bits))), text);
}

TEST(Value, MembersKeepTheirOrderAndAreReplacedInPlace) {
  Value value = Value::object({{"b", 1}, {"a", 2}});
  value.set("b", 3);
  value.set("c", Value::array({"x"}));
  EXPECT_EQ(to_json(value), R"({"b":3,"a":2,"c":["x"]})");
  EXPECT_EQ(to_pretty_json(value), "{\n  \"b\": 3,\n  \"a\": 2,\n  \"c\": [\n    \"x\"\n  ]\n}");
  EXPECT_EQ(to_pretty_json(Value::object()), "{}");
}

TEST(Value, JsonSurvivesARoundTrip) {
  const std::string text = R"({"a":[1,-2.5,"\u0001\"é😀",null,true,{}],"n":9223372036854775807})";
  const auto value = parse_json(text);
  ASSERT_TRUE(value);
  const auto again = parse_json(to_json(*value));
  ASSERT_TRUE(again);
  EXPECT_EQ(*value, *again);
}

TEST(Value, QuotesEveryCharacterAtEveryPosition) {
  for (int c = 1; c < 256; ++c) {
    for (std::size_t at = 0; at < 18; ++at) {
      std::string text(18, 'a');
      text[at] = static_cast<char>(c);
      const std::string quoted = quote_json(text);
      const bool is_escaped = c < 0x20 || c == '"' || c == '\\';
      EXPECT_EQ(quoted.size() > text.size() + 2, is_escaped) << c << " at " << at;
      if (c < 0x80) {
        EXPECT_EQ(parse_json(quoted)->as_string(), text) << c << " at " << at;
      }
    }
  }
}

TEST(Value, DuplicateKeysAreReportedByPointerAtAnyDepthAndCount) {
  std::string many;
  for (int i = 0; i < 20; ++i)
    many += '"' + std::string(1, static_cast<char>('a' + i)) + "\":[" + (i ? "" : "{}") + "],";
  const auto twice = [](const std::string& text) {
    const auto document = parse_document("f.json", text);
    return document ? std::string() : document.error().location.pointer;
  };
  EXPECT_EQ(twice("{\"x\":[0,[],{\"y\":{" + many + "\"c\":1}}]}"), "/x/2/y/c");
  EXPECT_EQ(twice("{\"x\":[0,[],{\"y\":{\"a\":{\"a\":1},\"a\":1}}]}"), "/x/2/y/a");
  EXPECT_EQ(twice("{\"x\":[{\"a\":1},{\"a\":1}],\"a\":{\"a\":{\"a\":[]}}}"), "");
}

}  // namespace
}  // namespace sb
