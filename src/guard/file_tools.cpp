#include "guard/file_tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "base/text/path_glob.hpp"
#include "guard/data.hpp"
#include "guard/limits.hpp"
#include "guard/patch_paths.hpp"

namespace sb::guard {
namespace {

using Changes = FileTool::Changes;

constexpr std::array<std::string_view, 4> kWhats = {"paths", "command", "patch", "changes"};
constexpr std::array<std::pair<std::string_view, Changes>, 2> kChanges{
    {{"nothing", Changes::kNothing}, {"anything", Changes::kAnything}}};

std::string read_word(const Reader& reader) {
  const auto word = reader.string(limits::kFileToolWordBytes);
  if (word && word->empty()) reader.fault("is empty", "Write a name, or remove it");
  return word.value_or("");
}

Value words_schema() {
  Value schema = list_schema(text_schema(limits::kFileToolWordBytes), limits::kFileToolWords);
  schema.set("minItems", 1);
  return schema;
}

SettingKey<FileTool> words_key(std::string_view name, std::vector<std::string> FileTool::* member,
                               std::string_view help, Need need = Need::kOptional) {
  return {.name = name,
          .help = help,
          .schema = words_schema(),
          .read =
              [=](const Reader& reader, const SettingSource&, FileTool& tool) {
                if (reader.value().is_array() && reader.value().size() == 0) {
                  reader.fault("is empty", "Write at least one name", ErrorCode::kInvalid, "too_few");
                }
                for (const Reader& item : reader.items(limits::kFileToolWords)) {
                  (tool.*member).push_back(read_word(item));
                }
              },
          .need = need};
}

SettingKey<FileTool> word_key(std::string_view name, std::string FileTool::* member, std::string_view help) {
  return {
      .name = name,
      .help = help,
      .schema = text_schema(limits::kFileToolWordBytes),
      .read = [=](const Reader& reader, const SettingSource&, FileTool& tool) { tool.*member = read_word(reader); }};
}

const SettingKeys<FileTool>& file_tool_keys() {
  using T = FileTool;
  static const SettingKeys<FileTool> kKeys = [] {
    SettingKeys<FileTool> keys = {
        words_key("names", &T::names, "Globs over tool names: mcp__notes__save*", Need::kRequired),
        words_key("paths", &T::paths,
                  "Members of its input that hold paths, each required: path, from|source, files[].name"),
        word_key("command", &T::command, "The member of its input that holds a shell command"),
        word_key("patch", &T::patch, "The member of its input that holds a patch as apply_patch takes it"),
        word_key("folder", &T::folder, "The member of its input that holds the folder a command runs in"),
        word_key("reads_if", &T::reads_if, "MEMBER=VALUE of its input with which it only reads"),
        choice_key<T, Changes>("changes", &T::changes, kChanges,
                               "nothing: it is never refused. anything: what it changes is unknown"),
    };
    for (SettingKey<FileTool>& key : keys) key.write = nullptr, key.restore = nullptr;
    return keys;
  }();
  return kKeys;
}

FileTools read_built_in() {
  const auto document = parse_document("file-tools.yaml", std::string(data_file("file-tools.yaml")));
  SB_ASSERT(document.has_value());
  Faults faults;
  FileTools tools;
  for (const Reader& item : Reader(*document, faults).fields().items("tools")) {
    tools.push_back(read_file_tool(item));
  }
  SB_ASSERT(faults.empty());
  return tools;
}

std::vector<std::string_view> alternatives(std::string_view member) {
  std::vector<std::string_view> names;
  for (;;) {
    const std::size_t bar = member.find('|');
    names.push_back(member.substr(0, bar));
    if (bar == std::string_view::npos) return names;
    member.remove_prefix(bar + 1);
  }
}

// The texts at `a`, `a.b` or `a[].b`. False if something is there that is not a non-empty text.
bool gather(const Value& at, std::string_view member, std::vector<std::string>& texts) {
  const std::size_t end = std::min(member.find_first_of(".["), member.size());
  const Value* value = at.is_object() ? at.find(member.substr(0, end)) : nullptr;
  if (value == nullptr) return true;
  std::string_view rest = member.substr(end);
  if (rest.starts_with("[]")) {
    rest.remove_prefix(2);
    if (rest.starts_with('.')) rest.remove_prefix(1);
    if (!value->is_array() || value->size() == 0) return false;
    return std::ranges::all_of(value->items(), [&](const Value& item) {
      const std::size_t before = texts.size();
      if (!rest.empty()) return gather(item, rest, texts) && texts.size() > before;
      if (!item.is_string() || item.as_string().empty()) return false;
      texts.push_back(item.as_string());
      return true;
    });
  }
  if (rest.starts_with('.')) return gather(*value, rest.substr(1), texts);
  if (!value->is_string() || value->as_string().empty()) return false;
  texts.push_back(value->as_string());
  return true;
}

// Nothing if none of the alternatives is there, or one of them is not a text.
std::optional<std::vector<std::string>> texts_at(const Value& input, std::string_view member) {
  std::vector<std::string> texts;
  for (const std::string_view name : alternatives(member)) {
    if (!gather(input, name, texts)) return std::nullopt;
  }
  if (texts.empty()) return std::nullopt;
  return texts;
}

std::string named(std::string_view member) {
  std::string text;
  for (const std::string_view name : alternatives(member)) {
    text += fmt::format("{}`{}`", text.empty() ? "" : " or ", name);
  }
  return text;
}

const FileTool* find_tool(const FileTools& tools, std::string_view name) {
  const auto is_named = [&](const std::string& glob) { return glob_covers(glob, name, GlobCase::kIgnored); };
  const auto found =
      std::ranges::find_if(tools, [&](const FileTool& tool) { return std::ranges::any_of(tool.names, is_named); });
  return found == tools.end() ? nullptr : &*found;
}

bool only_reads(const FileTool& tool, const Value& input) {
  const std::size_t sign = tool.reads_if.find('=');
  if (sign == std::string::npos) return false;
  return input.string_at(tool.reads_if.substr(0, sign)) == tool.reads_if.substr(sign + 1);
}

ToolChange unknown(ToolChange change, std::string why) {
  change.kind = ToolChange::Kind::kUnknown;
  change.unknown = std::move(why);
  return change;
}

ToolChange command_change(const FileTool& tool, const Value& input, ToolChange change) {
  change.is_shell = true;
  const auto command = texts_at(input, tool.command);
  if (!command || command->size() != 1) {
    return unknown(std::move(change), fmt::format("its {} is not a single string", named(tool.command)));
  }
  change.kind = ToolChange::Kind::kCommand;
  change.command = command->front();
  if (tool.folder.empty()) return change;
  std::vector<std::string> folders;
  for (const std::string_view name : alternatives(tool.folder)) {
    if (const auto folder = input.string_at(name); folder && !folder->empty()) folders.push_back(*folder);
  }
  if (folders.size() > 1) return unknown(std::move(change), "it names more than one folder to run in");
  if (!folders.empty()) change.folder = folders.front();
  return change;
}

ToolChange patch_change(const FileTool& tool, const Value& input, ToolChange change) {
  change.kind = ToolChange::Kind::kPaths;
  const auto patches = texts_at(input, tool.patch);
  if (!patches) return unknown(std::move(change), fmt::format("its {} is not a string", named(tool.patch)));
  for (const std::string& patch : *patches) {
    const auto paths = paths_of_patch(patch);
    if (!paths) return unknown(std::move(change), "the headers of its patch do not say which files it changes");
    change.paths.insert(change.paths.end(), paths->begin(), paths->end());
  }
  return change;
}

ToolChange path_change(const FileTool& tool, const Value& input, ToolChange change) {
  change.kind = ToolChange::Kind::kPaths;
  for (const std::string& member : tool.paths) {
    const auto paths = texts_at(input, member);
    if (!paths) return unknown(std::move(change), fmt::format("its {} is not a path", named(member)));
    if (paths->size() > limits::kChangedPaths) return unknown(std::move(change), "it names too many paths");
    change.paths.insert(change.paths.end(), paths->begin(), paths->end());
  }
  return change;
}

}  // namespace

const FileTools& built_in_file_tools() {
  static const FileTools kTools = read_built_in();
  return kTools;
}

FileTool read_file_tool(const Reader& reader) {
  FileTool tool;
  read_object(reader, file_tool_keys(), {}, tool);
  if (!reader.value().is_object()) return tool;
  const auto is_there = [&](std::string_view name) { return reader.value().find(name) != nullptr; };
  if (std::ranges::count_if(kWhats, is_there) != 1) {
    reader.fault(fmt::format("a file tool needs exactly one of {}", fmt::join(kWhats, ", ")),
                 "Write {names: [mcp__notes__save], paths: [path]}");
  }
  return tool;
}

Value file_tool_schema() {
  return object_schema(file_tool_keys());
}

ToolChange change_of(std::string_view tool, const Value& input, const FileTools& users) {
  const FileTool* found = find_tool(users, tool);
  if (found == nullptr) found = find_tool(built_in_file_tools(), tool);
  ToolChange change;
  change.tool = tool;
  if (found == nullptr || found->changes == Changes::kNothing || only_reads(*found, input)) return change;
  if (!found->command.empty()) return command_change(*found, input, std::move(change));
  if (!found->patch.empty()) return patch_change(*found, input, std::move(change));
  if (!found->paths.empty()) return path_change(*found, input, std::move(change));
  return unknown(std::move(change), "its input does not say which files it changes");
}

}  // namespace sb::guard
