// The settings file of a client: locked against other signalbox processes, read, and backed up before a change.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/document/document.hpp"
#include "base/files.hpp"
#include "base/seams.hpp"

namespace sb::hook {

// Held by every signalbox process that edits client settings or config.yaml; other programs do not know this lock.
Result<std::shared_ptr<void>> lock_settings(const Seams& seams);

// The file's content, or nothing when there is none. A dangling link is an error: writing would replace it.
Result<std::optional<std::string>> read_if_exists(const Files& files, const std::string& path);
// As JSON; an empty text is an empty object. Pure.
Result<Document> parse_settings(const std::string& path, std::string_view text, bool has_comments);

// Removes the access of other users, before a secret is written into the file. Returns the mode it had, if that
// changed.
Result<std::optional<unsigned>> make_private(const std::string& path);
// Undoes it, unless the mode was changed since.
void make_public_again(const std::string& path, unsigned mode);

// The folders above a new file that do not exist yet.
int missing_folders(const Files& files, const std::string& path);
// Of the folders above a removed file, so many; one that is not empty stays, and so do those above it.
void remove_folders(Files& files, const std::string& path, int count);

// Copies the bytes to a backup file next to the settings, new or with the same content; an earlier backup is never
// overwritten. Returns the backup's path.
Result<std::string> save_backup(Files& files, const std::string& path, std::string_view bytes);

}  // namespace sb::hook
