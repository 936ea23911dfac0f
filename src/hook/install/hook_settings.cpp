#include "hook/install/hook_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/assert.hpp"
#include "hook/install/hook_command.hpp"
#include "hook/install/json_text.hpp"
#include "hook/install/opencode_plugin.hpp"
#include "hook/install/settings_file.hpp"

namespace sb::hook {
namespace {

// One group per entry; an empty matcher means no matcher.
struct Group {
  std::string_view event, matcher;
};
constexpr std::array<Group, 10> kGroups = {{
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
// Elsewhere the hook sees every tool, and ignores most.
constexpr std::array<Group, 6> kPlainGroups = {{{"PreToolUse", ""},
                                                {"PostToolUse", ""},
                                                {"Stop", ""},
                                                {"SessionStart", ""},
                                                {"UserPromptSubmit", ""},
                                                {"SessionEnd", ""}}};
constexpr std::span<const Group> kCodexGroups = std::span(kPlainGroups).first(5);  // no end of a conversation
constexpr std::array<Group, 6> kGeminiGroups = {{{"BeforeTool", ""},
                                                 {"AfterTool", ""},
                                                 {"AfterAgent", ""},
                                                 {"SessionStart", ""},
                                                 {"BeforeAgent", ""},
                                                 {"SessionEnd", ""}}};
constexpr std::array<Group, 2> kCopilotGroups = {{{"PreToolUse", ""}, {"PostToolUse", ""}}};

// How a client's hooks are written.
struct HookShape {
  Client client;
  std::span<const Group> groups;
  std::string_view stop = {};      // the event that is installed on request only
  std::string_view argument = {};  // of signalbox-hook
  int timeout = 0;                 // in the client's unit; 0: its default
  int version = 0;                 // a member of the file; 0: none

  bool is_list() const { return row_of(client).hook_form == HookForm::kList; }
  // Each once, in order.
  std::vector<std::string_view> events() const {
    std::vector<std::string_view> all;
    for (const Group& group : groups) {
      if (std::ranges::find(all, group.event) == all.end()) all.push_back(group.event);
    }
    return all;
  }
};
constexpr HookShape kHookShapes[] = {
    {.client = Client::kClaudeCode, .groups = kGroups, .stop = "Stop", .timeout = 5},
    {.client = Client::kCodex, .groups = kCodexGroups, .stop = "Stop", .timeout = 5},
    {.client = Client::kGeminiCli,
     .groups = kGeminiGroups,
     .stop = "AfterAgent",
     .argument = " --client gemini-cli",
     .timeout = 5'000},
    {.client = Client::kQwenCode, .groups = kPlainGroups, .stop = "Stop", .timeout = 5},
    {.client = Client::kCopilotCli, .groups = kCopilotGroups, .argument = " --client copilot-cli", .version = 1},
};

constexpr std::string_view kStatusLine = "statusLine";
constexpr std::string_view kStatusLineArgument = " statusline";
constexpr std::string_view kHooks = "hooks";
constexpr std::string_view kVersion = "version";

const HookShape& hook_shape(Client client) {
  const auto found = std::ranges::find(kHookShapes, client, &HookShape::client);
  SB_ASSERT(found != std::end(kHookShapes));
  return *found;
}

bool is_signalbox_hook(const Value& entry) {
  const auto command = entry.string_at("command");
  return command && is_signalbox_command(*command);
}

std::unexpected<Error> wrong_shape(std::string_view pointer, std::string_view wanted, const Value& found) {
  return fail(ErrorCode::kInvalid, fmt::format("is {}; hooks need {}", kind_name(found.kind()), wanted),
              "Fix it first; nothing was changed", {"", std::string(pointer), 0, 0});
}

Status check_shape(const HookShape& shape, const Value& settings) {
  if (!settings.is_object()) return wrong_shape("", "an object", settings);
  const Value* hooks = settings.find(kHooks);
  if (!hooks) return {};
  if (!hooks->is_object()) return wrong_shape("/hooks", "an object", *hooks);
  for (const std::string_view event : shape.events()) {
    const Value* groups = hooks->find(event);
    if (groups && !groups->is_array()) return wrong_shape(fmt::format("/hooks/{}", event), "a list", *groups);
  }
  return {};
}

Value entry_for(const HookShape& shape, const std::string& command) {
  Value entry = Value::object({{"type", "command"}, {"command", command}});
  if (shape.timeout > 0) entry.set("timeout", shape.timeout);
  return entry;
}

// Calls `visit` with each of our entries, and the matcher of its group.
void visit_entries(const HookShape& shape, Value& groups, const auto& visit) {
  for (Value& group : groups.items()) {
    if (shape.is_list() && is_signalbox_hook(group)) visit(group, std::string());
    Value* entries = shape.is_list() ? nullptr : group.find(kHooks);
    if (!entries || !entries->is_array()) continue;
    for (Value& entry : entries->items()) {
      if (is_signalbox_hook(entry)) visit(entry, group.string_at("matcher").value_or(""));
    }
  }
}

// Whether our entry is in a group with this matcher; updates its command, since the program may have moved.
bool follow(const HookShape& shape, Value& groups, std::string_view matcher, const std::string& command) {
  bool is_there = false;
  visit_entries(shape, groups, [&](Value& entry, const std::string& its_matcher) {
    entry.set("command", command);
    is_there = is_there || its_matcher == matcher;
  });
  return is_there;
}

void add_to(const HookShape& shape, Value& groups, std::string_view event, const std::string& command) {
  for (const Group& wanted : shape.groups) {
    if (wanted.event != event || follow(shape, groups, wanted.matcher, command)) continue;
    if (shape.is_list()) {
      groups.push_back(entry_for(shape, command));
      continue;
    }
    Value group = Value::object();
    if (!wanted.matcher.empty()) group.set("matcher", wanted.matcher);
    group.set(kHooks, Value(Value::Array{entry_for(shape, command)}));
    groups.push_back(std::move(group));
  }
}

bool is_signalbox_statusline(const Value& settings) {
  std::string command = settings[kStatusLine].string_at("command").value_or("");
  if (!command.ends_with(kStatusLineArgument)) return false;
  return is_signalbox_command(command.substr(0, command.size() - kStatusLineArgument.size()));
}

// Whether anything was removed. A group that held only our entry is removed with it; one that was empty before stays.
bool take_from(const HookShape& shape, Value& groups) {
  if (shape.is_list()) return std::erase_if(groups.items(), is_signalbox_hook) > 0;
  bool is_taken = false;
  std::erase_if(groups.items(), [&](Value& group) {
    Value* entries = group.find(kHooks);
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

bool has_signalbox_hooks(const HookShape& shape, const Value& settings) {
  for (const std::string_view event : shape.events()) {
    Value groups = settings[kHooks][event];
    if (groups.is_array() && take_from(shape, groups)) return true;
  }
  return false;
}

// What `after` has and `before` lacks.
void add_made(const HookShape& shape, InstallRecord& installed, const Value& before, const Value& after) {
  if (!before.find(kHooks)) installed.add(kHooks);
  if (!before.find(kVersion) && after.find(kVersion)) installed.add(kVersion);
  for (const std::string_view event : shape.events()) {
    if (after[kHooks].find(event) && !before[kHooks].find(event)) installed.add(event);
  }
}

// Without a record of the installation: everything that held only our entries counts as made for them.
InstallRecord all_created(const HookShape& shape) {
  InstallRecord installed{{std::string(kHooks)}, ""};
  for (const std::string_view event : shape.events()) installed.add(event);
  return installed;
}

Result<std::string> hooks_path(const InstallRequest& wanted, const Environment& environment) {
  const ClientRow& row = row_of(wanted.client);
  if (row.hook_form == HookForm::kNone) {
    return fail(ErrorCode::kInvalid, fmt::format("{} has no hooks that we have tried", row.name),
                fmt::format("Its agent learns the rules from signalbox rules install --client {}", row.word));
  }
  return client_path(row, row.hooks, wanted.scope, wanted.project, environment);
}

Status check_wanted(const InstallRequest& wanted) {
  const ClientRow& row = row_of(wanted.client);
  if (wanted.with_statusline && wanted.client != Client::kClaudeCode) {
    return fail(ErrorCode::kInvalid, fmt::format("{} has no status line for programs", row.name), "Omit --statusline");
  }
  const bool has_stop = row.hook_form != HookForm::kPlugin && !hook_shape(wanted.client).stop.empty();
  if (!wanted.with_stop || has_stop) return {};
  return fail(ErrorCode::kInvalid, fmt::format("{} does not pass the agent's last message to hooks", row.name),
              "Omit --stop");
}

Result<Document> parse_hooks(const ClientRow& row, const ClientFile& file) {
  return parse_settings(file.path, file.text.value_or(""), row.shape->has_comments);
}

// The client must read what was intended.
Result<std::string> edited_settings(const Document& document, std::string_view text, const Value& after) {
  std::string out = with_json_changes(std::string(text.empty() ? "{}\n" : text), document.root, after);
  const auto now = parse_settings(document.name, out, true);
  if (now && now->root == after) return out;
  return fail(ErrorCode::kInternal, "these settings cannot be edited safely", "Nothing was changed",
              {document.name, "", 0, 0});
}

}  // namespace

Result<Value> with_statusline(Value settings, const std::string& command) {
  SB_TRY(check_shape(hook_shape(Client::kClaudeCode), settings));
  if (settings.find(kStatusLine) && !is_signalbox_statusline(settings)) {
    return fail(ErrorCode::kConflict, "a statusLine is already configured",
                "Omit --statusline, or call `signalbox statusline` from the existing one",
                {"", fmt::format("/{}", kStatusLine), 0, 0});
  }
  settings.set(kStatusLine,
               Value::object({{"type", "command"}, {"command", command + std::string(kStatusLineArgument)}}));
  return settings;
}

Result<Value> with_hooks(Client client, Value settings, const std::string& program, bool with_stop) {
  const HookShape& shape = hook_shape(client);
  const std::string command = program + std::string(shape.argument);
  SB_TRY(check_shape(shape, settings));
  if (is_signalbox_statusline(settings)) settings = SB_TRY(with_statusline(std::move(settings), program));
  if (shape.version > 0 && !settings.find(kVersion)) settings.set(kVersion, shape.version);
  if (!settings.find(kHooks)) settings.set(kHooks, Value::object());
  Value& hooks = *settings.find(kHooks);
  for (const std::string_view event : shape.events()) {
    const bool is_stop = event == shape.stop;
    const bool is_wanted = !is_stop || with_stop || hooks.find(event);
    if (!is_wanted) continue;
    if (!hooks.find(event)) hooks.set(event, Value::array());
    Value& groups = *hooks.find(event);
    Value trial = groups;
    const bool is_there = take_from(shape, trial);
    if (!is_stop || with_stop || is_there) add_to(shape, groups, event, command);
  }
  return settings;
}

Result<Value> without_hooks(Client client, Value settings, const InstallRecord& installed) {
  const HookShape& shape = hook_shape(client);
  SB_TRY(check_shape(shape, settings));
  if (is_signalbox_statusline(settings)) settings.erase(kStatusLine);
  Value* hooks = settings.find(kHooks);
  if (!hooks) return settings;
  bool is_taken = false;
  for (const std::string_view event : shape.events()) {
    Value* groups = hooks->find(event);
    if (!groups || !take_from(shape, *groups)) continue;
    is_taken = true;
    if (groups->size() == 0 && installed.has_created(event)) hooks->erase(event);
  }
  if (!is_taken) return settings;
  if (hooks->size() == 0 && installed.has_created(kHooks)) settings.erase(kHooks);
  if (installed.has_created(kVersion)) settings.erase(kVersion);
  return settings;
}

Result<InstallResult> install_hooks(const Seams& seams, const InstallRequest& wanted) {
  const ClientRow& row = row_of(wanted.client);
  const std::string path = SB_TRY(hooks_path(wanted, seams.environment));
  SB_TRY(check_wanted(wanted));
  const HomeDirectories homes = SB_TRY(sb::homes(seams.environment));
  const auto held = SB_TRY(lock_settings(seams));
  if (row.hook_form == HookForm::kPlugin) return install_plugin(seams, path, wanted.program);
  ClientFile file = SB_TRY(read_client_file(seams, row, path));
  const Document document = SB_TRY(parse_hooks(row, file));
  const std::string program = shell_quoted(wanted.program);
  Value settings = SB_TRY(placed(with_hooks(wanted.client, document.root, program, wanted.with_stop), document));
  if (wanted.with_statusline) settings = SB_TRY(placed(with_statusline(std::move(settings), program), document));
  InstallResult changed{.path = path};
  if (settings != document.root) {
    const HookShape& shape = hook_shape(wanted.client);
    if (!file.has_record && has_signalbox_hooks(shape, document.root)) file.installed = all_created(shape);
    add_made(shape, file.installed, document.root, settings);
    const std::string text = SB_TRY(edited_settings(document, file.text.value_or(""), settings));
    changed = SB_TRY(write_installed(seams, file, text, FileAccess::kOwner));
  }
  if (wanted.with_stop) SB_TRY(enable_stop(seams.files, homes, wanted.scope, wanted.project));
  return changed;
}

Result<InstallResult> uninstall_hooks(const Seams& seams, const InstallRequest& wanted) {
  const ClientRow& row = row_of(wanted.client);
  const std::string path = SB_TRY(hooks_path(wanted, seams.environment));
  const HomeDirectories homes = SB_TRY(sb::homes(seams.environment));
  const auto held = SB_TRY(lock_settings(seams));
  if (row.hook_form == HookForm::kPlugin) return uninstall_plugin(seams, path);
  ClientFile file = SB_TRY(read_client_file(seams, row, path));
  const HookShape& shape = hook_shape(wanted.client);
  if (!shape.stop.empty()) SB_TRY(disable_stop(seams.files, homes, wanted.scope, wanted.project));
  if (!file.text) return InstallResult{.path = path};
  const Document document = SB_TRY(parse_hooks(row, file));
  const InstallRecord installed = file.has_record ? file.installed : all_created(shape);
  const Value settings = SB_TRY(placed(without_hooks(wanted.client, document.root, installed), document));
  if (settings == document.root) return InstallResult{.path = path};
  const auto add_again = [&](const std::string& before) -> Result<std::string> {
    const Document there = SB_TRY(parse_settings(path, before, row.shape->has_comments));
    if (there.root != settings) return fail(ErrorCode::kConflict, "the settings were changed since install");
    return edited_settings(there, before, document.root);
  };
  const std::string text = SB_TRY(edited_settings(document, *file.text, settings));
  return write_uninstalled(seams, row, file, text, FileAccess::kOwner, add_again);
}

std::string hook_install_command(Client client, InstallScope scope) {
  const bool is_default = client == Client::kClaudeCode;
  return fmt::format("signalbox hook install{}{}{}", is_default ? "" : " --client ",
                     is_default ? "" : row_of(client).word, scope == InstallScope::kProject ? " --project" : "");
}

Result<InstalledHooks> find_hooks(const Files& files, const Environment& environment, Client client, InstallScope scope,
                                  const std::string& project) {
  const ClientRow& row = row_of(client);
  InstalledHooks found{.path = SB_TRY(hooks_path({.client = client, .scope = scope, .project = project}, environment))};
  const auto text = SB_TRY(read_if_exists(files, found.path));
  if (!text) return found;
  if (row.hook_form == HookForm::kPlugin) {
    if (auto program = plugin_program(*text)) found.programs.push_back(std::move(*program));
    found.is_complete = found.programs.empty() || *text == plugin_text(found.programs.front());
    return found;
  }
  const HookShape& shape = hook_shape(client);
  const Document document = SB_TRY(parse_settings(found.path, *text, row.shape->has_comments));
  for (const std::string_view event : shape.events()) {
    Value groups = document.root[kHooks][event];
    if (!groups.is_array()) continue;
    visit_entries(shape, groups, [&](const Value& entry, const std::string&) {
      const std::string program = *hook_program_in(*entry.string_at("command"));
      if (std::ranges::find(found.programs, program) == found.programs.end()) found.programs.push_back(program);
    });
  }
  if (found.programs.size() != 1) return found;
  const std::string program = shell_quoted(found.programs.front());
  found.is_complete = SB_TRY(placed(with_hooks(client, document.root, program, false), document)) == document.root;
  return found;
}

}  // namespace sb::hook
