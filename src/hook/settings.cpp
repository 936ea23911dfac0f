#include "hook/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/document.hpp"
#include "base/limits.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kProgram = "signalbox-hook";
constexpr std::string_view kMatcher = "(AskUserQuestion|mcp__.*__AskUserQuestion)";
constexpr std::array<std::string_view, 3> kEvents = {"PreToolUse", "PostToolUse", "Stop"};
constexpr std::string_view kStop = "Stop";
constexpr int kTimeoutSeconds = 5;
constexpr std::string_view kBackupEnd = ".before-signalbox";

bool is_plain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/._-+").find(c) != std::string_view::npos;
  });
}

// The word that shell_quoted made this of; nothing when the text is no single such word.
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

bool is_our_entry(const Value& entry) {
  const auto command = entry.string_at("command");
  return command && is_our_command(*command);
}

std::unexpected<Error> wrong_shape(std::string_view pointer, std::string_view wanted, const Value& found) {
  return fail(ErrorCode::kInvalid, fmt::format("is {}, where hooks need {}", kind_name(found.kind()), wanted),
              "Mend it first; nothing was changed", {"", std::string(pointer), 0, 0});
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

void add_to(Value& groups, std::string_view event, const std::string& command) {
  bool is_there = false;
  for (Value& group : groups.items()) {
    Value* entries = group.find("hooks");
    if (!entries || !entries->is_array()) continue;
    for (Value& entry : entries->items()) {
      if (!is_our_entry(entry)) continue;
      entry.set("command", command);  // the program may have moved
      is_there = true;
    }
  }
  if (is_there) return;
  Value group = Value::object();
  if (event != kStop) group.set("matcher", kMatcher);
  group.set("hooks", Value(Value::Array{entry_for(command)}));
  groups.push_back(std::move(group));
}

// Whether anything was taken out. A group that only held ours goes with it; one that was empty before stays.
bool take_from(Value& groups) {
  bool is_taken = false;
  std::erase_if(groups.items(), [&](Value& group) {
    Value* entries = group.find("hooks");
    if (!entries || !entries->is_array()) return false;
    const std::size_t removed = std::erase_if(entries->items(), is_our_entry);
    is_taken = is_taken || removed > 0;
    return removed > 0 && entries->size() == 0;
  });
  return is_taken;
}

// The file as it is, nothing when there is none.
Result<std::optional<Document>> read_settings(const Files& files, const std::string& path) {
  auto text = files.read(path, limits::kDocumentBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  auto document = parse_document(path, std::move(*text), Syntax::kJson);
  if (document) return std::optional(std::move(*document));
  Error error = document.error();
  error.message = "the settings cannot be read: " + error.message;
  error.remedy = "Mend the file first; nothing was changed";
  return std::unexpected(std::move(error));
}

// As the file was laid out before, as far as that can be told.
std::string laid_out(const Value& settings, std::string_view before) {
  std::size_t indent = 0;
  if (const std::size_t at = before.find('\n'); at != std::string_view::npos) {
    const std::size_t end = before.find_first_not_of(' ', at + 1);
    if (end != std::string_view::npos && before[end] == '"') indent = end - at - 1;
  }
  const bool ends_line = before.empty() || before.ends_with('\n');
  return to_pretty_json(settings, indent == 0 ? 2 : static_cast<int>(std::min<std::size_t>(indent, 8))) +
         (ends_line ? "\n" : "");
}

Result<Value> placed(Result<Value> changed, const Document& document) {
  if (changed) return changed;
  Error error = changed.error();
  error.place = document.place_of(error.place.pointer);
  return std::unexpected(std::move(error));
}

// Whoever edits settings holds this; the host itself knows no lock.
Result<std::shared_ptr<void>> hold(const Seams& seams) {
  const Homes homes = SB_TRY(sb::homes(seams.environment));
  SB_TRY(seams.files.make_directories(homes.state, 0700));
  return seams.files.lock(join_path(homes.state, ".settings.lock"));
}

// The bytes before our entries were put in, when nothing else was changed since.
std::optional<std::string> untouched_backup(const Files& files, const std::string& backup, const Document& now,
                                            const Value& without) {
  const auto text = files.read(backup, limits::kDocumentBytes);
  if (!text) return std::nullopt;
  const auto before = parse_document(backup, *text, Syntax::kJson);
  const bool is_same = before && before->root == without && laid_out(now.root, *text) == now.text;
  return is_same ? std::optional(*text) : std::nullopt;
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

bool is_our_command(std::string_view command) {
  const auto word = unquoted(command);
  return word && word->starts_with('/') && base_name(*word) == kProgram;
}

Result<Value> with_hooks(Value settings, const std::string& command, bool with_stop) {
  SB_TRY(check_shape(settings));
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

Result<Value> without_hooks(Value settings) {
  SB_TRY(check_shape(settings));
  Value* hooks = settings.find("hooks");
  if (!hooks) return settings;
  bool is_taken = false;
  for (const std::string_view event : kEvents) {
    Value* groups = hooks->find(event);
    if (!groups || !take_from(*groups)) continue;
    is_taken = true;
    if (groups->size() == 0) hooks->erase(event);
  }
  if (is_taken && hooks->size() == 0) settings.erase("hooks");
  return settings;
}

Result<std::string> settings_path(const Installation& wanted, const Environment& environment) {
  if (wanted.scope == Scope::kProject) return join_path(wanted.project, ".claude/settings.json");
  if (const auto folder = environment.get("CLAUDE_CONFIG_DIR")) return join_path(*folder, "settings.json");
  if (const auto home = environment.get("HOME")) return join_path(*home, ".claude/settings.json");
  return fail(ErrorCode::kInvalid, "neither CLAUDE_CONFIG_DIR nor HOME is set", "Set one of them, or use --project");
}

std::string project_around(const Files& files, const Environment& environment, const std::string& directory) {
  const std::string home = environment.get("HOME").value_or("");
  for (std::string folder = directory; !folder.empty(); folder = parent_path(folder)) {
    const bool has_git = files.kind(join_path(folder, ".git")) != FileKind::kMissing;
    const bool has_claude = folder != home && files.kind(join_path(folder, ".claude")) == FileKind::kDirectory;
    if (has_git || has_claude) return folder;
    if (folder == "/") break;
  }
  return directory;
}

Result<Changed> install_hooks(const Seams& seams, const Installation& wanted) {
  Changed changed{SB_TRY(settings_path(wanted, seams.environment)), "", false};
  const auto held = SB_TRY(hold(seams));
  const auto before = SB_TRY(read_settings(seams.files, changed.path));
  const Document document = before ? *before : Document{changed.path, "", Value::object()};
  const Value settings =
      SB_TRY(placed(with_hooks(document.root, shell_quoted(wanted.program), wanted.with_stop), document));
  if (settings != document.root) {
    const std::string backup = changed.path + std::string(kBackupEnd);
    const bool is_first = SB_TRY(without_hooks(document.root)) == document.root;
    SB_TRY(seams.files.make_directories(parent_path(changed.path)));
    if (before && is_first) SB_TRY(seams.files.write_atomic(backup, document.text, 0600));
    if (!before) SB_TRY(seams.files.remove(backup));
    SB_TRY(seams.files.write_atomic(changed.path, laid_out(settings, document.text), 0600));
    changed.backup = before && is_first ? backup : "";
    changed.is_changed = true;
  }
  if (wanted.with_stop) {
    SB_TRY(enable_stop(seams.files, SB_TRY(sb::homes(seams.environment)), wanted.scope, wanted.project));
  }
  return changed;
}

Result<Changed> uninstall_hooks(const Seams& seams, const Installation& wanted) {
  Changed changed{SB_TRY(settings_path(wanted, seams.environment)), "", false};
  const auto held = SB_TRY(hold(seams));
  const auto document = SB_TRY(read_settings(seams.files, changed.path));
  SB_TRY(disable_stop(seams.files, SB_TRY(sb::homes(seams.environment)), wanted.scope, wanted.project));
  if (!document) return changed;
  const Value settings = SB_TRY(placed(without_hooks(document->root), *document));
  if (settings == document->root) return changed;
  const std::string backup = changed.path + std::string(kBackupEnd);
  const bool has_backup = seams.files.kind(backup) != FileKind::kMissing;
  const auto restored = untouched_backup(seams.files, backup, *document, settings);
  changed.is_changed = true;
  if (settings.size() == 0 && !has_backup) {
    SB_TRY(seams.files.remove(changed.path));  // made by install
    return changed;
  }
  if (!restored) SB_TRY(seams.files.write_atomic(backup, document->text, 0600));
  SB_TRY(seams.files.write_atomic(changed.path, restored ? *restored : laid_out(settings, document->text), 0600));
  if (restored) SB_TRY(seams.files.remove(backup));
  changed.backup = restored ? "" : backup;
  return changed;
}

}  // namespace sb::hook
