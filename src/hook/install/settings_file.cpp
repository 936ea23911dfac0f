#include "hook/install/settings_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/limits.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kBackupEnd = ".before-signalbox";
constexpr int kMostBackups = 100;
constexpr std::size_t kExactDigits = 15;  // a double preserves this many

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Whether this number of a JSON text stays the same after parsing and writing.
bool survives(std::string_view number) {
  if (number.find_first_of(".eE") == std::string_view::npos) {
    std::int64_t whole = 0;
    return std::from_chars(number.data(), number.data() + number.size(), whole).ec == std::errc();
  }
  std::string digits;
  for (const char c : number.substr(0, number.find_first_of("eE"))) {
    if (is_digit(c) && (c != '0' || !digits.empty())) digits += c;
  }
  double value = 0;
  const bool is_read = std::from_chars(number.data(), number.data() + number.size(), value).ec == std::errc();
  return is_read && digits.size() <= kExactDigits && (digits.empty() || value != 0);
}

bool is_dangling_link(const Files& files, const std::string& path) {
  if (files.kind(path) != FileKind::kMissing) return false;
  const auto names = files.list(parent_path(path));
  return names && std::ranges::find(*names, base_name(path)) != names->end();
}

}  // namespace

Result<std::shared_ptr<void>> lock_settings(const Seams& seams) {
  const HomeDirectories homes = SB_TRY(sb::homes(seams.environment));
  SB_TRY(seams.files.make_directories(homes.state, 0700));
  return seams.files.lock(join_path(homes.state, ".settings.lock"));
}

Result<std::optional<std::string>> read_if_exists(const Files& files, const std::string& path) {
  if (is_dangling_link(files, path)) {
    return fail(ErrorCode::kInvalid, "the settings file is a dangling link",
                "Create the target file or remove the link; nothing was changed", {path, "", 0, 0});
  }
  auto text = files.read(path, limits::kDocumentBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!text) return std::unexpected(text.error());
  return std::optional(std::move(*text));
}

Result<std::optional<Document>> read_settings(const Files& files, const std::string& path) {
  auto text = SB_TRY(read_if_exists(files, path));
  if (!text) return std::nullopt;
  if (text->empty()) return Document{path, "", Value::object()};
  auto document = parse_document(path, std::move(*text), Syntax::kJson);
  if (document) return std::optional(std::move(*document));
  Error error = document.error();
  error.message = "the settings cannot be read: " + error.message;
  error.remedy = "Fix the file first; nothing was changed";
  return std::unexpected(std::move(error));
}

Status check_numbers(const Document& document) {
  const std::string_view text = document.text;
  int line = 1;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n') ++line;
    if (text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\') ++at;
      }
    } else if (text[at] == '-' || is_digit(text[at])) {
      const std::size_t end = std::min(text.size(), text.find_first_not_of("0123456789+-.eE", at));
      const std::string_view number = text.substr(at, end - at);
      if (!survives(number)) {
        return fail(ErrorCode::kInvalid,
                    fmt::format("the number {} has too many digits to be preserved", number.substr(0, 60)),
                    "Shorten it or put it in quotes; nothing was changed", {document.name, "", line, 0});
      }
      at = end - 1;
    }
  }
  return {};
}

std::string format_like(const Value& settings, std::string_view before) {
  std::size_t indent = 0;
  if (const std::size_t at = before.find('\n'); at != std::string_view::npos) {
    const std::size_t end = before.find_first_not_of(' ', at + 1);
    if (end != std::string_view::npos && before[end] == '"') indent = end - at - 1;
  }
  const bool ends_line = before.empty() || before.ends_with('\n');
  return to_pretty_json(settings, indent == 0 ? 2 : static_cast<int>(std::min<std::size_t>(indent, 8))) +
         (ends_line ? "\n" : "");
}

Status make_private(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || (status.st_mode & 077) == 0) return {};
  if (::chmod(path.c_str(), status.st_mode & 07700) == 0) return {};
  return fail(ErrorCode::kIo, fmt::format("cannot hide the file from other users: {}", std::strerror(errno)),
              "It is to contain a secret, so it must be yours; nothing was changed", {path, "", 0, 0});
}

Result<std::string> save_backup(Files& files, const std::string& path, std::string_view bytes) {
  const std::string first = path + std::string(kBackupEnd);
  for (int i = 1; i <= kMostBackups; ++i) {
    const std::string copy = i == 1 ? first : fmt::format("{}-{}", first, i);
    const auto there = files.read(copy, limits::kDocumentBytes);
    if (there && *there == bytes) return copy;
    if (there || there.error().code != ErrorCode::kNotFound) continue;
    SB_TRY(files.write_atomic(copy, bytes, 0600));
    return copy;
  }
  return fail(ErrorCode::kLimit, "there are too many backups of the settings", "Remove some; nothing was changed",
              {first, "", 0, 0});
}

}  // namespace sb::hook
