#include "agent/context/rule_files.hpp"

#include <fmt/format.h>

#include "agent/context/identity.hpp"
#include "agent/limits.hpp"
#include "agent/tools/testing.hpp"

namespace sb::agent {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> keys(const RuleSources& read) {
  std::vector<std::string> all;
  for (const ContextSource& source : read.sources) all.push_back(source.key);
  return all;
}

std::string text_of(const RuleSources& read, const std::string& key) {
  for (const ContextSource& source : read.sources) {
    if (source.key == key) return source.text;
  }
  return "(none)";
}

RuleQuery query_of(WorkTreeFixture& room) {
  return {.work_tree = room.root,
          .hidden = room.place().hidden,
          .config_home = room.directory + "/home/.sb",
          .work = {"coding", "wr.coding-task", "build-slice"}};
}

TEST(Rules, AreReadFromTheWorkTreeInOrder) {
  WorkTreeFixture room;
  for (const char* name :
       {".claude/CLAUDE.md", "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", ".github/AGENTS.md", ".cursor/rules/b.mdc",
        ".cursor/rules/a.mdc", ".cursorrules", ".windsurf/rules/w.md", ".firebender/rules/f.mdc",
        ".firebender/AGENTS.md", ".github/copilot-instructions.md", ".continue/rules/c.md", ".cursor/rules/not.txt"}) {
    room.write(std::string("work/") + name, std::string("---\nglobs: *.ts\n---\nrule of ") + name);
  }
  const RuleSources read = read_rules(room.files, query_of(room));
  EXPECT_THAT(keys(read), ElementsAre("soul", "rules/.claude/CLAUDE.md", "rules/CLAUDE.md", "rules/CLAUDE.local.md",
                                      "rules/AGENTS.md", "rules/.github/AGENTS.md", "rules/.cursor/rules/a.mdc",
                                      "rules/.cursor/rules/b.mdc", "rules/.cursorrules", "rules/.windsurf/rules/w.md",
                                      "rules/.firebender/rules/f.mdc", "rules/.firebender/AGENTS.md",
                                      "rules/.github/copilot-instructions.md", "rules/.continue/rules/c.md"));
  EXPECT_EQ(text_of(read, "rules/AGENTS.md"), "rule of AGENTS.md");
  EXPECT_TRUE(read.notes.empty()) << read.notes.front();
}

TEST(Rules, OnlyThoseThatApplyAreUsed) {
  WorkTreeFixture room;
  const auto rule = [&](const char* name, const char* scope) {
    room.write(fmt::format("work/.continue/rules/{}.md", name),
               fmt::format("---\napplies_to: {}\n---\n{}\n", scope, name));
  };
  rule("by-type", "coding");
  rule("by-workflow", "[wr.mr-review, wr.coding-task]");
  rule("by-step", "[build-slice]");
  rule("by-star", "\"wr.*\"");
  rule("other", "[review, wr.mr-review]");
  rule("wrong", "{a: b}");
  const RuleSources read = read_rules(room.files, query_of(room));
  EXPECT_THAT(keys(read), ElementsAre("soul", "rules/.continue/rules/by-star.md", "rules/.continue/rules/by-step.md",
                                      "rules/.continue/rules/by-type.md", "rules/.continue/rules/by-workflow.md"));
  EXPECT_EQ(read.sources[2].title, ".continue/rules/by-step.md (for build-slice)");
  ASSERT_EQ(read.notes.size(), 1u);
  EXPECT_THAT(read.notes[0], HasSubstr("wrong.md: applies_to"));
}

TEST(Rules, InvalidFrontMatterStaysInTheText) {
  WorkTreeFixture room;
  room.write("work/AGENTS.md", "---\nnot closed");
  room.write("work/CLAUDE.md", "a\n---\nb\n---\nc");
  room.write("work/.cursorrules", "");
  room.write("work/CLAUDE.local.md", "---\r\nx: y\r\n---\r\nbehind");
  const RuleSources read = read_rules(room.files, query_of(room));
  EXPECT_EQ(text_of(read, "rules/AGENTS.md"), "---\nnot closed");
  EXPECT_EQ(text_of(read, "rules/CLAUDE.md"), "a\n---\nb\n---\nc");
  EXPECT_EQ(text_of(read, "rules/.cursorrules"), "(none)");
  EXPECT_EQ(text_of(read, "rules/CLAUDE.local.md"), "behind");
}

TEST(Rules, TheSameTextIsUsedOnce) {
  WorkTreeFixture room;
  room.write("work/AGENTS.md", "the rules");
  std::filesystem::create_symlink("AGENTS.md", room.root + "/CLAUDE.md");
  EXPECT_THAT(keys(read_rules(room.files, query_of(room))), ElementsAre("soul", "rules/CLAUDE.md"));
}

TEST(Rules, ALinkOutOfTheWorkTreeIsNotRead) {
  WorkTreeFixture room;
  std::filesystem::create_symlink(room.directory + "/home/.ssh/id", room.root + "/CLAUDE.md");
  std::filesystem::create_directories(room.root + "/.cursor");
  std::filesystem::create_directory_symlink(room.directory + "/elsewhere", room.root + "/.cursor/rules");
  room.write("elsewhere/x.mdc", "the-secret");
  room.write("soul.md", "");
  std::filesystem::remove(room.directory + "/soul.md");
  std::filesystem::create_symlink(room.directory + "/home/.ssh/id", room.directory + "/soul.md");
  RuleQuery query = query_of(room);
  query.tier0 = {"../elsewhere/secret.txt", "CLAUDE.md"};
  query.soul = room.directory + "/soul.md";
  const RuleSources read = read_rules(room.files, query);
  EXPECT_THAT(keys(read), ElementsAre("soul"));
  EXPECT_EQ(read.sources[0].text, built_in_soul());
  EXPECT_THAT(fmt::format("{}", fmt::join(read.notes, "\n")), HasSubstr("outside the allowed folders"));
}

TEST(Rules, TheFirstExistingSoulIsUsed) {
  WorkTreeFixture room;
  RuleQuery query = query_of(room);
  EXPECT_EQ(text_of(read_rules(room.files, query), "soul"), built_in_soul());
  room.write("home/.sb/soul.md", "the user's");
  EXPECT_EQ(text_of(read_rules(room.files, query), "soul"), "the user's");
  query.soul = room.root + "/docs/soul.md";
  EXPECT_EQ(text_of(read_rules(room.files, query), "soul"), "the user's");
  EXPECT_THAT(read_rules(room.files, query).notes.front(), HasSubstr("does not exist"));
  room.write("work/docs/soul.md", "the project's");
  EXPECT_EQ(text_of(read_rules(room.files, query), "soul"), "the project's");
}

TEST(Rules, TierZeroIsNamedInTheSettings) {
  WorkTreeFixture room;
  room.write("work/VISION.md", "vision");
  room.write("work/docs/decisions/0002.md", "two");
  room.write("work/docs/decisions/0001.md", "one");
  RuleQuery query = query_of(room);
  query.tier0 = {"VISION.md", "docs/decisions/*.md", "VISION.md", "MISSION.md"};
  const RuleSources read = read_rules(room.files, query);
  EXPECT_THAT(keys(read),
              ElementsAre("soul", "tier0/VISION.md", "tier0/docs/decisions/0001.md", "tier0/docs/decisions/0002.md"));
  EXPECT_EQ(read.sources[1].kind, SourceKind::kTier0);
  ASSERT_EQ(read.notes.size(), 1u);
  EXPECT_THAT(read.notes[0], HasSubstr("MISSION.md: named by tier0"));
}

TEST(Rules, LimitsAreEnforcedAndReported) {
  WorkTreeFixture room;
  for (std::size_t i = 0; i <= limits::kRuleFilesEach; ++i) {
    room.write(fmt::format("work/.cursor/rules/r{:02}.mdc", i), fmt::format("rule {}", i));
  }
  room.write("work/AGENTS.md", std::string(limits::kRuleFileBytes + 1, 'x'));
  room.write("work/CLAUDE.md", std::string(limits::kRulesBytes, 'y'));
  const RuleSources read = read_rules(room.files, query_of(room));
  EXPECT_EQ(read.sources.size(), 1 + 2 + limits::kRuleFilesEach);
  EXPECT_EQ(read.notes.size(), 2u);
  EXPECT_THAT(text_of(read, "rules/AGENTS.md"), HasSubstr("too large"));
  const auto bundle = make_bundle({.role = ""}, identity_text(), read.sources);
  ASSERT_TRUE(bundle);
  EXPECT_LE(bundle->slots[3].text.size(), limits::kRulesBytes);
  EXPECT_THAT(bundle->slots[3].text, HasSubstr("rules/CLAUDE.md (CLAUDE.md, 32768 bytes)"));
  EXPECT_THAT(bundle->slots[3].text, HasSubstr("rule 7"));
}

}  // namespace
}  // namespace sb::agent
