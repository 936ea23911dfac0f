#include "pipeline/delivery/outgoing_text.hpp"

#include <gtest/gtest.h>

namespace sb::pipeline {
namespace {

const Ticket kOwn{.id = "github:acme/shop#7", .url = "https://github.com/acme/shop/issues/7"};

// `|` marks where the zero-width space must be.
std::string sent(std::string_view text) {
  std::string made = without_references(text, kOwn, *forge_kind_named("github"));
  for (std::size_t at = 0; (at = made.find("\u200b", at)) != std::string::npos;) made.replace(at, 3, "|");
  return made;
}

TEST(Outgoing, DefusesIssueNumbers) {
  EXPECT_EQ(sent("Fixes #8, closes: acme/shop#9 and GH-10"), "Fixes #|8, closes: acme/shop#|9 and GH-|10");
  EXPECT_EQ(sent("resolves **#8** `#9` &#35;8 &#x23;8 &num;8"), "resolves **#|8** `#|9` &|#|35;8 &|#x23;8 &|num;8");
  EXPECT_EQ(sent("colour #fff, C#, item # 8, high-5"), "colour #fff, C#, item # 8, high-5");
}

TEST(Outgoing, DefusesMentions) {
  EXPECT_EQ(sent("@ann and (@acme/owners), `@bob` &commat;eve"), "@|ann and (@|acme/owners), `@|bob` &|commat;eve");
  EXPECT_EQ(sent("ann@example.org @ noon"), "ann@example.org @ noon");
}

TEST(Outgoing, DefusesClosingWordsBeforeAddresses) {
  EXPECT_EQ(sent("Closes https://github.com/acme/shop/issues/8."), "C|loses https://github.com/acme/shop/issues/8.");
  EXPECT_EQ(sent("fixed:\n<https://github.com/a/b/pull/3>"), "f|ixed:\n<https://github.com/a/b/pull/3>");
  EXPECT_EQ(sent("See https://github.com/a/b/issues/3"), "See https://github.com/a/b/issues/3");
  EXPECT_EQ(sent("fixes https://example.org/a"), "fixes https://example.org/a");
}

TEST(Outgoing, KeepsTheRunsOwnTicket) {
  EXPECT_EQ(sent("Fixes acme/shop#7 (https://github.com/acme/shop/issues/7)"),
            "Fixes acme/shop#7 (https://github.com/acme/shop/issues/7)");
  EXPECT_EQ(sent("acme/shop#77 xacme/shop#7"), "acme/shop#|77 xacme/shop#|7");
  EXPECT_EQ(sent("closes https://github.com/acme/shop/issues/7"), "closes https://github.com/acme/shop/issues/7");
}

TEST(Outgoing, HandlesInvalidBytes) {
  EXPECT_EQ(sent(""), "");
  EXPECT_EQ(sent("#"), "#");
  EXPECT_EQ(sent("\xff@"), "\xff@");
}

}  // namespace
}  // namespace sb::pipeline
