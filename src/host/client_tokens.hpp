// The tokens that let clients in over HTTP: who they name, and how they are made and taken away.
//
// `serve-tokens.json` in the data home, mode 0600: {"tokens": [{"name", "sha256", "made_at"}…]}. Only the digest is
// kept; the token itself is shown once. It has 256 random bits, so a plain digest is as good as a slow one. A running
// server sees a changed file at the next request: a token taken away is of no use from then on.
//
// A token file brought along (`--token-file`) has a line `NAME TOKEN` each, and must be readable by its owner alone.
//
// Not thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/random.hpp"

namespace sb::host {

class ServeTokens {
 public:
  ServeTokens(Files& files, const HomeDirectories& homes);

  // Reads the file; none is no fault.
  Status load();
  // Adds those of a token file, for as long as this lives.
  Status load_token_file(const std::string& token_file);
  bool empty() const { return own_.empty() && file_tokens_.empty(); }

  // Whom it names; looks again when the file has changed, and lets nobody of it in when it cannot be read.
  std::optional<std::string> name_of(std::string_view token);

  // The new token. One of that name is replaced.
  Result<std::string> make(const std::string& name, Clock& clock, Random& random);
  // False: there was none of that name.
  Result<bool> revoke(const std::string& name);

 private:
  struct Token {
    std::string name, sha256, made_at;
  };
  Status save(const std::vector<Token>& tokens);

  Files& files_;
  const std::string path_;
  FileStatus seen_;
  std::vector<Token> own_, file_tokens_;
};

}  // namespace sb::host
