#include "pipeline/run/preflight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.hpp"

namespace sb::pipeline {
namespace {

constexpr std::int64_t kRemoteMs = 60'000;
constexpr std::size_t kToldBranches = 5;

// Checks the repository and the remote of a run.
class Preflight {
 public:
  Preflight(const Seams& seams, const RunSettings& settings, Forge& forge, const RepositoryFacts& repository)
      : settings_(settings),
        forge_(forge),
        repository_(repository),
        git_(seams, repository.root),
        remote_(settings.forge.remote) {}

  Status check() {
    SB_TRY(check_repository());
    SB_TRY(inspect_remote());
    SB_TRY(check_base());
    SB_TRY(check_names());
    SB_TRY(check_in_place());
    SB_TRY(check_writable());
    return forge_.check_access();
  }

 private:
  Status check_repository() const;
  Status inspect_remote();
  Status check_base() const;
  Status check_names();
  Status check_in_place() const;
  Status check_writable();

  const RunSettings& settings_;
  Forge& forge_;
  const RepositoryFacts& repository_;
  Git git_;
  std::string remote_;
  std::map<std::string, std::string, std::less<>> heads_ = {};  // the remote's branches
};

Status Preflight::check_repository() const {
  const std::string& root = repository_.root;
  if (repository_.is_bare) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is a bare repository", root), "Run it in a clone");
  }
  if (repository_.head.empty()) {
    return fail(ErrorCode::kInvalid, fmt::format("{} has no commit yet", root), "Commit something first");
  }
  if (std::ranges::find(repository_.remotes, remote_) == repository_.remotes.end()) {
    return fail(
        ErrorCode::kInvalid, fmt::format("{} has no remote {}, and a run needs one to deliver to", root, remote_),
        fmt::format("A bare repository next to it is enough: git clone --bare . ../remote.git && git remote add {} "
                    "../remote.git",
                    remote_));
  }
  return {};
}

Status Preflight::inspect_remote() {
  const std::string url = without_trailing_newlines(SB_TRY(git_.run({"remote", "get-url", remote_})));
  const auto heads = git_.run(GitCall{.words = {"ls-remote", "--quiet", "--heads", remote_},
                                      .secret = secret_for(url, forge_.push_secret(), forge_.push_host()),
                                      .is_remote = true,
                                      .time_ms = kRemoteMs});
  if (!heads) {
    Error error = heads.error();
    error.message = fmt::format("the remote {} does not answer: {}", remote_, error.message);
    return std::unexpected(std::move(error));
  }
  constexpr std::string_view kBefore = "\trefs/heads/";
  std::string_view text = heads->output;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t at = line.find(kBefore);
    if (at != line.npos) heads_.emplace(line.substr(at + kBefore.size()), line.substr(0, at));
  }
  return {};
}

Status Preflight::check_base() const {
  const std::string base = shown(settings_.base);
  if (heads_.contains(settings_.base)) return {};
  if (heads_.empty()) {
    return fail(ErrorCode::kNotFound, fmt::format("the remote {} is empty", remote_),
                fmt::format("Push first: git push {} {}", remote_, base));
  }
  std::string others;
  for (const auto& [name, hash] : heads_) {
    if (static_cast<std::size_t>(std::ranges::count(others, ',')) >= kToldBranches) break;
    others += (others.empty() ? "" : ", ") + shown(name);
  }
  return fail(
      ErrorCode::kNotFound, fmt::format("the remote {} has no branch {}; it has {}", remote_, base, others),
      fmt::format("Set the target branch in signalbox.yaml: base: NAME, or push it: git push {} {}", remote_, base));
}

// Git does not allow a branch below another one's name, neither here nor on the remote.
Status Preflight::check_names() {
  const std::string& prefix = settings_.prefix;
  for (std::size_t at = prefix.find('/'); at != std::string::npos; at = prefix.find('/', at + 1)) {
    const std::string above = prefix.substr(0, at);
    const bool is_there = heads_.contains(above);
    if (!is_there && !SB_TRY(git_.find_commit("refs/heads/" + above))) continue;
    return fail(ErrorCode::kConflict,
                fmt::format("the branch {}{} exists, so git cannot create {}…", shown(above),
                            is_there ? fmt::format(" on {}", remote_) : "", shown(prefix)),
                "Rename it, or choose another prefix in signalbox.yaml: branch: {prefix: …}");
  }
  return {};
}

Status Preflight::check_in_place() const {
  if (settings_.strategy != "none") return {};
  if (repository_.is_dirty) {
    return fail(ErrorCode::kInvalid, "the working copy has uncommitted changes, and strategy none works in it",
                "Commit or stash them, or set branch: {strategy: worktree}");
  }
  return pipeline::check_in_place(repository_.head, settings_.base, heads_.at(settings_.base));
}

// Tests the permission to push; sends nothing.
Status Preflight::check_writable() {
  const std::string url = without_trailing_newlines(SB_TRY(git_.run({"remote", "get-url", "--push", remote_})));
  const auto tried =
      git_.run(GitCall{.words = {"push", "--dry-run", "--quiet", "--porcelain", "--no-verify", "--no-signed", remote_,
                                 fmt::format("{}:refs/heads/{}preflight", repository_.head, settings_.prefix)},
                       .secret = secret_for(url, forge_.push_secret(), forge_.push_host()),
                       .is_remote = true,
                       .time_ms = kRemoteMs});
  if (tried) return {};
  Error error = tried.error();
  error.message = fmt::format("the remote {} is not writable: {}", remote_, error.message);
  return std::unexpected(std::move(error));
}

}  // namespace

Status check_preflight(const Seams& seams, const RunSettings& settings, Forge& forge,
                       const RepositoryFacts& repository) {
  return Preflight(seams, settings, forge, repository).check();
}

}  // namespace sb::pipeline
