#include "hook/install/client_file.hpp"

#include <algorithm>

#include "base/limits.hpp"
#include "hook/install/client_entry.hpp"
#include "hook/install/json_text.hpp"
#include "hook/install/settings_file.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kWholeFile = "file";
constexpr std::string_view kMode = "mode";
constexpr std::string_view kEntryMark = "entry ";
constexpr std::string_view kHookWord = "/signalbox-hook";

// Whether something that install recorded is still there.
Result<bool> has_ours(const ClientRow& row, const std::string& path, std::string_view text,
                      const InstallRecord& installed) {
  if (text.find(kHookWord) != std::string_view::npos) return true;
  const auto is_entry = [](const std::string& mark) { return mark.starts_with(kEntryMark); };
  if (std::ranges::none_of(installed.made, is_entry)) return false;
  const auto entries = SB_TRY(read_entries(row.client, path, text));
  return std::ranges::any_of(entries,
                             [&](const NamedEntry& each) { return installed.has_created(entry_mark(each.name)); });
}

// The client may have written since we read; its changes must not be lost.
Status check_unchanged(const Files& files, const ClientFile& file) {
  if (SB_TRY(read_if_exists(files, file.path)) == file.text) return {};
  return fail(ErrorCode::kUnavailable, "the file was changed by another process", "Try again; nothing was changed",
              {file.path, "", 0, 0});
}

unsigned mode_of(FileAccess access) {
  return access == FileAccess::kShared ? 0644 : 0600;
}

// The bytes from before install, if nothing else has changed since.
std::optional<std::string> untouched_backup(const Files& files, const ClientFile& file, const AddAgain& add_again) {
  if (file.installed.backup.empty()) return std::nullopt;
  const auto before = files.read(file.installed.backup, limits::kDocumentBytes);
  if (!before) return std::nullopt;
  const auto again = add_again(*before);
  return again && *again == file.text ? std::optional(*before) : std::nullopt;
}

// While something of ours stays in a JSON file: `text` written as a change of the copy, if the present text is one, so
// that the last removal finds the bytes of the copy again.
std::string as_change_of_backup(const Files& files, const ClientRow& row, const ClientFile& file,
                                const std::string& text) {
  const auto backup = file.installed.backup.empty() ? std::unexpected(Error{})
                                                    : files.read(file.installed.backup, limits::kDocumentBytes);
  if (!backup || backup->empty()) return text;
  const auto parsed = [&](const std::string& each) { return parse_settings(file.path, each, row.shape->has_comments); };
  const auto before = parsed(*backup), now = parsed(*file.text), after = parsed(text);
  if (!before || !now || !after || with_json_changes(*backup, before->root, now->root) != file.text) return text;
  return with_json_changes(*backup, before->root, after->root);
}

bool is_as_made(const ClientFile& file, const AddAgain& add_again) {
  if (!file.installed.has_created(kWholeFile)) return false;
  const auto made = add_again("");
  return made && *made == file.text;
}

}  // namespace

std::string entry_mark(std::string_view name) {
  return std::string(kEntryMark) + std::string(name);
}

Result<ClientFile> read_client_file(const Seams& seams, const ClientRow& row, const std::string& path) {
  ClientFile file{.homes = SB_TRY(sb::homes(seams.environment)),
                  .path = path,
                  .text = SB_TRY(read_if_exists(seams.files, path)),
                  .installed = {}};
  const auto installed = SB_TRY(find_install_record(seams.files, file.homes, path));
  file.has_ours = SB_TRY(has_ours(row, path, file.text.value_or(""), installed.value_or(InstallRecord{})));
  file.has_record = installed && file.has_ours;
  if (file.has_record) file.installed = *installed;
  return file;
}

Result<InstallResult> write_installed(const Seams& seams, ClientFile& file, const std::string& text,
                                      FileAccess access) {
  InstallResult changed{.path = file.path};
  SB_TRY(check_unchanged(seams.files, file));
  if (!file.text) {
    file.installed.add(kWholeFile);
    file.installed.add_number(kMadeFolders, missing_folders(seams.files, file.path));
  } else if (!file.has_ours) {
    file.installed.backup = changed.backup = SB_TRY(save_backup(seams.files, file.path, *file.text));
  }
  SB_TRY(seams.files.make_directories(parent_path(file.path)));
  const bool hides = access == FileAccess::kSecret && file.text;
  if (const auto mode = hides ? SB_TRY(make_private(file.path)) : std::nullopt) {
    file.installed.add_number(kMode, static_cast<int>(*mode));
  }
  SB_TRY(save_install_record(seams.files, file.homes, file.path, file.installed));
  SB_TRY(check_unchanged(seams.files, file));
  SB_TRY(seams.files.write_atomic(file.path, text, mode_of(access)));
  changed.is_changed = true;
  return changed;
}

Result<InstallResult> write_uninstalled(const Seams& seams, const ClientRow& row, ClientFile& file,
                                        const std::string& text, FileAccess access, const AddAgain& add_again) {
  InstallResult changed{.path = file.path};
  const bool is_last = !SB_TRY(has_ours(row, file.path, text, file.installed));
  const auto restored = is_last ? untouched_backup(seams.files, file, add_again) : std::nullopt;
  SB_TRY(check_unchanged(seams.files, file));
  if (is_last && is_as_made(file, add_again)) {
    SB_TRY(seams.files.remove(file.path));
    remove_folders(seams.files, file.path, file.installed.number(kMadeFolders).value_or(0));
  } else {
    const std::string left = is_last ? restored.value_or(text) : as_change_of_backup(seams.files, row, file, text);
    SB_TRY(seams.files.write_atomic(file.path, left, mode_of(access)));
    const auto mode = is_last ? file.installed.number(kMode) : std::nullopt;
    if (mode) make_public_again(file.path, static_cast<unsigned>(*mode));
  }
  changed.is_changed = true;
  if (!is_last) {
    SB_TRY(save_install_record(seams.files, file.homes, file.path, file.installed));
    return changed;
  }
  if (restored) SB_TRY(seams.files.remove(file.installed.backup));
  const bool has_copy = !restored && seams.files.kind(file.installed.backup) == FileKind::kFile;
  if (has_copy) changed.backup = file.installed.backup;
  SB_TRY(remove_install_record(seams.files, file.homes, file.path));
  return changed;
}

}  // namespace sb::hook
