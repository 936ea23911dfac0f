#include "inbox/home.hpp"

#include <fmt/format.h>

#include "base/text/printable.hpp"
#include "inbox/operators/key_files.hpp"

namespace sb::inbox {
namespace {

// What is not a folder, or cannot be read, is not an empty home.
Status check_folder(const Files& files, const std::string& folder) {
  const auto names = files.list(folder);
  if (names || (names.error().code == ErrorCode::kNotFound && files.kind(folder) == FileKind::kMissing)) return {};
  Error error = names.error();
  error.code = ErrorCode::kIo;  // kNotFound would mean: a home without anything
  error.message = fmt::format("{} cannot be the home: {}", printable(folder), error.message);
  error.remedy = "Set SIGNALBOX_HOME to a folder that you can read and write";
  return std::unexpected(std::move(error));
}

}  // namespace

std::string store_path(const HomeDirectories& homes) {
  return join_path(homes.data, "signalbox.db");
}

Result<std::unique_ptr<Home>> Home::open(const Seams& seams, store::Access access, store::SqliteOptions options) {
  std::unique_ptr<Home> home(new Home);
  home->homes_ = SB_TRY(sb::homes(seams.environment));
  SB_TRY(check_folder(seams.files, home->homes_.data));
  home->seen_ = home->look(seams.files);
  home->config_ = SB_TRY(load_config(seams.files, home->homes_));
  home->operators_ = SB_TRY(OperatorFiles(seams.files, home->homes_).load());
  home->store_ = SB_TRY(store::SqliteStore::open(store_path(home->homes_), access, std::move(options)));
  home->inbox_.emplace(*home->store_, seams.clock, seams.random, home->operators_, home->config_.policy);
  return home;
}

Status Home::refresh_operators(Files& files) {
  const std::optional<OperatorPin> before = operators_.pin();
  Operators now = SB_TRY(OperatorFiles(files, homes_).load());
  if (before && !now.continues(*before)) {
    return fail(ErrorCode::kForbidden, "the operator keys were replaced while this process was waiting",
                "Find out who replaced them before you answer anything");
  }
  operators_ = std::move(now);
  return {};
}

Home::Seen Home::look(const Files& files) const {
  return {files.status(join_path(homes_.config, "config.yaml")),
          files.status(join_path(homes_.data, "operators/registry.jsonl"))};
}

Status Home::refresh(Files& files) {
  // Checked before reading: a change in between is read next time.
  const Seen now = look(files);
  if (now == seen_) return {};
  Config config = SB_TRY(load_config(files, homes_));
  SB_TRY(refresh_operators(files));
  config_ = std::move(config);
  seen_ = now;
  return {};
}

}  // namespace sb::inbox
