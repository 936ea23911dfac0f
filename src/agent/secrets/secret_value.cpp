#include "agent/secrets/secret_value.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/text.hpp"

namespace sb::agent {
namespace {

constexpr std::size_t kSecretBytes = 16u << 10;

Result<std::string> from_file(const std::string& path, const Seams& seams) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && (status.st_mode & 077) != 0) {
    return fail(ErrorCode::kForbidden, fmt::format("the secret file {} is readable by other users", path),
                fmt::format("chmod 600 {}", path));
  }
  std::string text = SB_TRY(seams.files.read(path, kSecretBytes));
  return std::string(first_line(text));
}

}  // namespace

std::string secret_file(const std::string& name) {
  return name.starts_with("file:") ? name.substr(5) : std::string();
}

Result<std::string> secret_of(const std::string& name, const Seams& seams) {
  if (name.empty()) return std::string();
  std::string value;
  if (name.starts_with("file:")) {
    value = SB_TRY(from_file(name.substr(5), seams));
  } else if (name.starts_with('$')) {
    value = seams.environment.get(name.substr(1)).value_or("");
  } else {
    return fail(ErrorCode::kInvalid, "the settings contain a secret",
                "Put it into a variable and write $NAME, or into a file and write file:PATH");
  }
  value = std::string(trimmed_end(value, "\r\n "));
  if (value.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("{} is empty or not set", name), "Set it, then try again");
  }
  // It is sent in a header.
  const bool is_plain = std::ranges::all_of(value, [](char c) { return c > ' ' && c < '\x7f'; });
  if (!is_plain) return fail(ErrorCode::kInvalid, fmt::format("{} contains more than one word of plain text", name));
  return value;
}

}  // namespace sb::agent
