#include "pipeline/plan/pitch.hpp"

#include <fmt/format.h>

#include "base/text/unicode.hpp"
#include "pipeline/limits.hpp"

namespace sb::pipeline {
namespace {

std::unexpected<Error> too_long(const std::string& path) {
  return fail(ErrorCode::kLimit, fmt::format("the pitch {} has more than {} bytes", path, limits::kPitchBytes),
              "Shorten it, and refer to files for the rest");
}

Status check_pitch_path(const Files& files, const std::string& folder, const std::string& path) {
  if (SB_TRY(files.canonical(join_path(folder, path))) == join_path(SB_TRY(files.canonical(folder)), path)) return {};
  return fail(ErrorCode::kInvalid, fmt::format("the pitch {} is a link or is below one", path),
              "Replace the link by a regular file");
}

}  // namespace

Status check_pitch(const std::string& path, std::string_view text) {
  if (text.size() > limits::kPitchBytes) return too_long(path);
  if (!is_utf8(text)) return fail(ErrorCode::kInvalid, fmt::format("the pitch {} is not UTF-8 text", path));
  if (is_blank(text)) {
    return fail(ErrorCode::kInvalid, fmt::format("the pitch {} is empty", path), "Write it, or remove the file");
  }
  return {};
}

Result<std::optional<Pitch>> find_pitch(const Files& files, const std::string& folder) {
  for (const std::string& file : kPitchFiles) {
    const std::string path = join_path(folder, file);
    if (files.kind(path) != FileKind::kFile) continue;
    SB_TRY(check_pitch_path(files, folder, file));
    auto text = files.read(path, limits::kPitchBytes);
    if (!text && text.error().code == ErrorCode::kLimit) return too_long(file);
    if (!text) return std::unexpected(text.error());
    SB_TRY(check_pitch(file, *text));
    return Pitch{file, std::move(*text)};
  }
  return std::nullopt;
}

}  // namespace sb::pipeline
