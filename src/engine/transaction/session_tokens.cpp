#include "engine/transaction/session_tokens.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/answer/session_error.hpp"

namespace sb::engine {
namespace {

std::string_view code_of(TokenFault fault) {
  switch (fault) {
    case TokenFault::kNotAToken:
    case TokenFault::kMangled:
      return "TOKEN_INVALID_FORMAT";
    case TokenFault::kVersion:
      return "TOKEN_UNSUPPORTED_VERSION";
    case TokenFault::kUnknownKey:
    case TokenFault::kRetiredKey:
    case TokenFault::kForged:
      return "TOKEN_BAD_SIGNATURE";
  }
  return "TOKEN_INVALID_FORMAT";
}

std::string_view name_of(Purpose purpose) {
  switch (purpose) {
    case Purpose::kContinue:
      return "continue token (ct_)";
    case Purpose::kCheckpoint:
      return "checkpoint token (ck_)";
    case Purpose::kResume:
      return "resume token (st_)";
  }
  return "";
}

}  // namespace

Result<SessionToken> SessionTokens::read(std::string_view text, std::initializer_list<Purpose> allowed) {
  const auto find = [&](std::uint16_t id) { return keys_.find(id); };
  auto token = read_token(text, find);
  const auto is_stale = [&] {
    return !token && (token.error().fault == TokenFault::kUnknownKey || token.error().fault == TokenFault::kRetiredKey);
  };
  // A retired key must not be accepted for long.
  constexpr std::int64_t kKeysFreshMs = 1'000;
  const TimestampMs now = clock_.now_ms();
  if (keys_.empty() || is_stale() || now - keys_read_ms_ >= kKeysFreshMs || now < keys_read_ms_) {
    SB_TRY(store_.read([&](store::Snapshot& snapshot) { return keys_.load(snapshot); }));
    keys_read_ms_ = now;
    token = read_token(text, find);
  }
  if (!token) {
    Error error = token.error().error;
    if (is_stale() || token.error().fault == TokenFault::kNotAToken) {
      error.remedy += error.remedy.empty() ? "" : ". ";
      error.remedy += remedy_for(RemedyKind::kFindSession, surface_);
    }
    return refuse(code_of(token.error().fault), std::move(error));
  }
  if (std::ranges::find(allowed, token->purpose) == allowed.end()) {
    return refuse("TOKEN_SCOPE_MISMATCH", ErrorCode::kInvalid,
                  fmt::format("a {} cannot be used here", name_of(token->purpose)),
                  fmt::format("Use a {}", name_of(*allowed.begin())));
  }
  return *token;
}

Status SessionTokens::load_or_make(store::Transaction& transaction) {
  return keys_.load_or_make(transaction, random_, clock_.now_ms());
}

Status SessionTokens::rotate(store::Transaction& transaction, bool retire_old) {
  return keys_.rotate(transaction, random_, clock_.now_ms(), retire_old);
}

std::string SessionTokens::mint(Purpose purpose, std::string_view session, NodeNo node, int attempt) const {
  return engine::mint({purpose, std::string(session), node, attempt}, keys_.current());
}

}  // namespace sb::engine
