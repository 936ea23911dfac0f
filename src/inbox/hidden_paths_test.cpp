#include "inbox/hidden_paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/testing/fakes.hpp"
#include "inbox/client_tokens.hpp"

namespace sb::inbox {
namespace {

using testing::Contains;
using testing::Not;

TEST(HiddenPaths, HideWhereClientsKeepTheirSecrets) {
  std::string made = testing::TempDir() + "sb-sandbox-XXXXXX";
  ASSERT_NE(::mkdtemp(made.data()), nullptr);
  SystemFiles files;
  FakeClock clock;
  FakeRandom random;
  const std::string root = *files.canonical(made);
  for (const char* folder : {"/user/own", "/claude", "/codex", "/elsewhere"}) {
    ASSERT_TRUE(files.make_directories(root + folder));
  }
  ASSERT_TRUE(files.write_atomic(root + "/elsewhere/client.json", "{}"));
  const HomeDirectories homes{root + "/user/own", root + "/user/own", root + "/user/own"};
  ClientTokens tokens(files, homes);
  ASSERT_TRUE(tokens.make_for_client("claude-code", {root + "/elsewhere/client.json", "signalbox"}, clock, random));
  const Environment environment(
      {{"HOME", root + "/user"}, {"CLAUDE_CONFIG_DIR", root + "/claude"}, {"CODEX_HOME", root + "/codex"}});
  const auto hidden = hidden_paths(files, environment, homes);
  for (const char* path : {"/user/own", "/claude", "/codex", "/elsewhere/client.json"}) {
    EXPECT_THAT(hidden, Contains(root + path));
  }
  // Hiding the home itself would hide the tools a command needs.
  const Environment at_home({{"HOME", root + "/user"}, {"CLAUDE_CONFIG_DIR", root + "/user"}});
  EXPECT_THAT(hidden_paths(files, at_home, homes), Not(Contains(root + "/user")));
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace sb::inbox
