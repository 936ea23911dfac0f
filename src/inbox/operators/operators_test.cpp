#include "inbox/operators/operators.hpp"

#include <gmock/gmock.h>

#include "inbox/operators/key_files.hpp"
#include "inbox/testing.hpp"

namespace sb::inbox {
namespace {

using ::testing::HasSubstr;

constexpr int kQuick = 10;  // scrypt's cost in tests

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at + 1));
    at = end + 1;
  }
  return lines;
}

TEST(Operators, AModifiedChainIsRejected) {
  InboxTestBed place;
  const KeyPair ann = place.enrol("ann");
  place.enrol("ben");
  place.extend(*place.operators.token_revocation("t-1", 5, ann.secret));
  for (std::size_t i = 0; i < place.registry.size(); ++i) {
    std::string touched = place.registry;
    touched[i] = touched[i] == '0' ? '1' : '0';
    const auto read = Operators::parse(touched, "registry.jsonl");
    ASSERT_FALSE(read) << i;
    EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  }
  const auto lines = lines_of(place.registry);
  EXPECT_FALSE(Operators::parse(lines[0] + lines[2], "r"));             // one missing
  EXPECT_FALSE(Operators::parse(lines[1] + lines[0] + lines[2], "r"));  // wrong order
  EXPECT_FALSE(Operators::parse(lines[0] + lines[0], "r"));             // one twice
  EXPECT_FALSE(Operators::parse(lines[0].substr(0, lines[0].size() - 1), "r"));
}

TEST(Operators, OnlyAnEnrolledKeyExtendsTheChain) {
  InboxTestBed place;
  const KeyPair ann = place.enrol("ann");
  const KeyPair mallory = make_key_pair(place.random);
  const std::string unauthorized = *place.operators.enrolment("mallory", mallory.public_key, 5, mallory.secret);
  EXPECT_FALSE(Operators::parse(place.registry + unauthorized, "r"));
  const KeyPair ben = place.enrol("ben");
  place.extend(*place.operators.key_revocation(ben.public_key, 6, ann.secret));
  const std::string by_revoked = *place.operators.enrolment("mallory", mallory.public_key, 7, ben.secret);
  EXPECT_FALSE(Operators::parse(place.registry + by_revoked, "r"));
}

TEST(Operators, ATruncatedOrDifferentRegistryDoesNotContinueThePin) {
  InboxTestBed place;
  place.enrol("ann");
  const Operators one = place.operators;
  place.enrol("ben");
  EXPECT_TRUE(place.operators.continues(*one.pin()));
  EXPECT_FALSE(one.continues(*place.operators.pin()));
  EXPECT_FALSE(Operators().continues(*one.pin()));
}

TEST(Operators, TheAnchorRestrictsTheFirstKey) {
  InboxTestBed place;
  const KeyPair ann = place.enrol("ann");
  const std::vector<std::string> good = {to_hex(ann.public_key)};
  const std::vector<std::string> other = {std::string(64, '0')};
  EXPECT_TRUE(Operators::parse(place.registry, "r", good));
  const auto refused = Operators::parse(place.registry, "r", other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kForbidden);
}

TEST(OperatorFiles, SealTheKeyWithItsPassphrase) {
  FakeFiles files;
  FakeClock clock;
  FakeRandom random;
  OperatorFiles operators(files, {"/h", "/h", "/h"});
  ASSERT_TRUE(operators.enrol("ann", "a long one", std::nullopt, clock, random, kQuick));
  const Operators read = *operators.load();
  EXPECT_FALSE(operators.unlock(read, "ann", "a wrong one"));
  const auto secret = operators.unlock(read, "ann", "a long one");
  ASSERT_TRUE(secret);
  for (const auto& [path, content] : files.contents()) {
    EXPECT_EQ(content.find(*secret), std::string::npos) << path;
    EXPECT_EQ(content.find(to_base64url(*secret)), std::string::npos) << path;
  }
  // A second operator needs the first one's key.
  const auto refused = operators.enrol("eve", "mine", std::nullopt, clock, random, kQuick);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kConflict);
  EXPECT_TRUE(operators.enrol("ben", "his", *secret, clock, random, kQuick));
  EXPECT_FALSE(operators.enrol("ann", "again", *secret, clock, random, kQuick));
}

TEST(OperatorFiles, AReplacedKeyIsDetected) {
  FakeFiles files, others;
  FakeClock clock;
  FakeRandom random;
  OperatorFiles operators(files, {"/h", "/h", "/h"}), mallory(others, {"/h", "/h", "/h"});
  ASSERT_TRUE(operators.enrol("ann", "hers", std::nullopt, clock, random, kQuick));
  ASSERT_TRUE(mallory.enrol("ann", "mine", std::nullopt, clock, random, kQuick));
  files.contents()["/h/operators/ann.key"] = others.contents()["/h/operators/ann.key"];
  const auto unlocked = operators.unlock(*operators.load(), "ann", "mine");
  ASSERT_FALSE(unlocked);
  EXPECT_EQ(unlocked.error().code, ErrorCode::kCorrupt);
  files.contents().erase("/h/operators/registry.jsonl");
  const auto gone = operators.load();
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::kCorrupt);
}

TEST(OperatorFiles, AFullDiskLeavesNoOneHalfEnrolled) {
  FakeFiles files;
  FakeClock clock;
  FakeRandom random;
  OperatorFiles operators(files, {"/h", "/h", "/h"});
  for (std::size_t space = 0;; space += 50) {
    files.set_space(space);
    const auto enrolled = operators.enrol("ann", "hers", std::nullopt, clock, random, kQuick);
    files.set_space(1 << 20);
    if (enrolled) break;
    EXPECT_EQ(enrolled.error().code, ErrorCode::kIo) << enrolled.error().to_string();
    ASSERT_TRUE(operators.load());
    EXPECT_TRUE(operators.load()->empty());
    ASSERT_LT(space, 10'000U);
  }
  EXPECT_TRUE(operators.unlock(*operators.load(), "ann", "hers"));
}

TEST(OperatorFiles, NamesAreSafeAsFileNames) {
  for (const std::string_view good : {"ann", "a", "Ann-Lee_2.x", "0"}) EXPECT_TRUE(is_operator_name(good));
  for (const std::string_view bad : {"", "../x", "a/b", ".x", "-x", "ann lee", "ä", "a\n"}) {
    EXPECT_FALSE(is_operator_name(bad)) << bad;
  }
  EXPECT_FALSE(is_operator_name(std::string(33, 'a')));
}

}  // namespace
}  // namespace sb::inbox
