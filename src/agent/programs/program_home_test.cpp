#include "agent/programs/program_home.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/testing/fakes.hpp"

namespace sb::agent {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(AgentHome, GetsTheLoginWithoutTheSettingsNextToIt) {
  std::string root = testing::TempDir() + "sb-program-home-XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  SystemFiles files;
  FakeClock clock;
  FakeRandom random;
  FakeProcess process([](const Command&) -> Result<ProcessResult> { return fail(ErrorCode::kNotFound, "none"); });
  FakeStreams streams;
  const Environment environment({{"HOME", root}});
  const Seams seams{files, clock, random, process, environment, streams};
  ASSERT_TRUE(files.write_atomic(root + "/.claude.json",
                                 R"({"oauthAccount": {"emailAddress": "ann@example.org"}, "mcpServers": {"signalbox":
                                     {"command": "signalbox", "env": {"SIGNALBOX_CLIENT_SECRET": "sbs_x"}}},
                                     "projects": {"/srv": {"mcpServers": {}}}})"));
  {
    const auto home = AgentHome::make(seams, {root, root, root + "/state"}, "s-1");
    ASSERT_TRUE(home) << home.error().to_string();
    ASSERT_TRUE(home->copy_login(seams));
    const std::string copied = *files.read(home->path() + "/.claude.json", 1 << 20);
    EXPECT_THAT(copied, HasSubstr("ann@example.org"));
    EXPECT_THAT(copied, Not(HasSubstr("sbs_x")));
    EXPECT_THAT(copied, Not(HasSubstr("mcpServers")));
    ASSERT_TRUE(files.write_atomic(root + "/.claude.json", "{ sbs_x"));
    ASSERT_TRUE(home->copy_login(seams));
    EXPECT_EQ(*files.read(home->path() + "/.claude.json", 1 << 20), "{}\n");
  }
  std::filesystem::remove_all(root);
}

TEST(AgentHome, OnlyAProgramWithItsOwnLoginReachesItsProvider) {
  SystemFiles files;
  FakeClock clock;
  FakeRandom random;
  FakeProcess process([](const Command&) -> Result<ProcessResult> { return fail(ErrorCode::kNotFound, "none"); });
  FakeStreams streams;
  const Environment environment({{"HOME", std::string("/nowhere")}});
  const Seams seams{files, clock, random, process, environment, streams};
  ProgramPlace program{.work_tree = {}, .home = "/h", .program = "/usr/bin/true"};
  program.work_tree.workspace = "/w";
  program.login_servers = {"api.example.org:443"};
  EXPECT_THAT(place_of(program, seams).servers, testing::IsEmpty());
  program.has_own_login = true;
  EXPECT_THAT(place_of(program, seams).servers, testing::ElementsAre("api.example.org:443"));
}

}  // namespace
}  // namespace sb::agent
