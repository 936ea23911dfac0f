#include "cli/person.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

#include "base/limits.hpp"
#include "cli/signals.hpp"
#include "inbox/operators/key_files.hpp"
#include "inbox/operators/known_agents.hpp"

namespace sb::cli {
namespace {

constexpr std::size_t kPassphraseBytes = 4096;
constexpr char kInterrupt = 3;   // Ctrl-C
constexpr char kEndOfInput = 4;  // Ctrl-D
constexpr char kEraseLine = 21;  // Ctrl-U
constexpr int kTries = 3;

// The controlling terminal with echo off while this object lives. Ctrl-C arrives as a byte and signals are only
// recorded, so that the terminal settings are always restored.
class QuietTerminal {
 public:
  QuietTerminal() : descriptor_(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    if (descriptor_ < 0 || ::tcgetattr(descriptor_, &before_) != 0) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO | ISIG | ICANON);
    quiet.c_cc[VMIN] = 1;
    quiet.c_cc[VTIME] = 0;
    is_quiet_ = ::tcsetattr(descriptor_, TCSAFLUSH, &quiet) == 0;
  }
  ~QuietTerminal() {
    if (is_quiet_) ::tcsetattr(descriptor_, TCSAFLUSH, &before_);
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  QuietTerminal(const QuietTerminal&) = delete;
  QuietTerminal& operator=(const QuietTerminal&) = delete;

  bool is_there() const { return is_quiet_; }

  Result<std::string> read(std::string_view prompt) {
    say(prompt);
    std::string line;
    for (;;) {
      const auto c = next_byte();
      if (!c || *c == kInterrupt || *c == kEndOfInput) {
        say("\n");
        return fail(ErrorCode::kForbidden, "no passphrase was given; nothing changed");
      }
      if (*c == '\n' || *c == '\r') break;
      if (*c == '\x7f' || *c == '\b') {
        erase_character(line);
      } else if (*c == kEraseLine) {
        line.clear();
      } else if (line.size() < kPassphraseBytes) {
        line.push_back(*c);
      }
    }
    say("\n");
    return line;
  }

 private:
  void say(std::string_view text) { (void)!::write(descriptor_, text.data(), text.size()); }

  // Nothing when the terminal has closed or a signal arrived. Polls, because a signal that arrives just before the wait
  // would not end it.
  std::optional<char> next_byte() const {
    constexpr int kPollMs = 200;
    for (;;) {
      if (signals_.was_received()) return std::nullopt;
      pollfd input{descriptor_, POLLIN, 0};
      const int ready = ::poll(&input, 1, kPollMs);
      if (ready == 0 || (ready < 0 && errno == EINTR)) continue;
      char c = 0;
      if (ready < 0 || ::read(descriptor_, &c, 1) <= 0) return std::nullopt;
      return c;
    }
  }

  static void erase_character(std::string& line) {
    const auto is_continuation = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
    while (!line.empty() && is_continuation(line.back())) line.pop_back();
    if (!line.empty()) line.pop_back();
  }

  SignalWatch signals_;  // first, so that it is destroyed last
  int descriptor_;
  termios before_{};
  bool is_quiet_ = false;
};

Result<std::string> ask_terminal(std::string_view prompt) {
  QuietTerminal terminal;
  if (!terminal.is_there()) {
    return fail(ErrorCode::kForbidden, "a passphrase is required and there is no terminal to ask on",
                "Run it in a terminal, or pipe the passphrase in");
  }
  return terminal.read(prompt);
}

Result<Signing> sign_by_token(const Context& context, inbox::Home& home, const inbox::DecisionState& state,
                              const inbox::AnswerInput& given, const std::string& text) {
  const inbox::OperatorToken token = SB_TRY(inbox::parse_token(text));
  const inbox::OperatorKey* key = home.operators().find(token.delegation.by);
  if (key == nullptr)
    return fail(ErrorCode::kForbidden, "the operator token was issued by an operator who is not enrolled here");
  const TimestampMs now = context.seams.clock.now_ms();
  Signing signing{{inbox::Channel::kToken, key->name}, std::nullopt};
  signing.signature = SB_TRY(inbox::sign_answer(state.id, state.opened, given, now, token.secret));
  signing.signature->delegation = token.delegation_text;
  return signing;
}

}  // namespace

std::string user_name() {
  const passwd* entry = ::getpwuid(::geteuid());
  if (entry != nullptr && entry->pw_name != nullptr && *entry->pw_name != '\0') return entry->pw_name;
  return fmt::format("user {}", ::geteuid());
}

inbox::Responder user_at(const Context& context) {
  const bool is_terminal = context.streams().is_terminal(Stream::kInput);
  return {is_terminal ? inbox::Channel::kTerminal : inbox::Channel::kCommand, user_name()};
}

Status refuse_known_agents(const Context& context, std::string_view what) {
  const auto agent = inbox::known_agent(context.seams.files, context.seams.environment, ::getppid());
  if (!agent) return {};
  return fail(ErrorCode::kForbidden, fmt::format("this seems to be run by {}, and a person should {}", *agent, what),
              "Run it in your own terminal");
}

Result<std::string> ask_passphrase(const Context& context, std::string_view prompt) {
  if (!context.streams().is_terminal(Stream::kInput)) {
    const auto line = SB_TRY(context.streams().read_line(kPassphraseBytes));
    if (line) return *line;
  }
  return ask_terminal(prompt);
}

Result<std::string> ask_new_passphrase(const Context& context, std::string_view prompt) {
  std::string passphrase;
  std::optional<std::string> again;
  if (!context.streams().is_terminal(Stream::kInput)) {
    const auto line = SB_TRY(context.streams().read_line(kPassphraseBytes));
    if (line) {
      passphrase = *line;
      again = SB_TRY(context.streams().read_line(kPassphraseBytes)).value_or(passphrase);
    }
  }
  if (!again) {
    passphrase = SB_TRY(ask_terminal(prompt));
    again = SB_TRY(ask_terminal("Repeat the passphrase: "));
  }
  if (passphrase.empty()) return fail(ErrorCode::kInvalid, "the passphrase must not be empty");
  if (passphrase != *again) return fail(ErrorCode::kInvalid, "the two passphrases differ; nothing changed");
  return passphrase;
}

Result<inbox::OperatorKey> choose_operator(const inbox::Operators& operators, const std::string& name) {
  const inbox::OperatorKey* only = nullptr;
  int count = 0;
  for (const inbox::OperatorKey& key : operators.keys()) {
    if (key.revoked_at) continue;
    only = &key;
    ++count;
  }
  if (count == 0) {
    return fail(ErrorCode::kForbidden, "there is no operator key", "Create one with signalbox operator init");
  }
  const std::string wanted = !name.empty() ? name : count == 1 ? only->name : user_name();
  const inbox::OperatorKey* key = operators.named(wanted);
  if (key == nullptr) {
    return fail(ErrorCode::kNotFound, fmt::format("there is no operator {}", quote_json(wanted)),
                "Name one with --operator NAME");
  }
  return *key;
}

Result<std::string> unlock_operator(const Context& context, const HomeDirectories& homes,
                                    const inbox::Operators& operators, const std::string& name) {
  const inbox::OperatorKey key = SB_TRY(choose_operator(operators, name));
  const inbox::OperatorFiles files(context.seams.files, homes);
  const std::string prompt = fmt::format("Passphrase of operator {}: ", key.name);
  // A person may mistype; a pipe would send the same line again.
  for (int left = context.streams().is_terminal(Stream::kInput) ? kTries : 1;;) {
    auto secret = files.unlock(operators, key.name, SB_TRY(ask_passphrase(context, prompt)));
    if (secret || secret.error().code != ErrorCode::kForbidden || --left == 0) return secret;
    context.err(fmt::format("{}; try again\n", secret.error().message));
  }
}

Result<Signing> sign_for(const Context& context, inbox::Home& home, const inbox::DecisionState& state,
                         const inbox::AnswerInput& given, const std::string& operator_name) {
  // The operators may have changed while the person was thinking.
  SB_TRY(home.refresh_operators(context.seams.files));
  if (const auto token = context.seams.environment.get("SIGNALBOX_OPERATOR_TOKEN")) {
    return sign_by_token(context, home, state, given, *token);
  }
  SB_TRY(refuse_known_agents(context));
  Signing signing{user_at(context), std::nullopt};
  if (!needs_signature(state.opened, given)) return signing;
  const inbox::DecisionFacts facts{true, state.opened.operators.has_value(), state.opened.workspace};
  if (!facts.has_operators) SB_TRY(inbox::may_answer(facts, signing.from, "", home.config().policy));
  if (!home.operators().continues(*state.opened.operators)) {
    return fail(ErrorCode::kForbidden, "the operator keys changed since this was asked",
                "Find out who changed them, then ask again");
  }
  const std::string secret = SB_TRY(unlock_operator(context, home.homes(), home.operators(), operator_name));
  signing.signature = SB_TRY(inbox::sign_answer(state.id, state.opened, given, context.seams.clock.now_ms(), secret));
  return signing;
}

Result<inbox::Responder> credentials_for(const Context& context, const inbox::Home& home,
                                         const inbox::DecisionState& state) {
  if (const auto text = context.seams.environment.get("SIGNALBOX_OPERATOR_TOKEN")) {
    const inbox::OperatorToken token = SB_TRY(inbox::parse_token(*text));
    const TimestampMs now = context.seams.clock.now_ms();
    const auto* key = SB_TRY(check_token(home.operators(), token.delegation, state.id, state.opened, now));
    return inbox::Responder{inbox::Channel::kToken, key->name};
  }
  SB_TRY(refuse_known_agents(context));
  return user_at(context);
}

int report_answer(const Context& context, const Error& error) {
  const int code = report(context, error);
  return error.code == ErrorCode::kConflict || error.code == ErrorCode::kForbidden ? kExitNegative : code;
}

}  // namespace sb::cli
