#include "hook/install/clients.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.hpp"

namespace sb::hook {
namespace {

using testing::HasSubstr;

Environment environment_with(std::map<std::string, std::string, std::less<>> variables) {
  return Environment(std::move(variables));
}

std::string user_path(std::string_view word, ClientFiles ClientRow::* files, const Environment& environment) {
  const ClientRow& row = *find_client(word);
  const auto path = client_path(row, row.*files, InstallScope::kUser, "/p", environment);
  return path ? *path : "ERROR " + path.error().to_string();
}

TEST(Clients, EachHasFilesOfTheUserAndOfAProject) {
  const Environment environment =
      environment_with({{"HOME", "/home/ann"}, {"CODEX_HOME", "/srv/codex"}, {"CLAUDE_CONFIG_DIR", "/srv/c"}});
  EXPECT_EQ(user_path("claude-code", &ClientRow::servers, environment), "/srv/c/.claude.json");
  EXPECT_EQ(user_path("claude-code", &ClientRow::hooks, environment), "/srv/c/settings.json");
  EXPECT_EQ(user_path("claude-code", &ClientRow::rules, environment), "/srv/c/CLAUDE.md");
  EXPECT_EQ(user_path("codex", &ClientRow::servers, environment), "/srv/codex/config.toml");
  EXPECT_EQ(user_path("codex", &ClientRow::rules, environment), "/srv/codex/AGENTS.md");
  EXPECT_EQ(user_path("opencode", &ClientRow::rules, environment), "/home/ann/.config/opencode/AGENTS.md");
  EXPECT_EQ(user_path("opencode", &ClientRow::servers, environment_with({{"XDG_CONFIG_HOME", "/x"}})),
            "/x/opencode/opencode.json");
  const ClientRow& gemini = *find_client("gemini-cli");
  EXPECT_EQ(client_path(gemini, gemini.rules, InstallScope::kProject, "/p", environment), "/p/GEMINI.md");
  EXPECT_EQ(find_client("emacs"), nullptr);
}

TEST(Clients, AMissingFileOrHomeIsAnError) {
  const Environment none = environment_with({});
  EXPECT_THAT(user_path("gemini-cli", &ClientRow::rules, none), HasSubstr("HOME is not set"));
  EXPECT_THAT(user_path("codex", &ClientRow::rules, none), HasSubstr("neither CODEX_HOME nor HOME is set"));
  const ClientRow& cline = *find_client("cline");
  const auto project = client_path(cline, cline.servers, InstallScope::kProject, "/p", none);
  ASSERT_FALSE(project);
  EXPECT_THAT(project.error().to_string(), HasSubstr("Cline is configured only for you, not for a project"));
}

// One row, without the column of names: what it says about a client, and where its files are.
std::string documented(const ClientRow& row, const ClientFiles& files, bool has_name) {
  const std::string variable = row.home_variable.empty() ? "" : " (`" + std::string(row.home_variable) + "`)";
  const std::string project = files.project.empty() ? "none" : "`" + std::string(files.project) + "`";
  return "| `" + std::string(row.word) + "` | " + (has_name ? std::string(row.name) + " | " : "") + "`~/" +
         std::string(files.user) + "`" + variable + " | " + project + " |\n";
}

TEST(Clients, AreThoseOfTheDocumentation) {
  SystemFiles files;
  const std::string page = files.read(SB_SOURCE_DIR "/docs/clients.md", 1 << 20).value();
  std::string servers, hooks, rules;
  for (const ClientRow& row : clients()) {
    servers += documented(row, row.servers, true);
    rules += documented(row, row.rules, false);
    if (row.hook_form != HookForm::kNone) hooks += documented(row, row.hooks, false);
  }
  for (const std::string& table : {servers, rules, hooks}) EXPECT_THAT(page, HasSubstr("|---|\n" + table + "\n"));
}

}  // namespace
}  // namespace sb::hook
