// Checks that docs/limits.md and the headers named limits.hpp list the same limits.
#include "base/limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/text/pattern.hpp"

namespace sb {
namespace {

std::vector<std::string> names_in(const std::string& text, const char* pattern) {
  const auto name = Pattern::compile(pattern);
  std::vector<std::string> names;
  for (std::size_t at = 0;;) {
    const auto match = name->find(text, at);
    if (!match || !*match) break;
    names.emplace_back(*(*match)->groups[1]);
    at = (*match)->end;
  }
  std::ranges::sort(names);
  return names;
}

// The limits of base and of each folder that has its own.
TEST(Limits, AreAllListedInTheDocs) {
  SystemFiles files;
  std::string headers;
  for (const auto& folder : std::filesystem::directory_iterator(SB_SOURCE_DIR "/src")) {
    const auto path = folder.path() / "limits.hpp";
    if (std::filesystem::exists(path)) headers += files.read(path, 1 << 20).value();
  }
  const auto page = files.read(SB_SOURCE_DIR "/docs/limits.md", 1 << 20);
  ASSERT_TRUE(page);
  const auto declared = names_in(headers, R"(constexpr [a-z0-9:_ ]+ (k\w+) =)");
  EXPECT_GT(declared.size(), 80u);
  EXPECT_EQ(names_in(*page, R"((?m)^\| `(k\w+)` \|)"), declared);
}

}  // namespace
}  // namespace sb
