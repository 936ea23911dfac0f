#include "pipeline/settings/run_settings.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/limits.hpp"
#include "base/testing/fakes.hpp"
#include "inbox/config.hpp"
#include "inbox/operators/trust.hpp"
#include "pipeline/limits.hpp"

namespace sb::pipeline {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class SettingsTest : public testing::Test {
 protected:
  void user(std::string yaml) { files.contents()["/h/config.yaml"] = std::move(yaml); }
  void workspace(std::string yaml) {
    files.contents()["/shop/signalbox.yaml"] = std::move(yaml);
    trust();
  }
  void trust() {
    const auto policy = inbox::policy_files(files, "/shop");
    ASSERT_TRUE(policy);
    ASSERT_TRUE(inbox::TrustedFolders(files, homes, no_operators).trust("/shop", policy->hash, 1, {}));
  }
  Checked<RunSettings> load() { return load_settings(seams, homes, "/shop"); }
  RunSettings good() {
    auto settings = load();
    EXPECT_TRUE(settings) << faults_in(settings);
    return settings ? *settings : RunSettings{};
  }
  static std::string faults_in(const Checked<RunSettings>& settings) {
    std::string text;
    if (!settings) {
      for (const Error& fault : settings.error()) text += fault.to_string() + "\n";
    }
    return text;
  }
  std::string faults() { return faults_in(load()); }

  FakeFiles files;
  FakeClock clock;
  FakeRandom random;
  FakeProcess process{[](const Command&) { return fail(ErrorCode::kUnsupported, "none"); }};
  Environment environment;
  FakeStreams streams;
  Seams seams{files, clock, random, process, environment, streams};
  HomeDirectories homes{"/h", "/h", "/h"};
  inbox::Operators no_operators;
};

constexpr const char* kModel = "models: {main: {provider: anthropic, model: m, key: $KEY}}\n";

TEST_F(SettingsTest, WithoutAnyFileDefaultsApply) {
  const RunSettings settings = good();
  EXPECT_EQ(settings.base, "main");
  EXPECT_EQ(settings.forge.kind->name, "local");
  EXPECT_FALSE(settings.merge);
  EXPECT_EQ(settings.phases.at(Phase::kFix), "wr.fix");
  EXPECT_EQ(settings.phases.size(), 7u);
  EXPECT_EQ(settings.hash.size(), 64u);
}

TEST_F(SettingsTest, KnowsWhereAValueIsWritten) {
  user(std::string(kModel) + "phases: {coding: a.b, fix: c.d}\n");
  workspace("phases: {coding: x.y}\n");
  const RunSettings settings = good();
  EXPECT_EQ(settings.location_of("/phases/coding").file, "/shop/signalbox.yaml");
  EXPECT_EQ(settings.location_of("/phases/fix"), (SourceLocation{"/h/config.yaml", "/phases/fix", 2, 23}));
  EXPECT_EQ(settings.location_of("/models/main/key").line, 1);
  EXPECT_EQ(settings.location_of("/phases/review"), SourceLocation{});
  EXPECT_EQ(settings.location_of("/models/main/key/deeper"), SourceLocation{});
}

TEST_F(SettingsTest, WithoutModelsTheErrorShowsAValidExample) {
  const RunSettings settings = good();
  const auto model = settings.agents.model_for("worker", "");
  ASSERT_FALSE(model);
  const std::string text = model.error().to_string();
  EXPECT_THAT(text, HasSubstr("no model is configured"));
  EXPECT_THAT(text, HasSubstr("/h/config.yaml"));
  const std::size_t from = text.find("models:\n"), to = text.find("\n\n", from);
  ASSERT_NE(from, std::string::npos);
  user(text.substr(from, to - from) + "\n");
  EXPECT_EQ((*good().agents.model_for("worker", ""))->model, "claude-sonnet-4-5");
}

TEST_F(SettingsTest, ReadsEveryKey) {
  user(R"(
models:
  main:  {provider: anthropic, model: claude-sonnet-4-5, key: $ANTHROPIC_API_KEY, prices: {input: 3, output: 15}}
  other: {provider: openai, api: chat, model: gpt, url: "http://127.0.0.1:8080/v1", max_tokens: 100, context_tokens: 9000}
  cc:    {provider: command, recipe: claude-code, upstream: main}
  mine:  {provider: command, command: [agent, "{prompt}"]}
  demo:  {provider: scripted, script: replies.jsonl}
roles: {default: main, reviewer: other}
tiers: {heavy: main, lightweight: other}
limits: {turns: 20, time: 10m, stall: 30s, tokens: 2000000, cost: 5.50, depth: 1, repeats: 4}
)");
  workspace(R"(
base: trunk
branch: {strategy: worktree, prefix: bot/}
forge: {kind: github, repository: acme/shop, token: $GITHUB_TOKEN, url: "https://ghe.example/api/v3", remote: upstream}
checks: [./check, {name: types, run: npm run types, time: 5m}]
merge: auto
on_partial: retry_once
protected: [.github/**]
tier0: [VISION.md, docs/decisions/*.md]
soul: docs/soul.md
isolation: {wr.mr-review: {mode: challenger, tier0: false}, x.y: {mode: blind, inputs: [diff]}}
phases: {coding: acme.coding}
fix_rounds: 1
identity: {name: Bot, email: bot@example.com}
roles: {reviewer: main}
)");
  const RunSettings s = good();
  EXPECT_EQ(s.agents.models.at("main").input_price, 300);
  EXPECT_EQ(s.agents.models.at("main").cache_read_price, 300);
  EXPECT_EQ(s.agents.models.at("other").api, "chat");
  EXPECT_EQ(s.agents.models.at("demo").script, "/h/replies.jsonl");
  EXPECT_EQ(s.agents.roles.at("reviewer"), "main");  // the workspace's over the user's, member by member
  EXPECT_EQ(s.agents.roles.at("default"), "main");
  EXPECT_EQ(s.agents.limits.turns, 20);
  EXPECT_EQ(s.agents.limits.time_ms, 600'000);
  EXPECT_EQ(s.agents.limits.micro_cents, 550'000'000);
  EXPECT_EQ(s.base, "trunk");
  EXPECT_EQ(s.prefix, "bot/");
  EXPECT_EQ(s.forge.repository, "acme/shop");
  EXPECT_EQ(s.forge.remote, "upstream");
  ASSERT_EQ(s.checks.size(), 2u);
  EXPECT_EQ(s.checks[0].run, "./check");
  EXPECT_EQ(s.checks[1].time_ms, 300'000);
  EXPECT_TRUE(s.checks_trusted);
  EXPECT_EQ(s.merge, MergePolicy::kAuto);
  EXPECT_EQ(s.on_partial, OnPartial::kRetryOnce);
  EXPECT_EQ(s.soul, "/shop/docs/soul.md");
  EXPECT_EQ(s.isolation.at("wr.mr-review").mode, agent::IsolationMode::kChallenger);
  EXPECT_FALSE(s.isolation.at("wr.mr-review").tier0);
  EXPECT_EQ(s.phases.at(Phase::kCoding), "acme.coding");
  EXPECT_EQ(s.phases.at(Phase::kReview), "wr.mr-review");
  EXPECT_EQ(s.fix_rounds, 1);
  EXPECT_EQ(s.identity.email, "bot@example.com");
}

// The keys for runs and the inbox's keys are in one file: neither reader rejects the file or ignores the other's keys.
TEST_F(SettingsTest, D12_WorkspacesInTheConfigurationKeepAllOtherSettings) {
  user(std::string("strict: true\nworkspaces:\n  /shop: {confirmations: relay}\n") + kModel + "limits: {turns: 7}\n");
  const RunSettings settings = good();
  EXPECT_EQ(settings.agents.limits.turns, 7);
  EXPECT_EQ(settings.agents.models.count("main"), 1u);
  const auto config = inbox::load_config(files, homes);
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->policy.strict);
  EXPECT_TRUE(config->policy.may_relay_in("/shop"));
}

TEST_F(SettingsTest, BothReadersKnowEveryRootKey) {
  for (const auto& key : run_keys()) {
    user(std::string(key.name) + ": null\n");
    EXPECT_TRUE(inbox::load_config(files, homes)) << key.name;
    EXPECT_THAT(faults(), Not(HasSubstr("unknown key"))) << key.name;
  }
  for (const auto& key : inbox::user_keys()) {
    user(std::string(key.name) + ": null\n");
    EXPECT_THAT(faults(), Not(HasSubstr("unknown key"))) << key.name;
  }
  user("hours: 9-17\n");  // not implemented yet
  EXPECT_THAT(faults(), HasSubstr("unknown key \"hours\""));
  EXPECT_FALSE(inbox::load_config(files, homes));
}

TEST_F(SettingsTest, TheSandboxIsTheUsersOnly) {
  user(
      "sandbox: {mode: none, read: [~/.config/pip, .env], network: [\"Registry.npmjs.org:443\"], limits: {memory_mb: "
      "512}}\n");
  const auto config = inbox::load_config(files, homes);
  ASSERT_TRUE(config) << config.error().to_string();
  EXPECT_EQ(config->sandbox.mode, sandbox::Mode::kNone);
  EXPECT_THAT(config->sandbox.read, testing::ElementsAre("~/.config/pip", ".env"));
  EXPECT_THAT(config->sandbox.network, testing::ElementsAre("registry.npmjs.org:443"));
  EXPECT_EQ(config->sandbox.limits.memory_mb, 512);
  EXPECT_EQ(config->sandbox.limits.processes, sandbox::limits::kSandboxProcesses);
  user("sandbox: {mode: off, read: [/, ../x], network: [example.com], limits: {memory: 1}}\n");
  const std::string text = faults();
  for (const char* part : {"/sandbox/mode", "\"/\" cannot be shown", "\"../x\" cannot be shown",
                           "\"example.com\" is not a host and a port", "unknown key \"memory\""}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  user("");
  workspace("sandbox: {mode: none}\n");
  EXPECT_THAT(faults(), HasSubstr("sandbox is allowed only in the user's own config.yaml"));
}

TEST_F(SettingsTest, ReportsAllFaultsOfBothFilesWithTheirLocations) {
  user("strict: perhaps\nmodle: {}\nroles: {defalt: x}\n");
  workspace("bas: trunk\nmerge: atuo\nlimits: {turns: many}\nforge: {kind: gitlab}\nstrict: false\n");
  const std::string text = faults();
  EXPECT_THAT(text, HasSubstr("/h/config.yaml:1:1: /strict: expected true or false"));
  EXPECT_THAT(text, HasSubstr("/h/config.yaml:2:1: /modle: unknown key \"modle\". Did you mean models?"));
  EXPECT_THAT(text, HasSubstr("/h/config.yaml:3:9: /roles/defalt: unknown key \"defalt\". Did you mean default?"));
  EXPECT_THAT(text, HasSubstr("/shop/signalbox.yaml:1:1: /bas: unknown key \"bas\". Did you mean base?"));
  EXPECT_THAT(text, HasSubstr("/shop/signalbox.yaml:2:1: /merge: \"atuo\" is not one of: ask, auto, never"));
  EXPECT_THAT(text, HasSubstr("/shop/signalbox.yaml:3:10: /limits/turns"));
  EXPECT_THAT(text, HasSubstr("/forge/kind"));
  EXPECT_THAT(text, HasSubstr("strict is allowed only in the user's own config.yaml"));
}

TEST_F(SettingsTest, ALiteralSecretIsRefusedAndNotShown) {
  const char* const literals[] = {"sk-ant-VERYSECRET", "VERYSECRET",  "$VERY-SECRET VERYSECRET",
                                  "${VERYSECRET}",     "\"\"",        "file:",
                                  "file:~/VERYSECRET", "$1VERYSECRET"};
  for (const std::string literal : literals) {
    user("models: {main: {provider: anthropic, model: m, key: \"" + (literal == "\"\"" ? "" : literal) + "\"}}\n" +
         "forge: {kind: github, repository: a/b, token: '" + (literal == "\"\"" ? "" : literal) + "'}\n");
    EXPECT_THAT(faults(), AllOf(HasSubstr("/models/main/key: a secret must not be written in this file"),
                                HasSubstr("/forge/token: a secret must not be written in this file"),
                                Not(HasSubstr("VERYSECRET"))))
        << literal;
  }
  user("models: {main: {provider: anthropic, model: m, key: 31415926}}\n");
  EXPECT_THAT(faults(), AllOf(HasSubstr("a secret must not"), Not(HasSubstr("31415926"))));
  user("models: {main: {provider: openai, model: m, url: 'https://me:hunter2@host/'}}\n");
  EXPECT_THAT(faults(), AllOf(HasSubstr("/models/main/url"), Not(HasSubstr("hunter2"))));
  user("models: {main: {provider: anthropic, model: m, key: 'file:keys/anthropic'}}\n");
  EXPECT_EQ(good().agents.models.at("main").key, "file:/h/keys/anthropic");
}

TEST_F(SettingsTest, NothingOfAnUntrustedFileCounts) {
  user(kModel);
  files.contents()["/shop/signalbox.yaml"] = "merge: auto\nchecks: [rm -rf /]\nnonsense: 1\n";
  auto settings = load();
  ASSERT_FALSE(settings);
  ASSERT_EQ(settings.error().size(), 2u);
  EXPECT_EQ(settings.error()[0].code, ErrorCode::kForbidden);
  EXPECT_THAT(settings.error()[0].to_string(), AllOf(HasSubstr("/shop/signalbox.yaml: the folder /shop is not trusted"),
                                                     HasSubstr("signalbox trust \"/shop\"")));
  EXPECT_THAT(settings.error()[1].to_string(), HasSubstr("/shop/signalbox.yaml:3:1: /nonsense"));
  trust();
  EXPECT_THAT(faults(), HasSubstr("nonsense"));
  workspace("merge: auto\n");
  EXPECT_EQ(good().merge, MergePolicy::kAuto);
  files.contents()["/shop/signalbox.yaml"] += "# changed\n";
  EXPECT_THAT(faults(), HasSubstr("not trusted as it is now"));
}

TEST_F(SettingsTest, TheUsersProtectedPathsStayProtected) {
  user("protected: [secrets/**]\n");
  workspace("protected: [.github/**]\n");
  EXPECT_THAT(good().protected_paths, testing::ElementsAre("secrets/**", ".github/**"));
}

TEST_F(SettingsTest, RolesAndTiersMustNameModels) {
  user(std::string(kModel) + "roles: {default: mian}\ntiers: {heavy: nobody}\n");
  EXPECT_THAT(faults(), AllOf(HasSubstr("/roles/default: there is no model \"mian\" under models. Did you mean main?"),
                              HasSubstr("/tiers/heavy: there is no model \"nobody\"")));
  user("roles: {default: main}\n");
  workspace(kModel);  // may be declared in the other file
  EXPECT_EQ(good().agents.models.size(), 1u);
}

TEST_F(SettingsTest, TheRolesModelThenTheTiersThenTheDefault) {
  user(
      "models:\n  a: {provider: scripted, script: a}\n  b: {provider: scripted, script: b}\n"
      "  c: {provider: scripted, script: c}\n");
  EXPECT_THAT(good().agents.model_for("worker", "").error().to_string(), HasSubstr("none is the default"));
  user(
      "models:\n  a: {provider: scripted, script: a}\n  b: {provider: scripted, script: b}\n"
      "  c: {provider: scripted, script: c}\nroles: {default: a, reviewer: b}\ntiers: {heavy: c}\n");
  const RunSettings s = good();
  EXPECT_EQ((*s.agents.model_for("", ""))->name, "a");
  EXPECT_EQ((*s.agents.model_for("reviewer", "heavy"))->name, "b");
  EXPECT_EQ((*s.agents.model_for("worker", "heavy"))->name, "c");
}

TEST_F(SettingsTest, BadValuesEachGiveOneFaultThatNamesTheirPlace) {
  const std::pair<const char*, const char*> rows[] = {
      {"- a\n", "expected an object"},
      {"text", "expected an object"},
      {"models: []\n", "/models: expected an object"},
      {"models: {Main: {provider: scripted, script: x}}\n", "/models/Main: a model's name"},
      {"models: {m: {}}\n", "\"provider\" is missing"},
      {"models: {m: {provider: antropic}}\n", "Did you mean anthropic?"},
      {"models: {m: {provider: anthropic, model: x}}\n", "\"key\" is missing"},
      {"models: {m: {provider: anthropic, model: ' ', key: $K}}\n", "the text is empty"},
      {"models: {m: {provider: scripted, script: x, key: $K}}\n", "key is a key of the provider anthropic, openai"},
      {"models: {m: {provider: scripted, script: ~/x}}\n", "~ is not supported here"},
      {"models: {m: {provider: command}}\n", "either recipe or command"},
      {"models: {m: {provider: command, recipe: codex, command: [x]}}\n", "either recipe or command"},
      {"models: {m: {provider: command, command: []}}\n", "names no program"},
      {"models: {m: {provider: command, command: [x, '-t={mcp_token}']}}\n", "every user of the machine can read"},
      {"models: {m: {provider: command, recipe: codex, upstream: m}}\n", "is an agent program"},
      {"models: {m: {provider: openai, model: x, url: ftp://x}}\n", "not a valid URL"},
      {"models: {m: {provider: openai, model: x, key: $K, max_tokens: 0}}\n", "/models/m/max_tokens"},
      {"models: {m: {provider: openai, model: x, key: $K, prices: {input: -1, output: 2}}}\n", "out of range"},
      {"limits: {time: soon}\n", "is not a valid duration"},
      {"limits: {time: 0s}\n", "/limits/time: 0s is out of range"},
      {"limits: {depth: 4}\n", "/limits/depth"},
      {"limits: {cost: .inf}\n", "/limits/cost"},
      {"limits: {cost: 0}\n", "/limits/cost: a limit of 0"},
      {"limits: {cost: 0.0000001}\n", "leave cost out for no limit"},
      {"limits: {tokens: 0}\n", "/limits/tokens"},
      {"base: -f\n", "not a valid branch name"},
      {"base: 'a b'\n", "not a valid branch name"},
      {"branch: {prefix: '../'}\n", "not a valid branch prefix"},
      {"branch: {strategy: copy}\n", "/branch/strategy"},
      {"forge: {kind: github, token: $T}\n", "\"repository\" is missing"},
      {"forge: {kind: github, repository: shop, token: $T}\n", "owner/name"},
      {"forge: {kind: local, remote: --upload-pack=x}\n", "not a valid remote name"},
      {"checks: ./check\n", "/checks: expected a list"},
      {"checks: [\"\"]\n", "the text is empty"},
      {"checks: [a, a]\n", "two checks are named \"a\""},
      {"checks: [{name: x}]\n", "\"run\" is missing"},
      {"protected: [/etc]\n", "is outside the workspace"},
      {"tier0: [docs/../../x]\n", "is outside the workspace"},
      {"isolation: {wr.mr-review: {mode: open}}\n", "/isolation/wr.mr-review/mode"},
      {"isolation: {wr.mr-review: {mode: full, inputs: [a]}}\n", "inputs requires mode: blind"},
      {"isolation: {'a b': {mode: full}}\n", "is not a valid workflow id"},
      {"phases: {codign: x}\n", "Did you mean coding?"},
      {"phases: {coding: 'a b'}\n", "is not a valid workflow id"},
      {"fix_rounds: 11\n", "/fix_rounds"},
      {"identity: {email: 'a <b>'}\n", "git does not allow"},
      {"on_partial: maybe\n", "/on_partial"},
  };
  for (const auto& [yaml, expected] : rows) {
    user(yaml);
    const auto settings = load();
    ASSERT_FALSE(settings) << yaml;
    EXPECT_EQ(settings.error().size(), 1u) << yaml << faults_in(settings);
    EXPECT_THAT(faults_in(settings), AllOf(HasSubstr(expected), HasSubstr("config.yaml:1"))) << yaml;
  }
}

TEST_F(SettingsTest, LimitsHoldAtTheEdgeAndOnePast) {
  const auto models = [](std::size_t count) {
    std::string text = "models:\n";
    for (std::size_t i = 0; i < count; ++i) text += fmt::format("  m{}: {{provider: scripted, script: x}}\n", i);
    return text;
  };
  const auto checks = [](std::size_t count) {
    std::string text = "checks:\n";
    for (std::size_t i = 0; i < count; ++i) text += fmt::format("  - run-{}\n", i);
    return text;
  };
  const auto rounds = [](int count) { return fmt::format("fix_rounds: {}\n", count); };
  const std::pair<std::string, std::string> rows[] = {
      {models(agent::limits::kModels), models(agent::limits::kModels + 1)},
      {checks(limits::kSettingsItems), checks(limits::kSettingsItems + 1)},
      {rounds(limits::kMostFixRounds), rounds(limits::kMostFixRounds + 1)}};
  for (const auto& [edge, past] : rows) {
    user(edge);
    EXPECT_EQ(faults(), "");
    user(past);
    EXPECT_NE(faults(), "");
  }
}

TEST_F(SettingsTest, AnUnreadableFileIsAnErrorThatNamesIt) {
  for (const std::string& bytes :
       {std::string("a: [\n"), std::string("\xff\xfe"), std::string("a: 1\na: 2\n"), std::string("a\0b", 3)}) {
    user(bytes);
    EXPECT_THAT(faults(), HasSubstr("config.yaml"));
  }
  user("");
  EXPECT_TRUE(load());
  files.contents().erase("/h/config.yaml");
  ASSERT_TRUE(files.make_directories("/h/config.yaml"));
  EXPECT_THAT(faults(), HasSubstr("/h/config.yaml"));
}

TEST_F(SettingsTest, TheHashDependsOnSettingsNotOnTheirSpelling) {
  user(kModel);
  const std::string hash = good().hash;
  user("# the same\nmodels:\n  main:\n    key: $KEY\n    model: m\n    provider: anthropic\n");
  EXPECT_EQ(good().hash, hash);
  user(std::string(kModel) + "merge: never\n");
  EXPECT_NE(good().hash, hash);
}

// Runs stored by earlier versions must stay readable, so this value may gain members but not lose or change any.
TEST_F(SettingsTest, StoresEverythingAndRestoresIt) {
  user(R"(
models:
  main: {provider: anthropic, model: m, key: $K, prices: {input: 3, output: 15}}
  other: {provider: openai, model: gpt, url: "http://127.0.0.1:8080/v1", max_tokens: 100}
  cc: {provider: command, recipe: codex, upstream: main}
  mine: {provider: command, command: [agent, x]}
  demo: {provider: scripted, script: r.jsonl}
roles: {default: main}
limits: {time: 10m, cost: 5.50}
forge: {kind: github, repository: a/b, token: $T}
checks: [./check, {name: types, run: npm run types, time: 5m}]
merge: auto
isolation: {x.y: {mode: blind, inputs: [diff]}}
)");
  const Value value = to_value(good());
  EXPECT_EQ(
      to_canonical_json(value),
      R"({"base":"main","branch":{"prefix":"signalbox/","strategy":"worktree"},"checks":[{"name":"./check",)"
      R"("run":"./check","time_ms":600000},{"name":"types","run":"npm run types","time_ms":300000}],"fix_rounds":2,)"
      R"("forge":{"kind":"github","method":"merge","remote":"origin","repository":"a/b","token":"$T","url":""},)"
      R"("identity":{"email":"signalbox@localhost","name":"Signalbox"},)"
      R"("isolation":{"x.y":{"inputs":["diff"],"mode":"blind","tier0":true}},)"
      R"("limits":{"depth":3,"micro_cents":550000000,"repeats":3,"stall_ms":120000,"time_ms":600000,"tokens":0,)"
      R"("turns":200},"merge":"auto","models":{"cc":{"context_tokens":200000,"max_tokens":8192,"prices":[0,0,0,0],)"
      R"("provider":"command","recipe":"codex","upstream":"main"},"demo":{"context_tokens":200000,)"
      R"("max_tokens":8192,"prices":[0,0,0,0],"provider":"scripted","script":"/h/r.jsonl"},)"
      R"("main":{"context_tokens":200000,"key":"$K","max_tokens":8192,"model":"m","prices":[300,1500,300,300],)"
      R"("provider":"anthropic"},"mine":{"command":["agent","x"],"context_tokens":200000,"max_tokens":8192,)"
      R"("prices":[0,0,0,0],"provider":"command"},"other":{"api":"responses","context_tokens":200000,)"
      R"("max_tokens":100,"model":"gpt","prices":[0,0,0,0],"provider":"openai",)"
      R"("url":"http://127.0.0.1:8080/v1"}},"on_partial":"proceed","phases":{"audit":"wr.production-readiness-audit",)"
      R"("coding":"wr.coding-task","design":"wr.ui-ux-design","discovery":"wr.discovery","fix":"wr.fix",)"
      R"("review":"wr.mr-review","shaping":"wr.shaping"},"protected":[],"roles":{"default":"main"},"soul":"",)"
      R"("tier0":[],"tiers":{}})");
  const auto again = settings_from(value);
  ASSERT_TRUE(again);
  EXPECT_EQ(to_value(*again), value);
  for (const char* member : {"models", "limits", "forge", "fix_rounds", "phases"}) {
    Value less = value;
    less.erase(member);
    EXPECT_FALSE(settings_from(less)) << member;
  }
  Value other = value;
  other.find("models")->find("main")->set("provider", "nobody");
  EXPECT_FALSE(settings_from(other));
  Value more = value;
  more.set("unknown", 1);
  EXPECT_FALSE(settings_from(more));
}

TEST_F(SettingsTest, PricesOfKnownModelsAreFilledInAndGivenOnesStay) {
  user(
      "models:\n  known: {provider: anthropic, model: claude-sonnet-4-5, key: $K}\n"
      "  given: {provider: anthropic, model: claude-sonnet-4-5, key: $K, prices: {input: 1, output: 2}}\n"
      "  local: {provider: openai, model: of-my-own, url: 'http://127.0.0.1:1'}\nroles: {default: known}\n");
  const RunSettings settings = good();
  EXPECT_EQ(settings.agents.models.at("known").output_price, 1'500);
  EXPECT_EQ(settings.agents.models.at("given").output_price, 200);
  EXPECT_EQ(settings.agents.models.at("local").output_price, 0);
}

}  // namespace
}  // namespace sb::pipeline
