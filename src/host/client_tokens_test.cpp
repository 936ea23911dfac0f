#include "host/client_tokens.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/testing/fakes.hpp"

namespace sb::host {
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
  ServeTokens tokens(files, homes);
  EXPECT_TRUE(tokens.load());
  EXPECT_TRUE(tokens.empty());
  const std::string ada = tokens.make("ada", clock, random).value(), bob = tokens.make("bob", clock, random).value();
  ServeTokens server(files, homes);
  EXPECT_TRUE(server.load());
  EXPECT_EQ(server.name_of(ada), "ada");
  EXPECT_EQ(server.name_of(bob), "bob");
  EXPECT_FALSE(server.name_of(ada + "x"));
  EXPECT_FALSE(server.name_of(""));
}

TEST_F(Tokens, AreStoredAsDigestsReadableOnlyByTheOwner) {
  ServeTokens tokens(files, homes);
  const std::string token = tokens.make("ada", clock, random).value();
  const std::string path = homes.data + "/serve-tokens.json";
  const std::string text = files.read(path, 1 << 20).value();
  EXPECT_EQ(text.find(token), std::string::npos);
  struct stat status{};
  ::stat(path.c_str(), &status);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(Tokens, FollowChangesOfTheFile) {
  ServeTokens server(files, homes), tool(files, homes);
  EXPECT_TRUE(server.load());
  const std::string first = tool.make("ada", clock, random).value();
  EXPECT_EQ(server.name_of(first), "ada");
  const std::string second = tool.make("ada", clock, random).value();
  EXPECT_FALSE(server.name_of(first)) << "a new one replaces it";
  EXPECT_EQ(server.name_of(second), "ada");
  EXPECT_EQ(tool.revoke("ada"), true);
  EXPECT_FALSE(server.name_of(second));
  EXPECT_EQ(tool.revoke("ada"), false);
}

TEST_F(Tokens, AreInvalidIfTheFileIsDamaged) {
  ServeTokens tokens(files, homes);
  const std::string token = tokens.make("ada", clock, random).value();
  EXPECT_TRUE(files.write_atomic(homes.data + "/serve-tokens.json", "{", 0600));
  EXPECT_FALSE(tokens.name_of(token));
  EXPECT_FALSE(tokens.load());
}

TEST_F(Tokens, HaveSimpleNames) {
  ServeTokens tokens(files, homes);
  for (const char* name : {"", "local", "a b", "a/b", "\xC3\xA4", "a\n"}) {
    EXPECT_FALSE(tokens.make(name, clock, random)) << name;
  }
  EXPECT_FALSE(tokens.make(std::string(65, 'a'), clock, random));
  EXPECT_TRUE(tokens.make(std::string(64, 'a'), clock, random));
}

TEST_F(Tokens, CanComeFromATokenFile) {
  ServeTokens tokens(files, homes);
  ASSERT_TRUE(tokens.load_token_file(write("# people\nada  0123456789abcdef\r\n\nbob\tfedcba9876543210")));
  EXPECT_EQ(tokens.name_of("0123456789abcdef"), "ada");
  EXPECT_EQ(tokens.name_of("fedcba9876543210"), "bob");
  for (const char* bad : {"", "ada", "ada 0123456789abcdef x", "ada short", "local 0123456789abcdef"}) {
    ServeTokens others(files, homes);
    EXPECT_FALSE(others.load_token_file(write(bad))) << bad;
    EXPECT_TRUE(others.empty());
  }
  EXPECT_FALSE(tokens.load_token_file(write("ada 0123456789abcdef", 0640)));
  EXPECT_FALSE(tokens.load_token_file(folder + "/none"));
}

}  // namespace
}  // namespace sb::host
