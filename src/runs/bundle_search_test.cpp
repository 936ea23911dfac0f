#include "runs/bundle_search.hpp"

#include <gtest/gtest.h>

namespace sb::runs {
namespace {

constexpr const char* kObjects =
    "aaa blob 4\nsafe\nbbb missing\nccc commit 20\nwith secret-one here\n\nddd blob 10\nsecret-one\n";

TEST(ObjectSearch, NamesTheFirstObjectHoweverTheOutputArrives) {
  for (std::size_t size = 1; size < 40; ++size) {
    ObjectSearch search({"secret-one"});
    const std::string_view all = kObjects;
    for (std::size_t at = 0; at < all.size(); at += size) search.add(all.substr(at, size));
    EXPECT_EQ(search.found(), "ccc") << size;
  }
}

TEST(ObjectSearch, FindsNothingInHeadersAndCleanObjects) {
  ObjectSearch search({"blob 4", "secret-two"});
  search.add(kObjects);
  EXPECT_EQ(search.found(), "");
}

}  // namespace
}  // namespace sb::runs
