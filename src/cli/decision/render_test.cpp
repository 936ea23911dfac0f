// `signalbox render`: what it prints, records and rejects.
#include "decision/render/render.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "cli/command.hpp"
#include "inbox/home.hpp"

namespace sb::cli {
namespace {

using testing::HasSubstr;

class RenderCommand : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "sb-render-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  struct RunOutput {
    int code;
    std::string output, errors;
  };

  RunOutput ran(const std::string& yaml, std::vector<std::string> arguments) {
    FakeStreams streams("---\n" + yaml);
    const Environment environment = home();
    const Seams seams{files_, clock_, random_, process_, environment, streams};
    arguments.insert(arguments.begin(), {"render", "--def", "-"});
    const int code = run(commands(), arguments, seams);
    return {code, streams.output, streams.errors};
  }

  std::vector<inbox::PlannedPrompt> planned() {
    FakeStreams streams;
    const Environment environment = home();
    const Seams seams{files_, clock_, random_, process_, environment, streams};
    auto opened = inbox::Home::open(seams, store::Access::kReadWrite);
    return (*opened)->inbox().open_prompts().value();
  }

 private:
  Environment home() const { return Environment({{"SIGNALBOX_HOME", directory_}}); }

  std::string directory_;
  SystemFiles files_;
  FakeClock clock_;
  FakeRandom random_;
  FakeProcess process_{
      [](const Command&) -> Result<ProcessResult> { return fail(ErrorCode::kNotFound, "no programs here"); }};
};

constexpr const char* kBranch =
    "{decision: branch, instruction: Which branch should be released?, options: [main, hotfix]}";

TEST_F(RenderCommand, PrintsTheCallAndRecordsIt) {
  const RunOutput result = ran(kBranch, {"--host", "ask_user_question"});
  ASSERT_EQ(result.code, kExitOk) << result.errors;
  const auto call = parse_json(result.output);
  ASSERT_TRUE(call);
  const std::string question = (*call)["questions"].items()[0]["question"].as_string();
  const auto prompts = planned();
  ASSERT_EQ(prompts.size(), 1u);
  EXPECT_EQ(prompts[0].question, question);
  EXPECT_EQ(decision::nonces_in(question), std::vector<std::string>{prompts[0].nonce});
  EXPECT_EQ(prompts[0].options.size(), 2u);
  EXPECT_EQ(prompts[0].options[1].id, "hotfix");
}

TEST_F(RenderCommand, TextHostPrintsOnlyTheBlock) {
  const RunOutput result = ran(kBranch, {"--host", "text"});
  EXPECT_EQ(result.code, kExitOk);
  EXPECT_EQ(result.output, "Which branch should be released?\n\n1) main\n2) hotfix\n");
  EXPECT_EQ(result.errors, "");
  EXPECT_EQ(planned().size(), 1u);
}

TEST_F(RenderCommand, HelpAndErrorsNameEveryHostOfTheTable) {
  const RunOutput help = ran(kBranch, {"--help"});
  const RunOutput wrong = ran(kBranch, {"--host", "telegraph"});
  EXPECT_EQ(wrong.code, kExitUsage);
  EXPECT_THAT(wrong.errors, HasSubstr("\"telegraph\""));
  for (const decision::Host* host : decision::hosts::kAll) {
    EXPECT_THAT(help.output, HasSubstr(host->name));
    EXPECT_THAT(wrong.errors, HasSubstr(host->name));
    const RunOutput shown = ran(kBranch, {"--host", std::string(host->name)});
    EXPECT_EQ(shown.code, kExitOk) << host->name << ": " << shown.errors;
  }
}

TEST_F(RenderCommand, PagesAreCountedFromOne) {
  const std::string yaml = "{decision: d, instruction: Which one?, options: [a1, a2, a3, a4, a5, a6, a7, a8]}";
  EXPECT_EQ(ran(yaml, {"--host", "text", "--page", "2"}).output, "Which one?\n\n1) a7\n2) a8\n");
  const RunOutput wrong = ran(yaml, {"--host", "text", "--page", "3"});
  EXPECT_EQ(wrong.code, kExitUsage);
  EXPECT_THAT(wrong.errors, HasSubstr("there is no page 3. Use --page 1 to 2."));
  EXPECT_EQ(wrong.output, "");
}

TEST_F(RenderCommand, AOneWayDoorNeedsAHostThatShowsItsNote) {
  const std::string yaml =
      "{decision: d, instruction: Drop it?, door: one-way, irreversible_note: Gone for good., options: [Keep, Drop]}";
  const RunOutput refused = ran(yaml, {"--host", "request_user_input"});
  EXPECT_EQ(refused.code, kExitUsage);
  EXPECT_EQ(refused.output, "");
  EXPECT_TRUE(planned().empty());
  EXPECT_THAT(ran(yaml, {"--host", "elicitation"}).output, HasSubstr("Gone for good."));
}

TEST_F(RenderCommand, FieldsThatAreNotShownAreListed) {
  const std::string yaml =
      "{decision: d, instruction: Which one?, options: [{id: a, label: One, recommended: true}, Two]}";
  EXPECT_EQ(ran(yaml, {"--host", "text"}).errors, "not shown on text: recommended\n");
}

// A file that an agent wrote must not decide what happens without an answer.
TEST_F(RenderCommand, ADefaultNeedsATrustedFile) {
  const RunOutput refused = ran(
      "{decision: d, profile: gstack, instruction: Which one?, options: [a1, a2], on_timeout: default, deadline: 1h, "
      "default: a1}",
      {"--host", "brief"});
  EXPECT_EQ(refused.code, kExitUsage);
  EXPECT_TRUE(planned().empty());
}

TEST_F(RenderCommand, AFlowStartsWithItsFirstQuestion) {
  const std::string flow =
      "{flow: release, steps: [{key: branch, instruction: Which branch?, options: [main, hotfix]}, "
      "{key: env, instruction: Which one?, options: [here, there]}]}";
  EXPECT_EQ(ran(flow, {"--host", "text"}).output, "Which branch?\n\n1) main\n2) hotfix\n");
  EXPECT_EQ(planned()[0].part, "branch");
}

TEST_F(RenderCommand, AnUnknownHostIsReported) {
  const RunOutput wrong = ran(kBranch, {"--host", "fax"});
  EXPECT_EQ(wrong.code, kExitUsage);
  EXPECT_THAT(wrong.errors, HasSubstr("unknown host \"fax\""));
}

}  // namespace
}  // namespace sb::cli
