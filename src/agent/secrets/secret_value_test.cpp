#include "agent/secrets/secret_value.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/testing/fakes.hpp"

namespace sb::agent {
namespace {

class Secrets : public testing::Test {
 protected:
  Secrets() {
    std::string pattern = testing::TempDir() + "sb-secret-XXXXXX";
    folder = ::mkdtemp(pattern.data());
  }
  ~Secrets() override { std::filesystem::remove_all(folder); }

  std::string file(const std::string& text, unsigned mode) {
    const std::string path = folder + "/key";
    std::ofstream(path, std::ios::binary) << text;
    ::chmod(path.c_str(), mode);
    return "file:" + path;
  }
  Result<std::string> look_up(const std::string& name) {
    const Environment environment({{"KEY", "sk-one"}, {"TWO", "sk one"}, {"NONE", ""}});
    return secret_of(name, {files, clock, random, process, environment, streams});
  }

  SystemFiles files;
  FakeClock clock;
  FakeRandom random;
  SystemProcess process;
  FakeStreams streams;
  std::string folder;
};

TEST_F(Secrets, AreLookedUpByName) {
  EXPECT_EQ(look_up("$KEY").value(), "sk-one");
  EXPECT_EQ(look_up(file("sk-two \r\nmore\n", 0600)).value(), "sk-two");
  EXPECT_EQ(look_up("").value(), "");
}

TEST_F(Secrets, ThatAreUnavailableAreReportedByNameOnly) {
  EXPECT_EQ(look_up("$NONE").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(look_up("$OTHER").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(look_up("file:" + folder + "/none").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(look_up(file("sk-two", 0644)).error().code, ErrorCode::kForbidden);
  for (const std::string& name : {std::string("sk-plain"), std::string("$TWO"), file("sk\x01", 0600)}) {
    const auto value = look_up(name);
    ASSERT_FALSE(value) << name;
    EXPECT_EQ(value.error().code, ErrorCode::kInvalid);
    EXPECT_EQ(value.error().to_string().find("sk"), std::string::npos) << value.error().to_string();
  }
}

}  // namespace
}  // namespace sb::agent
