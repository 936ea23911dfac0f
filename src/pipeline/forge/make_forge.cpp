#include "pipeline/forge/make_forge.hpp"

#include <fmt/format.h>

#include "pipeline/forge/github_forge.hpp"
#include "pipeline/forge/local_forge.hpp"
#include "pipeline/git/git.hpp"

namespace sb::pipeline {

Result<std::unique_ptr<Forge>> make_forge(const Seams& seams, net::HttpClient& http, const ForgeSettings& settings,
                                          const std::string& repository) {
  if (settings.kind == "local") return make_local_forge(seams, repository, settings.remote);
  if (settings.kind != "github") {
    return fail(ErrorCode::kInvalid, fmt::format("{} is no forge we know", shown(settings.kind)),
                "forge: {kind: …} is one of local, github");
  }
  GithubSettings github{.repository = settings.repository, .token = settings.token, .merge_method = settings.method};
  if (!settings.url.empty()) github.url = settings.url;
  if (github.repository.empty() || repository_named("x:" + github.repository) != github.repository) {
    return fail(ErrorCode::kInvalid, "which repository on GitHub this is cannot be told",
                "Set forge: {kind: github, repository: owner/name} in signalbox.yaml");
  }
  return make_github_forge(seams, http, std::move(github));
}

}  // namespace sb::pipeline
