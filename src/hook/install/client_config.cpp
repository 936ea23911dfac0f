#include "hook/install/client_config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "hook/install/settings_file.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kWholeFile = "file";
constexpr std::string_view kContainer = "servers";

std::string mark_of(std::string_view name) {
  return fmt::format("entry {}", name);
}

struct Current {
  HomeDirectories homes;
  std::optional<std::string> text;  // nothing when there is no file
  std::vector<NamedEntry> entries;
  InstallRecord installed;

  const NamedEntry* find(std::string_view name) const {
    const auto found = std::ranges::find(entries, name, &NamedEntry::name);
    return found == entries.end() ? nullptr : &*found;
  }
  bool is_signalbox_server(const NamedEntry& each) const {
    const bool was_written = !each.entry.url.empty() && installed.has_created(mark_of(each.name));
    return was_written || is_signalbox_entry(each.entry);
  }
  // Something recorded by install is still there.
  bool has_noted() const {
    return std::ranges::any_of(entries,
                               [&](const NamedEntry& each) { return installed.has_created(mark_of(each.name)); });
  }
};

Result<Current> read_current(const Seams& seams, const ClientTarget& place, const std::string& path) {
  Current now{SB_TRY(sb::homes(seams.environment)), SB_TRY(read_if_exists(seams.files, path)), {}, {}};
  now.entries = SB_TRY(read_entries(place.client, path, now.text.value_or("")));
  now.installed = SB_TRY(find_install_record(seams.files, now.homes, path)).value_or(InstallRecord{});
  return now;
}

// The client may have written since we read; its changes must not be lost.
Status check_unchanged(const Files& files, const std::string& path, const std::optional<std::string>& before) {
  if (SB_TRY(read_if_exists(files, path)) == before) return {};
  return fail(ErrorCode::kUnavailable, "the file was changed by another process", "Try again; nothing was changed",
              {path, "", 0, 0});
}

std::unexpected<Error> taken(const std::string& path, const std::string& name, const ServerEntry& other) {
  return fail(ErrorCode::kConflict,
              fmt::format("another server is already named {}: {}", quote_json(name),
                          other.url.empty() ? quote_json(other.command) : other.url),
              "Choose another name with --name; nothing was changed", {path, "", 0, 0});
}

bool is_same_server(ServerEntry a, const ServerEntry& b) {
  a.secret = b.secret;
  return a == b;
}

unsigned mode_for(const ClientTarget& place) {
  return place.scope == InstallScope::kProject ? 0644 : 0600;  // a project's file is meant to be shared
}

// The bytes from before our entry was added, if nothing else has changed since.
std::optional<std::string> untouched_backup(const Files& files, const ClientTarget& place, const Current& now,
                                            const NamedEntry& ours) {
  if (now.installed.backup.empty()) return std::nullopt;
  const auto before = files.read(now.installed.backup, limits::kDocumentBytes);
  if (!before) return std::nullopt;
  const auto again = with_entry(place.client, now.installed.backup, *before, ours.name, ours.entry);
  return again && *again == now.text ? std::optional(*before) : std::nullopt;
}

bool is_as_made(const ClientTarget& place, const Current& now, const NamedEntry& ours) {
  if (!now.installed.has_created(kWholeFile)) return false;
  const auto made = with_entry(place.client, "", "", ours.name, ours.entry);
  return made && *made == now.text;
}

Status note_taken(Files& files, const std::string& path, Current& now, const std::string& name) {
  std::erase(now.installed.made, mark_of(name));
  std::erase_if(now.entries, [&](const NamedEntry& each) { return each.name == name; });
  return now.has_noted() ? save_install_record(files, now.homes, path, now.installed)
                         : remove_install_record(files, now.homes, path);
}

}  // namespace

Result<std::string> config_path(const ClientTarget& place, const Environment& environment) {
  const bool is_claude = place.client == Client::kClaudeCode;
  if (place.scope == InstallScope::kProject)
    return join_path(place.project, is_claude ? ".mcp.json" : ".codex/config.toml");
  const std::string_view variable = is_claude ? "CLAUDE_CONFIG_DIR" : "CODEX_HOME";
  const std::string_view name = is_claude ? ".claude.json" : "config.toml";
  if (const auto folder = environment.get(variable)) return join_path(*folder, name);
  const auto home = environment.get("HOME");
  if (!home) {
    return fail(ErrorCode::kInvalid, fmt::format("neither {} nor HOME is set", variable),
                "Set one of them, or use --project");
  }
  return join_path(is_claude ? *home : join_path(*home, ".codex"), name);
}

Result<InstallResult> install_server(const Seams& seams, const ClientTarget& place, const std::string& name,
                                     ServerEntry entry, const SecretSource& secret_for) {
  InstallResult changed{SB_TRY(config_path(place, seams.environment)), "", false};
  const auto held = SB_TRY(lock_settings(seams));
  Current now = SB_TRY(read_current(seams, place, changed.path));
  const NamedEntry* there = now.find(name);
  if (there && !is_same_server(there->entry, entry) && !now.is_signalbox_server(*there))
    return taken(changed.path, name, there->entry);
  const std::string before = now.text.value_or("");
  if (secret_for) {
    // Fails before a secret is made for an entry that cannot be written.
    entry.secret = there && !there->entry.secret.empty() ? there->entry.secret : "secret";
    SB_TRY(with_entry(place.client, changed.path, before, name, entry));
    entry.secret = SB_TRY(secret_for(changed.path, there ? there->entry.secret : ""));
  }
  const std::string text = SB_TRY(with_entry(place.client, changed.path, before, name, entry));
  if (text == before) return changed;
  if (!now.has_noted()) now.installed = InstallRecord{};
  if (!there && !SB_TRY(has_container(place.client, changed.path, before))) now.installed.add(kContainer);
  if (!now.text) {
    now.installed.add(kWholeFile);
  } else if (now.installed.backup.empty() && !now.installed.has_created(kWholeFile)) {
    now.installed.backup = changed.backup = SB_TRY(save_backup(seams.files, changed.path, before));
  }
  now.installed.add(mark_of(name));
  SB_TRY(seams.files.make_directories(parent_path(changed.path)));
  SB_TRY(save_install_record(seams.files, now.homes, changed.path, now.installed));
  SB_TRY(check_unchanged(seams.files, changed.path, now.text));
  if (!entry.secret.empty() && now.text) SB_TRY(make_private(changed.path));
  SB_TRY(seams.files.write_atomic(changed.path, text, entry.secret.empty() ? mode_for(place) : 0600));
  changed.is_changed = true;
  return changed;
}

Result<InstallResult> uninstall_server(const Seams& seams, const ClientTarget& place, const std::string& name) {
  InstallResult changed{SB_TRY(config_path(place, seams.environment)), "", false};
  const auto held = SB_TRY(lock_settings(seams));
  Current now = SB_TRY(read_current(seams, place, changed.path));
  const NamedEntry* there = now.find(name);
  if (!there) return changed;
  if (!now.is_signalbox_server(*there)) {
    return fail(ErrorCode::kConflict, fmt::format("the server named {} is not a signalbox server", quote_json(name)),
                "Name the right one with --name; nothing was changed", {changed.path, "", 0, 0});
  }
  const NamedEntry ours = *there;
  const auto restored = untouched_backup(seams.files, place, now, ours);
  const bool drops = now.installed.has_created(kContainer);
  const std::string text =
      restored ? *restored : SB_TRY(without_entry(place.client, changed.path, *now.text, name, drops));
  SB_TRY(check_unchanged(seams.files, changed.path, now.text));
  if (is_as_made(place, now, ours)) {
    SB_TRY(seams.files.remove(changed.path));
  } else {
    SB_TRY(seams.files.write_atomic(changed.path, text, mode_for(place)));
  }
  changed.is_changed = true;
  if (restored) SB_TRY(seams.files.remove(now.installed.backup));
  const bool has_copy = !restored && seams.files.kind(now.installed.backup) == FileKind::kFile;
  if (has_copy) changed.backup = now.installed.backup;
  SB_TRY(note_taken(seams.files, changed.path, now, name));
  return changed;
}

}  // namespace sb::hook
