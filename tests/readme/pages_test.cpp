// The pages that README.md names are there, and every page of docs/ is named.
#include <gmock/gmock.h>

#include <filesystem>

#include "base/files.hpp"
#include "base/text/pattern.hpp"

namespace sb::readme {
namespace {

namespace fs = std::filesystem;

std::string readme() {
  return SystemFiles().read(SB_SOURCE_DIR "/README.md", 1u << 20).value_or("");
}

TEST(Readme, LinksToPagesThatExist) {
  const std::string text = readme();
  const auto link = Pattern::compile(R"(\]\(([^)#:]+)\))");
  ASSERT_TRUE(link);
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    const auto found = link->find(text, at);
    ASSERT_TRUE(found);
    if (!*found) break;
    const std::string page(*(*found)->groups[1]);
    EXPECT_TRUE(fs::exists(fs::path(SB_SOURCE_DIR) / page)) << page;
    at = (*found)->end;
  }
  EXPECT_GT(count, 10u);
}

TEST(Readme, NamesEveryPageOfTheDocs) {
  const std::string text = readme();
  for (const auto& entry : fs::directory_iterator(SB_SOURCE_DIR "/docs")) {
    if (entry.path().extension() != ".md") continue;
    EXPECT_THAT(text, testing::HasSubstr("(docs/" + entry.path().filename().string() + ")"));
  }
}

}  // namespace
}  // namespace sb::readme
