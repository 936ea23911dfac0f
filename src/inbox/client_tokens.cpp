#include "inbox/client_tokens.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/document/reader.hpp"
#include "base/text.hpp"

namespace sb::inbox {
namespace {

constexpr std::size_t kFileBytes = 1u << 20;
constexpr std::size_t kTokenBytes = 32;
constexpr std::size_t kShortest = 16;

std::string tokens_path(const HomeDirectories& homes) {
  return join_path(homes.data, "serve-tokens.json");
}

Status check_name(const std::string& name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  if (name.empty() || name.size() > 64 || !std::ranges::all_of(name, is_plain)) {
    return fail(ErrorCode::kInvalid, fmt::format("invalid token name {}", quote_json(name)),
                "Use 1 to 64 letters, digits, dots, dashes and underscores");
  }
  if (name == "local" || name == "list" || name == "revoke") {
    return fail(ErrorCode::kInvalid, fmt::format("the name {} is reserved", quote_json(name)), "Choose another name");
  }
  return {};
}

// No one else may even read it: anyone who knows a token can act as its owner.
Status check_mode(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || (status.st_mode & 077) == 0) return {};
  return fail(ErrorCode::kForbidden, fmt::format("{} is readable by other users", path), "Run chmod 600 on it");
}

ClientPlace place_from(const Reader& client) {
  Fields fields = client.fields();
  ClientPlace place{fields.string("config").value_or(""), fields.string("entry", Need::kRequired).value_or("")};
  fields.finish();
  return place;
}

// {"NAME": TIME}; empty if it is missing or damaged.
Value uses_in(const Files& files, const std::string& path) {
  const auto text = files.read(path, kFileBytes);
  auto value = text ? parse_json(*text) : std::unexpected(text.error());
  return value && value->is_object() ? std::move(*value) : Value::object({});
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words(1);
  for (const char c : line) {
    if (c == ' ' || c == '\t' || c == '\r') {
      if (!words.back().empty()) words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

}  // namespace

std::vector<std::string> client_config_files(const Files& files, const HomeDirectories& homes) {
  std::vector<std::string> paths;
  const auto text = files.read(tokens_path(homes), kFileBytes);
  const auto root = text ? parse_json(*text) : std::unexpected(text.error());
  if (!root || !(*root)["tokens"].is_array()) return paths;
  for (const Value& token : (*root)["tokens"].items()) {
    std::string path = token["client"].string_at("config").value_or("");
    if (!path.empty()) paths.push_back(std::move(path));
  }
  return paths;
}

ClientTokens::ClientTokens(Files& files, const HomeDirectories& homes)
    : files_(files), path_(tokens_path(homes)), uses_path_(join_path(homes.data, "serve-token-uses.json")) {}

Status ClientTokens::load() {
  own_.clear();
  seen_ = files_.status(path_);
  if (seen_.kind == FileKind::kMissing) return {};
  SB_TRY(check_mode(path_));
  const Document document = SB_TRY(load_document(files_, path_));
  Faults faults;
  std::vector<Token> tokens;
  Fields root = Reader(document, faults).fields();
  for (const Reader& item : root.items("tokens")) {
    Fields fields = item.fields();
    const auto name = fields.string("name", Need::kRequired);
    const auto sha256 = fields.string("sha256", Need::kRequired);
    const auto made_at = fields.string("made_at");
    std::optional<ClientPlace> client;
    if (const auto place = fields.get("client")) client = place_from(*place);
    fields.finish();
    if (name && sha256) tokens.push_back({*name, *sha256, made_at.value_or(""), std::move(client)});
  }
  root.finish();
  if (!faults.empty()) return std::unexpected(faults.front());
  own_ = std::move(tokens);
  return {};
}

Status ClientTokens::load_token_file(const std::string& token_file) {
  SB_TRY(check_mode(token_file));
  const std::string text = SB_TRY(files_.read(token_file, kFileBytes));
  std::vector<Token> tokens;
  int number = 0;
  for (const std::string_view line : lines_of(text)) {
    const SourceLocation place{.file = token_file, .pointer = {}, .line = ++number};
    const auto words = words_of(line);
    if (words.empty() || words.front().starts_with('#')) continue;
    if (words.size() != 2) {
      return fail(ErrorCode::kInvalid, "a line must be: NAME TOKEN", "Put one token on each line", place);
    }
    if (auto status = check_name(words[0]); !status) {
      status.error().location = place;
      return status;
    }
    if (words[1].size() < kShortest) {
      return fail(ErrorCode::kInvalid, fmt::format("the token of {} is too short", words[0]),
                  fmt::format("Use at least {} characters, for example from `openssl rand -hex 32`", kShortest), place);
    }
    tokens.push_back({words[0], sha256_hex(words[1]), ""});
  }
  if (tokens.empty()) return fail(ErrorCode::kInvalid, fmt::format("no token in {}", token_file));
  file_tokens_ = std::move(tokens);
  return {};
}

void ClientTokens::follow_file() {
  if (files_.status(path_) != seen_ && !load()) own_.clear();
}

std::optional<TokenHolder> ClientTokens::holder_of(std::string_view token) {
  follow_file();
  const std::string digest = sha256_hex(token);
  std::optional<TokenHolder> holder;
  // Compares all of them, each in constant time, so that the time does not reveal which are close.
  for (const auto* tokens : {&own_, &file_tokens_}) {
    for (const Token& one : *tokens) {
      if (constant_time_equal(one.sha256, digest)) holder = TokenHolder{one.name, one.client.has_value()};
    }
  }
  if (holder) note_use(holder->name);
  return holder;
}

// At most once a minute per token, and never if that fails or another process does it: the request matters more.
void ClientTokens::note_use(const std::string& name) {
  constexpr std::int64_t kIntervalMs = 60'000;
  if (clock_ == nullptr) return;
  const TimestampMs now = clock_->now_ms();
  TimestampMs& noted = noted_[name];
  if (noted != 0 && now - noted < kIntervalMs) return;
  noted = now;
  const auto lock = files_.try_lock(uses_path_ + ".lock");
  if (!lock || !*lock) return;
  Value uses = uses_in(files_, uses_path_);
  uses.set(name, to_rfc3339(now));
  (void)files_.write_atomic(uses_path_, to_pretty_json(uses) + "\n", 0600);
}

std::vector<TokenFacts> ClientTokens::list() const {
  const Value uses = uses_in(files_, uses_path_);
  std::vector<TokenFacts> all;
  for (const Token& one : own_) {
    std::string last_used = uses.string_at(one.name).value_or("");
    // Of an earlier token with the same name.
    if (last_used < one.made_at) last_used.clear();
    all.push_back({one.name, one.made_at, std::move(last_used), one.client});
  }
  return all;
}

bool ClientTokens::is_secret_of(const ClientPlace& place, std::string_view token) {
  follow_file();
  const std::string digest = sha256_hex(token);
  return std::ranges::any_of(
      own_, [&](const Token& one) { return one.client == place && constant_time_equal(one.sha256, digest); });
}

bool ClientTokens::is_named(const std::string& name) const {
  return std::ranges::find(own_, name, &Token::name) != own_.end();
}

// The lock is held and the file was read.
Result<std::string> ClientTokens::add(Token token, Random& random) {
  const std::string text = "sbs_" + to_base32(random.bytes(kTokenBytes));
  token.sha256 = sha256_hex(text);
  std::vector<Token> tokens = own_;
  std::erase_if(
      tokens, [&](const Token& one) { return one.name == token.name || (token.client && one.client == token.client); });
  tokens.push_back(std::move(token));
  SB_TRY(save(tokens));
  return text;
}

Result<std::string> ClientTokens::make(const std::string& name, Clock& clock, Random& random, bool replaces) {
  SB_TRY(check_name(name));
  SB_TRY(files_.make_directories(parent_path(path_), 0700));
  const auto lock = SB_TRY(files_.lock(path_ + ".lock"));
  SB_TRY(load());
  const auto same = std::ranges::find(own_, name, &Token::name);
  if (same != own_.end() && same->client) {
    return fail(ErrorCode::kConflict, fmt::format("{} is the name of a client's secret", quote_json(name)),
                "Choose another name");
  }
  if (same != own_.end() && !replaces) {
    return fail(ErrorCode::kConflict, fmt::format("there is a token named {} already", quote_json(name)),
                "Choose another name, or replace it with --replace: the old one is then invalid");
  }
  return add({.name = name, .sha256 = {}, .made_at = to_rfc3339(clock.now_ms())}, random);
}

Result<std::string> ClientTokens::make_for_client(const std::string& wanted, const ClientPlace& place, Clock& clock,
                                                  Random& random) {
  SB_TRY(check_name(wanted));
  SB_TRY(files_.make_directories(parent_path(path_), 0700));
  const auto lock = SB_TRY(files_.lock(path_ + ".lock"));
  SB_TRY(load());
  std::string name = wanted;
  const auto same = std::ranges::find_if(own_, [&](const Token& one) { return one.client == place; });
  if (same != own_.end()) {
    name = same->name;
  } else {
    for (int number = 2; is_named(name); ++number) name = fmt::format("{}-{}", wanted, number);
  }
  SB_TRY(check_name(name));
  return add({.name = name, .sha256 = {}, .made_at = to_rfc3339(clock.now_ms()), .client = place}, random);
}

template <class Predicate>
Result<bool> ClientTokens::remove(const Predicate& is_revoked) {
  if (files_.kind(path_) == FileKind::kMissing) return false;
  const auto lock = SB_TRY(files_.lock(path_ + ".lock"));
  SB_TRY(load());
  std::vector<Token> tokens = own_;
  if (std::erase_if(tokens, is_revoked) == 0) return false;
  SB_TRY(save(tokens));
  return true;
}

Result<bool> ClientTokens::revoke(const std::string& name) {
  return remove([&](const Token& one) { return one.name == name; });
}

Result<bool> ClientTokens::revoke_client(const ClientPlace& place) {
  return remove([&](const Token& one) { return one.client == place; });
}

Status ClientTokens::save(const std::vector<Token>& tokens) {
  Value list = Value::array();
  for (const Token& one : tokens) {
    Value item = Value::object({{"name", one.name}, {"sha256", one.sha256}, {"made_at", one.made_at}});
    if (one.client) {
      item.set("client", Value::object({{"config", one.client->config}, {"entry", one.client->entry}}));
    }
    list.push_back(std::move(item));
  }
  SB_TRY(files_.write_atomic(path_, to_pretty_json(Value::object({{"tokens", std::move(list)}})) + "\n", 0600));
  return load();
}

}  // namespace sb::inbox
