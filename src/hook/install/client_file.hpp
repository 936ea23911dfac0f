// A client's file that contains something of ours, servers or hooks or both, and what install recorded about it.
//
// The record belongs to the whole file: the copy from before anything of ours was added is restored when the last of
// ours is removed and nothing else has changed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/seams.hpp"
#include "hook/install/clients.hpp"
#include "hook/install/installed_parts.hpp"

namespace sb::hook {

struct InstallResult {
  std::string path;
  std::string backup{};  // the file before install; empty when there was none or it is restored
  bool is_changed = false;
};

// What install adds for a server of this name, in InstallRecord::made.
std::string entry_mark(std::string_view name);

struct ClientFile {
  HomeDirectories homes;
  std::string path;
  std::optional<std::string> text;  // nothing when there is no file
  bool has_ours = false;            // something that install wrote, or one of our hooks
  bool has_record = false;
  InstallRecord installed;  // empty if nothing of ours is left in the text
};
Result<ClientFile> read_client_file(const Seams& seams, const ClientRow& row, const std::string& path);

// Only its owner may read a new file, or one that is to contain a secret. The settings must be locked.
enum class FileAccess { kShared, kOwner, kSecret };

// Keeps a copy of the text from before the first install. kUnavailable when another process changed the file meanwhile.
Result<InstallResult> write_installed(const Seams& seams, ClientFile& file, const std::string& text, FileAccess access);

// `add_again` adds what is being removed to another text: if that gives the present text, the bytes from before are
// restored, or a file that install made is removed.
using AddAgain = std::function<Result<std::string>(const std::string& text)>;
Result<InstallResult> write_uninstalled(const Seams& seams, const ClientRow& row, ClientFile& file,
                                        const std::string& text, FileAccess access, const AddAgain& add_again);

}  // namespace sb::hook
