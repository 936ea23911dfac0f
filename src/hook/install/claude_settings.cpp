#include "hook/install/claude_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/limits.hpp"
#include "hook/install/settings_file.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kHookProgram = "signalbox-hook";
constexpr std::array<std::string_view, 6> kEvents = {"PreToolUse",   "PostToolUse",      "Stop",
                                                     "SessionStart", "UserPromptSubmit", "SessionEnd"};
// One group per entry; an empty matcher means no matcher.
struct Group {
  std::string_view event, matcher;
};
constexpr std::array<Group, 9> kGroups = {{
    {"PreToolUse", "(AskUserQuestion|mcp__.*__AskUserQuestion)"},
    {"PreToolUse", "Edit|Write|MultiEdit|NotebookEdit|Bash"},
    {"PreToolUse", "mcp__(?!.*__AskUserQuestion$).*"},
    {"PostToolUse", "(AskUserQuestion|mcp__.*__AskUserQuestion)"},
    {"PostToolUse", "mcp__.*__(start_workflow|continue_workflow)"},
    {"PostToolUse", "mcp__.*__ask"},
    {"Stop", ""},
    {"SessionStart", ""},
    {"UserPromptSubmit", ""},
    {"SessionEnd", ""},
}};
constexpr std::string_view kStatusLine = "statusLine";
constexpr std::string_view kStatusLineArgument = " statusline";
constexpr std::string_view kStop = "Stop";
constexpr int kTimeoutSeconds = 5;
constexpr std::string_view kHooks = "hooks";
constexpr std::string_view kFile = "file";

bool is_plain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+").find(c) != std::string_view::npos;
  });
}

// Reverses shell_quoted; nothing when the text is not one such word.
std::optional<std::string> unquoted(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  if (text.size() < 2 || text.front() != '\'' || text.back() != '\'') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  constexpr std::string_view kQuote = "'\\''";
  std::string word;
  while (!text.empty()) {
    if (text.starts_with(kQuote)) {
      word += '\'';
      text.remove_prefix(kQuote.size());
    } else if (text.front() == '\'') {
      return std::nullopt;
    } else {
      word += text.front();
      text.remove_prefix(1);
    }
  }
  return word;
}

bool is_signalbox_hook(const Value& entry) {
  const auto command = entry.string_at("command");
  return command && is_signalbox_command(*command);
}

std::unexpected<Error> wrong_shape(std::string_view pointer, std::string_view wanted, const Value& found) {
  return fail(ErrorCode::kInvalid, fmt::format("is {}; hooks need {}", kind_name(found.kind()), wanted),
              "Fix it first; nothing was changed", {"", std::string(pointer), 0, 0});
}

Status check_shape(const Value& settings) {
  if (!settings.is_object()) return wrong_shape("", "an object", settings);
  const Value* hooks = settings.find("hooks");
  if (!hooks) return {};
  if (!hooks->is_object()) return wrong_shape("/hooks", "an object", *hooks);
  for (const std::string_view event : kEvents) {
    const Value* groups = hooks->find(event);
    if (groups && !groups->is_array()) return wrong_shape(fmt::format("/hooks/{}", event), "a list", *groups);
  }
  return {};
}

Value entry_for(const std::string& command) {
  return Value::object({{"type", "command"}, {"command", command}, {"timeout", kTimeoutSeconds}});
}

// Whether our entry is in a group with this matcher; updates its command, since the program may have moved.
bool follow(Value& groups, std::string_view matcher, const std::string& command) {
  bool is_there = false;
  for (Value& group : groups.items()) {
    Value* entries = group.find("hooks");
    if (!entries || !entries->is_array()) continue;
    for (Value& entry : entries->items()) {
      if (!is_signalbox_hook(entry)) continue;
      entry.set("command", command);
      is_there = is_there || group.string_at("matcher").value_or("") == matcher;
    }
  }
  return is_there;
}

void add_to(Value& groups, std::string_view event, const std::string& command) {
  for (const Group& wanted : kGroups) {
    if (wanted.event != event || follow(groups, wanted.matcher, command)) continue;
    Value group = Value::object();
    if (!wanted.matcher.empty()) group.set("matcher", wanted.matcher);
    group.set("hooks", Value(Value::Array{entry_for(command)}));
    groups.push_back(std::move(group));
  }
}

bool is_signalbox_statusline(const Value& settings) {
  std::string command = settings[kStatusLine].string_at("command").value_or("");
  if (!command.ends_with(kStatusLineArgument)) return false;
  return is_signalbox_command(command.substr(0, command.size() - kStatusLineArgument.size()));
}

// Whether anything was removed. A group that held only our entry is removed with it; one that was empty before stays.
bool take_from(Value& groups) {
  bool is_taken = false;
  std::erase_if(groups.items(), [&](Value& group) {
    Value* entries = group.find("hooks");
    if (!entries || !entries->is_array()) return false;
    const std::size_t removed = std::erase_if(entries->items(), is_signalbox_hook);
    is_taken = is_taken || removed > 0;
    return removed > 0 && entries->size() == 0;
  });
  return is_taken;
}

Result<Value> placed(Result<Value> changed, const Document& document) {
  if (changed) return changed;
  Error error = changed.error();
  error.location = document.location_of(error.location.pointer);
  return std::unexpected(std::move(error));
}

// The bytes from before our entries were added, if nothing else has changed since.
std::optional<std::string> untouched_backup(const Files& files, const std::string& backup, const Document& now,
                                            const Value& without) {
  if (backup.empty()) return std::nullopt;
  const auto before = read_settings(files, backup);
  if (!before || !*before) return std::nullopt;
  const Document& document = **before;
  const bool is_same = document.root == without && format_like(now.root, document.text) == now.text;
  return is_same ? std::optional(document.text) : std::nullopt;
}

bool has_signalbox_hooks(const Value& settings) {
  for (const std::string_view event : kEvents) {
    Value groups = settings[kHooks][event];
    if (groups.is_array() && take_from(groups)) return true;
  }
  return false;
}

// What `after` has and `before` lacks, plus what was made earlier.
InstallRecord with_made(InstallRecord installed, const Value& before, const Value& after) {
  if (!before.find(kHooks)) installed.add(kHooks);
  for (const std::string_view event : kEvents) {
    if (after[kHooks].find(event) && !before[kHooks].find(event)) installed.add(event);
  }
  return installed;
}

// Without a record of the installation: everything that held only our entries counts as made for them.
InstallRecord all_created() {
  InstallRecord installed{{std::string(kHooks)}, ""};
  for (const std::string_view event : kEvents) installed.add(event);
  return installed;
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  if (is_plain(text)) return std::string(text);
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

bool is_signalbox_command(std::string_view command) {
  const auto word = unquoted(command);
  return word && word->starts_with('/') && base_name(*word) == kHookProgram;
}

Result<Value> with_statusline(Value settings, const std::string& command) {
  SB_TRY(check_shape(settings));
  if (settings.find(kStatusLine) && !is_signalbox_statusline(settings)) {
    return fail(ErrorCode::kConflict, "a statusLine is already configured",
                "Omit --statusline, or call `signalbox statusline` from the existing one",
                {"", fmt::format("/{}", kStatusLine), 0, 0});
  }
  settings.set(kStatusLine,
               Value::object({{"type", "command"}, {"command", command + std::string(kStatusLineArgument)}}));
  return settings;
}

Result<Value> with_hooks(Value settings, const std::string& command, bool with_stop) {
  SB_TRY(check_shape(settings));
  if (is_signalbox_statusline(settings)) settings = SB_TRY(with_statusline(std::move(settings), command));
  if (!settings.find("hooks")) settings.set("hooks", Value::object());
  Value& hooks = *settings.find("hooks");
  for (const std::string_view event : kEvents) {
    const bool is_wanted = event != kStop || with_stop || hooks.find(event);
    if (!is_wanted) continue;
    if (!hooks.find(event)) hooks.set(event, Value::array());
    Value& groups = *hooks.find(event);
    Value trial = groups;
    const bool is_there = take_from(trial);
    if (event != kStop || with_stop || is_there) add_to(groups, event, command);
  }
  return settings;
}

Result<Value> without_hooks(Value settings, const InstallRecord& installed) {
  SB_TRY(check_shape(settings));
  if (is_signalbox_statusline(settings)) settings.erase(kStatusLine);
  Value* hooks = settings.find(kHooks);
  if (!hooks) return settings;
  bool is_taken = false;
  for (const std::string_view event : kEvents) {
    Value* groups = hooks->find(event);
    if (!groups || !take_from(*groups)) continue;
    is_taken = true;
    if (groups->size() == 0 && installed.has_created(event)) hooks->erase(event);
  }
  if (is_taken && hooks->size() == 0 && installed.has_created(kHooks)) settings.erase(kHooks);
  return settings;
}

Result<std::string> settings_path(const InstallRequest& wanted, const Environment& environment) {
  if (wanted.scope == InstallScope::kProject) return join_path(wanted.project, ".claude/settings.json");
  if (const auto folder = environment.get("CLAUDE_CONFIG_DIR")) return join_path(*folder, "settings.json");
  if (const auto home = environment.get("HOME")) return join_path(*home, ".claude/settings.json");
  return fail(ErrorCode::kInvalid, "neither CLAUDE_CONFIG_DIR nor HOME is set", "Set one of them, or use --project");
}

namespace {

bool is_marked(const Files& files, const std::string& folder, const std::string& home) {
  return files.kind(join_path(folder, ".git")) != FileKind::kMissing ||
         (folder != home && files.kind(join_path(folder, ".claude")) == FileKind::kDirectory);
}

std::string home_of(const Files& files, const Environment& environment) {
  const std::string home = environment.get("HOME").value_or("");
  return files.canonical(home).value_or(home);
}

}  // namespace

std::string find_project(const Files& files, const Environment& environment, const std::string& directory) {
  const std::string home = home_of(files, environment);
  for (std::string folder = directory; !folder.empty(); folder = parent_path(folder)) {
    if (is_marked(files, folder, home)) return folder;
    if (folder == "/") break;
  }
  return directory;
}

Result<std::string> find_writable_project(const Files& files, const Environment& environment,
                                          const std::string& directory) {
  const std::string home = home_of(files, environment);
  std::string project = find_project(files, environment, directory);
  if ((project != "/" && project != home) || is_marked(files, project, home)) return project;
  return fail(
      ErrorCode::kInvalid,
      fmt::format("{} is not a project but {}", project, project == "/" ? "the root folder" : "your home folder"),
      "Change to the project's folder, or omit --project; nothing was changed");
}

Result<InstallResult> install_hooks(const Seams& seams, const InstallRequest& wanted) {
  InstallResult changed{SB_TRY(settings_path(wanted, seams.environment)), "", false};
  const HomeDirectories homes = SB_TRY(sb::homes(seams.environment));
  const auto held = SB_TRY(lock_settings(seams));
  const auto before = SB_TRY(read_settings(seams.files, changed.path));
  const Document document = before ? *before : Document{changed.path, "", Value::object()};
  const std::string command = shell_quoted(wanted.program);
  Value settings = SB_TRY(placed(with_hooks(document.root, command, wanted.with_stop), document));
  if (wanted.with_statusline) settings = SB_TRY(placed(with_statusline(std::move(settings), command), document));
  if (settings != document.root) {
    SB_TRY(check_numbers(document));
    SB_TRY(seams.files.make_directories(parent_path(changed.path)));
    InstallRecord installed;
    if (has_signalbox_hooks(document.root)) {
      installed = SB_TRY(find_install_record(seams.files, homes, changed.path)).value_or(all_created());
    } else if (before) {
      installed.backup = changed.backup = SB_TRY(save_backup(seams.files, changed.path, document.text));
    } else {
      installed.add(kFile);
    }
    SB_TRY(save_install_record(seams.files, homes, changed.path, with_made(installed, document.root, settings)));
    SB_TRY(seams.files.write_atomic(changed.path, format_like(settings, document.text), 0600));
    changed.is_changed = true;
  }
  if (wanted.with_stop) SB_TRY(enable_stop(seams.files, homes, wanted.scope, wanted.project));
  return changed;
}

Result<InstalledHooks> find_hooks(const Files& files, const Environment& environment, InstallScope scope,
                                  const std::string& project) {
  InstalledHooks found{.path = SB_TRY(settings_path({.scope = scope, .project = project, .program = {}}, environment))};
  const auto document = SB_TRY(read_settings(files, found.path));
  if (!document || !has_signalbox_hooks(document->root)) return found;
  std::string command;
  for (const std::string_view event : kEvents) {
    const Value& groups = document->root[kHooks][event];
    if (!groups.is_array()) continue;
    for (const Value& group : groups.items()) {
      if (!group["hooks"].is_array()) continue;
      for (const Value& entry : group["hooks"].items()) {
        if (!is_signalbox_hook(entry)) continue;
        command = *entry.string_at("command");
        const std::string program = *unquoted(command);
        if (std::ranges::find(found.programs, program) == found.programs.end()) found.programs.push_back(program);
      }
    }
  }
  const Value whole = SB_TRY(placed(with_hooks(document->root, command, false), *document));
  found.is_complete = found.programs.size() != 1 || whole == document->root;
  return found;
}

Result<InstallResult> uninstall_hooks(const Seams& seams, const InstallRequest& wanted) {
  InstallResult changed{SB_TRY(settings_path(wanted, seams.environment)), "", false};
  const HomeDirectories homes = SB_TRY(sb::homes(seams.environment));
  const auto held = SB_TRY(lock_settings(seams));
  const auto document = SB_TRY(read_settings(seams.files, changed.path));
  SB_TRY(disable_stop(seams.files, homes, wanted.scope, wanted.project));
  if (!document) return changed;
  const InstallRecord installed = SB_TRY(find_install_record(seams.files, homes, changed.path)).value_or(all_created());
  const Value settings = SB_TRY(placed(without_hooks(document->root, installed), *document));
  if (settings == document->root) return changed;
  const auto restored = untouched_backup(seams.files, installed.backup, *document, settings);
  if (!restored) SB_TRY(check_numbers(*document));
  if (settings.size() == 0 && installed.has_created(kFile)) {
    SB_TRY(seams.files.remove(changed.path));
  } else {
    SB_TRY(seams.files.write_atomic(changed.path, restored ? *restored : format_like(settings, document->text), 0600));
  }
  changed.is_changed = true;
  if (restored) SB_TRY(seams.files.remove(installed.backup));
  if (!restored) changed.backup = installed.backup;
  SB_TRY(remove_install_record(seams.files, homes, changed.path));
  return changed;
}

}  // namespace sb::hook
