#include "inbox/operators/signature.hpp"

#include <gmock/gmock.h>

#include "inbox/testing.hpp"

namespace sb::inbox {
namespace {

using ::testing::HasSubstr;

OpenedDecision a_question() {
  OpenedDecision opened;
  opened.question = question_of(decision::declared(kOneWayQuestion));
  opened.render_hash = sha256_hex(opened.question.text);
  opened.digest = "sha256:ab";
  opened.workspace = "/srv/shop";
  opened.opened_at = 1'000;
  opened.needs_signature = true;
  return opened;
}

TEST(Signature, CoversTheDocumentedBytes) {
  const OpenedDecision opened = a_question();
  AnswerInput given;
  given.options = {"drop"};
  std::string expected("sb-answer\x01", 10);
  expected += std::string(
      "\0\0\0\x03"
      "d-1",
      7);
  expected += *from_hex(opened.render_hash);
  expected += std::string(
      "\0\0\0\x09"
      "sha256:ab",
      13);
  expected += std::string(
      "\0\0\0\x01\0\0\0\x04"
      "drop",
      12);
  expected += as_bytes(sha256("{}"));
  expected += std::string("\0\0\0\0\0\0\x07\xd0", 8);
  EXPECT_EQ(to_hex(answer_bytes("d-1", opened, given, 2'000)), to_hex(expected));
}

// Every part of an answer that could be exchanged, one at a time.
class SignatureCheckTest : public ::testing::Test {
 protected:
  SignatureCheckTest() : ann(place.enrol("ann")) {
    opened = a_question();
    opened.operators = place.operators.pin();
    opened.opened_at = place.clock.now_ms();
    place.clock.sleep_ms(1'000);
    outcome.options = {"drop"};
    outcome.values = Value::object();
    outcome.render_hash = opened.render_hash;
    outcome.signature =
        *sign_answer("d-1", opened, {outcome.options, outcome.values}, place.clock.now_ms(), ann.secret);
  }

  std::string verdict(const std::string& id = "d-1") {
    const auto signer = signature_check(place.operators)(id, opened, outcome);
    return signer ? *signer : signer.error().message;
  }
  void sign_by_token(const std::string& scope, TimestampMs issued, TimestampMs expires,
                     const std::string& operator_secret) {
    const OperatorToken token = *parse_token(*make_token("t-1", scope, issued, expires, operator_secret, place.random));
    outcome.signature =
        *sign_answer("d-1", opened, {outcome.options, outcome.values}, place.clock.now_ms(), token.secret);
    outcome.signature->delegation = token.delegation_text;
  }

  InboxTestBed place;
  KeyPair ann;
  OpenedDecision opened;
  DecisionOutcome outcome;
};

TEST_F(SignatureCheckTest, AnOperatorsSignatureCounts) {
  EXPECT_EQ(verdict(), "ann");
}

TEST_F(SignatureCheckTest, NoPartIsExchangeable) {
  EXPECT_THAT(verdict("d-2"), HasSubstr("does not match"));
  const DecisionOutcome good = outcome;
  outcome.options = {"keep"};
  EXPECT_THAT(verdict(), HasSubstr("does not match"));
  outcome = good;
  outcome.values.set("x", "y");
  EXPECT_THAT(verdict(), HasSubstr("does not match"));
  outcome = good;
  outcome.render_hash = sha256_hex("something else");
  EXPECT_THAT(verdict(), HasSubstr("a different text"));
  outcome = good;
  outcome.signature->signed_at += 1;
  EXPECT_THAT(verdict(), HasSubstr("does not match"));
  outcome = good;
  outcome.signature->signed_at = opened.opened_at - 1;
  EXPECT_THAT(verdict(), HasSubstr("before the question"));
  outcome = good;
  outcome.signature.reset();
  EXPECT_THAT(verdict(), HasSubstr("without a signature"));
  outcome = good;
  opened.digest = "sha256:cd";
  EXPECT_THAT(verdict(), HasSubstr("does not match"));
}

TEST_F(SignatureCheckTest, AnUnknownKeyDoesNotCount) {
  const KeyPair mallory = make_key_pair(place.random);
  outcome.signature =
      *sign_answer("d-1", opened, {outcome.options, outcome.values}, place.clock.now_ms(), mallory.secret);
  EXPECT_THAT(verdict(), HasSubstr("not an operator's"));
}

TEST_F(SignatureCheckTest, AnotherRegistryDoesNotCountAndAnExtendedOneDoes) {
  const KeyPair ben = place.enrol("ben");
  EXPECT_EQ(verdict(), "ann");
  outcome.signature = *sign_answer("d-1", opened, {outcome.options, outcome.values}, place.clock.now_ms(), ben.secret);
  EXPECT_EQ(verdict(), "ben");
  InboxTestBed other;
  other.random = FakeRandom(99);
  const KeyPair mallory = other.enrol("ann");
  outcome.signature =
      *sign_answer("d-1", opened, {outcome.options, outcome.values}, place.clock.now_ms(), mallory.secret);
  place.operators = other.operators;
  EXPECT_THAT(verdict(), HasSubstr("operator keys changed"));
}

TEST_F(SignatureCheckTest, ARevokedKeyIsInvalidFromThatMoment) {
  place.clock.sleep_ms(1);
  const KeyPair ben = place.enrol("ben");
  place.extend(*place.operators.key_revocation(ann.public_key, place.clock.now_ms(), ben.secret));
  EXPECT_EQ(verdict(), "ann");
  outcome.signature = *sign_answer("d-1", opened, {outcome.options, outcome.values}, place.clock.now_ms(), ann.secret);
  EXPECT_THAT(verdict(), HasSubstr("revoked"));
}

TEST_F(SignatureCheckTest, ATokenCountsWithinItsScopeAndTime) {
  const TimestampMs now = place.clock.now_ms();
  for (const std::string scope :
       {"*", "decision:d-1", "decision:drop-table", "workspace:/srv", "workspace:/srv/shop/"}) {
    sign_by_token(scope, now, now + 10, ann.secret);
    EXPECT_EQ(verdict(), "ann") << scope;
  }
  for (const std::string scope : {"decision:d-2", "decision:drop", "workspace:/srv/sho", "workspace:/opt"}) {
    sign_by_token(scope, now, now + 10, ann.secret);
    EXPECT_THAT(verdict(), HasSubstr("does not cover")) << scope;
  }
  sign_by_token("*", now - 10, now, ann.secret);
  EXPECT_THAT(verdict(), HasSubstr("expired"));
  sign_by_token("*", now + 1, now + 10, ann.secret);
  EXPECT_THAT(verdict(), HasSubstr("before the token"));
  sign_by_token("*", now, now + 10, make_key_pair(place.random).secret);
  EXPECT_THAT(verdict(), HasSubstr("not an operator's"));
  sign_by_token("*", now, now + 10, ann.secret);
  place.extend(*place.operators.token_revocation("t-1", now, ann.secret));
  EXPECT_THAT(verdict(), HasSubstr("token was revoked"));
}

TEST(Token, IsRejectedWhenModified) {
  InboxTestBed place;
  const KeyPair ann = place.enrol("ann");
  const std::string text = *make_token("t-1", "*", 1, 2, ann.secret, place.random);
  ASSERT_TRUE(parse_token(text));
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string touched = text;
    touched[i] = touched[i] == 'A' ? 'B' : 'A';
    const auto token = parse_token(touched);
    EXPECT_TRUE(!token || !has_valid_signature(token->delegation)) << i;
  }
  for (const std::string_view bad : {"", "sbt1.", "sbt1..", "sbt2.a.b", "x", "sbt1.e30.e30"})
    EXPECT_FALSE(parse_token(bad));
  for (const std::string_view scope : {"", "decision:", "workspace:", "**", "all", "decision"}) {
    EXPECT_FALSE(make_token("t-1", scope, 1, 2, ann.secret, place.random)) << scope;
  }
}

TEST(Token, AMistypedIdIsInvalid) {
  FakeRandom random;
  const std::string id = make_token_id(1'700'000'000'000, random);
  EXPECT_TRUE(is_token_id(id)) << id;
  for (std::size_t at = 0; at < id.size(); ++at) {
    std::string typo = id;
    typo[at] = typo[at] == 'a' ? 'b' : 'a';
    EXPECT_FALSE(is_token_id(typo)) << typo;
  }
  for (const std::string_view none : {"", "t-", "t-typo", "t-aaaaaaaa"}) EXPECT_FALSE(is_token_id(none)) << none;
  EXPECT_FALSE(is_token_id(id.substr(0, id.size() - 1)));
}

}  // namespace
}  // namespace sb::inbox
