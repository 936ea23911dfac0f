// docs/limits.md and limits.hpp list the same limits.
#include "base/limits.hpp"

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/pattern.hpp"

namespace sb {
namespace {

TEST(Limits, AreAllListedInTheDocs) {
  SystemFiles files;
  const auto header = files.read(SB_SOURCE_DIR "/src/base/limits.hpp", 1 << 20);
  const auto page = files.read(SB_SOURCE_DIR "/docs/limits.md", 1 << 20);
  ASSERT_TRUE(header && page);
  const auto name = Pattern::compile(R"(constexpr [a-z:_ ]+ (k\w+) =)");
  int count = 0;
  for (std::size_t at = 0;; ++count) {
    const auto match = name->find(*header, at);
    ASSERT_TRUE(match);
    if (!*match) break;
    EXPECT_NE(page->find("`" + std::string(*(*match)->groups[1]) + "`"), std::string::npos) << *(*match)->groups[1];
    at = (*match)->end;
  }
  EXPECT_GT(count, 10);
}

}  // namespace
}  // namespace sb
