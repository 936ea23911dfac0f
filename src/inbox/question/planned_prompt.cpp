#include "inbox/question/planned_prompt.hpp"

#include <fmt/format.h>

#include "base/crypto.hpp"
#include "base/document/stored_reader.hpp"

namespace sb::inbox {
namespace {

constexpr std::size_t kNonceLength = 16;

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
  StoredReader stored(value, "a stored prompt");
  PlannedPrompt prompt;
  prompt.nonce = stored.string("nonce");
  prompt.decision = stored.string("decision");
  prompt.fingerprint = stored.string("fingerprint");
  prompt.render_hash = stored.string("render_hash");
  prompt.host = stored.string("host");
  prompt.part = stored.string("part");
  prompt.page = stored.small("page");
  prompt.pages = stored.small("pages");
  prompt.is_many = stored.boolean("is_many");
  prompt.question = stored.string("question");
  prompt.header = stored.string("header");
  for (const Value& option : stored.array("options").items()) prompt.options.push_back(SB_TRY(choice_from(option)));
  prompt.elsewhere = stored.strings("elsewhere");
  prompt.ordinal = stored.integer("ordinal");
  SB_TRY(stored.done());
  return prompt;
}

}  // namespace sb::inbox
