// Parses an agent's `answer` strictly, because it speaks for a person.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/document/reader.hpp"
#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "mcp/asking/carried_decisions.hpp"
#include "mcp/asking/dialog.hpp"

namespace sb::mcp {
namespace {

constexpr std::string_view kTemplate = R"(Send {"decision": "d-…", "options": ["ID"]})";

std::unexpected<Error> wrong_answer(std::string message) {
  return fail(ErrorCode::kInvalid, std::move(message), std::string(kTemplate));
}

Status check_names(const Value& answer) {
  const std::vector<std::string> known{"decision", "options", "text", "values", "reason"};
  for (const Value::Member& member : answer.members()) {
    if (std::ranges::find(known, member.name) != known.end()) continue;
    const std::string name = printable(std::string_view(member.name).substr(0, sb::limits::kIdBytes));
    const std::string nearest = nearest_name(member.name, known);
    return fail(ErrorCode::kInvalid, fmt::format("unknown key {} in `answer`", quote_json(name)),
                nearest.empty() ? std::string(kTemplate) : fmt::format("Did you mean \"{}\"?", nearest));
  }
  return {};
}

Result<std::string> text_of(const Value& answer, std::string_view name, std::size_t limit) {
  const Value* value = answer.find(name);
  if (value == nullptr || value->is_null()) return std::string();
  if (!value->is_string())
    return wrong_answer(fmt::format("`answer.{}` must be a string, not {}", name, kind_name(value->kind())));
  if (value->as_string().size() > limit) {
    return fail(ErrorCode::kLimit, fmt::format("`answer.{}` is longer than {} bytes", name, limit), "Shorten it");
  }
  return value->as_string();
}

Result<std::vector<std::string>> options_of(const Value& answer) {
  std::vector<std::string> ids;
  const Value* options = answer.find("options");
  if (options == nullptr || options->is_null()) return ids;
  if (options->is_string()) return std::vector{options->as_string()};
  if (!options->is_array()) return wrong_answer("`answer.options` must be a list of ids");
  if (options->size() > sb::limits::kOptions)
    return wrong_answer("`answer.options` has more ids than any question has options");
  for (const Value& id : options->items()) {
    if (!id.is_string()) return wrong_answer("`answer.options` must be a list of ids");
    ids.push_back(id.as_string());
  }
  return ids;
}

}  // namespace

Result<engine::RelayedAnswer> relayed_answer(const Value& answer, const Call& call) {
  if (!answer.is_object())
    return wrong_answer(fmt::format("`answer` must be an object, not {}", kind_name(answer.kind())));
  SB_TRY(check_names(answer));
  engine::RelayedAnswer relayed;
  relayed.decision = SB_TRY(text_of(answer, "decision", sb::limits::kIdBytes));
  if (relayed.decision.empty()) return wrong_answer("`answer.decision` is missing: the id of the answered decision");
  relayed.given.options = SB_TRY(options_of(answer));
  relayed.remark = SB_TRY(text_of(answer, "reason", sb::limits::kTextBytes));
  if (const Value* values = answer.find("values"); values != nullptr && !values->is_null()) {
    if (!values->is_object()) return wrong_answer("`answer.values` must be an object");
    relayed.given.values = *values;
  }
  const std::string text = SB_TRY(text_of(answer, "text", sb::limits::kInputBytes));
  if (!text.empty()) relayed.given.values.set("text", text);
  relayed.by = answering_person(call);
  relayed.raw = to_json(answer);
  return relayed;
}

}  // namespace sb::mcp
