#include "decision/text_block.hpp"

#include <gtest/gtest.h>

#include "decision/texts.hpp"

namespace sb::decision {
namespace {

const std::vector<std::string> kOptions = {"main", "release", "hotfix"};

TEST(ReqInt6, InstructionThenNumberedOptions) {
  EXPECT_EQ(render_block("Which branch?", kOptions), "Which branch?\n\n1) main\n2) release\n3) hotfix");
  for (const char* bad :
       {"Which?\n\n1. a\n2. b", "Which?\n\nA) a\nB) b", "Which?\n\n- a\n- b", "Which?\n\n(1) a\n(2) b",
        "Which?\n\n１) a\n２) b", "Which?\n\n1) a\n3) b", "Which?\n\n1)a\n2)b", "Which?\n\n1)  a\n2) b"}) {
    EXPECT_FALSE(parse_block(bad)) << bad;
  }
}

TEST(ReqInt12, ExactlyOneBlankLine) {
  EXPECT_FALSE(parse_block("Which?\n1) a\n2) b"));
  EXPECT_FALSE(parse_block("Which?\n\n\n1) a\n2) b"));
  EXPECT_FALSE(parse_block("Which?\r\n\r\n1) a\r\n2) b"));
}

TEST(ReqInt14, NothingFollowsTheLastOption) {
  EXPECT_FALSE(parse_block("Which?\n\n1) a\n2) b\nReply with a number."));
  EXPECT_FALSE(parse_block("Which?\n\n1) a\n2) b\n"));
}

TEST(Amb25, AtLeastTwoOptions) {
  EXPECT_FALSE(parse_block("Go?\n\n1) Yes"));
}
TEST(Amb31, NoTrailingLineBreak) {
  EXPECT_EQ(render_block("Go?", kOptions).back(), 'x');
}

TEST(TextBlock, ParsesItsOwnOutput) {
  const auto block = parse_block(render_block("Какую ветку выпустить?", kOptions));
  ASSERT_TRUE(block);
  EXPECT_EQ(*block, (OptionBlock{"Какую ветку выпустить?", kOptions}));
}

TEST(ReqInt38, TheConfirmationHasItsOwnThreeOptions) {
  const std::string text = render_confirmation({{"branch", "main"}, {"env", "staging, production"}});
  EXPECT_EQ(text,
            "Summary:\n- branch: main\n- env: staging, production\n\n1) Confirm\n2) Restart\n3) Edit specific step");
  EXPECT_EQ(parse_response(text)->index(), 1u);
  EXPECT_FALSE(parse_confirmation("Summary:\n- a: b\n\n1) Confirm\n2) Cancel"));
  EXPECT_FALSE(parse_confirmation("Summary:\n\n1) Confirm\n2) Restart\n3) Edit specific step"));
}

TEST(Amb4, ARetryIsOneLineAndTheIdenticalBlock) {
  const std::string block = render_block("Which branch?", kOptions);
  const auto response = parse_response(render_retry("Invalid input.", block));
  ASSERT_TRUE(response);
  const auto* retry = std::get_if<RetryBlock>(&*response);
  ASSERT_TRUE(retry);
  EXPECT_EQ(retry->error_line, "Invalid input.");
  EXPECT_EQ(std::get<OptionBlock>(retry->repeated), (OptionBlock{"Which branch?", kOptions}));
}

TEST(Amb5, TheFormatMatchesTheStep) {
  EXPECT_EQ(format_hint({SelectMode::kOne, 1, 1}, 3, false), "1 / 2");
  EXPECT_EQ(format_hint({SelectMode::kMany, 1, 3}, 3, false), "1 / 2 / 1,3");
  EXPECT_EQ(format_hint({SelectMode::kMany, 1, 2}, 2, false), "1 / 2 / 1,2");
  EXPECT_EQ(format_hint({SelectMode::kOne, 1, 1}, 3, true), "1 / 2 / 1,3");
  EXPECT_EQ(format_hint({SelectMode::kMany, 2, 3}, 4, false), "1,2 / 1,3");
  EXPECT_EQ(format_hint({SelectMode::kMany, 3, 4}, 4, false), "1,2,3 / 1,2,4");
  EXPECT_EQ(format_hint({SelectMode::kMany, 2, 2}, 2, false), "1,2");
}

TEST(Amb18, ErrorLinesUseTheDefinitionsLocale) {
  EXPECT_EQ(retry_line("en", 1, "1 / 2"), "Invalid input.");
  EXPECT_EQ(retry_line("en", 2, "1 / 2 / 1,3"), "Invalid input. Format: 1 / 2 / 1,3");
  EXPECT_EQ(retry_line("en", 3, "1 / 2"), "1 / 2");
  EXPECT_EQ(retry_line("ru", 1, "1 / 2"), "Недопустимый ввод.");
  EXPECT_EQ(retry_line("ru", 2, "1 / 2"), "Недопустимый ввод. Формат: 1 / 2");
}

TEST(TextBlock, EventsAreOnlyTheCode) {
  EXPECT_EQ(parse_response("FLOW_CANCEL")->index(), 3u);
  EXPECT_EQ(parse_response("STEP_ABORT")->index(), 3u);
  EXPECT_FALSE(parse_response("STEP_ABORT\n"));
  EXPECT_FALSE(parse_response("FLOW_ABORT"));
}

TEST(Pages, ContainEveryOptionOnceAndNeverOnlyOne) {
  for (std::size_t cap = 2; cap <= 8; ++cap) {
    for (std::size_t count = 2; count <= 100; ++count) {
      for (const bool own : {false, true}) {
        const auto pages = paginate(count, cap, own);
        std::size_t next = 0;
        for (std::size_t i = 0; i < pages.size(); ++i) {
          EXPECT_EQ(pages[i].first, next);
          next = pages[i].last;
          const std::size_t shown = pages[i].last - pages[i].first + (pages[i].has_own_option ? 1 : 0);
          EXPECT_GE(shown, 2u);
          EXPECT_LE(shown, cap);
          EXPECT_EQ(pages[i].has_own_option, pages.size() > 1 && (own || i + 1 < pages.size()));
        }
        EXPECT_EQ(next, count);
      }
    }
  }
}

}  // namespace
}  // namespace sb::decision
