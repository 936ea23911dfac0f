#include "workflow/check/foresight.hpp"

#include <gtest/gtest.h>

#include "base/document/document.hpp"

namespace sb::workflow {
namespace {

Foresight foreseen(const std::string& text, const std::string& context, const std::string& changing = "") {
  const auto document = parse_document("c.json", text, Syntax::kJson);
  EXPECT_TRUE(document);
  Faults faults;
  const auto condition = read_condition(Reader(*document, faults));
  EXPECT_TRUE(condition) << text;
  return foresee(*condition, *parse_json(context), [&](const std::string& key) { return key == changing; });
}

TEST(Foresight, ASetKeyDecidesAndAnUnsetOneIsOpen) {
  EXPECT_EQ(foreseen(R"({"var":"size","equals":"Small"})", R"({"size":"Small"})"), Foresight::kTrue);
  EXPECT_EQ(foreseen(R"({"var":"size","not_equals":"Small"})", R"({"size":"Small"})"), Foresight::kFalse);
  EXPECT_EQ(foreseen(R"({"var":"size","not_equals":"Small"})", "{}"), Foresight::kOpen);
  EXPECT_EQ(foreseen(R"({"var":"plan.size","gt":2})", R"({"plan":{"size":3}})"), Foresight::kTrue);
}

TEST(Foresight, AKeyThatMayChangeIsOpen) {
  EXPECT_EQ(foreseen(R"({"var":"size","equals":"Small"})", R"({"size":"Small"})", "size"), Foresight::kOpen);
  EXPECT_EQ(foreseen(R"({"var":"plan.size","gt":2})", R"({"plan":{"size":3}})", "plan"), Foresight::kOpen);
}

TEST(Foresight, CombinationsAreDecidedByTheirCertainParts) {
  const std::string one = R"({"a":1})";
  EXPECT_EQ(foreseen(R"({"and":[{"var":"a","equals":2},{"var":"b"}]})", one), Foresight::kFalse);
  EXPECT_EQ(foreseen(R"({"and":[{"var":"a","equals":1},{"var":"b"}]})", one), Foresight::kOpen);
  EXPECT_EQ(foreseen(R"({"or":[{"var":"a","equals":1},{"var":"b"}]})", one), Foresight::kTrue);
  EXPECT_EQ(foreseen(R"({"or":[{"var":"a","equals":2},{"var":"b"}]})", one), Foresight::kOpen);
  EXPECT_EQ(foreseen(R"({"not":{"var":"a","equals":1}})", one), Foresight::kFalse);
  EXPECT_EQ(foreseen(R"({"not":{"var":"b"}})", one), Foresight::kOpen);
  EXPECT_EQ(foreseen(R"({"and":[]})", one), Foresight::kTrue);
  EXPECT_EQ(foreseen(R"({"or":[]})", one), Foresight::kFalse);
  EXPECT_EQ(foreseen("{}", one), Foresight::kTrue);
}

}  // namespace
}  // namespace sb::workflow
