// GitHub, or a GitHub Enterprise server, over its REST API.
//
// A request is a pull request of the run's branch whose body has the line `Signalbox-Run: RUN`; if that line was
// removed, any pull request of the branch. Comments carry their mark in an HTML comment. Whether a request is merged is
// read from the pull request itself after the merge call.
//
// The token (`$NAME`, `file:PATH`) needs write access to contents and pull requests, to issues if tickets are closed,
// and read access to checks and commit statuses.
//
// Threads: one at a time.
#pragma once

#include <memory>

#include "base/seams.hpp"
#include "net/http_client.hpp"
#include "pipeline/forge/forge.hpp"

namespace sb::pipeline {

struct GithubSettings {
  std::string repository;                      // owner/name
  std::string url = "https://api.github.com";  // of the API
  std::string token = {};                      // its name, see agent/secrets/secret_value.hpp
  std::string merge_method = "merge";          // merge, squash, rebase
};
std::unique_ptr<Forge> make_github_forge(const Seams& seams, net::HttpClient& http, GithubSettings settings);
// kInvalid if the settings name no repository.
Result<std::unique_ptr<Forge>> make_github_forge(const ForgeParts& parts);

// `owner/name` of a remote's URL: https://HOST/owner/name.git, git@HOST:owner/name; empty if it is not one.
std::string repository_named(std::string_view remote_url);

// An issue as people name it: its URL, `owner/name#12`, `github:owner/name#12`, `#12`, `12`.
struct IssueName {
  std::string repository, number;
  std::string id() const { return "github:" + repository + "#" + number; }
};
std::optional<IssueName> issue_named(std::string_view name, const std::string& repository);
bool is_github_issue(std::string_view name);

}  // namespace sb::pipeline
