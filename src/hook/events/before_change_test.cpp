#include "guard/open_step.hpp"
#include "hook/testing.hpp"

namespace sb::hook {
namespace {

using guard::OpenStep;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class BeforeChange : public OpenStepFixture {
 protected:
  Value bash(std::string_view command) const { return before(Value::object({{"command", command}}), "Bash"); }
};

TEST_F(BeforeChange, WithoutAnOpenSessionTheHookIsSilent) {
  EXPECT_EQ(fire(edit(project() + "/a")).output, "");
  EXPECT_EQ(files_.kind(home() + "/signalbox.db"), FileKind::kMissing);
  OpenStep elsewhere = step();
  elsewhere.workspace = root_ + "/other";
  elsewhere.writes = std::vector<std::string>{};
  open(elsewhere);
  EXPECT_EQ(fire(edit(project() + "/a")).output, "");
  open(step("s-2"));  // declares nothing
  EXPECT_EQ(fire(bash("rm -rf x")).output, "");
  EXPECT_EQ(errors(), "");
}

TEST_F(BeforeChange, EveryChangingToolIsCheckedAgainstTheStep) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{"docs/**"};
  open(plan);
  for (const char* tool : {"Edit", "Write", "MultiEdit", "NotebookEdit"}) {
    EXPECT_THAT(denied(edit(project() + "/src/a.cpp", tool)),
                AllOf(HasSubstr("changing src/a.cpp was refused"), HasSubstr("signalbox session stop s-1")))
        << tool;
    EXPECT_EQ(denied(edit(project() + "/docs/a.md", tool)), "") << tool;
    EXPECT_EQ(denied(edit("docs/a.md", tool)), "") << tool;
  }
  EXPECT_THAT(denied(bash("echo > src/a.cpp")), HasSubstr("wr.x"));
  EXPECT_EQ(denied(bash("echo > docs/a")), "");
  EXPECT_EQ(fire(edit(project() + "/src/a.cpp", "Read")).output, "");
  EXPECT_EQ(errors(), "");
}

TEST_F(BeforeChange, ACallThatDoesNotSayWhatItChangesIsRefused) {
  OpenStep plan = step();
  for (const std::vector<std::string>& writes : {std::vector<std::string>{}, {"docs/**"}, {"**"}}) {
    plan.writes = writes;
    open(plan);
    EXPECT_THAT(denied(before(Value::object(), "Edit")), HasSubstr("what it changes is unknown: its `file_path`"));
    EXPECT_NE(denied(before(Value::object({{"file_path", 3}}), "Write")), "");
    EXPECT_NE(denied(before(Value::object({{"file_path", ""}}), "Write")), "");
    EXPECT_THAT(denied(before(Value(), "Bash")), HasSubstr("its `command` is not a single string"));
    EXPECT_NE(denied(before(Value::object({{"command", Value(Value::Array{Value("rm"), Value("a")})}}), "Bash")), "");
    EXPECT_NE(denied(before(Value::object({{"source", "docs/a"}}), "mcp__fs__move_file")), "");
    EXPECT_NE(denied(before(Value::object({{"command", "not a patch"}}), "apply_patch")), "");
  }
  plan.writes.reset();
  plan.out_of_scope = {"src/**"};
  open(plan);
  EXPECT_EQ(denied(before(Value::object(), "Edit")), "");
  EXPECT_EQ(errors(), "");
}

TEST_F(BeforeChange, ToolsOfMcpServersAndOtherHostsAreHeldLikeOurOwn) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{"docs/**"};
  open(plan);
  const auto at = [&](const char* tool, const char* member, const std::string& path) {
    return denied(before(Value::object({{member, path}}), tool));
  };
  for (const auto& [tool, member] :
       std::vector<std::pair<const char*, const char*>>{{"mcp__fs__write_file", "path"},
                                                        {"mcp__fs__edit_file", "path"},
                                                        {"mcp__fs__create_directory", "path"},
                                                        {"fs-write_file", "path"},
                                                        {"write_file", "file_path"},
                                                        {"replace", "file_path"},
                                                        {"Write", "path"},
                                                        {"write", "filePath"}}) {
    EXPECT_THAT(at(tool, member, "src/a"), HasSubstr("changing src/a was refused")) << tool;
    EXPECT_THAT(at(tool, member, "docs/../src/a"), HasSubstr("changing src/a was refused")) << tool;
    EXPECT_EQ(at(tool, member, "docs/a"), "") << tool;
  }
  const auto move = [&](const char* from, const char* to) {
    return denied(before(Value::object({{"source", from}, {"destination", to}}), "mcp__fs__move_file"));
  };
  EXPECT_EQ(move("docs/a", "docs/b"), "");
  EXPECT_THAT(move("docs/a", "src/b"), HasSubstr("changing src/b"));
  EXPECT_THAT(move("src/a", "docs/b"), HasSubstr("changing src/a"));
  Value shell = Value::object({{"command", "rm a"}, {"directory", "src"}});
  EXPECT_THAT(denied(before(shell, "run_shell_command")), HasSubstr("`rm` on a was refused"));
  shell.set("directory", "docs");
  EXPECT_EQ(denied(before(shell, "run_shell_command")), "");
  EXPECT_EQ(at("mcp__notes__save", "path", "src/a"), "");
  (void)files_.write_atomic(home() + "/config.yaml", R"(file_tools:
  - {names: ["mcp__notes__*"], paths: [path]}
  - {names: [mcp__fs__write_file], changes: nothing}
)");
  EXPECT_NE(at("mcp__notes__save", "path", "src/a"), "");
  EXPECT_EQ(at("mcp__notes__save", "path", "docs/a"), "");
  EXPECT_EQ(at("mcp__fs__write_file", "path", "src/a"), "");
  EXPECT_EQ(errors(), "");
  (void)files_.write_atomic(home() + "/config.yaml", "file_tools: 3");
  EXPECT_NE(at("mcp__fs__write_file", "path", "src/a"), "");
  EXPECT_THAT(errors(), HasSubstr("file_tools"));
}

TEST_F(BeforeChange, APatchIsHeldByItsHeaders) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{"docs/**"};
  open(plan);
  const auto patch = [&](const std::string& headers) {
    return denied(
        before(Value::object({{"command", "*** Begin Patch\n" + headers + "*** End Patch\n"}}), "apply_patch"));
  };
  EXPECT_EQ(patch("*** Add File: docs/a\n+x\n"), "");
  EXPECT_THAT(patch("*** Add File: docs/a\n+x\n*** Update File: src/b\n@@\n-x\n+y\n"), HasSubstr("changing src/b"));
  EXPECT_THAT(patch("*** Update File: docs/a\n*** Move to: src/c\n"), HasSubstr("changing src/c"));
  EXPECT_THAT(patch("*** Delete File: " + root_ + "/elsewhere\n"), HasSubstr("changing " + root_ + "/elsewhere"));
  const auto shell = [&](const std::string& path) {
    return denied(
        bash("cd docs && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: " + path + "\n+$x\n*** End Patch\nEOF\n"));
  };
  EXPECT_EQ(shell("a"), "");
  EXPECT_THAT(shell("../src/a"), HasSubstr("`apply_patch` on docs/../src/a was refused"));
  EXPECT_THAT(denied(bash("apply_patch < p.diff")),
              HasSubstr("`apply_patch` was refused because it may change any file"));
}

TEST_F(BeforeChange, TheHostsOwnPlansAndMemoryAreAllowedInEveryStep) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{};
  open(plan);
  const std::string claude = root_ + "/user/.claude";
  std::map<std::string, std::string, std::less<>> variables = {
      {"SIGNALBOX_HOME", home()}, {"HOME", root_ + "/user"}, {"TMPDIR", root_ + "/tmp"}};  // not all of /tmp
  environment_ = Environment(variables);
  for (const char* path : {"/plans/a.md", "/plans/deep/a.md", "/projects/-p/memory/MEMORY.md", "/plans/../plans/a"}) {
    EXPECT_EQ(denied(edit(claude + path)), "") << path;
  }
  EXPECT_EQ(denied(edit("~/.claude/plans/a.md")), "");
  EXPECT_EQ(denied(bash("echo x > " + claude + "/projects/-p/memory/a.md")), "");
  for (const char* path :
       {"/settings.json", "/CLAUDE.md", "/hooks/a", "/plans/../settings.json", "/projects/-p/a.jsonl",
        "/projects/-p/memory/../../../settings.json", "/projects/memory/a", "/agents/a.md", "/plans2/a"}) {
    EXPECT_NE(denied(edit(claude + path)), "") << path;
  }
  EXPECT_NE(denied(bash("rm " + claude + "/plans/*")), "");
  (void)files_.make_directories(claude + "/plans");
  (void)files_.make_directories(project() + "/src");
  std::filesystem::create_symlink(project() + "/src", claude + "/plans/link");
  EXPECT_THAT(denied(edit(claude + "/plans/link/a")), HasSubstr("changing src/a"));
  variables["CLAUDE_CONFIG_DIR"] = root_ + "/cc";
  environment_ = Environment(variables);
  EXPECT_EQ(denied(edit(root_ + "/cc/plans/a.md")), "");
  EXPECT_NE(denied(edit(claude + "/plans/a.md")), "");
  EXPECT_EQ(errors(), "");
}

// A linked work tree as git lays it out.
class WorkTrees : public BeforeChange {
 protected:
  WorkTrees() {
    const std::string git = project() + "/.git", own = git + "/worktrees/other";
    for (const std::string& folder : {own, git + "/objects", other(), project() + "/sub", other() + "/sub"}) {
      (void)files_.make_directories(folder);
    }
    for (const std::string& folder : {git, own}) (void)files_.write_atomic(folder + "/HEAD", "ref: refs/heads/main\n");
    (void)files_.write_atomic(own + "/commondir", "../..\n");
    (void)files_.write_atomic(own + "/gitdir", other() + "/.git\n");
    (void)files_.write_atomic(other() + "/.git", "gitdir: " + own + "\n");
  }
  std::string other() const { return root_ + "/other"; }
  Value in_other(const std::string& path) const {
    Value value = edit(path);
    value.set("cwd", other());
    return value;
  }
};

TEST_F(WorkTrees, OfTheRepositoryAreHeldByTheStepOpenInTheMainOne) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{"docs/**"};
  plan.out_of_scope = {"docs/old/**"};
  open(plan);
  EXPECT_EQ(denied(in_other("docs/a")), "");
  EXPECT_EQ(denied(edit(other() + "/docs/a")), "");
  EXPECT_THAT(denied(in_other("src/a")), HasSubstr("changing src/a was refused"));
  EXPECT_THAT(denied(edit(other() + "/src/a")), HasSubstr("changing src/a was refused"));
  EXPECT_THAT(denied(in_other("docs/old/a")), HasSubstr("out of scope"));
  Value command = bash("rm docs/a && rm src/b");
  command.set("cwd", other());
  EXPECT_THAT(denied(command), HasSubstr("`rm` on src/b"));
  Value begun = event("SessionStart");
  begun.set("cwd", other());
  EXPECT_THAT(noted(begun), HasSubstr("session s-1 of wr.x"));
}

TEST_F(WorkTrees, ASessionInASubfolderHoldsTheSameSubfolder) {
  OpenStep plan = step();
  plan.workspace = project() + "/sub";
  plan.writes = std::vector<std::string>{"docs/**"};
  open(plan);
  Value inside = edit("docs/a");
  inside.set("cwd", other() + "/sub");
  EXPECT_EQ(denied(inside), "");
  inside = edit("../docs/a");
  inside.set("cwd", other() + "/sub");
  EXPECT_NE(denied(inside), "");
  EXPECT_EQ(denied(in_other("src/a")), "") << "another folder than that of the session";
}

TEST_F(WorkTrees, AnotherRepositoryIsNotMapped) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{"docs/**"};
  open(plan);
  fire(continued("s-1"));
  // A link that the repository does not know of.
  (void)files_.make_directories(project() + "/src/docs");
  (void)files_.write_atomic(project() + "/src/.git", "gitdir: " + project() + "/.git/worktrees/other\n");
  EXPECT_NE(denied(edit("src/docs/a")), "");
  (void)files_.make_directories(root_ + "/clone/.git");
  (void)files_.write_atomic(root_ + "/clone/.git/HEAD", "ref: refs/heads/main\n");
  EXPECT_NE(denied(edit(root_ + "/clone/docs/a")), "");
}

TEST_F(BeforeChange, LinksAndDotsDoNotEscape) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{"docs/**"};
  open(plan);
  (void)files_.make_directories(project() + "/docs/real");
  (void)files_.make_directories(project() + "/src");
  std::filesystem::create_symlink(project() + "/src", project() + "/docs/link");
  std::filesystem::create_symlink(root_ + "/nowhere", project() + "/docs/dangling");
  std::filesystem::create_symlink(project() + "/docs/real", project() + "/shortcut");
  for (const char* path : {"/docs/../src/a", "/docs/link/a", "/docs/dangling", "/docs/dangling/x",
                           "/docs/new/../../src/a", "/docs/link/../a", "/docs/real/../../../x", "/docs/./../x"}) {
    EXPECT_NE(denied(edit(project() + path)), "") << path;
  }
  for (const char* path : {"/docs/new/deep/a", "/docs/real/../b", "/shortcut/a", "/src/../docs/a", "//docs///a"}) {
    EXPECT_EQ(denied(edit(project() + path)), "") << path;
  }
  EXPECT_NE(denied(edit(std::string(10'000, 'a'))), "");
  EXPECT_EQ(errors(), "");
}

TEST_F(BeforeChange, ASubfolderOfTheWorkspaceIsCheckedToo) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{"sub/docs/**"};
  open(plan);
  (void)files_.make_directories(project() + "/sub");
  Value value = edit("docs/a");
  value.set("cwd", project() + "/sub");
  EXPECT_EQ(denied(value), "");
  value = edit("a");
  value.set("cwd", project() + "/sub");
  EXPECT_NE(denied(value), "");
}

TEST_F(BeforeChange, AConversationIsBoundToTheSessionItUses) {
  OpenStep plan = step("s-1");
  plan.writes = std::vector<std::string>{};
  OpenStep build = step("s-2");
  build.writes = std::vector<std::string>{"**"};
  build.at += 1;
  open(plan);
  open(build);
  // No conversation was seen to use either: the most recently touched one applies.
  EXPECT_EQ(denied(edit("a")), "");
  EXPECT_EQ(fire(continued("s-1")).output, "");
  EXPECT_NE(denied(edit("a")), "");
  // Another conversation in the same folder is not affected.
  EXPECT_EQ(denied(edit("a", "Edit", "other")), "");
  fire(continued("s-2", "other"));
  EXPECT_NE(denied(edit("a")), "");
  // The other conversation takes over s-1.
  fire(continued("s-1", "other"));
  EXPECT_EQ(denied(edit("a")), "");
  EXPECT_NE(denied(edit("a", "Edit", "other")), "");
  // s-1 has ended: the session used before it applies again.
  close(plan);
  EXPECT_EQ(denied(edit("a", "Edit", "other")), "");
  EXPECT_EQ(errors(), "");
}

TEST_F(BeforeChange, AnEndedConversationReleasesItsSession) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{};
  open(plan);
  fire(continued("s-1", "first"));
  EXPECT_EQ(denied(edit("a", "Edit", "second")), "");
  Value over = event("SessionEnd");
  over.set("session_id", "first");
  EXPECT_EQ(fire(over).output, "");
  EXPECT_NE(denied(edit("a", "Edit", "second")), "");
}

TEST_F(BeforeChange, SubagentsOfOneConversationAreDistinguished) {
  OpenStep parent = step("s-0");
  parent.waiting = "children";
  parent.out_of_scope = {"vendor/**"};
  OpenStep first = step("s-1"), second = step("s-2");
  first.parent = second.parent = "s-0";
  first.writes = std::vector<std::string>{};
  second.writes = std::vector<std::string>{"**"};
  for (const OpenStep& each : {parent, first, second}) open(each);
  fire(continued("s-0"));
  fire(continued("s-1", "5b1c", "helper-1"));
  fire(continued("s-2", "5b1c", "helper-2"));
  Value by_first = edit("a"), by_second = edit("a");
  by_first.set("agent_id", "helper-1");
  by_second.set("agent_id", "helper-2");
  EXPECT_NE(denied(by_first), "");
  EXPECT_EQ(denied(by_second), "");
  by_second = edit("vendor/a");
  by_second.set("agent_id", "helper-2");
  EXPECT_THAT(denied(by_second), HasSubstr("out of scope"));
  EXPECT_EQ(denied(edit("a")), "");
  // Child sessions of a session in use do not restrict other conversations.
  EXPECT_EQ(denied(edit("a", "Edit", "other")), "");
}

TEST_F(BeforeChange, ASubagentsSessionRestrictsOnlyIt) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{};
  open(plan);
  fire(continued("s-1", "5b1c", "helper-1"));
  Value by_first = edit("a"), by_second = edit("a");
  by_first.set("agent_id", "helper-1");
  by_second.set("agent_id", "helper-2");
  EXPECT_NE(denied(by_first), "");
  EXPECT_EQ(denied(edit("a")), "");
  EXPECT_EQ(denied(by_second), "");
  // Once the conversation itself continues it, it restricts all of them.
  fire(continued("s-1"));
  EXPECT_NE(denied(edit("a")), "");
  EXPECT_NE(denied(by_second), "");
}

TEST_F(BeforeChange, AnAbandonedSessionDoesNotApplyTheNextDay) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{};
  open(plan);
  EXPECT_NE(denied(edit("a")), "");
  clock_.sleep_ms(13LL * 60 * 60 * 1'000);
  EXPECT_EQ(denied(edit("a")), "");
  fire(continued("s-1"));  // until a conversation resumes it
  EXPECT_NE(denied(edit("a")), "");
}

TEST_F(BeforeChange, AnUnattendedSessionDoesNotRestrictConversations) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{};
  plan.is_autonomous = true;
  open(plan);
  EXPECT_EQ(denied(edit("a")), "");
}

TEST_F(BeforeChange, ABrokenFileDoesNotBreakTheHook) {
  OpenStep plan = step();
  plan.writes = std::vector<std::string>{};
  open(plan);
  (void)files_.write_atomic(home() + "/config.yaml", "strict: [");
  EXPECT_NE(denied(edit("a")), "");  // the user configuration is not read here
  corrupt_store();
  const RunResult ran = fire(edit("a"));
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.output, "");
  EXPECT_NE(errors(), "");
}

TEST_F(BeforeChange, AResultWithoutAKnownSessionIsIgnored) {
  open(step());
  for (const char* session : {"s-unknown", "", "../../x", "s-1/"}) EXPECT_EQ(fire(continued(session)).output, "");
  Value odd = continued("s-1");
  odd.set("tool_response", Value(3));
  EXPECT_EQ(fire(odd).output, "");
  odd.set("tool_response", Value::object({{"sessionId", "s-1"}}));
  EXPECT_EQ(fire(odd).output, "");
  EXPECT_EQ(errors(), "");
}

}  // namespace
}  // namespace sb::hook
