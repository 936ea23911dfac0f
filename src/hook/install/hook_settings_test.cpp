#include "hook/install/hook_settings.hpp"

#include "base/document/document.hpp"
#include "hook/install/client_config.hpp"
#include "hook/install/hook_command.hpp"
#include "hook/install/json_text.hpp"
#include "hook/project_folder.hpp"
#include "hook/testing.hpp"

namespace sb::hook {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Settings : public HookFixture {
 protected:
  std::string path() const { return root_ + "/user/.claude/settings.json"; }
  void write(const std::string& text) {
    (void)files_.make_directories(root_ + "/user/.claude");
    (void)files_.write_atomic(path(), text);
  }
  InstallRequest wanted(bool with_stop = false, InstallScope scope = InstallScope::kUser) const {
    return {Client::kClaudeCode, scope, project(), "/opt/sb/signalbox-hook", with_stop};
  }
  Result<InstallResult> install(const InstallRequest& what) { return install_hooks(seams(streams_), what); }
  Result<InstallResult> uninstall(const InstallRequest& what) { return uninstall_hooks(seams(streams_), what); }

  FakeStreams streams_;
};

constexpr const char* kOthers = R"json({
    "model": "opus",
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "lint-it"}]}],
        "Notification": []
    },
    "permissions": {"allow": ["Bash(ls)"], "ratio": 0.5
}
})json";

TEST_F(Settings, AMissingFileIsCreatedAndRemovedAgain) {
  ASSERT_TRUE(install(wanted()));
  const Value made = parse_json(read(path())).value();
  const Value& group = made["hooks"]["PreToolUse"].items().at(0);
  EXPECT_EQ(group.string_at("matcher"), "(AskUserQuestion|mcp__.*__AskUserQuestion)");
  EXPECT_EQ(to_json(group["hooks"]), R"([{"type":"command","command":"/opt/sb/signalbox-hook","timeout":5}])");
  EXPECT_NE(made["hooks"].find("PostToolUse"), nullptr);
  EXPECT_EQ(made["hooks"].find("Stop"), nullptr);
  ASSERT_TRUE(uninstall(wanted()));
  EXPECT_EQ(files_.kind(path()), FileKind::kMissing);
}

TEST_F(Settings, OtherSettingsStayAndUninstallRestoresEveryByte) {
  write(kOthers);
  const auto changed = install(wanted(true)).value();
  EXPECT_EQ(read(changed.backup), kOthers);
  const std::string text = read(path());
  const Value now = parse_json(text).value();
  EXPECT_EQ(now.members().at(0).name, "model");
  EXPECT_EQ(now.members().at(2).name, "permissions");
  EXPECT_EQ(to_json(now["hooks"]["PreToolUse"].items().at(0)),
            R"({"matcher":"Bash","hooks":[{"type":"command","command":"lint-it"}]})");
  EXPECT_THAT(text, HasSubstr("\n    \"model\""));  // with the original indentation
  EXPECT_NE(now["hooks"].find("Stop"), nullptr);
  ASSERT_TRUE(uninstall(wanted()));
  EXPECT_EQ(read(path()), kOthers);
  EXPECT_EQ(files_.list(root_ + "/user/.claude").value(), std::vector<std::string>{"settings.json"});
}

TEST_F(Settings, ASecondInstallChangesNoByte) {
  write(kOthers);
  ASSERT_TRUE(install(wanted(true))->is_changed);
  const std::string once = read(path());
  EXPECT_FALSE(install(wanted(true))->is_changed);
  EXPECT_FALSE(install(wanted(false))->is_changed);  // existing entries are not removed
  EXPECT_EQ(read(path()), once);
}

TEST_F(Settings, AMovedProgramIsUpdated) {
  ASSERT_TRUE(install(wanted()));
  InstallRequest moved = wanted();
  moved.program = "/opt/o'neil/my tools/signalbox-hook";
  ASSERT_TRUE(install(moved));
  const Value now = parse_json(read(path())).value();
  ASSERT_EQ(now["hooks"]["PreToolUse"].size(), 3u);
  for (const Value& group : now["hooks"]["PreToolUse"].items()) {
    EXPECT_EQ(group["hooks"].items()[0].string_at("command"), R"('/opt/o'\''neil/my tools/signalbox-hook')");
  }
  EXPECT_FALSE(install(moved)->is_changed);
  ASSERT_TRUE(uninstall(wanted()));
  EXPECT_EQ(files_.kind(path()), FileKind::kMissing);
}

TEST_F(Settings, EveryEventHasItsGroups) {
  ASSERT_TRUE(install(wanted(true)));
  const Value made = parse_json(read(path())).value();
  std::string listed;
  for (const auto& [name, groups] : made["hooks"].members()) {
    for (const Value& group : groups.items()) listed += name + " " + group.string_at("matcher").value_or("-") + "\n";
  }
  EXPECT_EQ(listed,
            "PreToolUse (AskUserQuestion|mcp__.*__AskUserQuestion)\nPreToolUse Edit|Write|MultiEdit|NotebookEdit|Bash\n"
            "PreToolUse mcp__(?!.*__AskUserQuestion$).*\n"
            "PostToolUse (AskUserQuestion|mcp__.*__AskUserQuestion)\n"
            "PostToolUse mcp__.*__(start_workflow|continue_workflow)\nPostToolUse mcp__.*__ask\n"
            "Stop -\nSessionStart -\nUserPromptSubmit -\nSessionEnd -\n");
  EXPECT_EQ(made.find("statusLine"), nullptr);
}

TEST_F(Settings, AnOlderInstallationGetsTheMissingGroups) {
  const std::string before = R"({"model":"opus","hooks":{"Notification":[]}})";
  write(before);
  ASSERT_TRUE(install(wanted()));
  const Value whole = parse_json(read(path())).value();
  // As installed when there were only question hooks.
  Value older = whole;
  Value& hooks = *older.find("hooks");
  for (const char* name : {"SessionStart", "UserPromptSubmit", "SessionEnd"}) hooks.erase(name);
  for (const char* name : {"PreToolUse", "PostToolUse"}) hooks.find(name)->items().pop_back();
  write(to_pretty_json(older));
  EXPECT_TRUE(install(wanted())->is_changed);
  EXPECT_EQ(parse_json(read(path())).value(), whole);
  EXPECT_FALSE(install(wanted())->is_changed);
  ASSERT_TRUE(uninstall(wanted()));
  EXPECT_EQ(parse_json(read(path())).value(), parse_json(before).value());
}

TEST_F(Settings, AStatusLineIsAddedOnlyIfThereIsNone) {
  write(R"({"model":"opus"})");
  InstallRequest with_line = wanted();
  with_line.with_statusline = true;
  ASSERT_TRUE(install(with_line));
  const Value made = parse_json(read(path())).value();
  EXPECT_EQ(to_json(made["statusLine"]), R"({"type":"command","command":"/opt/sb/signalbox-hook statusline"})");
  EXPECT_FALSE(install(wanted())->is_changed);
  InstallRequest moved = wanted();
  moved.program = "/new/signalbox-hook";
  ASSERT_TRUE(install(moved));
  EXPECT_EQ(parse_json(read(path())).value()["statusLine"].string_at("command"), "/new/signalbox-hook statusline");
  ASSERT_TRUE(uninstall(wanted()));
  EXPECT_EQ(parse_json(read(path())).value().find("statusLine"), nullptr);
  const std::string others = R"({"statusLine":{"type":"command","command":"my-line"}})";
  write(others);
  const auto refused = install(with_line);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().to_string(), HasSubstr("statusLine"));
  EXPECT_EQ(read(path()), others);
  ASSERT_TRUE(install(wanted()));
  ASSERT_TRUE(uninstall(wanted()));
  EXPECT_EQ(read(path()), others);
}

TEST_F(Settings, OtherHooksInOurGroupStay) {
  ASSERT_TRUE(install(wanted()));
  Value now = parse_json(read(path())).value();
  now.find("hooks")
      ->find("PreToolUse")
      ->items()[0]
      .find("hooks")
      ->push_back(Value::object({{"type", "command"}, {"command", "DEBUG=1 /opt/sb/signalbox-hook"}}));
  write(to_json(now));
  ASSERT_TRUE(uninstall(wanted()));
  EXPECT_EQ(parse_json(read(path())).value(),
            parse_json(R"json({"hooks":{"PreToolUse":[{"matcher":"(AskUserQuestion|mcp__.*__AskUserQuestion)",
            "hooks":[{"type":"command","command":"DEBUG=1 /opt/sb/signalbox-hook"}]}]}})json")
                .value());
}

TEST_F(Settings, ContainersThatWereAlreadyEmptyStay) {
  for (const char* text : {R"({"hooks":{}})", R"({"hooks":{"Stop":[]}})", R"({"hooks":{"PreToolUse":[],"Stop":[]}})",
                           R"({"hooks":{"PreToolUse":[{"matcher":"x","hooks":[]}]}})", "{}"}) {
    for (const bool is_edited : {false, true}) {
      write(text);
      Value wanted_after = parse_json(text).value();
      ASSERT_TRUE(install(wanted(true))->is_changed);
      if (is_edited) {  // so that the backup cannot simply be restored
        Value now = parse_json(read(path())).value();
        now.set("model", "opus");
        wanted_after.set("model", "opus");
        write(to_json(now));
      }
      ASSERT_TRUE(uninstall(wanted())->is_changed);
      EXPECT_EQ(parse_json(read(path())).value(), wanted_after) << text;
      if (!is_edited) {
        EXPECT_EQ(read(path()), text);
      }
    }
  }
  EXPECT_EQ(files_.kind(home() + "/hook-settings.json"), FileKind::kMissing);
}

TEST_F(Settings, AListMadeByALaterInstallIsRemovedToo) {
  write(R"({"hooks":{}, "model":"a"})");
  ASSERT_TRUE(install(wanted(false)));
  ASSERT_TRUE(install(wanted(true)));
  Value now = parse_json(read(path())).value();
  now.set("model", "opus");
  write(to_json(now));
  ASSERT_TRUE(uninstall(wanted()));
  EXPECT_EQ(parse_json(read(path())).value(), parse_json(R"({"hooks":{},"model":"opus"})").value());
}

TEST_F(Settings, TheFirstBackupIsNeverOverwritten) {
  const std::string backup = path() + ".before-signalbox";
  write(kOthers);
  ASSERT_TRUE(install(wanted()));
  Value now = parse_json(read(path())).value();
  now.set("model", "haiku");
  write(to_json(now));
  EXPECT_EQ(uninstall(wanted())->backup, backup);
  EXPECT_EQ(read(backup), kOthers);
  const std::string later = read(path());
  EXPECT_EQ(install(wanted())->backup, backup + "-2");
  EXPECT_EQ(read(backup), kOthers);
  EXPECT_EQ(read(backup + "-2"), later);
  ASSERT_TRUE(uninstall(wanted()));
  EXPECT_EQ(read(path()), later);
  EXPECT_EQ(files_.kind(backup + "-2"), FileKind::kMissing);
  (void)files_.remove(path());
  ASSERT_TRUE(install(wanted()));  // without existing settings
  ASSERT_TRUE(uninstall(wanted()));
  EXPECT_EQ(files_.kind(path()), FileKind::kMissing);
  EXPECT_EQ(read(backup), kOthers);
}

TEST_F(Settings, NumbersStayAsTheyAreWritten) {
  for (const char* number : {"123456789012345678901234567890", "-9223372036854775809", "0.12345678901234567890123",
                             "1e-400", "1.10", "1e3", "-0", "0.000"}) {
    write(std::string("{\n \"s\": \"1\\\"2\",\n \"n\": ") + number + "}");
    ASSERT_TRUE(install(wanted())) << number;
    EXPECT_THAT(read(path()), HasSubstr(std::string("\n \"n\": ") + number + ",\n \"hooks\": {\n"));
    ASSERT_TRUE(uninstall(wanted()));
  }
}

TEST_F(Settings, ADanglingLinkIsNotReplaced) {
  (void)files_.make_directories(root_ + "/user/.claude");
  std::filesystem::create_symlink(root_ + "/dotfiles/settings.json", path());
  for (const auto& result : {install(wanted()), uninstall(wanted())}) {
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().to_string(), AllOf(HasSubstr("settings.json"), HasSubstr("nothing was changed")));
  }
  EXPECT_TRUE(std::filesystem::is_symlink(path()));
  (void)files_.make_directories(root_ + "/dotfiles");
  (void)files_.write_atomic(root_ + "/dotfiles/settings.json", "{}");
  ASSERT_TRUE(install(wanted()));
  EXPECT_TRUE(std::filesystem::is_symlink(path()));
  EXPECT_THAT(read(root_ + "/dotfiles/settings.json"), HasSubstr("signalbox-hook"));
}

TEST_F(Settings, InvalidJsonIsRejectedAndNotTouched) {
  for (const char* text : {" \n", "{\"a\": 1,}", "// comment\n{}", "[1]", "{\"hooks\": []}",
                           "{\"hooks\": {\"Stop\": {}}}", "{\"a\":1,\"a\":2}", "\xff\xfe"}) {
    write(text);
    for (const auto& result : {install(wanted(true)), uninstall(wanted())}) {
      ASSERT_FALSE(result) << text;
      EXPECT_THAT(result.error().to_string(), AllOf(HasSubstr("settings.json"), HasSubstr("nothing was changed")))
          << text;
    }
    EXPECT_EQ(read(path()), text);
  }
  EXPECT_EQ(files_.list(root_ + "/user/.claude").value(), std::vector<std::string>{"settings.json"});
}

TEST_F(Settings, AnEmptyFileCountsAsMissingAndIsRestoredEmpty) {
  write("");
  ASSERT_TRUE(install(wanted()));
  EXPECT_THAT(read(path()), HasSubstr("signalbox-hook"));
  ASSERT_TRUE(uninstall(wanted()));
  EXPECT_EQ(read(path()), "");
}

TEST_F(Settings, UninstallWithoutInstallChangesNothing) {
  EXPECT_FALSE(uninstall(wanted())->is_changed);
  write(kOthers);
  EXPECT_FALSE(uninstall(wanted())->is_changed);
  EXPECT_EQ(read(path()), kOthers);
}

TEST_F(Settings, AProjectHasItsOwnSettings) {
  ASSERT_TRUE(install(wanted(true, InstallScope::kProject)));
  EXPECT_EQ(files_.kind(project() + "/.claude/settings.json"), FileKind::kFile);
  EXPECT_EQ(files_.kind(path()), FileKind::kMissing);
}

TEST_F(Settings, TheClaudeCodeFolderCanBeMoved) {
  auto variables = environment_.all();
  variables["CLAUDE_CONFIG_DIR"] = root_ + "/cc";
  environment_ = Environment(variables);
  EXPECT_EQ(install(wanted())->path, root_ + "/cc/settings.json");
}

TEST_F(Settings, UninstallDisablesStopWhereInstallEnabledIt) {
  const HomeDirectories at = homes(environment_).value();
  ASSERT_TRUE(install(wanted(false)));
  EXPECT_FALSE(is_stop_enabled(files_, at, project()).value());
  ASSERT_TRUE(install(wanted(true)));
  ASSERT_TRUE(install(wanted(true, InstallScope::kProject)));
  EXPECT_TRUE(is_stop_enabled(files_, at, project()).value());
  ASSERT_TRUE(uninstall(wanted()));
  EXPECT_TRUE(is_stop_enabled(files_, at, project()).value());
  ASSERT_TRUE(uninstall(wanted(false, InstallScope::kProject)));
  EXPECT_FALSE(is_stop_enabled(files_, at, project()).value());
}

TEST_F(Settings, TheProjectIsTheNearestMarkedFolder) {
  (void)files_.make_directories(project() + "/.git");
  (void)files_.make_directories(project() + "/src/deep");
  (void)files_.make_directories(root_ + "/user/.claude");
  (void)files_.make_directories(root_ + "/user/notes");
  EXPECT_EQ(find_project(files_, environment_, project() + "/src/deep"), project());
  EXPECT_EQ(find_project(files_, environment_, root_ + "/user/notes"), root_ + "/user/notes");
}

TEST_F(Settings, ASecondClientAndItsServerShareAFileInAnyOrder) {
  const std::string file = root_ + "/user/.gemini/settings.json";
  const ClientTarget place{Client::kGeminiCli, InstallScope::kUser, project()};
  InstallRequest hooks = wanted();
  hooks.client = Client::kGeminiCli;
  const ServerEntry server{"/opt/sb/signalbox", {"mcp"}, ""};
  (void)files_.make_directories(root_ + "/user/.gemini");
  for (const char* text : {"", "{ }", "{\n  // mine\n  \"a\": 1, // one\n}\n",
                           "{\"mcpServers\":{},\"hooks\":{\"BeforeTool\":[ ]}}", "{\"mcpServers\": { }, \"x\": 1.0}"}) {
    for (int order = 0; order < 8; ++order) {
      (void)files_.remove(file);
      if (*text != '\0') (void)files_.write_atomic(file, text);
      const auto steps = [&](bool hooks_first, bool installs) {
        for (const bool is_hooks : {hooks_first, !hooks_first}) {
          const auto done = is_hooks   ? (installs ? install(hooks) : uninstall(hooks))
                            : installs ? install_server(seams(streams_), place, "signalbox", server)
                                       : uninstall_server(seams(streams_), place, "signalbox");
          ASSERT_TRUE(done) << done.error().to_string();
          EXPECT_TRUE(done->is_changed);
        }
      };
      steps((order & 1) != 0, true);
      EXPECT_THAT(read(file), AllOf(HasSubstr("signalbox-hook --client gemini-cli"), HasSubstr("/opt/sb/signalbox\"")));
      if (*text != '\0' && (order & 4) != 0) {  // so that the copy cannot simply be restored
        std::string now = read(file);
        now.insert(now.find('{') + 1, "\"first\": 0, ");
        (void)files_.write_atomic(file, now);
        steps((order & 2) != 0, false);
        EXPECT_EQ(parse_json(without_json_comments(read(file))).value()["first"], Value(0)) << read(file);
        EXPECT_THAT(read(file), Not(HasSubstr("signalbox")));
        continue;
      }
      steps((order & 2) != 0, false);
      EXPECT_EQ(read(file), text) << order;
      EXPECT_EQ(files_.kind(file), *text == '\0' ? FileKind::kMissing : FileKind::kFile);
      EXPECT_EQ(files_.kind(home() + "/hook-settings.json"), FileKind::kMissing);
    }
  }
}

TEST_F(Settings, EveryClientWithHooksIsInstalledOnceAndRemovedWithoutATrace) {
  for (const ClientRow& row : clients()) {
    InstallRequest request = wanted();
    request.client = row.client;
    if (row.hook_form == HookForm::kNone) {
      EXPECT_THAT(install(request).error().to_string(), HasSubstr("has no hooks that we have tried")) << row.word;
      continue;
    }
    const auto first = install(request);
    ASSERT_TRUE(first) << first.error().to_string();
    const std::string once = read(first->path);
    EXPECT_THAT(once, HasSubstr("/opt/sb/signalbox-hook"));
    EXPECT_FALSE(install(request)->is_changed) << row.word;
    const auto found = find_hooks(files_, environment_, row.client, InstallScope::kUser, project()).value();
    EXPECT_EQ(found.programs, std::vector<std::string>{"/opt/sb/signalbox-hook"}) << row.word;
    EXPECT_TRUE(found.is_complete) << row.word;
    EXPECT_TRUE(uninstall(request)->is_changed);
    EXPECT_EQ(files_.kind(first->path), FileKind::kMissing) << row.word;
  }
}

TEST_F(Settings, APluginThatWasEditedIsLeftAlone) {
  InstallRequest request = wanted();
  request.client = Client::kOpenCode;
  const std::string file = install(request)->path;
  const std::string edited = read(file) + "// mine\n";
  (void)files_.write_atomic(file, edited);
  for (const auto& result : {install(request), uninstall(request)}) {
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error().to_string(), AllOf(HasSubstr("signalbox.js"), HasSubstr("was edited")));
  }
  EXPECT_EQ(read(file), edited);
}

TEST(ShellWord, IsOursOnlyIfItIsExactlyOurProgram) {
  for (const char* ours : {"/usr/bin/signalbox-hook", "'/my tools/signalbox-hook'"})
    EXPECT_TRUE(is_signalbox_command(ours)) << ours;
  for (const char* other : {"signalbox-hook", "/usr/bin/signalbox-hook --x", "/usr/bin/signalbox-hook; rm x",
                            "'/a/signalbox-hook' '/b'", "/usr/bin/other", "", "'", "''"}) {
    EXPECT_FALSE(is_signalbox_command(other)) << other;
  }
}

TEST(ShellWord, RoundTripsThroughTheShell) {
  EXPECT_EQ(shell_quoted("/usr/bin/signalbox-hook"), "/usr/bin/signalbox-hook");
  EXPECT_EQ(shell_quoted("/a b/$x"), "'/a b/$x'");
  EXPECT_EQ(shell_quoted("it's"), R"('it'\''s')");
  EXPECT_EQ(shell_quoted(""), "''");
}

TEST(SettingsOnAFullDisk, StayUnchanged) {
  FakeFiles files;
  files.contents()["/u/.claude/settings.json"] = kOthers;
  FakeClock clock;
  FakeRandom random;
  FakeProcess process{[](const Command&) { return ProcessResult{}; }};
  FakeStreams streams;
  const Environment environment({{"HOME", "/u"}, {"SIGNALBOX_HOME", "/sb"}});
  const Seams seams{files, clock, random, process, environment, streams};
  for (std::size_t space = 0; space < 1'500; space += 100) {
    files.set_space(space);
    const auto installed =
        install_hooks(seams, {Client::kClaudeCode, InstallScope::kUser, "/w", "/opt/signalbox-hook", false});
    const std::string& now = files.contents()["/u/.claude/settings.json"];
    if (installed) {
      EXPECT_THAT(now, HasSubstr("signalbox-hook"));
      break;
    }
    EXPECT_EQ(now, kOthers) << space;
  }
}

}  // namespace
}  // namespace sb::hook
