#include "guard/file_tools.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "guard/interlock.hpp"

namespace sb::guard {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Kind = ToolChange::Kind;

Value json(std::string_view text) {
  return parse_json(text).value();
}

FileTools configured(const std::string& yaml, std::string* fault = nullptr) {
  const Document document = parse_document("config.yaml", yaml).value();
  Faults faults;
  FileTools tools;
  for (const Reader& item : Reader(document, faults).items()) {
    tools.push_back(read_file_tool(item));
  }
  if (fault != nullptr) *fault = faults.empty() ? "" : faults.front().to_string();
  return tools;
}

// `kind: paths or command`.
std::string change(std::string_view tool, std::string_view input, const FileTools& users = {}) {
  const ToolChange found = change_of(tool, json(input), users);
  switch (found.kind) {
    case Kind::kNothing:
      return "nothing";
    case Kind::kCommand:
      return "runs " + found.command + (found.folder.empty() ? "" : " in " + found.folder);
    case Kind::kUnknown:
      return "unknown: " + found.unknown;
    case Kind::kPaths:
      break;
  }
  std::string text = "changes";
  for (const std::string& path : found.paths) text += " " + path;
  return text;
}

TEST(FileTools, KnowTheToolsOfEachHostAndOfMcpServersByTheNamesTheySend) {
  for (const char* tool : {"Write", "Edit", "MultiEdit", "write", "edit", "replace", "create"}) {
    EXPECT_EQ(change(tool, R"({"file_path":"/p/a"})"), "changes /p/a") << tool;
  }
  EXPECT_EQ(change("Write", R"({"path":"a"})"), "changes a");     // Copilot
  EXPECT_EQ(change("edit", R"({"filePath":"a"})"), "changes a");  // OpenCode
  EXPECT_EQ(change("NotebookEdit", R"({"notebook_path":"a"})"), "changes a");
  EXPECT_EQ(change("notebook_edit", R"({"notebook_path":"a"})"), "changes a");  // Qwen Code
  for (const char* tool : {"write_file", "mcp__fs__write_file", "fs-write_file", "fs_write_file", "mcp__x__edit_file",
                           "mcp__fs__create_directory", "mcp__a_b__delete_file", "mcp__ide__writeFile"}) {
    EXPECT_EQ(change(tool, R"({"path":"a","content":"x"})"), "changes a") << tool;
  }
  EXPECT_EQ(change("mcp__fs__move_file", R"({"source":"a","destination":"b"})"), "changes a b");
  EXPECT_EQ(change("mcp__gh__push_files", R"({"files":[{"path":"a"},{"path":"b"}]})"), "changes a b");
  for (const char* tool :
       {"replace_symbol_body", "replace_regex", "replace_content", "insert_at_line", "delete_lines"}) {
    EXPECT_EQ(change(std::string("mcp__serena__") + tool, R"({"relative_path":"a"})"), "changes a") << tool;
  }
  EXPECT_THAT(change("mcp__serena__rename_symbol", R"({"relative_path":"a"})"), HasSubstr("unknown"));
  EXPECT_EQ(change("mcp__text-editor__edit_text_file_contents", R"({"files":[{"path":"a"}]})"), "changes a");
  EXPECT_EQ(change("Bash", R"({"command":"ls"})"), "runs ls");
  EXPECT_EQ(change("run_shell_command", R"({"command":"ls","dir_path":"docs"})"), "runs ls in docs");
  EXPECT_EQ(change("Bash", R"({"command":"ls","cwd":"docs"})"), "runs ls");  // it has no such parameter
  for (const char* tool : {"Read", "mcp__fs__read_file", "mcp__fs__list_directory", "TodoWrite", "WebFetch", "Task",
                           "mcp__signalbox__continue_workflow", "", "mcp__fs__read_multiple_files", "Grep"}) {
    EXPECT_EQ(change(tool, R"({"path":"a","file_path":"b"})"), "nothing") << tool;
  }
  EXPECT_EQ(change("str_replace_editor", R"({"command":"view","path":"a"})"), "nothing");
  EXPECT_EQ(change("str_replace_editor", R"({"command":"create","path":"a"})"), "changes a");
}

TEST(FileTools, AnInputThatDoesNotSayWhatItChangesIsUnknown) {
  for (const char* input : {"{}", "null", "[]", "3", R"({"file_path":3})", R"({"file_path":""})",
                            R"({"file_path":null})", R"({"file_path":["a"]})", R"({"path":"a","file_path":{}})"}) {
    EXPECT_THAT(change("Write", input), HasSubstr("unknown: its `file_path` or")) << input;
  }
  for (const char* input :
       {"{}", R"({"source":"a"})", R"({"destination":"a"})", R"({"source":"a","destination":[]})"}) {
    EXPECT_THAT(change("mcp__fs__move_file", input), HasSubstr("unknown")) << input;
  }
  for (const char* input : {R"({"files":[]})", R"({"files":[{"path":"a"},{}]})", R"({"files":[{"path":"a"},3]})",
                            R"({"files":{"path":"a"}})", R"({"files":"a"})"}) {
    EXPECT_THAT(change("mcp__gh__push_files", input), HasSubstr("unknown")) << input;
  }
  Value many = Value::array();
  for (int i = 0; i <= 1'000; ++i) many.push_back(Value::object({{"path", "a"}}));
  EXPECT_EQ(change("mcp__gh__push_files", to_json(Value::object({{"files", many}}))),
            "unknown: it names too many paths");
  for (const char* input : {"{}", R"({"command":["rm","a"]})", R"({"command":{"a":"ls"}})", R"({"command":""})"}) {
    EXPECT_THAT(change("Bash", input), HasSubstr("unknown: its `command` is not a single string")) << input;
  }
  EXPECT_THAT(change("shell", R"({"command":"ls","cmd":"rm a"})"), HasSubstr("unknown"));
  EXPECT_THAT(change("shell", R"({"command":"ls","cwd":"a","workdir":"b"})"), HasSubstr("unknown"));
}

TEST(FileTools, EveryPathOfACallCounts) {
  EXPECT_EQ(change("Write", R"({"file_path":"docs/a","path":"src/a"})"), "changes docs/a src/a");
}

TEST(FileTools, TheUsersComeFirst) {
  const FileTools users = configured(R"(
- {names: ["mcp__notes__save*"], paths: [path]}
- {names: [mcp__box__rename], paths: [from|source, to]}
- {names: [mcp__box__upload], paths: ["files[].name", "folder.path"]}
- {names: [mcp__term__run], command: line, folder: at}
- {names: [mcp__box__patch], patch: text}
- {names: ["mcp__box__*"], changes: anything}
- {names: [mcp__cms__write_file], changes: nothing}
)");
  ASSERT_EQ(users.size(), 7u);
  EXPECT_EQ(change("mcp__notes__save_as", R"({"path":"a"})", users), "changes a");
  EXPECT_EQ(change("mcp__notes__load", R"({"path":"a"})", users), "nothing");
  EXPECT_EQ(change("mcp__box__rename", R"({"source":"a","to":"b"})", users), "changes a b");
  EXPECT_EQ(change("mcp__box__upload", R"({"files":[{"name":"a"}],"folder":{"path":"b"}})", users), "changes a b");
  EXPECT_EQ(change("mcp__term__run", R"({"line":"ls","at":"/x"})", users), "runs ls in /x");
  EXPECT_EQ(change("mcp__box__patch", R"({"text":"*** Delete File: a"})", users), "changes a");
  EXPECT_EQ(change("mcp__box__sync", "{}", users), "unknown: its input does not say which files it changes");
  EXPECT_EQ(change("mcp__cms__write_file", R"({"path":"a"})", users), "nothing");
  EXPECT_EQ(change("mcp__fs__write_file", R"({"path":"a"})", users), "changes a");
}

TEST(FileTools, AnInvalidEntryIsReportedWithItsPlace) {
  std::string fault;
  for (const char* yaml :
       {"- {names: [a]}", "- {names: [a], paths: [b], command: c}", "- {paths: [a]}", "- {names: [], paths: [b]}",
        "- {names: [a], paths: []}", "- {names: [a], command: ''}", "- a", "- {names: [a], path: [b]}",
        "- {names: [a], paths: b}", "- {names: [a], changes: all}", "- {names: [\"\"], paths: [b]}"}) {
    configured(yaml, &fault);
    EXPECT_THAT(fault, HasSubstr("config.yaml:1")) << yaml;
  }
  configured("- {names: [a], paths: [b], command: c}", &fault);
  EXPECT_THAT(fault, HasSubstr("exactly one of paths, command, patch, changes"));
}

TEST(FileTools, APatchSaysInItsHeadersWhatItChanges) {
  EXPECT_EQ(change("apply_patch", R"({"command":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"})"), "changes a");
  EXPECT_EQ(change("functions.apply_patch", R"({"input":"*** Update File: a\n*** Move to: b"})"), "changes a b");
  EXPECT_THAT(change("apply_patch", R"({"command":"a diff"})"), HasSubstr("headers of its patch"));
  EXPECT_THAT(change("apply_patch", R"({"command":3})"), HasSubstr("is not a string"));
}

TEST(FileTools, AnUnknownChangeIsRefusedWherePathsAreChecked) {
  OpenStep step;
  step.workspace = "/w";
  step.title = "Plan it";
  const auto refused = [&](std::string_view tool) {
    return refuse_change({step}, change_of(tool, Value::object(), {}), "/tmp",
                         [](const std::string& path) { return PathForms{{path}, ""}; })
        .value_or("");
  };
  EXPECT_EQ(refused("Write"), "");
  step.commands_read_only = true;
  EXPECT_EQ(refused("Write"), "");  // read-only commands say nothing about files
  EXPECT_THAT(refused("Bash"), HasSubstr("Bash was refused because what it changes is unknown"));
  step.writes = std::vector<std::string>{"docs/**"};
  EXPECT_THAT(refused("Write"),
              AllOf(HasSubstr("Write was refused because what it changes is unknown: its `file_path`"),
                    HasSubstr("allows: change only docs/**")));
  step.writes = std::vector<std::string>{};
  EXPECT_THAT(refused("mcp__fs__write_file"), HasSubstr("change no file"));
  EXPECT_EQ(refused("Read"), "");
}

}  // namespace
}  // namespace sb::guard
