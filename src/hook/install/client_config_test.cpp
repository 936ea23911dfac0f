#include "hook/install/client_config.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "hook/testing.hpp"

namespace sb::hook {
namespace {

using testing::HasSubstr;

class ClientConfig : public HookFixture {
 protected:
  std::string path(const ClientTarget& place) const { return config_path(place, environment_).value(); }
  Result<InstallResult> install(const ClientTarget& place, const ServerEntry& entry,
                                const std::string& name = "signalbox") {
    return install_server(seams(streams_), place, name, entry);
  }
  Result<InstallResult> uninstall(const ClientTarget& place, const std::string& name = "signalbox") {
    return uninstall_server(seams(streams_), place, name);
  }
  void write(const std::string& file, const std::string& text) {
    (void)files_.make_directories(parent_path(file));
    (void)files_.write_atomic(file, text);
  }
  std::string noted() const { return read(home() + "/hook-settings.json"); }

  const ClientTarget claude_{Client::kClaudeCode, InstallScope::kUser, project()};
  const ClientTarget codex_{Client::kCodex, InstallScope::kUser, project()};
  const ServerEntry program_{"/opt/sb/signalbox", {"mcp"}, ""};
  const ServerEntry far_{"", {}, "https://box.example/mcp"};
  FakeStreams streams_;
};

TEST_F(ClientConfig, AFileIsCreatedAndRemovedAgain) {
  for (const ClientTarget& place : {claude_, codex_}) {
    EXPECT_TRUE(install(place, program_)->is_changed);
    EXPECT_FALSE(install(place, program_)->is_changed);
    EXPECT_TRUE(uninstall(place)->is_changed);
    EXPECT_EQ(files_.kind(path(place)), FileKind::kMissing);
    EXPECT_FALSE(uninstall(place)->is_changed);
  }
  EXPECT_EQ(noted(), "");
}

TEST_F(ClientConfig, ASecretIsMadeOnceAndEveryByteIsRestored) {
  int made = 0;
  const SecretSource source = [&](const std::string&, const std::string& present) -> Result<std::string> {
    if (present == "sbs_1") return present;
    ++made;
    return std::string("sbs_1");
  };
  const std::pair<ClientTarget, std::string> files[] = {
      {claude_, "{\"a\" : 1, \"mcpServers\":{ \"x\":{\"command\":\"y\"}} }"}, {codex_, "# mine\n[a]\nb = 1 # c"}};
  for (const auto& [place, before] : files) {
    made = 0;
    write(path(place), before);
    ASSERT_EQ(::chmod(path(place).c_str(), 0644), 0);
    for (const auto& entry : {program_, program_, ServerEntry{"", {}, "http://127.0.0.1:1/mcp"}, program_}) {
      ASSERT_TRUE(install_server(seams(streams_), place, "signalbox", entry, source));
    }
    EXPECT_EQ(made, 1);
    EXPECT_THAT(read(path(place)), HasSubstr("sbs_1"));
    struct stat status{};
    ASSERT_EQ(::stat(path(place).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600u);
    ASSERT_TRUE(uninstall(place));
    EXPECT_EQ(read(path(place)), before);
    ASSERT_EQ(::stat(path(place).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0644u);
  }
}

TEST_F(ClientConfig, AFileThatTheClientChangesMeanwhileGetsNoCopy) {
  write(path(claude_), "{}");
  const SecretSource late = [&](const std::string&, const std::string&) -> Result<std::string> {
    write(path(claude_), R"({"starts": 2})");
    return std::string("sbs_1");
  };
  EXPECT_EQ(install_server(seams(streams_), claude_, "signalbox", program_, late).error().code,
            ErrorCode::kUnavailable);
  EXPECT_EQ(read(path(claude_)), R"({"starts": 2})");
  EXPECT_EQ(files_.kind(path(claude_) + ".before-signalbox"), FileKind::kMissing);
}

TEST_F(ClientConfig, FoldersThatInstallMadeAreRemovedIfTheyAreEmpty) {
  const ClientTarget cline{Client::kCline, InstallScope::kUser, project()};
  const std::string top = root_ + "/user/.cline";
  ASSERT_TRUE(install(cline, program_));
  ASSERT_TRUE(uninstall(cline));
  EXPECT_EQ(files_.kind(top), FileKind::kMissing);
  ASSERT_TRUE(install(cline, program_));
  write(top + "/data/theirs.json", "{}");
  ASSERT_TRUE(uninstall(cline));
  EXPECT_EQ(files_.kind(top + "/data/settings"), FileKind::kMissing);
  EXPECT_EQ(files_.kind(top + "/data/theirs.json"), FileKind::kFile);
}

TEST_F(ClientConfig, NoSecretIsMadeForAnEntryThatCannotBeWritten) {
  const SecretSource never = [](const std::string&, const std::string&) -> Result<std::string> {
    ADD_FAILURE() << "a secret was made";
    return std::string("sbs_1");
  };
  for (const char* text :
       {"{", R"({"mcpServers": []})", R"({"mcpServers": {"signalbox": {"command": "/opt/other"}}})"}) {
    write(path(claude_), text);
    EXPECT_FALSE(install_server(seams(streams_), claude_, "signalbox", program_, never)) << text;
    EXPECT_EQ(read(path(claude_)), text);
  }
}

TEST_F(ClientConfig, TwoNamesCoexistAndAreRemovedSeparately) {
  write(path(claude_), "{ \"mcpServers\" : { } }");
  ASSERT_TRUE(install(claude_, program_));
  ASSERT_TRUE(install(claude_, far_, "far"));
  ASSERT_TRUE(uninstall(claude_));
  EXPECT_THAT(read(path(claude_)), HasSubstr("box.example"));
  ASSERT_TRUE(uninstall(claude_, "far"));
  EXPECT_EQ(read(path(claude_)), "{ \"mcpServers\" : { } }");
  EXPECT_EQ(noted(), "");
}

TEST_F(ClientConfig, LaterChangesByTheClientStay) {
  write(path(codex_), "a = 1\n");
  ASSERT_TRUE(install(codex_, program_));
  write(path(codex_),
        read(path(codex_)) + "\n[mcp_servers.signalbox.tools.ask]\napproval = \"yes\"\n\n[projects.x]\nb = 2\n");
  ASSERT_TRUE(install(codex_, {"/elsewhere/signalbox", {"mcp"}, ""}));
  const auto changed = uninstall(codex_).value();
  EXPECT_EQ(read(path(codex_)), "a = 1\n\n[projects.x]\nb = 2\n");
  EXPECT_EQ(read(changed.backup), "a = 1\n");
}

TEST_F(ClientConfig, AnAddressWeWroteIsOursWhateverItIs) {
  ASSERT_TRUE(install(claude_, far_));
  ASSERT_TRUE(install(claude_, program_));
  ASSERT_TRUE(install(claude_, far_));
  EXPECT_TRUE(uninstall(claude_)->is_changed);
  write(path(claude_), R"({"mcpServers":{"signalbox":{"type":"http","url":"https://box.example/mcp"}}})");
  EXPECT_EQ(install(claude_, program_).error().code, ErrorCode::kConflict);
  EXPECT_EQ(uninstall(claude_).error().code, ErrorCode::kConflict);
}

TEST_F(ClientConfig, ADanglingLinkOrAnUnwritableHomeChangesNothing) {
  ASSERT_EQ(::symlink((root_ + "/gone").c_str(), path(claude_).c_str()), 0);
  EXPECT_THAT(install(claude_, program_).error().to_string(), HasSubstr("is a dangling link"));
  environment_ = Environment({{"SIGNALBOX_HOME", "/proc/nowhere"}, {"HOME", root_ + "/user"}});
  EXPECT_FALSE(install(codex_, program_));
  EXPECT_EQ(files_.kind(path(codex_)), FileKind::kMissing);
}

TEST_F(ClientConfig, TheUsersFileIsPrivateAndAProjectFileIsShared) {
  const ClientTarget shared{Client::kClaudeCode, InstallScope::kProject, project()};
  ASSERT_TRUE(install(claude_, program_));
  ASSERT_TRUE(install(shared, program_));
  struct stat status{};
  ASSERT_EQ(::stat(path(claude_).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(path(shared).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
}

}  // namespace
}  // namespace sb::hook
