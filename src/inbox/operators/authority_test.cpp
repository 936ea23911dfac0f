#include "inbox/operators/authority.hpp"

#include <gmock/gmock.h>

#include "base/testing/fakes.hpp"
#include "inbox/config.hpp"
#include "inbox/operators/key_files.hpp"
#include "inbox/operators/known_agents.hpp"
#include "inbox/operators/trust.hpp"

namespace sb::inbox {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<Channel> kAll = {Channel::kTerminal, Channel::kToken, Channel::kConsole, Channel::kElicitation,
                                   Channel::kHook,     Channel::kLink,  Channel::kRelay,   Channel::kProgram};

TEST(Authority, UnsignedDecisionsDependOnTheChannel) {
  for (const Channel channel : kAll) {
    const bool allowed = may_answer({}, {channel, "x"}, "", {}).has_value();
    EXPECT_EQ(allowed, channel != Channel::kRelay && channel != Channel::kToken) << to_string(channel);
  }
  EXPECT_TRUE(may_answer({}, {Channel::kToken, "x"}, "ann", {}));
}

TEST(Authority, SignedDecisionsDependOnlyOnTheSignature) {
  Policy open_policy;
  open_policy.confirmations = Confirmations::kRelay;
  for (const Channel channel : kAll) {
    EXPECT_FALSE(may_answer({true, true, ""}, {channel, "ann"}, "", open_policy)) << to_string(channel);
    EXPECT_TRUE(may_answer({true, true, ""}, {channel, "x"}, "ann", open_policy)) << to_string(channel);
  }
}

TEST(Authority, RelayingIsAllowedWhereTheUserEnablesIt) {
  Policy policy;
  policy.confirmations_by_workspace["/srv/shop"] = Confirmations::kRelay;
  policy.confirmations_by_workspace["/srv/shop/secret"] = Confirmations::kAsk;
  const auto relays = [&](const std::string& workspace) {
    return may_answer({false, false, workspace}, {Channel::kRelay, "agent"}, "", policy).has_value();
  };
  EXPECT_TRUE(relays("/srv/shop"));
  EXPECT_TRUE(relays("/srv/shop/api"));
  EXPECT_FALSE(relays("/srv/shop/secret/x"));
  EXPECT_FALSE(relays("/srv/shopping"));
  EXPECT_FALSE(relays(""));
  policy.confirmations = Confirmations::kRelay;
  EXPECT_TRUE(relays("/elsewhere"));
  EXPECT_FALSE(relays("/srv/shop/secret"));
}

Checked<Config> config(const std::string& yaml) {
  return read_config(*parse_document("config.yaml", yaml, Syntax::kYaml));
}

TEST(Config, ReadsPolicy) {
  const auto read = config("strict: true\nconfirmations: relay\nworkspaces:\n  /a: {confirmations: ask}\n");
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->policy.strict);
  EXPECT_EQ(read->policy.confirmations, Confirmations::kRelay);
  EXPECT_FALSE(read->policy.may_relay_in("/a/b"));
  const auto is_signed = config("confirmations: signed\nblock_offers: [de, zh]\n");
  ASSERT_TRUE(is_signed);
  EXPECT_EQ(is_signed->policy.confirmations_in("/a"), Confirmations::kSigned);
  EXPECT_FALSE(is_signed->policy.may_relay_in("/a"));
  EXPECT_THAT(is_signed->block_offers, ElementsAre("de", "zh"));
  EXPECT_THAT(config("block_offers: [klingon]\n").error()[0].to_string(), HasSubstr("config.yaml:1"));
}

TEST(Config, RejectsUnknownKeysAndValues) {
  const auto typo = config("strickt: true\n");
  ASSERT_FALSE(typo);
  EXPECT_THAT(typo.error()[0].to_string(), HasSubstr("config.yaml:1"));
  EXPECT_THAT(typo.error()[0].to_string(), HasSubstr("strict"));
  for (const std::string bad :
       {"strict: yes please\n", "confirmations: always\n", "workspaces: [/a]\n",
        "workspaces: {a: {confirmations: relay}}\n", "workspaces: {/a: {strict: true}}\n", "- x\n"}) {
    EXPECT_FALSE(config(bad)) << bad;
  }
}

TEST(Config, ABrokenFileIsAnErrorAndDoesNotCountAsEmpty) {
  FakeFiles files;
  const HomeDirectories homes{"/h", "/h", "/h"};
  EXPECT_TRUE(load_config(files, homes));
  files.contents()["/h/config.yaml"] = "strict: [";
  EXPECT_FALSE(load_config(files, homes));
  files.contents().erase("/h/config.yaml");
  ASSERT_TRUE(files.make_directories("/h/config.yaml"));
  EXPECT_FALSE(load_config(files, homes));
}

TEST(KnownAgents, AreDetectedByEnvironmentAndAncestors) {
  FakeFiles files;
  using Variables = std::map<std::string, std::string, std::less<>>;
  const Environment plain(Variables{{"HOME", "/h"}});
  EXPECT_FALSE(known_agent(files, plain, 100));
  EXPECT_THAT(*known_agent(files, Environment(Variables{{"CLAUDECODE", "1"}}), 100), HasSubstr("CLAUDECODE is set"));
  files.contents()["/proc/100/stat"] = "100 (a) b (sh) S 50 1 1";
  files.contents()["/proc/100/cmdline"] = std::string("/bin/sh\0-c\0claude", 17);
  files.contents()["/proc/50/stat"] = "50 (node) S 1 1 1";
  files.contents()["/proc/50/cmdline"] = std::string("vim\0claude\0", 11);
  EXPECT_FALSE(known_agent(files, plain, 100));
  files.contents()["/proc/50/cmdline"] = std::string("node\0/usr/lib/codex.js\0", 23);
  EXPECT_THAT(*known_agent(files, plain, 100), HasSubstr("Codex"));
  files.contents()["/proc/50/cmdline"] = std::string("/opt/bin/claude\0--x\0", 20);
  EXPECT_THAT(*known_agent(files, plain, 100), HasSubstr("Claude Code"));
}

class TrustTest : public ::testing::Test {
 protected:
  TrustTest() {
    files.contents()["/p/signalbox.yaml"] = "x: 1";
    files.contents()["/p/.signalbox/ask.yaml"] = "decision: d";
  }
  std::string hash() { return policy_files(files, "/p")->hash; }

  FakeFiles files;
  FakeClock clock;
  FakeRandom random;
  HomeDirectories homes{"/h", "/h", "/h"};
  Operators operators;
  TrustedFolders folders{files, homes, operators};
};

TEST_F(TrustTest, LastsUntilAPolicyFileChanges) {
  EXPECT_THAT(policy_files(files, "/p")->names, ElementsAre(".signalbox/ask.yaml", "signalbox.yaml"));
  EXPECT_FALSE(*folders.is_trusted("/p", hash()));
  ASSERT_TRUE(folders.trust("/p", hash(), 1, std::nullopt));
  EXPECT_TRUE(*folders.is_trusted("/p", hash()));
  EXPECT_EQ(*folders.trusted_home_of("/p/.signalbox/ask.yaml"), "/p");
  EXPECT_EQ(*folders.trusted_home_of("/p/other.yaml"), std::nullopt);
  EXPECT_FALSE(*folders.is_trusted("/p/sub", hash()));
  files.contents()["/p/.signalbox/new.yaml"] = "";
  EXPECT_FALSE(*folders.is_trusted("/p", hash()));
  EXPECT_EQ(*folders.trusted_home_of("/p/.signalbox/ask.yaml"), std::nullopt);
}

// A pitch left for the next run must not revoke the trust in the rules of that run.
TEST_F(TrustTest, APitchIsNotPolicy) {
  ASSERT_TRUE(folders.trust("/p", hash(), 1, std::nullopt));
  files.contents()["/p/.signalbox/current-pitch.md"] = "Build it.";
  EXPECT_TRUE(*folders.is_trusted("/p", hash()));
  files.contents()["/p/.signalbox/workflows/notes.md"] = "1";
  EXPECT_FALSE(*folders.is_trusted("/p", hash()));
}

TEST_F(TrustTest, CoversTheProjectsWorkflows) {
  for (const char* name : {".workrail/workflows/a.json", ".workrail/bindings.json", "workflows/b.yml",
                           "workflows/routines/c.yaml", ".signalbox/workflows/d.json"}) {
    files.contents()[std::string("/p/") + name] = "1";
    ASSERT_TRUE(folders.trust("/p", hash(), 1, std::nullopt)) << name;
    EXPECT_EQ(*folders.trusted_home_of(std::string("/p/") + name), "/p") << name;
    files.contents()[std::string("/p/") + name] = "2";
    EXPECT_FALSE(*folders.is_trusted("/p", hash())) << name;
  }
}

TEST_F(TrustTest, DoesNotCoverOtherFilesBesideTheWorkflows) {
  ASSERT_TRUE(folders.trust("/p", hash(), 1, std::nullopt));
  for (const char* name : {".workrail/sessions/a.json", "workflows/data.csv", "workflows/.cache/x.json",
                           "workflows/node_modules/p/package.json", "src/x.json"}) {
    files.contents()[std::string("/p/") + name] = "1";
    EXPECT_TRUE(*folders.is_trusted("/p", hash())) << name;
    EXPECT_EQ(*folders.trusted_home_of(std::string("/p/") + name), std::nullopt) << name;
  }
}

TEST_F(TrustTest, RequiresAnOperatorIfThereIsOne) {
  ASSERT_TRUE(folders.trust("/p", hash(), 1, std::nullopt));
  const KeyPair ann = make_key_pair(random);
  const KeyPair mallory = make_key_pair(random);
  operators = *Operators::parse(*Operators().enrolment("ann", ann.public_key, 1, ann.secret), "r");
  EXPECT_FALSE(*folders.is_trusted("/p", hash()));  // trust given without a signature no longer counts
  EXPECT_FALSE(folders.trust("/p", hash(), 2, std::nullopt));
  EXPECT_FALSE(folders.trust("/p", hash(), 2, mallory.secret));
  ASSERT_TRUE(folders.trust("/p", hash(), 2, ann.secret));
  EXPECT_TRUE(*folders.is_trusted("/p", hash()));
  // A signed line about one folder does not apply to another, and an incomplete last line is ignored.
  std::string& log = files.contents()["/h/trust.jsonl"];
  const std::string kept = log;
  log.replace(log.rfind("/p"), 2, "/q");
  EXPECT_FALSE(*folders.is_trusted("/q", hash()));
  log = kept + "{\"at\":3,\"dir";
  EXPECT_TRUE(*folders.is_trusted("/p", hash()));
}

}  // namespace
}  // namespace sb::inbox
