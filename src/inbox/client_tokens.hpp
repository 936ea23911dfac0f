// The bearer tokens of clients: their names, and how they are created and revoked.
//
// `serve-tokens.json` in the data home, mode 0600: {"tokens": [{"name", "sha256", "made_at", ["client": {"config",
// "entry"}]}…]}. Only the digest is stored. It has 256 random bits, so a plain digest is as good as a slow one. A
// running server notices a changed file at the next request: a revoked token is invalid from then on.
//
// A token with `client` is the secret that `signalbox mcp install` wrote into one entry of a client's configuration (no
// `config`: the user pasted it). What comes over a connection that carries it comes from that client, so an answer from
// its dialog is a person's. A token without it only lets its holder in: scripts keep it where agents may see it.
//
// When each was used last is in `serve-token-uses.json` beside it, as {"NAME": TIME}, to the minute. It is a note for
// people: if it is lost, nothing else is.
//
// An external token file (`--token-file`) has one line `NAME TOKEN` per token, and must be readable by its owner only.
//
// Not thread-safe.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/random.hpp"

namespace sb::inbox {

// The environment variable with which a client passes its secret to the `signalbox mcp` it starts.
inline constexpr const char* kClientSecretVariable = "SIGNALBOX_CLIENT_SECRET";

// The configuration files that contain a secret, for those who hide them. None if the file cannot be read.
std::vector<std::string> client_config_files(const Files& files, const HomeDirectories& homes);

struct TokenHolder {
  std::string name;
  bool is_installed_client = false;  // it is the secret of a client
  bool operator==(const TokenHolder&) const = default;
};

// An entry in a client's configuration file; `config` is empty for one that the user wrote.
struct ClientPlace {
  std::string config, entry;
  bool operator==(const ClientPlace&) const = default;
};

// What `signalbox serve token list` shows.
struct TokenFacts {
  std::string name, made_at, last_used;  // RFC 3339; last_used is empty if it never was
  std::optional<ClientPlace> client = {};
};

class ClientTokens {
 public:
  ClientTokens(Files& files, const HomeDirectories& homes);

  // Reads the file; a missing file is not an error.
  Status load();
  // Adds the tokens of a token file, for the lifetime of this object.
  Status load_token_file(const std::string& token_file);
  bool empty() const { return own_.empty() && file_tokens_.empty(); }
  std::vector<TokenFacts> list() const;  // without those of a token file

  // From now on holder_of() notes when a token is used.
  void note_uses(Clock& clock) { clock_ = &clock; }

  // Whose token it is. Rereads a changed file; if it cannot be read, none of its tokens is valid.
  std::optional<TokenHolder> holder_of(std::string_view token);
  // Whether it is the valid secret of that place.
  bool is_secret_of(const ClientPlace& place, std::string_view token);

  // Returns the new token. kConflict if there is one with that name, unless it `replaces` it; a client's is never
  // replaced.
  Result<std::string> make(const std::string& name, Clock& clock, Random& random, bool replaces = false);
  // The same for a client; replaces the secret of the same place. Its name is `wanted`, with a number if that is taken.
  Result<std::string> make_for_client(const std::string& wanted, const ClientPlace& place, Clock& clock,
                                      Random& random);
  // False if there was none with that name, or of that place.
  Result<bool> revoke(const std::string& name);
  Result<bool> revoke_client(const ClientPlace& place);

 private:
  struct Token {
    std::string name, sha256, made_at;
    std::optional<ClientPlace> client = {};
  };
  void follow_file();
  void note_use(const std::string& name);
  bool is_named(const std::string& name) const;
  Result<std::string> add(Token token, Random& random);
  template <class Predicate>
  Result<bool> remove(const Predicate& is_revoked);
  Status save(const std::vector<Token>& tokens);

  Files& files_;
  const std::string path_, uses_path_;
  Clock* clock_ = nullptr;
  std::map<std::string, TimestampMs> noted_;  // by name
  FileStatus seen_;
  std::vector<Token> own_, file_tokens_;
};

}  // namespace sb::inbox
