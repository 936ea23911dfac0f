// Our own texts for agents keep the rules that they state.
#include "decision/rules_text.hpp"

#include <gtest/gtest.h>

#include "decision/lint/lint.hpp"

namespace sb::decision {
namespace {

TEST(RulesText, PassesTheLinter) {
  for (const std::string_view text : {rules_section(), rules_instructions()}) {
    ASSERT_FALSE(text.empty());
    const auto finding = first_blocking(lint(text, reply_context({"de", "es", "fr", "ja", "zh"})));
    EXPECT_FALSE(finding) << finding->rule << ": " << text.substr(finding->start, finding->end - finding->start);
  }
}

TEST(RulesText, IsShort) {
  EXPECT_LT(rules_section().size(), 2'000u);
  EXPECT_LT(rules_instructions().size(), 1'000u);
}

}  // namespace
}  // namespace sb::decision
