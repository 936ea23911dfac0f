#include "inbox/client_tokens.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/testing/fakes.hpp"

namespace sb::inbox {
namespace {

class Tokens : public testing::Test {
 protected:
  Tokens() {
    std::string pattern = testing::TempDir() + "sb-tokens-XXXXXX";
    folder = ::mkdtemp(pattern.data());
    homes.data = folder + "/home";
  }
  ~Tokens() override { std::filesystem::remove_all(folder); }

  std::string write(const std::string& text, unsigned mode = 0600) {
    const std::string path = folder + "/tokens";
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }

  SystemFiles files;
  FakeClock clock;
  FakeRandom random;
  HomeDirectories homes;
  std::string folder;
};

TEST_F(Tokens, NameTheirHolders) {
  ClientTokens tokens(files, homes);
  EXPECT_TRUE(tokens.load());
  EXPECT_TRUE(tokens.empty());
  const std::string ada = tokens.make("ada", clock, random).value(), bob = tokens.make("bob", clock, random).value();
  ClientTokens server(files, homes);
  EXPECT_TRUE(server.load());
  EXPECT_EQ(server.holder_of(ada), (TokenHolder{"ada", false}));
  EXPECT_EQ(server.holder_of(bob)->name, "bob");
  EXPECT_FALSE(server.holder_of(ada + "x"));
  EXPECT_FALSE(server.holder_of(""));
}

TEST_F(Tokens, AreStoredAsDigestsReadableOnlyByTheOwner) {
  ClientTokens tokens(files, homes);
  const std::string token = tokens.make("ada", clock, random).value();
  const std::string path = homes.data + "/serve-tokens.json";
  const std::string text = files.read(path, 1 << 20).value();
  EXPECT_EQ(text.find(token), std::string::npos);
  struct stat status{};
  ::stat(path.c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(Tokens, FollowChangesOfTheFile) {
  ClientTokens server(files, homes), tool(files, homes);
  EXPECT_TRUE(server.load());
  const std::string first = tool.make("ada", clock, random).value();
  EXPECT_EQ(server.holder_of(first)->name, "ada");
  EXPECT_EQ(tool.make("ada", clock, random).error().code, ErrorCode::kConflict);
  EXPECT_EQ(server.holder_of(first)->name, "ada") << "nothing was replaced";
  const std::string second = tool.make("ada", clock, random, true).value();
  EXPECT_FALSE(server.holder_of(first));
  EXPECT_EQ(server.holder_of(second)->name, "ada");
  EXPECT_EQ(tool.revoke("ada"), true);
  EXPECT_FALSE(server.holder_of(second));
  EXPECT_EQ(tool.revoke("ada"), false);
}

TEST_F(Tokens, AreListedWithTheirLastUse) {
  ClientTokens server(files, homes), tool(files, homes);
  server.note_uses(clock);
  const std::string ada = tool.make("ada", clock, random).value();
  (void)tool.make("bob", clock, random);
  clock.sleep_ms(5'000);
  EXPECT_TRUE(server.holder_of(ada));
  ASSERT_EQ(tool.list().size(), 2u);
  EXPECT_EQ(tool.list()[0].last_used, to_rfc3339(clock.now_ms()));
  EXPECT_EQ(tool.list()[1].last_used, "");
  clock.sleep_ms(5'000);
  (void)tool.make("ada", clock, random, true);
  EXPECT_EQ(tool.list()[1].last_used, "") << "that was another token of this name";
}

TEST_F(Tokens, AreInvalidIfTheFileIsDamaged) {
  ClientTokens tokens(files, homes);
  const std::string token = tokens.make("ada", clock, random).value();
  EXPECT_TRUE(files.write_atomic(homes.data + "/serve-tokens.json", "{", 0600));
  EXPECT_FALSE(tokens.holder_of(token));
  EXPECT_FALSE(tokens.load());
}

TEST_F(Tokens, HaveSimpleNames) {
  ClientTokens tokens(files, homes);
  for (const char* name : {"", "local", "a b", "a/b", "\xC3\xA4", "a\n"}) {
    EXPECT_FALSE(tokens.make(name, clock, random)) << name;
  }
  EXPECT_FALSE(tokens.make(std::string(65, 'a'), clock, random));
  EXPECT_TRUE(tokens.make(std::string(64, 'a'), clock, random));
}

TEST_F(Tokens, CanComeFromATokenFile) {
  ClientTokens tokens(files, homes);
  ASSERT_TRUE(tokens.load_token_file(write("# people\nada  0123456789abcdef\r\n\nbob\tfedcba9876543210")));
  EXPECT_EQ(tokens.holder_of("0123456789abcdef"), (TokenHolder{"ada", false}));
  EXPECT_EQ(tokens.holder_of("fedcba9876543210")->name, "bob");
  for (const char* bad : {"", "ada", "ada 0123456789abcdef x", "ada short", "local 0123456789abcdef"}) {
    ClientTokens others(files, homes);
    EXPECT_FALSE(others.load_token_file(write(bad))) << bad;
    EXPECT_TRUE(others.empty());
  }
  EXPECT_FALSE(tokens.load_token_file(write("ada 0123456789abcdef", 0640)));
  EXPECT_FALSE(tokens.load_token_file(folder + "/none"));
}

TEST_F(Tokens, OfAClientBelongToOneEntryOfItsConfiguration) {
  ClientTokens tokens(files, homes), server(files, homes);
  const ClientPlace mine{"/home/ann/.claude.json", "signalbox"}, second{"/srv/claude.json", "signalbox"};
  const std::string first = tokens.make_for_client("claude-code", mine, clock, random).value();
  EXPECT_EQ(server.holder_of(first), (TokenHolder{"claude-code", true}));
  EXPECT_TRUE(server.is_secret_of(mine, first));
  EXPECT_FALSE(server.is_secret_of(second, first)) << "it was copied";
  const std::string other = tokens.make_for_client("claude-code", second, clock, random).value();
  EXPECT_EQ(server.holder_of(other), (TokenHolder{"claude-code-2", true})) << "two clients are never mixed up";
  const std::string again = tokens.make_for_client("claude-code", mine, clock, random).value();
  EXPECT_FALSE(server.holder_of(first)) << "a new one replaces it";
  EXPECT_EQ(server.holder_of(again)->name, "claude-code");
  EXPECT_EQ(client_config_files(files, homes), (std::vector{second.config, mine.config}));
  EXPECT_EQ(tokens.make("claude-code", clock, random).error().code, ErrorCode::kConflict);
  EXPECT_EQ(tokens.revoke_client(mine), true);
  EXPECT_EQ(tokens.revoke_client(mine), false);
  EXPECT_FALSE(server.holder_of(again));
  EXPECT_TRUE(server.holder_of(other));
}

TEST_F(Tokens, OfAScriptAreNotThoseOfAClient) {
  ClientTokens tokens(files, homes);
  const std::string plain = tokens.make("ada", clock, random).value();
  EXPECT_FALSE(tokens.is_secret_of({"", ""}, plain));
  EXPECT_FALSE(tokens.is_secret_of({"", "ada"}, plain));
  const std::string client = tokens.make_for_client("ada", {"", "ada"}, clock, random).value();
  EXPECT_EQ(tokens.holder_of(client), (TokenHolder{"ada-2", true})) << "the name is taken";
  EXPECT_EQ(tokens.holder_of(plain), (TokenHolder{"ada", false}));
}

}  // namespace
}  // namespace sb::inbox
