// The bearer tokens of HTTP clients: their names, and how they are created and revoked.
//
// `serve-tokens.json` in the data home, mode 0600: {"tokens": [{"name", "sha256", "made_at"}…]}. Only the digest is
// stored; the token itself is shown once. It has 256 random bits, so a plain digest is as good as a slow one. A running
// server notices a changed file at the next request: a revoked token is invalid from then on.
//
// An external token file (`--token-file`) has one line `NAME TOKEN` per token, and must be readable by its owner only.
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

  // Reads the file; a missing file is not an error.
  Status load();
  // Adds the tokens of a token file, for the lifetime of this object.
  Status load_token_file(const std::string& token_file);
  bool empty() const { return own_.empty() && file_tokens_.empty(); }

  // The name of a token. Rereads a changed file; if it cannot be read, none of its tokens is valid.
  std::optional<std::string> name_of(std::string_view token);

  // Returns the new token. Replaces one with the same name.
  Result<std::string> make(const std::string& name, Clock& clock, Random& random);
  // False if there was none with that name.
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
