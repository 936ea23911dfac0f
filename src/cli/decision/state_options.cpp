#include "cli/decision/state_options.hpp"

#include <fmt/format.h>

#include "base/crypto.hpp"
#include "base/limits.hpp"
#include "cli/decision/declaration_file.hpp"

namespace sb::cli {
namespace {

constexpr std::size_t kShortestKey = 16;
constexpr std::size_t kLongestKey = 4096;

Result<std::optional<std::string>> read_key(const Context& context) {
  std::string key;
  if (const auto path = context.exact_value("key")) {
    key = SB_TRY(context.seams.files.read(*path, kLongestKey));
  } else if (const auto text = context.seams.environment.get("SIGNALBOX_STATE_KEY")) {
    auto bytes = from_base64url(*text);
    if (!bytes)
      return fail(ErrorCode::kInvalid, "SIGNALBOX_STATE_KEY is not base64url", "Encode the key without padding");
    key = std::move(*bytes);
  } else {
    return std::nullopt;
  }
  if (key.size() < kShortestKey) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the state key has {} bytes; it must have at least {}", key.size(), kShortestKey),
                "Create one: head -c 32 /dev/urandom > key");
  }
  return key;
}

Result<std::string> read_state(const Context& context, const std::string& value) {
  if (!value.starts_with("@")) return value;
  std::string text = SB_TRY(context.seams.files.read(value.substr(1), limits::kStateBlobBytes));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

// Removes one line end, which the shell or a pipe may have added, and nothing else.
Result<std::string> read_input(const Context& context, const std::string& value) {
  if (value != "-") {
    if (value.size() > limits::kInputBytes) return fail(ErrorCode::kLimit, "the input is too long", "Send less");
    return value;
  }
  std::string text = SB_TRY(context.streams().read_input(limits::kInputBytes));
  if (text.ends_with("\n")) text.pop_back();
  if (text.ends_with("\r")) text.pop_back();
  return text;
}

Result<StateOptions> read_values(Context& context) {
  StateOptions options;
  options.blob.key = SB_TRY(read_key(context));
  if (const auto now = context.exact_value("now")) options.blob.now = SB_TRY(parse_rfc3339(*now));
  if (const auto state = context.exact_value("state")) options.state = SB_TRY(read_state(context, *state));
  if (const auto input = context.exact_value("input")) options.input = SB_TRY(read_input(context, *input));
  return options;
}

}  // namespace

void declare_state_options(App& app, StateUse use) {
  static std::string ignored;
  const bool is_step = use == StateUse::kStep;
  app.add_option("--def", ignored, "The definition: a YAML or JSON file; - for stdin");
  app.add_option("--state", ignored,
                 is_step ? "The state printed by the last call, or @FILE" : "Resume from this state, or @FILE");
  app.add_option("--input", ignored, "What the person typed; - for stdin");
  app.add_option("--key", ignored, "File with the key that authenticates the state (default: SIGNALBOX_STATE_KEY)");
  app.add_option("--now", ignored, "The time to compare `expires:` with, in RFC 3339");
}

Checked<StateOptions> read_state_options(Context& context, StateUse use) {
  const auto missing = [](std::string_view name) {
    return std::unexpected(Faults{
        Error{ErrorCode::kInvalid, fmt::format("--{} is missing", name), "See signalbox flow --help", {}, false}});
  };
  const auto definition = context.exact_value("def");
  if (!definition) return missing("def");
  if (use == StateUse::kStep && !context.exact_value("state")) return missing("state");
  if (use == StateUse::kStep && !context.exact_value("input")) return missing("input");
  auto options = read_values(context);
  if (!options) return std::unexpected(Faults{std::move(options).error()});
  auto declaration = load_declaration(context, *definition);
  if (!declaration) return std::unexpected(std::move(declaration).error());
  options->declaration = std::move(*declaration);
  return std::move(*options);
}

}  // namespace sb::cli
