// A brief that lacks parts required by its profile is rejected, and the error names each part.
#include "decision/render/brief_parts.hpp"

#include <gmock/gmock.h>

#include "decision/render/render.hpp"
#include "decision/testing.hpp"

namespace sb::decision {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kWhole = R"(
decision: cache
profile: gstack
instruction: Which cache do we use?
sections:
  eli10: Where pages wait.
  stakes: Slow pages.
  recommendation: {choice: redis, reason: it is there already}
  net: Redis unless it must go.
options:
  - id: redis
    label: Redis
    recommended: true
    completeness: 9
    pros: [It survives a restart of every server we have, It is shared by all the servers we have today]
    cons: [It is one more service that somebody has to run]
  - id: map
    label: A map
    completeness: 6
    pros: [There is no new service that anybody has to run, It answers faster than anything over a network]
    cons: [The copies of two servers drift apart over time]
)";

std::string replaced(std::string yaml, const std::string& what, const std::string& with) {
  const std::size_t at = yaml.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return yaml.replace(at, what.size(), with);
}

Result<Rendered> as_brief(const std::string& yaml) {
  const Declaration declaration = declared(yaml);
  const auto prompts = prompts_of(*declaration.decision(), declaration.profile, declaration.hash);
  return render(prompts.at(0), declaration.profile, hosts::kBrief);
}

std::string refusal(const std::string& yaml) {
  const auto rendered = as_brief(yaml);
  if (rendered) return "";
  EXPECT_EQ(rendered.error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(rendered.error().remedy.empty());
  return rendered.error().message;
}

TEST(BriefParts, ABareGstackDecisionIsRejectedAndEveryPartNamed) {
  const std::string message =
      refusal("decision: cache\nprofile: gstack\ninstruction: Which?\noptions: [Redis, A map]\n");
  for (const char* part :
       {"\"cache\"", "sections.eli10", "sections.stakes", "sections.recommendation", "0 options are", "completeness",
        "option \"redis\" has 0 of 2 pros and 0 of 1 cons", "option \"a-map\"", "sections.net"}) {
    EXPECT_THAT(message, HasSubstr(part));
  }
}

TEST(BriefParts, EachMissingPartIsNamedAlone) {
  ASSERT_EQ(refusal(kWhole), "");
  const auto without = [](const std::string& what, const std::string& with = "") {
    return refusal(replaced(kWhole, what, with));
  };
  EXPECT_THAT(without("  net: Redis unless it must go.\n"), testing::EndsWith("brief: sections.net is missing"));
  EXPECT_THAT(without("  stakes: Slow pages.\n"), testing::EndsWith("brief: sections.stakes is missing"));
  EXPECT_THAT(without("    completeness: 6\n"), testing::EndsWith("brief: option \"map\" has no completeness"));
  EXPECT_THAT(without("It survives a restart of every server we have", "Robust"),
              testing::EndsWith("brief: option \"redis\": \"Robust\" has 6 of 40 characters"));
  EXPECT_THAT(without("choice: redis", "choice: map"), HasSubstr("names \"map\", but \"redis\" is marked"));
}

TEST(BriefParts, TwoRecommendationsAreRejected) {
  EXPECT_THAT(refusal(replaced(kWhole, "label: A map\n", "label: A map\n    recommended: true\n")),
              HasSubstr("2 options are marked recommended instead of one"));
}

TEST(BriefParts, ScoresOrTheKindNoteButNotBoth) {
  const std::string note = "  kind_note: options differ in kind, not coverage — no completeness score.\n  net:";
  const std::string both = replaced(kWhole, "  net:", note);
  EXPECT_THAT(refusal(both), HasSubstr("exclude each other"));
  const std::string only = replaced(replaced(both, "    completeness: 9\n", ""), "    completeness: 6\n", "");
  EXPECT_EQ(refusal(only), "");
  EXPECT_THAT(refusal(replaced(only, "options differ in kind, not coverage", "they differ")),
              HasSubstr("does not say"));
}

// Chain questions have their own form, and other hosts show none of the parts.
TEST(BriefParts, OnlyAFullDecisionShownAsABriefIsChecked) {
  const std::string bare = "decision: cache\nprofile: gstack\nlabel: D3.2\ninstruction: Which?\noptions: [a1, a2]\n";
  EXPECT_EQ(refusal(bare), "");
  const Declaration declaration = declared(replaced(bare, "label: D3.2\n", ""));
  const auto prompts = prompts_of(*declaration.decision(), declaration.profile, declaration.hash);
  for (const Host* host : hosts::kAll) {
    const int holds = cap_of(*host, declaration.profile);
    ASSERT_GE(holds, 2);
    EXPECT_EQ(render(prompts[0], declaration.profile, *host).has_value(), host != &hosts::kBrief) << host->name;
  }
}

TEST(BriefParts, ADecisionWithoutALabelIsD1) {
  const auto shown = as_brief(kWhole);
  ASSERT_TRUE(shown);
  EXPECT_THAT(shown->text, testing::StartsWith("D1 — Which cache do we use?\n"));
  EXPECT_EQ(shown->shape.label, "D1");
}

}  // namespace
}  // namespace sb::decision
