// `signalbox session`: workflows run from a shell, and their records.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text/unicode.hpp"
#include "cli/session/session_commands.hpp"

namespace sb::cli {

namespace {

// Texts from agents and commands must not control the terminal they are shown on.
std::string for_terminal(const Context& context, const std::string& text) {
  if (!context.streams().is_terminal(Stream::kOutput)) return text;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t from = at;
    const char32_t c = next_code_point(text, at);
    const bool is_control = (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) ||
                            (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
    out += is_control ? "?" : text.substr(from, at - from);
  }
  return out;
}

}  // namespace

int print_answer(const Context& context, const engine::SessionResponse& answer, bool wants_json) {
  const std::string kind = answer.line.string_at("kind").value_or("");
  if (wants_json) {
    Value line = answer.line;
    line.set("text", answer.text);
    context.out(to_json(line) + "\n");
  } else {
    const std::string text = for_terminal(context, answer.text);
    context.out(text + (text.ends_with('\n') ? "" : "\n"));
    if (const auto token = answer.line.string_at("continueToken")) {
      context.out(
          fmt::format("\nsession {}\ncontinue with {}\n", answer.line.string_at("sessionId").value_or(""), *token));
    }
  }
  return kind == "blocked" ? kExitNegative : kExitOk;
}

int print_error(const Context& context, const engine::SessionError& error, bool wants_json) {
  if (wants_json) {
    const bool retry = error.error.is_retryable || error.error.code == ErrorCode::kUnavailable;
    Value line = Value::object({{"kind", "error"},
                                {"code", error.code},
                                {"message", error.error.message},
                                {"remedy", error.error.remedy},
                                {"retry", Value::object({{"kind", retry ? "retryable_immediate" : "not_retryable"}})}});
    if (!error.details.is_null()) line.set("details", error.details);
    context.out(to_json(line) + "\n");
  }
  return report(context, error.error);
}

Action declare_session(App& app) {
  app.require_subcommand(1);
  std::vector<Subcommand> all{declare_session_start(app), declare_session_continue(app),   declare_session_show(app),
                              declare_session_fork(app),  declare_session_checkpoint(app), declare_session_stop(app),
                              declare_session_log(app)};
  std::ranges::move(declare_session_upkeep(app), std::back_inserter(all));
  std::ranges::move(declare_session_control(app), std::back_inserter(all));
  return [&app, all](Context& context) {
    for (const Subcommand& each : all) {
      if (app.got_subcommand(each.app)) return each.action(context);
    }
    return kExitUsage;
  };
}

}  // namespace sb::cli
