// GitHub's REST API: one request per call; distinguishes answers from refusals. Only for github_*.cpp.
//
// The token is looked up for each request and never appears in an error. It is sent only over TLS, or to loopback.
// Redirects are not followed: a moved repository is an error that says so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "base/seams.hpp"
#include "net/http_client.hpp"

namespace sb::pipeline {

struct GithubResponse {
  int status = 0;
  Value body = {};
  std::string message = {};  // GitHub's text, sanitized: `message` and the texts of `errors`
};

class GithubApi {
 public:
  GithubApi(const Seams& seams, net::HttpClient& http, std::string url, std::string token)
      : seams_(seams), http_(http), url_(std::move(url)), token_(std::move(token)) {}

  // `path` starts with /. Statuses 2xx and those in `fine` are answers; anything else is an error as in forge.hpp.
  Result<GithubResponse> send(const std::string& method, const std::string& path, const Value& body = {},
                              std::vector<int> accepted_codes = {});
  // Every page of a list, or of the list under `member`; kLimit over `max_items`. `path` already has a query.
  Result<std::vector<Value>> pages(const std::string& path, std::string_view member = {},
                                   std::size_t max_items = 10'000);
  std::int64_t retry_after_ms() const { return retry_after_ms_; }
  Result<std::string> token() const;
  const std::string& url() const { return url_; }

 private:
  Result<GithubResponse> read(const net::ClientResponse& answer, const std::string& what,
                              const std::vector<int>& accepted_codes);
  std::unexpected<Error> refusal(const net::ClientResponse& answer, const GithubResponse& read,
                                 const std::string& what);

  Seams seams_;
  net::HttpClient& http_;
  std::string url_, token_;
  std::int64_t retry_after_ms_ = 0;
};

// Encodes a part of a path or a query.
std::string percent_encoded(std::string_view text);

}  // namespace sb::pipeline
