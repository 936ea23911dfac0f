// The secrets in these tests are built at run time, so that no scanner reports this file as a leak.
#include "agent/secrets/redact.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/crypto.hpp"

namespace sb::agent {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string filler(std::size_t length) {
  constexpr std::string_view kLetters = "aB3dE5gH7jK9mN2pQ4sT6vW8xZ";
  std::string text;
  while (text.size() < length) text += kLetters[text.size() % kLetters.size()];
  return text;
}

struct Case {
  std::string text, secret, kind;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  const auto plain = [&](const std::string& secret, const std::string& kind) {
    all.push_back({"before " + secret + " after", secret, kind});
  };
  for (const char* start : {"ghp", "gho", "ghu", "ghs", "ghr"})
    plain(std::string(start) + "_" + filler(36), "github token");
  plain(std::string("github") + "_pat_" + filler(82), "github token");
  plain(std::string("glpat") + "-" + filler(20), "gitlab token");
  plain(std::string("sk-") + "ant-api03-" + filler(93), "anthropic key");
  plain(std::string("sk-") + "proj-" + filler(120), "openai key");
  plain(std::string("sk-") + filler(48), "openai key");
  plain(std::string("AKIA") + "ABCDEFGHIJKLMNOP", "aws key");
  plain(std::string("xoxb") + "-123456789012-" + filler(24), "slack token");
  plain(std::string("AIza") + filler(35), "google key");
  plain(std::string("sk_") + "live_" + filler(24), "stripe key");
  plain(std::string("npm") + "_" + filler(36), "npm token");
  plain(std::string("eyJ") + filler(900) + ".eyJ" + filler(1'200) + "." + filler(43), "web token");
  const std::string secret = filler(40);
  all.push_back({"aws_secret_access_key = " + secret, secret, "aws secret"});
  all.push_back({"curl -H 'Authorization: Bearer " + secret + "'", secret, "bearer token"});
  all.push_back({"postgres://shop:" + filler(16) + "@db.internal/shop", filler(16), "password"});
  all.push_back({"const apiKey = \"" + secret + "\";", secret, "secret"});
  all.push_back({"client_secret: '" + secret + "'", secret, "secret"});
  all.push_back({"+SHOP_TOKEN=" + secret + "\n+OTHER=1\n", secret, "secret"});
  const std::string body = filler(64) + "\n" + filler(64) + "\n";
  all.push_back(
      {"x\n-----BEGIN RSA PRIV"
       "ATE KEY-----\n" +
           body +
           "-----END RSA PRIV"
           "ATE KEY-----\ny",
       body, "private key"});
  all.push_back(
      {"+-----BEGIN PRIV"
       "ATE KEY-----\n+" +
           filler(64),
       filler(64), "private key"});
  return all;
}

TEST(Redact, RedactsWhatLooksLikeASecret) {
  const Redactor redactor;
  for (const Case& one : cases()) {
    const std::string cleaned = redactor.clean(one.text);
    EXPECT_THAT(cleaned, Not(HasSubstr(one.secret))) << one.kind;
    EXPECT_THAT(cleaned, HasSubstr("[redacted: " + one.kind + "]")) << cleaned;
    EXPECT_EQ(redactor.clean(cleaned), cleaned) << "clean text does not change";
  }
}

TEST(Redact, RedactsSeveralNearEachOther) {
  const std::string one =
                        "ghp"
                        "_" +
                        filler(36),
                    two =
                        "gho"
                        "_" +
                        filler(40),
                    three =
                        "ghp"
                        "_" +
                        filler(50);
  EXPECT_EQ(Redactor().clean(one + "," + two + " " + three + "\n" + one),
            "[redacted: github token],[redacted: github token] [redacted: github token]\n[redacted: github token]");
}

TEST(Redact, LeavesCodeAlone) {
  const Redactor redactor;
  for (const std::string text : {
           "const token = tokens.next_token_of(stream);",
           "token = os.environ[\"SHOP_TOKEN\"]",
           "api_key: ${API_KEY}",
           "password = \"correct horse battery staple\"",
           "secret: \"your-secret-goes-here-00\"",
           "sk-learn-contrib-and-other-things-are-fine",
           "postgres://postgres:postgres@localhost:5432/test",
           "https://example.org/a:b@c",
           "-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----",
           "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
           "integrity sha512-abcdef0123456789abcdef0123456789abcdef0123456789==",
           "SIGNALBOX_TOKEN_LIMIT=200000",
           "class ghp_ {}; AKIA",
       }) {
    EXPECT_EQ(redactor.clean(text), text);
  }
}

TEST(Redact, RedactsKnownValuesOfAnyForm) {
  const Redactor redactor({"hunter2!", "abc", "", "hunter2!longer"});
  EXPECT_EQ(redactor.clean("a hunter2! b hunter2!longer abc"), "a [redacted: secret] b [redacted: secret] abc");
  const Value cleaned = redactor.clean_value(Value::object({{"k", Value::array({"x hunter2! y"})}, {"n", 1}}));
  EXPECT_EQ(to_json(cleaned), R"({"k":["x [redacted: secret] y"],"n":1})");
}

TEST(Redact, IsFastOnTextMadeToBeSlow) {
  const SecretPatterns patterns;
  std::string text;
  while (text.size() < 1u << 20) text += "token = token = sk-ghp_://:";
  EXPECT_TRUE(patterns.find(text).empty());
  EXPECT_TRUE(patterns.find(std::string(4u << 20, 'A')).empty());
  EXPECT_TRUE(patterns.find("").empty());
}

TEST(Redactor, FindsKnownValuesInOtherEncodings) {
  const std::string value = "p1!" + filler(17) + "/+=";
  const Redactor redactor({value});
  const auto forms = secret_forms(value);
  EXPECT_EQ(forms.front(), value);
  for (const std::string& form : forms) {
    EXPECT_THAT(redactor.clean_known("x " + form + " y"), Not(HasSubstr(form))) << form;
  }
  // Base64 of a longer text, at every offset.
  for (const char* before : {"", "a", "ab", "abc"}) {
    const std::string encoded = to_base64url(before + value + "tail");
    EXPECT_THAT(redactor.clean_known(encoded), HasSubstr("[redacted: secret]")) << encoded;
  }
  EXPECT_EQ(redactor.clean_known("nothing of it"), "nothing of it");
}

// Short values would be found everywhere when encoded.
TEST(Redactor, ShortValuesHaveOneForm) {
  EXPECT_EQ(secret_forms("seven77").size(), 1u);
  EXPECT_GT(secret_forms("eight888").size(), 5u);
}

TEST(Redactor, FindsASecretThatIsSplitOverAStream) {
  const Redactor redactor({"split-over-two"});
  const std::string stream =
      "event: x\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"it is "
      "split-o\"}}\n\n"
      "data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"ver-two, yes\"}}\n\n";
  const std::string cleaned = redactor.clean_stream(stream);
  EXPECT_THAT(cleaned, HasSubstr("it is [redacted: secret], yes"));
  EXPECT_THAT(cleaned, Not(HasSubstr("split-o")));
  const std::string plain = "data: {\"delta\":{\"text\":\"nothing\"}}\n\n";
  EXPECT_EQ(redactor.clean_stream(plain), plain);
}

// An escaped line break ends with a letter, so in the bytes the token does not begin a word.
TEST(Redactor, FindsATokenAfterAnEscapedLineBreak) {
  const Redactor redactor;
  const std::string token = "ghp_" + filler(36);
  const std::string json = R"({"messages": [{"content": "a line\n)" + token + R"("}]})";
  EXPECT_EQ(redactor.clean_json(json), R"({"messages":[{"content":"a line\n[redacted: github token]"}]})");
  EXPECT_THAT(redactor.clean_stream(json), Not(HasSubstr(token)));
  EXPECT_EQ(redactor.clean_stream("event: x\ndata: " + json + "\n\ndata: [DONE]\n"),
            "event: x\ndata: " + redactor.clean_json(json) + "\n\ndata: [DONE]\n");
  EXPECT_EQ(redactor.clean_json(R"({"a" : 1})"), R"({"a" : 1})") << "as sent";
  EXPECT_EQ(redactor.clean_json("{ " + token), "{ [redacted: github token]");
}

}  // namespace
}  // namespace sb::agent
