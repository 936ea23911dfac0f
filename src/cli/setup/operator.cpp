// `signalbox operator init|token|revoke`: the keys that sign answers only a person may give.
#include <fmt/format.h>

#include "cli/local_time.hpp"
#include "cli/person.hpp"
#include "inbox/operators/key_files.hpp"

namespace sb::cli {
namespace {

using inbox::OperatorFiles;
using inbox::Operators;

struct OperatorOptions {
  std::string name;
  std::string scope;
  std::string expires = "8h";
  std::string revoked;
};

struct OperatorStore {
  std::unique_ptr<inbox::Home> home;
  HomeDirectories homes;
  OperatorFiles files;
  Operators operators;
};

// Fails if the register is not the one the inbox recorded: a truncated register must not be extended.
Result<OperatorStore> open_operators(const Context& context) {
  auto home = SB_TRY(inbox::Home::open(context.seams, store::Access::kReadWrite));
  SB_TRY(home->inbox().record_operators());
  const HomeDirectories homes = home->homes();
  Operators operators = home->operators();
  return OperatorStore{std::move(home), homes, OperatorFiles(context.seams.files, homes), std::move(operators)};
}

// Records the extended register in the inbox, so that a truncation is noticed.
Status remember(const Context& context, OperatorStore& operator_store) {
  SB_TRY(operator_store.home->refresh_operators(context.seams.files));
  return operator_store.home->inbox().record_operators();
}

Status init(const Context& context, const OperatorOptions& options) {
  OperatorStore operator_store = SB_TRY(open_operators(context));
  const std::string name = options.name.empty() ? user_name() : options.name;
  if (operator_store.operators.named(name) != nullptr) {
    return fail(ErrorCode::kConflict, fmt::format("operator {} already exists", quote_json(name)),
                "Choose another name with --name; a second operator needs the passphrase of the first");
  }
  std::optional<std::string> voucher;
  if (!operator_store.operators.empty()) {
    context.err("There are operators already; one of them must confirm the new one.\n");
    voucher = SB_TRY(unlock_operator(context, operator_store.homes, operator_store.operators, ""));
  }
  const std::string passphrase =
      SB_TRY(ask_new_passphrase(context, fmt::format("New passphrase for operator {}: ", name)));
  const auto key =
      SB_TRY(operator_store.files.enrol(name, passphrase, voucher, context.seams.clock, context.seams.random));
  SB_TRY(remember(context, operator_store));
  context.out(fmt::format("operator {} has key {}\n", key.name, to_hex(key.public_key)));
  if (!voucher) {
    context.out("To accept only this register of operators, have root write that key into /etc/signalbox/operators.\n");
  }
  return {};
}

Status make_token(const Context& context, const OperatorOptions& options) {
  OperatorStore operator_store = SB_TRY(open_operators(context));
  const std::int64_t lifetime_ms = SB_TRY(parse_duration_ms(options.expires));
  if (lifetime_ms <= 0) return fail(ErrorCode::kInvalid, "--expires must be in the future");
  std::string scope = options.scope;
  constexpr std::string_view kWorkspace = "workspace:";
  if (scope.starts_with(kWorkspace)) {
    scope = std::string(kWorkspace) + SB_TRY(context.seams.files.canonical(scope.substr(kWorkspace.size())));
  }
  const TimestampMs now = context.seams.clock.now_ms();
  const std::string id = inbox::make_token_id(now, context.seams.random);
  // Report an invalid scope before asking for a passphrase.
  SB_TRY(inbox::make_token(id, scope, now, now + lifetime_ms, std::string(32, 'k'), context.seams.random));
  const std::string secret =
      SB_TRY(unlock_operator(context, operator_store.homes, operator_store.operators, options.name));
  const std::string token = SB_TRY(inbox::make_token(id, scope, now, now + lifetime_ms, secret, context.seams.random));
  context.out(token + "\n");
  context.err(fmt::format("token {} answers {} until {}; revoke it with signalbox operator revoke {}\n", id,
                          scope == "*" ? "everything" : scope, local_time(now + lifetime_ms), id));
  return {};
}

// Finds a key by a prefix of 16 hex digits or more, or by its operator's name.
const inbox::OperatorKey* find_key(const Operators& operators, const std::string& text) {
  if (const inbox::OperatorKey* key = operators.named(text)) return key;
  const inbox::OperatorKey* found = nullptr;
  for (const inbox::OperatorKey& key : operators.keys()) {
    if (text.size() < 16 || key.revoked_at || !to_hex(key.public_key).starts_with(text)) continue;
    if (found != nullptr) return nullptr;
    found = &key;
  }
  return found;
}

// The id of a token, given as id or as the whole token; nothing if `text` is neither.
Result<std::optional<std::string>> find_token(const Operators& operators, const std::string& text) {
  if (text.starts_with("sbt1.")) {
    const inbox::OperatorToken token = SB_TRY(inbox::parse_token(text));
    if (operators.find(token.delegation.by) == nullptr || !has_valid_signature(token.delegation)) {
      return fail(ErrorCode::kNotFound, "the token was issued by an operator who is not enrolled here");
    }
    return token.delegation.id;
  }
  if (!text.starts_with("t-") || operators.named(text) != nullptr) return std::nullopt;
  if (!inbox::is_token_id(text)) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is not a token id", quote_json(text)),
                "Copy it as signalbox operator token printed it, or give the whole token; nothing changed");
  }
  return text;
}

Status revoke(const Context& context, const OperatorOptions& options) {
  OperatorStore operator_store = SB_TRY(open_operators(context));
  const std::optional<std::string> token = SB_TRY(find_token(operator_store.operators, options.revoked));
  const inbox::OperatorKey* key = token ? nullptr : find_key(operator_store.operators, options.revoked);
  if (!token && key == nullptr) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no token, key or operator {}", quote_json(options.revoked)),
                "Give a token's id (t-...), the first 16 digits of a key, or an operator's name");
  }
  if (token && operator_store.operators.token_revoked_at(*token)) {
    context.out(fmt::format("token {} was already revoked\n", *token));
    return {};
  }
  const std::string secret =
      SB_TRY(unlock_operator(context, operator_store.homes, operator_store.operators, options.name));
  if (token) {
    SB_TRY(operator_store.files.revoke_token(*token, secret, context.seams.clock));
    SB_TRY(remember(context, operator_store));
    context.out(fmt::format("token {} is revoked\n", *token));
    return {};
  }
  SB_TRY(operator_store.files.revoke_key(key->public_key, secret, context.seams.clock));
  SB_TRY(remember(context, operator_store));
  context.out(fmt::format("the key of operator {} is revoked\n", key->name));
  return {};
}

}  // namespace

Action declare_operator(App& app) {
  auto options = std::make_shared<OperatorOptions>();
  app.require_subcommand(1);
  App* init_app = app.add_subcommand("init", "Create an operator key, sealed with a passphrase");
  init_app->add_option("--name", options->name, "Name of the operator (default: your user name)");
  App* token =
      app.add_subcommand("token", "Create a token with which scripts can answer for you, limited in scope and time");
  token->add_option("--scope", options->scope, "decision:ID, workspace:DIR or *")->required();
  token->add_option("--expires", options->expires, "How long it is valid: 8h, 3d (default 8h)");
  token->add_option("--operator", options->name, "The operator, if there are several");
  App* revoke_app = app.add_subcommand("revoke", "Revoke a token or a key");
  revoke_app->add_option("ID", options->revoked, "A token or its id, a key, or an operator's name")->required();
  revoke_app->add_option("--operator", options->name, "The operator who signs, if there are several");
  return [=, &app](Context& context) {
    const Status done = app.got_subcommand(init_app) ? init(context, *options)
                        : app.got_subcommand(token)  ? make_token(context, *options)
                                                     : revoke(context, *options);
    return done ? kExitOk : report_answer(context, done.error());
  };
}

}  // namespace sb::cli
