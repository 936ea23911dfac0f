#include "agent/programs/recipe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/document/document.hpp"

namespace sb::agent {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ModelSettings named(const std::string& recipe) {
  ModelSettings model;
  model.provider = provider_named("command");
  model.name = "cli";
  model.recipe = recipe;
  return model;
}

RecipeValues values() {
  return {.prompt = "Do {home} and {\"a\": 1}",
          .mcp_url = "http://127.0.0.1:1/mcp",
          .mcp_token = "sbg_token",
          .proxy_url = "http://127.0.0.1:1/model",
          .home = "/tmp/h",
          .work_tree = "/w",
          .model = "the-model"};
}

TEST(Recipes, StartEveryKnownProgramWithWhatItNeeds) {
  for (const std::string& name : recipe_names()) {
    const auto recipe = recipe_for(named(name));
    ASSERT_TRUE(recipe) << name;
    const auto launch = fill_recipe(*recipe, values());
    ASSERT_TRUE(launch) << name;
    EXPECT_EQ(launch->input, "Do {home} and {\"a\": 1}") << "the prompt is not expanded";
    std::string all;
    for (const auto& [file, text] : launch->files) all += text;
    for (const auto& [variable, value] : launch->environment) all += value + "\n";
    EXPECT_THAT(all, HasSubstr("http://127.0.0.1:1/mcp")) << name;
    EXPECT_THAT(all, HasSubstr("http://127.0.0.1:1/model")) << name;
    EXPECT_THAT(all, HasSubstr("sbg_token")) << name;
    for (const std::string& word : launch->argv) EXPECT_THAT(word, Not(HasSubstr("sbg_token"))) << "visible to others";
  }
}

TEST(Recipes, GiveClaudeCodeAConfigurationItCanRead) {
  const auto launch = fill_recipe(*recipe_for(named("claude-code")), values());
  ASSERT_TRUE(launch);
  const auto config = parse_json(launch->files.at("mcp.json"));
  ASSERT_TRUE(config);
  const Value& server = (*config)["mcpServers"]["signalbox"];
  EXPECT_EQ(server.string_at("url"), "http://127.0.0.1:1/mcp");
  EXPECT_EQ(server["headers"].string_at("Authorization"), "Bearer sbg_token");
  EXPECT_THAT(launch->argv, Contains("--restricted"));
  EXPECT_THAT(launch->argv, Contains("Bash,Read,Write,Edit,Glob,Grep"));
  RecipeValues reading = values();
  reading.is_writable = false;
  EXPECT_THAT(fill_recipe(*recipe_for(named("claude-code")), reading)->argv, Contains("Bash,Read,Glob,Grep"));
}

TEST(Recipes, LetCodexAskBeforeItsTools) {
  RecipeValues with_program = values();
  with_program.signalbox = "/run/signalbox/inside";
  const auto launch = fill_recipe(*recipe_for(named("codex")), with_program);
  ASSERT_TRUE(launch);
  const auto hooks = parse_json(launch->files.at(".codex/hooks.json"));
  ASSERT_TRUE(hooks);
  const Value& groups = (*hooks)["hooks"]["PreToolUse"];
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups.items()[0]["hooks"].items()[0].string_at("command"), "'/run/signalbox/inside' forward-hook");
  EXPECT_THAT(launch->files.at(".codex/config.toml"), HasSubstr("hooks = true"));
  with_program.signalbox = "/tmp/it's";
  EXPECT_FALSE(fill_recipe(*recipe_for(named("codex")), with_program));
}

TEST(Recipes, LeaveOutWhatWouldReplaceAnOwnLogin) {
  RecipeValues own = values();
  own.proxy_url = "";
  const auto claude = fill_recipe(*recipe_for(named("claude-code")), own);
  EXPECT_FALSE(claude->environment.contains("ANTHROPIC_API_KEY"));
  EXPECT_FALSE(claude->environment.contains("CLAUDE_CONFIG_DIR"));
  const auto codex = fill_recipe(*recipe_for(named("codex")), own);
  EXPECT_FALSE(codex->environment.contains("CODEX_HOME"));
  EXPECT_THAT(codex->argv, Contains(R"(mcp_servers.signalbox.url="http://127.0.0.1:1/mcp")"));
}

TEST(Recipes, WithAnOwnLoginNameTheServersOfTheirProviderOnly) {
  const std::map<std::string, std::string> providers = {{"claude-code", "(anthropic|claude)[.](com|ai):443"},
                                                        {"codex", "(openai|chatgpt)[.]com:443"}};
  for (const auto& [name, provider] : providers) {
    const auto recipe = recipe_for(named(name));
    ASSERT_TRUE(recipe) << name;
    EXPECT_FALSE(recipe->login_servers.empty()) << name;
    EXPECT_THAT(recipe->login_servers, testing::Each(testing::MatchesRegex("([a-z]+[.])?" + provider))) << name;
  }
  ModelSettings model = named("");
  model.command = {"agent"};
  EXPECT_THAT(recipe_for(model)->login_servers, testing::IsEmpty()) << "a program of the user";
}

TEST(Recipes, OfTheUserGetThePromptAsAnArgumentOrOnStdin) {
  ModelSettings model = named("");
  model.command = {"agent", "--at={mcp_url}", "{prompt}", "{other}"};
  auto launch = fill_recipe(*recipe_for(model), values());
  ASSERT_TRUE(launch);
  EXPECT_THAT(launch->argv, ElementsAre("agent", "--at=http://127.0.0.1:1/mcp", "Do {home} and {\"a\": 1}", "{other}"));
  EXPECT_EQ(launch->input, "");
  model.command = {"agent"};
  EXPECT_EQ(fill_recipe(*recipe_for(model), values())->input, "Do {home} and {\"a\": 1}");
}

TEST(Recipes, OfTheUserGetTheirAddressesInVariables) {
  ModelSettings model = named("");
  model.command = {"agent"};
  auto launch = fill_recipe(*recipe_for(model), values());
  EXPECT_EQ(launch->environment.at("SIGNALBOX_PLACE_TOKEN"), "sbg_token");
  EXPECT_EQ(launch->environment.at("SIGNALBOX_MCP_URL"), "http://127.0.0.1:1/mcp");
  EXPECT_EQ(launch->environment.at("SIGNALBOX_PROXY_URL"), "http://127.0.0.1:1/model");
  RecipeValues own = values();
  own.proxy_url = "";
  EXPECT_FALSE(fill_recipe(*recipe_for(model), own)->environment.contains("SIGNALBOX_PROXY_URL"));
}

TEST(Recipes, RejectWhatCannotBeStarted) {
  const auto wrong = recipe_for(named("claude-cod"));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().to_string(), HasSubstr("claude-code"));
  EXPECT_FALSE(recipe_for(named("")));
  RecipeValues quoted = values();
  quoted.model = "a\"b";
  EXPECT_EQ(fill_recipe(*recipe_for(named("codex")), quoted).error().code, ErrorCode::kInvalid);
  ModelSettings model = named("");
  model.command = {"agent", "{prompt}"};
  RecipeValues longer = values();
  longer.prompt = std::string(200'000, 'x');
  EXPECT_EQ(fill_recipe(*recipe_for(model), longer).error().code, ErrorCode::kLimit);
  longer.prompt = std::string("a\0b", 3);
  EXPECT_EQ(fill_recipe(*recipe_for(model), longer).error().code, ErrorCode::kInvalid);
}

}  // namespace
}  // namespace sb::agent
