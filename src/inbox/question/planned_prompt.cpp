#include "inbox/question/planned_prompt.hpp"

#include <fmt/format.h>

#include "base/crypto.hpp"
#include "base/document/stored_members.hpp"

namespace sb::inbox {
namespace {

constexpr std::size_t kNonceLength = 16;
constexpr std::string_view kMarkerStart = "<sb:";

bool is_nonce(std::string_view text) {
  if (text.size() != kNonceLength) return false;
  for (const char c : text) {
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'))) return false;
  }
  return true;
}

Value choices_value(const std::vector<Choice>& choices) {
  Value result = Value::array();
  for (const Choice& choice : choices) {
    result.push_back(Value::object({{"label", choice.label}, {"id", choice.id}}));
  }
  return result;
}

}  // namespace

std::string prompt_nonce(std::string_view fingerprint, std::string_view render_hash, std::int64_t ordinal) {
  const Digest digest = sha256(fmt::format("sb-prompt-1\n{}\n{}\n{}", fingerprint, render_hash, ordinal));
  return to_base32(as_bytes(digest)).substr(0, kNonceLength);
}

std::string prompt_marker(std::string_view nonce) {
  return fmt::format("{}{}>", kMarkerStart, nonce);
}

std::optional<std::string> nonce_in(std::string_view question_text) {
  for (std::size_t at = question_text.find(kMarkerStart); at != std::string_view::npos;
       at = question_text.find(kMarkerStart, at + 1)) {
    const std::string_view rest = question_text.substr(at + kMarkerStart.size());
    if (rest.size() > kNonceLength && rest[kNonceLength] == '>' && is_nonce(rest.substr(0, kNonceLength))) {
      return std::string(rest.substr(0, kNonceLength));
    }
  }
  return std::nullopt;
}

Value to_value(const PlannedPrompt& prompt) {
  return Value::object({{"v", 1},
                        {"nonce", prompt.nonce},
                        {"decision", prompt.decision},
                        {"fingerprint", prompt.fingerprint},
                        {"render_hash", prompt.render_hash},
                        {"host", prompt.host},
                        {"part", prompt.part},
                        {"page", prompt.page},
                        {"pages", prompt.pages},
                        {"is_many", prompt.is_many},
                        {"question", prompt.question},
                        {"header", prompt.header},
                        {"options", choices_value(prompt.options)},
                        {"elsewhere", Value::array(prompt.elsewhere)},
                        {"ordinal", prompt.ordinal}});
}

Result<PlannedPrompt> prompt_from(const Value& value) {
  PlannedPrompt prompt;
  prompt.nonce = SB_TRY(wire::string(value, "nonce"));
  prompt.decision = SB_TRY(wire::string(value, "decision"));
  prompt.fingerprint = SB_TRY(wire::string(value, "fingerprint"));
  prompt.render_hash = SB_TRY(wire::string(value, "render_hash"));
  prompt.host = SB_TRY(wire::string(value, "host"));
  prompt.part = SB_TRY(wire::string(value, "part"));
  prompt.page = static_cast<int>(SB_TRY(wire::integer(value, "page")));
  prompt.pages = static_cast<int>(SB_TRY(wire::integer(value, "pages")));
  prompt.is_many = SB_TRY(wire::boolean(value, "is_many"));
  prompt.question = SB_TRY(wire::string(value, "question"));
  prompt.header = SB_TRY(wire::string(value, "header"));
  const Value& options = value["options"];
  if (!options.is_array()) return fail(ErrorCode::kCorrupt, "a stored prompt has no options");
  for (const Value& option : options.items()) {
    prompt.options.push_back({SB_TRY(wire::string(option, "id")), SB_TRY(wire::string(option, "label"))});
  }
  prompt.elsewhere = SB_TRY(wire::strings(value, "elsewhere"));
  prompt.ordinal = SB_TRY(wire::integer(value, "ordinal"));
  return prompt;
}

}  // namespace sb::inbox
