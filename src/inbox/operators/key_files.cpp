#include "inbox/operators/key_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/document/stored_reader.hpp"

namespace sb::inbox {
namespace {

constexpr std::size_t kRegistryBytes = 4 << 20;
constexpr std::size_t kKeyFileBytes = 64 << 10;
constexpr const char* kAnchor = "/etc/signalbox/operators";

// Only a file that root owns and no other user can write, in such a directory, counts: any other could have been
// written by the process it is meant to restrict.
bool is_roots_own(const char* path) {
  struct stat status{};
  return ::stat(path, &status) == 0 && status.st_uid == 0 && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

bool is_operator_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= 32 && is_plain(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_plain(c) || c == '-' || c == '_' || c == '.'; });
}

OperatorFiles::OperatorFiles(Files& files, const HomeDirectories& homes)
    : files_(files),
      directory_(join_path(homes.data, "operators")),
      registry_(join_path(directory_, "registry.jsonl")) {}

std::string OperatorFiles::key_path(std::string_view name) const {
  return join_path(directory_, fmt::format("{}.key", name));
}

std::string OperatorFiles::new_key_path(std::string_view name) const {
  return join_path(directory_, fmt::format("{}.new", name));
}

Result<std::optional<std::vector<std::string>>> OperatorFiles::anchor() const {
  if (files_.kind(kAnchor) == FileKind::kMissing) return std::nullopt;
  if (!is_roots_own(kAnchor) || !is_roots_own("/etc/signalbox")) {
    return fail(ErrorCode::kForbidden, fmt::format("{} can be written by users other than root", kAnchor),
                "Run chown root and chmod 644 on it");
  }
  const std::string text = SB_TRY(files_.read(kAnchor, kRegistryBytes));
  std::vector<std::string> keys;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    line.resize(std::min(line.find('#'), line.size()));
    std::erase(line, ' ');
    if (!line.empty()) keys.push_back(std::move(line));
    at = end + 1;
  }
  return keys;
}

Result<Operators> OperatorFiles::load() const {
  const auto text = files_.read(registry_, kRegistryBytes);
  if (text) return Operators::parse(*text, registry_, SB_TRY(anchor()));
  if (text.error().code != ErrorCode::kNotFound) return std::unexpected(text.error());
  if (files_.kind(directory_) == FileKind::kDirectory) {
    for (const std::string& name : SB_TRY(files_.list(directory_))) {
      if (!name.ends_with(".key")) continue;
      return fail(ErrorCode::kCorrupt, fmt::format("there are operator keys, but {} is missing", registry_),
                  "Restore it from a backup; no signature counts without it");
    }
  }
  return Operators{};
}

// Reads the registry, lets `next` make a line, checks the result like a reader, and writes it.
template <class Next>
Status OperatorFiles::extend(const Next& next) {
  SB_TRY(files_.make_directories(directory_, 0700));
  const auto lock = SB_TRY(files_.lock(join_path(directory_, "lock")));
  const Operators before = SB_TRY(load());
  const std::string line = SB_TRY(next(before));
  std::string text = before.empty() ? std::string() : SB_TRY(files_.read(registry_, kRegistryBytes));
  text += line;
  SB_TRY(Operators::parse(text, registry_, SB_TRY(anchor())));
  return files_.write_atomic(registry_, text, 0600);
}

Result<OperatorKey> OperatorFiles::enrol(std::string_view name, std::string_view passphrase,
                                         const std::optional<std::string>& by_secret, Clock& clock, Random& random,
                                         int log_n) {
  if (!is_operator_name(name)) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is not a valid operator name", quote_json(name)),
                "Use letters, digits, - and _, at most 32");
  }
  if (passphrase.empty()) return fail(ErrorCode::kInvalid, "the passphrase must not be empty");
  const KeyPair pair = make_key_pair(random);
  const std::string sealed = SB_TRY(seal(pair.secret, passphrase, random, log_n));
  const std::string file =
      to_pretty_json(Value::object({{"v", 1}, {"name", name}, {"key", to_hex(pair.public_key)}, {"sealed", sealed}})) +
      "\n";
  const TimestampMs now = clock.now_ms();
  SB_TRY(extend([&](const Operators& before) -> Result<std::string> {
    if (!before.empty() && !by_secret) {
      return fail(ErrorCode::kConflict, "an operator already exists",
                  "Enrol another one with the existing operator's passphrase");
    }
    if (before.named(name) != nullptr || files_.kind(key_path(name)) != FileKind::kMissing) {
      return fail(ErrorCode::kConflict, fmt::format("operator {} already exists", quote_json(name)),
                  "Choose another name with --name");
    }
    // Under a temporary name until it is enrolled: a crash in between leaves an unused file, never an enrolled key that
    // is lost.
    SB_TRY(files_.write_atomic(new_key_path(name), file, 0600));
    return before.enrolment(name, pair.public_key, now, before.empty() ? pair.secret : *by_secret);
  }));
  if (files_.write_atomic(key_path(name), file, 0600)) (void)files_.remove(new_key_path(name));
  return OperatorKey{std::string(name), pair.public_key, now, std::nullopt};
}

Status OperatorFiles::revoke_key(std::string_view public_key, std::string_view by_secret, Clock& clock) {
  return extend([&](const Operators& before) { return before.key_revocation(public_key, clock.now_ms(), by_secret); });
}

Status OperatorFiles::revoke_token(std::string_view token_id, std::string_view by_secret, Clock& clock) {
  return extend([&](const Operators& before) { return before.token_revocation(token_id, clock.now_ms(), by_secret); });
}

Result<std::string> OperatorFiles::unlock(const Operators& operators, std::string_view name,
                                          std::string_view passphrase) const {
  const OperatorKey* key = operators.named(name);
  if (key == nullptr) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no operator {}", quote_json(name)),
                "Create one with signalbox operator init");
  }
  const bool is_in_place = files_.kind(key_path(key->name)) != FileKind::kMissing;
  const std::string path = is_in_place ? key_path(key->name) : new_key_path(key->name);
  const Value file = SB_TRY(parse_stored(SB_TRY(files_.read(path, kKeyFileBytes))));
  StoredReader stored(file, path);
  const std::string sealed = stored.string("sealed");
  SB_TRY(stored.done());
  auto secret = unseal(sealed, passphrase);
  if (!secret) return fail(ErrorCode::kForbidden, fmt::format("the passphrase of operator {} is wrong", key->name));
  if (SB_TRY(public_key_of(*secret)) != key->public_key) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} does not contain the enrolled key", path),
                "Restore it from a backup");
  }
  return secret;
}

}  // namespace sb::inbox
