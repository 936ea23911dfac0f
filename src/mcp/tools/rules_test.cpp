// What agents are told: the instructions, and the description of `ask`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "decision/declaration/declaration.hpp"
#include "decision/lint/lint.hpp"
#include "mcp/asking/ask.hpp"
#include "mcp/tools/signalbox_server.hpp"
#include "mcp/tools/tools.hpp"

namespace sb::mcp {
namespace {

using testing::HasSubstr;

constexpr std::size_t kClientsCutAt = 2'048;

std::string instructions() {
  SystemFiles files;
  FakeClock clock;
  FakeRandom random;
  SystemProcess process;
  Environment environment;
  FakeStreams streams;
  return make_server_parts({files, clock, random, process, environment, streams}).facts.instructions;
}

void expect_keeps_the_rules(std::string_view text) {
  const auto finding = decision::first_blocking(decision::lint(text, decision::reply_context({})));
  EXPECT_FALSE(finding) << finding->rule << ": " << text.substr(finding->start, finding->end - finding->start);
}

TEST(AgentRules, AreInTheInstructions) {
  const std::string text = instructions();
  EXPECT_LT(text.size(), kClientsCutAt);
  EXPECT_THAT(text, HasSubstr("Where a person must choose, approve, confirm or clarify"));
  EXPECT_THAT(text, HasSubstr("continue_workflow"));
  expect_keeps_the_rules(text);
}

TEST(AgentRules, AskShowsAnAcceptedExampleOfEachKind) {
  const Value item = tool_item(ask_tool().spec);
  const std::string help = item["inputSchema"]["properties"]["declaration"].string_at("description").value_or("");
  const std::string description = item.string_at("description").value_or("");
  EXPECT_LT(description.size() + help.size(), kClientsCutAt);
  expect_keeps_the_rules(description);
  for (const std::string_view example : {kDeclarationExample, kFlowExample, kChainExample}) {
    EXPECT_THAT(help, HasSubstr(std::string(example)));
    const auto document = parse_document("declaration", std::string(example));
    ASSERT_TRUE(document) << document.error().to_string();
    const auto declared =
        decision::parse_declaration(*document, decision::Profiles::built_in(), decision::Author::kModel);
    EXPECT_TRUE(declared) << declared.error().front().to_string();
  }
}

}  // namespace
}  // namespace sb::mcp
