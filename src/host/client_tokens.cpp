#include "host/client_tokens.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/document/reader.hpp"
#include "base/text.hpp"

namespace sb::host {
namespace {

constexpr std::size_t kFileBytes = 1u << 20;
constexpr std::size_t kTokenBytes = 32;
constexpr std::size_t kShortest = 16;

Status check_name(const std::string& name) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  if (name.empty() || name.size() > 64 || !std::ranges::all_of(name, is_plain)) {
    return fail(ErrorCode::kInvalid, fmt::format("invalid token name {}", quote_json(name)),
                "Use 1 to 64 letters, digits, dots, dashes and underscores");
  }
  if (name == "local") {
    return fail(ErrorCode::kInvalid, "\"local\" is reserved for clients without a token", "Choose another name");
  }
  return {};
}

// No one else may even read it: anyone who knows a token can act as its owner.
Status check_mode(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || (status.st_mode & 077) == 0) return {};
  return fail(ErrorCode::kForbidden, fmt::format("{} is readable by other users", path), "Run chmod 600 on it");
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

ServeTokens::ServeTokens(Files& files, const HomeDirectories& homes)
    : files_(files), path_(join_path(homes.data, "serve-tokens.json")) {}

Status ServeTokens::load() {
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
    fields.finish();
    if (name && sha256) tokens.push_back({*name, *sha256, made_at.value_or("")});
  }
  root.finish();
  if (!faults.empty()) return std::unexpected(faults.front());
  own_ = std::move(tokens);
  return {};
}

Status ServeTokens::load_token_file(const std::string& token_file) {
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

std::optional<std::string> ServeTokens::name_of(std::string_view token) {
  if (files_.status(path_) != seen_ && !load()) own_.clear();
  const std::string digest = sha256_hex(token);
  std::optional<std::string> name;
  // Compares all of them, each in constant time, so that the time does not reveal which are close.
  for (const auto* tokens : {&own_, &file_tokens_}) {
    for (const Token& one : *tokens) {
      if (constant_time_equal(one.sha256, digest)) name = one.name;
    }
  }
  return name;
}

Result<std::string> ServeTokens::make(const std::string& name, Clock& clock, Random& random) {
  SB_TRY(check_name(name));
  SB_TRY(files_.make_directories(parent_path(path_), 0700));
  const auto lock = SB_TRY(files_.lock(path_ + ".lock"));
  SB_TRY(load());
  const std::string token = "sbs_" + to_base32(random.bytes(kTokenBytes));
  std::vector<Token> tokens = own_;
  std::erase_if(tokens, [&](const Token& one) { return one.name == name; });
  tokens.push_back({name, sha256_hex(token), to_rfc3339(clock.now_ms())});
  SB_TRY(save(tokens));
  return token;
}

Result<bool> ServeTokens::revoke(const std::string& name) {
  if (files_.kind(path_) == FileKind::kMissing) return false;
  const auto lock = SB_TRY(files_.lock(path_ + ".lock"));
  SB_TRY(load());
  std::vector<Token> tokens = own_;
  if (std::erase_if(tokens, [&](const Token& one) { return one.name == name; }) == 0) return false;
  SB_TRY(save(tokens));
  return true;
}

Status ServeTokens::save(const std::vector<Token>& tokens) {
  Value list = Value::array();
  for (const Token& one : tokens) {
    list.push_back(Value::object({{"name", one.name}, {"sha256", one.sha256}, {"made_at", one.made_at}}));
  }
  SB_TRY(files_.write_atomic(path_, to_pretty_json(Value::object({{"tokens", std::move(list)}})) + "\n", 0600));
  return load();
}

}  // namespace sb::host
