// Which tools of agent hosts change files, and where their input says which files: the data file file-tools.yaml and
// the key `file_tools` of the user's config.yaml, in the same form.
//
//   file_tools:
//     - {names: ["mcp__notes__save*"], paths: [path]}               # the file is in its member `path`
//     - {names: ["mcp__box__rename"], paths: [from|source, to]}     # two files; the first under either name
//     - {names: ["mcp__box__upload"], paths: ["files[].name"]}      # `name` of every item of the list `files`
//     - {names: ["mcp__term__run"], command: cmd, folder: cwd}      # a shell command, and where it runs
//     - {names: ["mcp__box__patch"], patch: text}                   # a patch as `apply_patch` takes it
//     - {names: ["mcp__box__sync"], changes: anything}              # its input does not say
//     - {names: ["mcp__cms__write_file"], changes: nothing}         # not a file of this machine
//
// Names are globs, in any case; the first entry with a matching name counts, the user's before the built-in ones. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/setting_key.hpp"

namespace sb::guard {

// Where to look in a tool's input: `a`, `a[].b`; alternatives are separated by `|`.
struct FileTool {
  enum class Changes { kUnset, kNothing, kAnything };

  std::vector<std::string> names;
  std::vector<std::string> paths;  // each must be there
  std::string command, patch;
  std::string folder;    // of a command: relative to where the host runs
  std::string reads_if;  // `command=view`: with this value the call only reads
  Changes changes = Changes::kUnset;
};
using FileTools = std::vector<FileTool>;

const FileTools& built_in_file_tools();

// One entry; an invalid one is a fault.
FileTool read_file_tool(const Reader& reader);
Value file_tool_schema();

// What a call would change, as far as its tool's name and its input show.
struct ToolChange {
  enum class Kind { kNothing, kPaths, kCommand, kUnknown };
  Kind kind = Kind::kNothing;
  std::string tool;
  std::vector<std::string> paths;  // as written
  std::string command;
  std::string folder;     // of a command
  std::string unknown;    // why it is unknown, for the agent: "`command` is not a string"
  bool is_shell = false;  // it runs a command, known or not
};
ToolChange change_of(std::string_view tool, const Value& input, const FileTools& users);

}  // namespace sb::guard
