#include "hook/settings.hpp"

#include "hook/testing.hpp"

namespace sb::hook {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class Settings : public HookPlace {
 protected:
  std::string path() const { return root_ + "/user/.claude/settings.json"; }
  void write(const std::string& text) {
    (void)files_.make_directories(root_ + "/user/.claude");
    (void)files_.write_atomic(path(), text);
  }
  Installation wanted(bool with_stop = false, Scope scope = Scope::kUser) const {
    return {scope, project(), "/opt/sb/signalbox-hook", with_stop};
  }
  Result<Changed> install(const Installation& what) { return install_hooks(seams(streams_), what); }
  Result<Changed> uninstall(const Installation& what) { return uninstall_hooks(seams(streams_), what); }

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

TEST_F(Settings, WithoutAFileOneIsMadeAndRemovedAgain) {
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

TEST_F(Settings, OtherThingsStayAndUninstallRestoresEveryByte) {
  write(kOthers);
  const auto changed = install(wanted(true)).value();
  EXPECT_EQ(read(changed.backup), kOthers);
  const std::string text = read(path());
  const Value now = parse_json(text).value();
  EXPECT_EQ(now.members().at(0).name, "model");
  EXPECT_EQ(now.members().at(2).name, "permissions");
  EXPECT_EQ(to_json(now["hooks"]["PreToolUse"].items().at(0)),
            R"({"matcher":"Bash","hooks":[{"type":"command","command":"lint-it"}]})");
  EXPECT_THAT(text, HasSubstr("\n    \"model\""));  // as it was indented
  EXPECT_NE(now["hooks"].find("Stop"), nullptr);
  ASSERT_TRUE(uninstall(wanted()));
  EXPECT_EQ(read(path()), kOthers);
  EXPECT_EQ(files_.list(root_ + "/user/.claude").value(), std::vector<std::string>{"settings.json"});
}

TEST_F(Settings, TheSecondInstallChangesNoByte) {
  write(kOthers);
  ASSERT_TRUE(install(wanted(true))->is_changed);
  const std::string once = read(path());
  EXPECT_FALSE(install(wanted(true))->is_changed);
  EXPECT_FALSE(install(wanted(false))->is_changed);  // what is there is not taken away
  EXPECT_EQ(read(path()), once);
}

TEST_F(Settings, AMovedProgramIsFollowed) {
  ASSERT_TRUE(install(wanted()));
  Installation moved = wanted();
  moved.program = "/opt/o'neil/my tools/signalbox-hook";
  ASSERT_TRUE(install(moved));
  const Value now = parse_json(read(path())).value();
  ASSERT_EQ(now["hooks"]["PreToolUse"].size(), 1u);
  EXPECT_EQ(now["hooks"]["PreToolUse"].items()[0]["hooks"].items()[0].string_at("command"),
            R"('/opt/o'\''neil/my tools/signalbox-hook')");
  EXPECT_FALSE(install(moved)->is_changed);
  ASSERT_TRUE(uninstall(wanted()));
  EXPECT_EQ(files_.kind(path()), FileKind::kMissing);
}

TEST_F(Settings, OtherPeoplesHooksInOurGroupStay) {
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

TEST_F(Settings, WhatIsNotJsonIsRefusedAndLeftAlone) {
  for (const char* text : {"", "{\"a\": 1,}", "// comment\n{}", "[1]", "{\"hooks\": []}", "{\"hooks\": {\"Stop\": {}}}",
                           "{\"a\":1,\"a\":2}", "\xff\xfe"}) {
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

TEST_F(Settings, NothingToUninstallChangesNothing) {
  EXPECT_FALSE(uninstall(wanted())->is_changed);
  write(kOthers);
  EXPECT_FALSE(uninstall(wanted())->is_changed);
  EXPECT_EQ(read(path()), kOthers);
}

TEST_F(Settings, AProjectsSettingsAreItsOwn) {
  ASSERT_TRUE(install(wanted(true, Scope::kProject)));
  EXPECT_EQ(files_.kind(project() + "/.claude/settings.json"), FileKind::kFile);
  EXPECT_EQ(files_.kind(path()), FileKind::kMissing);
}

TEST_F(Settings, TheFolderOfClaudeCodeCanBeMoved) {
  auto variables = environment_.all();
  variables["CLAUDE_CONFIG_DIR"] = root_ + "/cc";
  environment_ = Environment(variables);
  EXPECT_EQ(install(wanted())->path, root_ + "/cc/settings.json");
}

TEST_F(Settings, StopGoesOffWithWhatSwitchedItOn) {
  const Homes at = homes(environment_).value();
  ASSERT_TRUE(install(wanted(false)));
  EXPECT_FALSE(is_stop_enabled(files_, at, project()).value());
  ASSERT_TRUE(install(wanted(true)));
  ASSERT_TRUE(install(wanted(true, Scope::kProject)));
  EXPECT_TRUE(is_stop_enabled(files_, at, project()).value());
  ASSERT_TRUE(uninstall(wanted()));
  EXPECT_TRUE(is_stop_enabled(files_, at, project()).value());
  ASSERT_TRUE(uninstall(wanted(false, Scope::kProject)));
  EXPECT_FALSE(is_stop_enabled(files_, at, project()).value());
}

TEST_F(Settings, TheProjectIsTheNearestWithASign) {
  (void)files_.make_directories(project() + "/.git");
  (void)files_.make_directories(project() + "/src/deep");
  (void)files_.make_directories(root_ + "/user/.claude");
  (void)files_.make_directories(root_ + "/user/notes");
  EXPECT_EQ(project_around(files_, environment_, project() + "/src/deep"), project());
  EXPECT_EQ(project_around(files_, environment_, root_ + "/user/notes"), root_ + "/user/notes");
}

TEST(ShellWord, IsOursOnlyWhenItIsNothingButOurProgram) {
  for (const char* ours : {"/usr/bin/signalbox-hook", "'/my tools/signalbox-hook'"})
    EXPECT_TRUE(is_our_command(ours)) << ours;
  for (const char* other : {"signalbox-hook", "/usr/bin/signalbox-hook --x", "/usr/bin/signalbox-hook; rm x",
                            "'/a/signalbox-hook' '/b'", "/usr/bin/other", "", "'", "''"}) {
    EXPECT_FALSE(is_our_command(other)) << other;
  }
}

TEST(ShellWord, SurvivesTheShell) {
  EXPECT_EQ(shell_quoted("/usr/bin/signalbox-hook"), "/usr/bin/signalbox-hook");
  EXPECT_EQ(shell_quoted("/a b/$x"), "'/a b/$x'");
  EXPECT_EQ(shell_quoted("it's"), R"('it'\''s')");
  EXPECT_EQ(shell_quoted(""), "''");
}

TEST(SettingsOnAFullDisk, StayAsTheyWere) {
  FakeFiles files;
  files.contents()["/u/.claude/settings.json"] = kOthers;
  FakeClock clock;
  FakeRandom random;
  FakeProcess process{[](const Command&) { return Exit{}; }};
  FakeStreams streams;
  const Environment environment({{"HOME", "/u"}, {"SIGNALBOX_HOME", "/sb"}});
  const Seams seams{files, clock, random, process, environment, streams};
  for (std::size_t space = 0; space < 1'500; space += 100) {
    files.set_space(space);
    const auto installed = install_hooks(seams, {Scope::kUser, "/w", "/opt/signalbox-hook", false});
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
