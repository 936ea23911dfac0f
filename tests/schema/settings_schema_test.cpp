// docs/schema/signalbox.schema.json and the program agree: the program rejects what the schema rejects, and the schema
// rejects structures that the program rejects. Only the program checks what depends on several parts of the file (names
// of models, branches, paths).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/files.hpp"
#include "base/testing/fakes.hpp"
#include "inbox/config.hpp"
#include "pipeline/settings/run_keys.hpp"
#include "schema/configuration_page.hpp"
#include "workflow/schema/json_schema.hpp"

namespace sb::pipeline {
namespace {

constexpr std::array<std::string_view, 11> kShapeRules = {
    "unknown_key", "missing_key", "wrong_kind", "unknown_choice", "out_of_range",     "too_long",
    "too_few",     "too_many",    "bad_name",   "bad_line",       "recipe_or_command"};

const char* const kExamples[] = {
    R"({"strict": true, "confirmations": "relay", "workspaces": {"/srv/shop": {"confirmations": "ask"}},
        "file_tools": [{"names": ["mcp__a__*"], "paths": ["a|b", "c[].d"]}, {"names": ["x"], "changes": "nothing"}],
        "models": {"main": {"provider": "anthropic", "model": "m", "key": "$KEY", "max_tokens": 100,
                            "prices": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}},
                   "other": {"provider": "openai", "api": "chat", "model": "m", "url": "http://127.0.0.1:1/v1",
                             "key": "file:/k", "context_tokens": 9000},
                   "cc": {"provider": "command", "recipe": "codex", "upstream": "main", "model": "x"},
                   "mine": {"provider": "command", "command": ["a", "{prompt}"]},
                   "demo": {"provider": "scripted", "script": "replies.jsonl"}},
        "roles": {"default": "main", "reviewer": "other", "worker": "main", "challenger": "cc", "adversarial": "cc",
                  "evaluator": "mine"},
        "tiers": {"heavy": "main", "mid": "main", "lightweight": "other"}})",
    R"({"limits": {"turns": 20, "time": "10m", "stall": "30s", "tokens": 2000, "cost": 5.5, "depth": 1, "repeats": 4},
        "base": "trunk", "branch": {"strategy": "worktree", "prefix": "bot/"},
        "forge": {"kind": "github", "repository": "a/b", "token": "$T", "url": "https://x/api", "remote": "origin"},
        "checks": ["./check", {"name": "types", "run": "npm run types", "time": "5m"}],
        "merge": "auto", "on_partial": "retry_once", "fix_rounds": 1, "identity": {"name": "Bot", "email": "b@x"}})",
    R"({"protected": [".github/**"], "tier0": ["VISION.md"], "soul": "docs/soul.md", "forge": {"kind": "local"},
        "isolation": {"wr.mr-review": {"mode": "challenger", "tier0": false},
                      "x.y": {"mode": "blind", "inputs": ["diff"]},
                      "x.z": {"mode": "custom", "include": ["a"], "exclude": ["b"]}},
        "phases": {"discovery": "a.b", "shaping": "a.b", "design": "a.b", "coding": "a.b", "review": "a.b",
                   "fix": "a.b", "audit": "a.b"}})"};

void collect(Value& value, std::vector<Value*>& into) {
  into.push_back(&value);
  if (value.is_array()) {
    for (Value& item : value.items()) collect(item, into);
  } else if (value.is_object()) {
    for (auto& member : value.members()) collect(member.value, into);
  }
}

// One small change: a member removed, added, misspelled or copied from elsewhere, or a value replaced.
void mutate(Value& root, FakeRandom& random) {
  std::vector<Value*> all;
  collect(root, all);
  Value& target = *all[random.next() % all.size()];
  const Value others[] = {Value(),          Value(true), Value(7),       Value(-1),      Value(2.5),
                          Value("text"),    Value(""),   Value("A b"),   Value(" "),     Value("x\n"),
                          Value(1'000'001), Value("$X"), Value::array(), Value::object()};
  const auto at = [&](std::size_t size) { return static_cast<long>(random.next() % size); };
  switch (random.next() % 5) {
    case 0:
      if (target.is_object() && target.size() > 0) target.members().erase(target.members().begin() + at(target.size()));
      break;
    case 1:
      if (target.is_object()) target.set("unknown", 1);
      break;
    case 2:
      if (target.is_object() && target.size() > 0)
        target.members()[static_cast<std::size_t>(at(target.size()))].name += "x";
      break;
    case 3: {
      const Value moved = *all[random.next() % all.size()];
      target = moved;
      break;
    }
    default:
      target = others[random.next() % std::size(others)];
  }
}

class SettingsSchema : public testing::Test {
 protected:
  static Document document(const std::string& text) { return *parse_document("config.yaml", text); }
  static Faults faults(const Value& value, SettingsOrigin whose = SettingsOrigin::kUser) {
    RunSettings settings;
    Faults found;
    const Document read = document(to_json(value));
    read_settings(read, whose, "/h", settings, found);
    return found;
  }

  workflow::JsonSchema schema_ = *workflow::JsonSchema::compile(
      load_document(SystemFiles(), SB_SOURCE_DIR "/docs/schema/signalbox.schema.json")->root);
};

TEST_F(SettingsSchema, BothAcceptTheExamples) {
  for (const char* const example : kExamples) {
    const Value value = document(example).root;
    const auto violations = schema_.check(value);
    EXPECT_TRUE(violations.empty()) << violations[0].pointer << " " << violations[0].message;
    const Faults found = faults(value);
    EXPECT_TRUE(found.empty()) << found[0].to_string();
  }
}

// Writes the file when asked to, and compares it.
void expect_generated(const std::string& path, const std::string& text) {
  SystemFiles files;
  const std::string whole = std::string(SB_SOURCE_DIR) + "/" + path;
  const bool is_wanted = std::getenv("SIGNALBOX_WRITE_GENERATED") != nullptr;
  ASSERT_TRUE(!is_wanted || files.write_atomic(whole, text));
  EXPECT_EQ(files.read(whole, 1u << 20).value_or(""), text)
      << path << " differs from the table of keys. Write it again, and build again:\n"
      << "  SIGNALBOX_WRITE_GENERATED=1 build/release/tests/test_settings_schema";
}

TEST(GeneratedFiles, AreWhatTheTableOfKeysSays) {
  expect_generated("docs/schema/signalbox.schema.json", to_pretty_json(settings_schema()) + "\n");
  expect_generated("src/inbox/data/run-keys.yaml", known_keys_file());
  expect_generated("docs/configuration.md", configuration_page(settings_schema()));
}

TEST_F(SettingsSchema, HasExactlyTheKnownRootKeys) {
  const Value schema = load_document(SystemFiles(), SB_SOURCE_DIR "/docs/schema/signalbox.schema.json")->root;
  std::vector<std::string> published, known = inbox::run_key_names();
  for (const Value::Member& member : schema["properties"].members()) published.push_back(member.name);
  for (const auto& key : inbox::user_keys()) known.emplace_back(key.name);
  std::ranges::sort(published);
  std::ranges::sort(known);
  EXPECT_EQ(published, known);
}

TEST_F(SettingsSchema, BothAgreeOnThousandsOfSmallMutations) {
  constexpr std::uint64_t kSeed = 20261115;
  FakeRandom random(kSeed);
  int refused = 0;
  for (int round = 0; round < 2'000; ++round) {
    Value tree = document(kExamples[random.next() % std::size(kExamples)]).root;
    mutate(tree, random);
    if (!tree.is_object()) continue;
    const auto violations = schema_.check(tree);
    const Faults found = faults(tree);
    const std::string where = fmt::format("seed {} round {}: {}", kSeed, round, to_json(tree));
    refused += violations.empty() ? 0 : 1;
    if (!violations.empty()) {
      ASSERT_FALSE(found.empty()) << where << "\nonly the schema rejects it: " << violations[0].pointer << " "
                                  << violations[0].message;
      continue;
    }
    for (const Error& fault : found) {
      ASSERT_EQ(std::ranges::find(kShapeRules, fault.rule), kShapeRules.end())
          << where << "\nthe schema accepts it: " << fault.to_string();
    }
  }
  EXPECT_GT(refused, 600);
}

}  // namespace
}  // namespace sb::pipeline
