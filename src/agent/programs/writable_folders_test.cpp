#include "agent/programs/writable_folders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/testing/fakes.hpp"

namespace sb::agent {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Writes = std::optional<std::vector<std::string>>;

workflow::Step step_with(const Writes& writes) {
  workflow::Step step;
  step.id = "s";
  step.interlock.writes_declared = writes.has_value();
  step.interlock.writes = writes.value_or(std::vector<std::string>());
  return step;
}

Writes folders(std::vector<workflow::Step> steps, const std::vector<Writes>& parents = {}) {
  workflow::CompiledWorkflow compiled;
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i].id += std::to_string(i);
  compiled.definition.steps = std::move(steps);
  guard::OpenStepChain chain;
  for (const Writes& writes : parents) {
    guard::OpenStep open;
    open.writes = writes;
    chain.push_back(open);
  }
  const engine::Program program(std::make_shared<const workflow::CompiledWorkflow>(std::move(compiled)));
  return writable_folders(program, chain, "/w");
}

const std::vector<std::string> kNone;
Writes of(std::vector<std::string> globs) {
  return globs;
}

TEST(WritableFolders, AreThoseOfAllSteps) {
  EXPECT_THAT(*folders({step_with(kNone), step_with(kNone)}), IsEmpty());
  EXPECT_THAT(*folders({step_with(kNone), step_with(of({".signalbox/discovery.md"}))}), ElementsAre("/w/.signalbox"));
  EXPECT_THAT(*folders({step_with(of({"src/**/*.cpp", "docs/a/b*.md", "src/x"}))}), ElementsAre("/w/docs/a", "/w/src"));
  EXPECT_EQ(folders({step_with(kNone), step_with(std::nullopt)}), std::nullopt);
  for (const char* glob : {"*.md", "README.md", "**", "{src,docs}/**", "src/../a"}) {
    EXPECT_EQ(folders({step_with(of({glob}))}), std::nullopt) << glob;
  }
  EXPECT_THAT(*folders({step_with(of({"/elsewhere/x", "../x/y"}))}), IsEmpty()) << "the sandbox has no such folder";
}

TEST(WritableFolders, AreThoseTheParentsAllow) {
  EXPECT_EQ(folders({step_with(std::nullopt)}, {std::nullopt}), std::nullopt);
  EXPECT_THAT(*folders({step_with(std::nullopt)}, {std::nullopt, kNone}), IsEmpty());
  EXPECT_THAT(*folders({step_with(of({"src/a/x"}))}, {of({"src/**"}), of({"src/a/b/**", "docs/x"})}),
              ElementsAre("/w/src/a/b"));
}

TEST(WritableFolders, OfStepsThatAnAgentDoesNotWorkOnDoNotCount) {
  workflow::Step call = step_with(std::nullopt), asks = call, both = call;
  call.what = workflow::CallStep{};
  asks.what = workflow::DecisionStep{};
  both.what = workflow::ParallelStep{};
  EXPECT_THAT(*folders({call, asks, both, step_with(kNone)}), IsEmpty());
  std::get<workflow::ParallelStep>(both.what).synthesis.emplace();
  EXPECT_EQ(folders({both, step_with(kNone)}), std::nullopt);
}

TEST(WritableFolders, AreCreatedButNotThroughLinks) {
  std::string root = testing::TempDir() + "sb-folders-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  root = std::filesystem::canonical(root);
  SystemFiles files;
  ASSERT_TRUE(files.make_directories(root + "/outside"));
  ASSERT_TRUE(files.make_directories(root + "/tree"));
  std::filesystem::create_directory_symlink(root + "/outside", root + "/tree/link");
  ASSERT_TRUE(make_folders(files, root + "/tree", {root + "/tree/a/b", root + "/tree/link/made"}));
  EXPECT_EQ(files.kind(root + "/tree/a/b"), FileKind::kDirectory);
  EXPECT_EQ(files.kind(root + "/outside/made"), FileKind::kMissing);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace sb::agent
