#include "hook/install/client_config.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hook/install/client_file.hpp"
#include "hook/install/settings_file.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kContainer = "servers";

struct ConfiguredServers {
  ClientFile file;
  std::vector<NamedEntry> entries;

  const NamedEntry* find(std::string_view name) const {
    const auto found = std::ranges::find(entries, name, &NamedEntry::name);
    return found == entries.end() ? nullptr : &*found;
  }
  bool is_signalbox_server(const NamedEntry& each) const {
    const bool was_written = !each.entry.url.empty() && file.installed.has_created(entry_mark(each.name));
    return was_written || is_signalbox_entry(each.entry);
  }
};

Result<ConfiguredServers> read_servers(const Seams& seams, const ClientTarget& place) {
  const std::string path = SB_TRY(config_path(place, seams.environment));
  ConfiguredServers now{SB_TRY(read_client_file(seams, row_of(place.client), path)), {}};
  now.entries = SB_TRY(read_entries(place.client, path, now.file.text.value_or("")));
  return now;
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

// A project's file is meant to be shared.
FileAccess access_of(const ClientTarget& place, bool has_secret) {
  if (has_secret) return FileAccess::kSecret;
  return place.scope == InstallScope::kProject ? FileAccess::kShared : FileAccess::kOwner;
}

}  // namespace

Result<std::string> config_path(const ClientTarget& place, const Environment& environment) {
  const ClientRow& row = row_of(place.client);
  return client_path(row, row.servers, place.scope, place.project, environment);
}

Result<InstallResult> install_server(const Seams& seams, const ClientTarget& place, const std::string& name,
                                     ServerEntry entry, const SecretSource& secret_for) {
  const auto held = SB_TRY(lock_settings(seams));
  ConfiguredServers now = SB_TRY(read_servers(seams, place));
  ClientFile& file = now.file;
  const NamedEntry* there = now.find(name);
  if (there && !is_same_server(there->entry, entry) && !now.is_signalbox_server(*there))
    return taken(file.path, name, there->entry);
  const std::string before = file.text.value_or("");
  if (secret_for) {
    // Fails before a secret is made for an entry that cannot be written.
    entry.secret = there && !there->entry.secret.empty() ? there->entry.secret : "secret";
    SB_TRY(with_entry(place.client, file.path, before, name, entry));
    entry.secret = SB_TRY(secret_for(file.path, there ? there->entry.secret : ""));
  }
  const std::string text = SB_TRY(with_entry(place.client, file.path, before, name, entry));
  if (text == before) return InstallResult{.path = file.path};
  if (!there && !SB_TRY(has_container(place.client, file.path, before))) file.installed.add(kContainer);
  file.installed.add(entry_mark(name));
  return write_installed(seams, file, text, access_of(place, !entry.secret.empty()));
}

Result<InstallResult> uninstall_server(const Seams& seams, const ClientTarget& place, const std::string& name) {
  const auto held = SB_TRY(lock_settings(seams));
  ConfiguredServers now = SB_TRY(read_servers(seams, place));
  ClientFile& file = now.file;
  const NamedEntry* there = now.find(name);
  if (!there) return InstallResult{.path = file.path};
  if (!now.is_signalbox_server(*there)) {
    return fail(ErrorCode::kConflict, fmt::format("the server named {} is not a signalbox server", quote_json(name)),
                "Name the right one with --name; nothing was changed", {file.path, "", 0, 0});
  }
  const bool drops = file.installed.has_created(kContainer);
  const std::string text = SB_TRY(without_entry(place.client, file.path, *file.text, name, drops));
  const auto add_again = [&](const std::string& other) {
    return with_entry(place.client, file.path, other, name, there->entry);
  };
  std::erase(file.installed.made, entry_mark(name));
  return write_uninstalled(seams, row_of(place.client), file, text, access_of(place, false), add_again);
}

}  // namespace sb::hook
