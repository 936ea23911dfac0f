#include "gstack/preference_request.hpp"

#include <fmt/format.h>

#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "decision/door.hpp"
#include "decision/gstack_literals.hpp"

namespace sb::gstack {
namespace {

constexpr std::size_t kFreeTextUnits = 300;

std::unexpected<Error> invalid(std::string message, std::string remedy = {}) {
  return fail(ErrorCode::kInvalid, std::move(message), std::move(remedy));
}

Result<Value> parse_request(std::string_view json) {
  if (json.size() > limits::kInputBytes) {
    return fail(ErrorCode::kLimit, fmt::format("the request is longer than {} bytes", limits::kInputBytes));
  }
  auto request = parse_json(json);
  if (!request) return invalid(fmt::format("invalid JSON: {}", request.error().message));
  if (!request->is_object()) return invalid("invalid JSON: the request must be an object");
  return request;
}

Result<std::string> read_source(const Value& request) {
  const Value& source = request["source"];
  const std::string allowed = decision::gstack_words("preference_sources");
  const bool is_missing = source.is_null() || (source.is_string() && source.as_string().empty());
  if (is_missing) return invalid(fmt::format("source required, one of: {}", allowed));
  if (source.is_string() && decision::is_gstack_word("preference_sources", source.as_string())) {
    return source.as_string();
  }
  const std::string shown = cut_utf16(to_json(source), 80);
  return fail(ErrorCode::kForbidden,
              fmt::format("rejected: source {} is not the user (profile poisoning defense)", shown),
              fmt::format("Only the user sets preferences; allowed: {}", allowed));
}

Result<std::string> read_free_text(const Value& request) {
  const Value* text = request.find("free_text");
  if (!text) return std::string();
  if (!text->is_string()) return invalid("free_text must be a string");
  std::string line = one_line(cut_utf16(text->as_string(), kFreeTextUnits));
  if (decision::is_instruction_like(line)) {
    return invalid("free_text reads like an instruction to a model (instruction-like: injection); nothing was stored");
  }
  return line;
}

}  // namespace

Result<PreferenceChange> read_preference_request(std::string_view json) {
  const Value request = SB_TRY(parse_request(json));
  PreferenceChange change;
  change.question_id = request.string_at("question_id").value_or("");
  if (!decision::is_question_id(change.question_id)) {
    return invalid("invalid question_id, must be lower-case letters, digits and -, at most 64");
  }
  const auto preference = decision::parse_preference(request.string_at("preference").value_or(""));
  if (!preference) return invalid("invalid preference, must be one of: always-ask, never-ask, ask-only-for-one-way");
  change.preference = *preference;
  change.source = SB_TRY(read_source(request));
  // After the source, so that a poisoned request is detected even where it could do no harm.
  if (*preference != decision::Preference::kAlwaysAsk && decision::is_one_way_id(change.question_id)) {
    return invalid(fmt::format("cannot set {} on {} (door_type: one-way): irreversible questions are always asked",
                               decision::to_string(*preference), change.question_id));
  }
  change.free_text = SB_TRY(read_free_text(request));
  return change;
}

}  // namespace sb::gstack
