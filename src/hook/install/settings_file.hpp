// Settings of a client as a file: held against others of us, read, laid out as they were, and kept beside before they
// are changed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/document/document.hpp"
#include "base/files.hpp"
#include "base/seams.hpp"

namespace sb::hook {

// Whoever edits settings of a client holds this; the clients themselves know no lock of ours.
Result<std::shared_ptr<void>> lock_settings(const Seams& seams);

// The file as it is, nothing when there is none. A link that leads nowhere is an error: writing would replace it.
Result<std::optional<std::string>> read_if_exists(const Files& files, const std::string& path);
// The same, as JSON; an empty file is an empty object.
Result<std::optional<Document>> read_settings(const Files& files, const std::string& path);

// kInvalid, with its line, when there is a number that would not be the same number when written again. Pure.
Status check_numbers(const Document& document);

// As the file was laid out before, as far as that can be told. Pure.
std::string format_like(const Value& settings, std::string_view before);

// Keeps the bytes beside the settings, in a file that was not there or has them already; an earlier copy is never
// written over. Gives the copy's path.
Result<std::string> save_backup(Files& files, const std::string& path, std::string_view bytes);

}  // namespace sb::hook
