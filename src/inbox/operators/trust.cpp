#include "inbox/operators/trust.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/stored_reader.hpp"
#include "base/files.hpp"
#include "base/limits.hpp"
#include "inbox/operators/key_files.hpp"

namespace sb::inbox {
namespace {

constexpr std::size_t kTrustBytes = 16 << 20;
constexpr std::size_t kMaxFiles = 1'000;
constexpr int kMaxDepth = 16;
// Files, and folders with everything in them.
constexpr std::string_view kWhole[] = {"signalbox.yaml", ".signalbox", ".workrail/bindings.json",
                                       ".workrail/workflows"};
// Where runs and people leave pitches and designs: Markdown directly in this folder is work and sets no policy.
constexpr std::string_view kOurs = ".signalbox";
// Projects use this name for other things too: only files that can be workflows count.
constexpr std::string_view kWorkflows = "workflows";
// In the configuration home, where the data home may be too.
constexpr std::string_view kConfigured[] = {"decisions", "profiles", kWorkflows};
constexpr std::string_view kConfiguration = "config.yaml";

std::string signed_trust_bytes(Value act) {
  act.erase("sig");
  return "sb-trust-1\n" + to_canonical_json(act);
}

void append_length(std::string& bytes, std::size_t length) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<char>(static_cast<std::uint64_t>(length) >> shift));
  }
}

bool is_work(std::string_view directory, std::string_view name) {
  return directory == kOurs && name.ends_with(".md");
}

bool is_configured_name(std::string_view name) {
  return name != kConfiguration && (name.ends_with(".yaml") || name.ends_with(".yml"));
}

bool is_workflow_name(std::string_view name) {
  return name.ends_with(".json") || name.ends_with(".yaml") || name.ends_with(".yml");
}

class Gathering {
 public:
  Gathering(const Files& files, const std::string& directory) : files_(files), directory_(directory) {}

  Status add(const std::string& name, int depth) {
    const std::string path = join_path(directory_, name);
    const FileKind kind = files_.kind(path);
    if (kind == FileKind::kMissing) return {};
    const std::string real = SB_TRY(files_.canonical(path));
    if (real != path) {
      return fail(ErrorCode::kForbidden, fmt::format("{} is a link to {}", path, real),
                  "Replace the link with the file itself");
    }
    if (kind == FileKind::kFile) return add_file(name, path);
    if (kind != FileKind::kDirectory) return fail(ErrorCode::kForbidden, fmt::format("{} is not a regular file", path));
    if (depth > kMaxDepth) return fail(ErrorCode::kLimit, fmt::format("{} is nested too deeply", path));
    for (const std::string& entry : SB_TRY(files_.list(path))) {
      if (!is_work(name, entry)) SB_TRY(add(name + "/" + entry, depth + 1));
    }
    return {};
  }

  Status add_workflows(const std::string& name, int depth) {
    const std::string path = join_path(directory_, name);
    const FileStatus status = files_.status(path);
    const bool is_folder = status.kind == FileKind::kDirectory;
    if (is_folder ? depth > kMaxDepth : !is_workflow_name(name)) return {};
    if (status.is_link || !is_folder) return add(name, depth);
    for (const std::string& entry : SB_TRY(files_.list(path))) {
      if (entry.starts_with(".") || entry == "node_modules") continue;
      SB_TRY(add_workflows(name + "/" + entry, depth + 1));
    }
    return {};
  }

  PolicyFiles result() && {
    std::ranges::sort(contents_);
    PolicyFiles policy;
    std::string bytes = "sb-policy-1\n";
    for (const auto& [name, content] : contents_) {
      policy.names.push_back(name);
      append_length(bytes, name.size());
      bytes += name;
      append_length(bytes, content.size());
      bytes += content;
    }
    policy.hash = sha256_hex(bytes);
    return policy;
  }

 private:
  Status add_file(const std::string& name, const std::string& path) {
    std::string content = SB_TRY(files_.read(path, limits::kDocumentBytes));
    total_ += content.size();
    if (contents_.size() >= kMaxFiles || total_ > limits::kDocumentBytes) {
      return fail(ErrorCode::kLimit, fmt::format("{} has more than {} policy files or {} MiB of them", directory_,
                                                 kMaxFiles, limits::kDocumentBytes >> 20));
    }
    contents_.emplace_back(name, std::move(content));
    return {};
  }

  const Files& files_;
  const std::string& directory_;
  std::vector<std::pair<std::string, std::string>> contents_;
  std::size_t total_ = 0;
};

}  // namespace

Result<PolicyFiles> policy_files(const Files& files, const std::string& directory) {
  Gathering gathering(files, directory);
  for (const std::string_view name : kWhole) SB_TRY(gathering.add(std::string(name), 0));
  SB_TRY(gathering.add_workflows(std::string(kWorkflows), 0));
  return std::move(gathering).result();
}

TrustedFolders::TrustedFolders(Files& files, const HomeDirectories& homes, const Operators& operators)
    : files_(files),
      path_(join_path(homes.data, "trust.jsonl")),
      config_(files.canonical(homes.config).value_or("")),
      operators_(operators) {}

Result<PolicyFiles> TrustedFolders::policy_of(const std::string& directory) const {
  if (directory != config_) return policy_files(files_, directory);
  Gathering gathering(files_, directory);
  for (const std::string& name : SB_TRY(files_.list(directory))) {
    if (is_configured_name(name)) SB_TRY(gathering.add(name, 0));
  }
  for (const std::string_view name : kConfigured) SB_TRY(gathering.add_workflows(std::string(name), 0));
  return std::move(gathering).result();
}

Result<bool> TrustedFolders::may_claim_safety(const std::string& file) const {
  const bool is_configured = !config_.empty() && is_within(file, config_);
  if (operators_.empty() && is_configured) return true;
  return SB_TRY(trusted_home_of(file)).has_value();
}

bool TrustedFolders::counts(const Value& act) const {
  if (operators_.empty()) return true;
  StoredReader stored(act, "the entry");
  const auto key = from_hex(stored.string("by"));
  const std::string signature = stored.bytes("sig");
  const TimestampMs at = stored.integer("at");
  if (!stored.done()) return false;
  const OperatorKey* signer = key ? operators_.find(*key) : nullptr;
  if (signer == nullptr || (signer->revoked_at && at >= *signer->revoked_at)) return false;
  return verify(signer->public_key, signed_trust_bytes(act), signature);
}

Result<bool> TrustedFolders::is_trusted(std::string_view directory, std::string_view hash) const {
  const auto text = files_.read(path_, kTrustBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return false;
  if (!text) return std::unexpected(text.error());
  bool is_trusted = false;
  for (std::size_t at = 0; at < text->size();) {
    const std::size_t end = std::min(text->find('\n', at), text->size());
    const auto act = parse_stored(std::string_view(*text).substr(at, end - at));
    // A line truncated by a crash is ignored.
    if (act && act->string_at("directory") == directory && counts(*act)) is_trusted = act->string_at("hash") == hash;
    at = end + 1;
  }
  return is_trusted;
}

Result<std::optional<std::string>> TrustedFolders::trusted_home_of(const std::string& file) const {
  for (std::string directory = parent_path(file); directory.size() > 1; directory = parent_path(directory)) {
    const auto holds = [&](std::string_view name) {
      return file == join_path(directory, name) || is_within(file, join_path(directory, name));
    };
    if (directory != config_ && !std::ranges::any_of(kWhole, holds) && !holds(kWorkflows)) continue;
    const auto policy = policy_of(directory);
    if (!policy) continue;
    const bool is_covered = std::ranges::binary_search(policy->names, file.substr(join_path(directory, "").size()));
    if (is_covered && SB_TRY(is_trusted(directory, policy->hash))) return directory;
  }
  return std::nullopt;
}

Status TrustedFolders::trust(std::string_view directory, std::string_view hash, TimestampMs at,
                             const std::optional<std::string>& by_secret) {
  Value act = Value::object({{"at", at}, {"directory", directory}, {"hash", hash}, {"v", 1}});
  if (!operators_.empty()) {
    if (!by_secret) return fail(ErrorCode::kForbidden, "an operator must sign for the folder");
    act.set("by", to_hex(SB_TRY(public_key_of(*by_secret))));
    act.set("sig", to_base64url(SB_TRY(sign(*by_secret, signed_trust_bytes(act)))));
    if (!counts(act)) return fail(ErrorCode::kForbidden, "that key is not an operator's");
  }
  SB_TRY(files_.make_directories(parent_path(path_), 0700));
  return files_.append(path_, to_canonical_json(act) + "\n", 0600);
}

std::function<bool(const std::string& file)> file_trust(Files& files, const HomeDirectories& homes) {
  return [&files, homes](const std::string& file) {
    const auto operators = OperatorFiles(files, homes).load();
    if (!operators) return false;
    const auto folder = TrustedFolders(files, homes, *operators).trusted_home_of(file);
    return folder && folder->has_value();
  };
}

}  // namespace sb::inbox
