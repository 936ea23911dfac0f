#include "hook/events/question_record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/text/unicode.hpp"
#include "gstack/question_log.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kUnknownSkill = "unknown";
constexpr std::size_t kLongestCallId = 128;

}  // namespace

Value question_record(const HookEvent& event, const CallQuestion& question, std::size_t index) {
  std::string summary = without_markers(question.text);
  if (summary.empty()) summary = question.header.empty() ? "(no text)" : question.header;
  Value record = Value::object({{"skill", kUnknownSkill},
                                {"question_id", record_id(question)},
                                {"question_summary", std::move(summary)},
                                {"options_count", question.options.size()},
                                {"session_id", event.session},
                                {"question_index", index}});
  if (!event.tool_use_id.empty()) record.set("tool_use_id", cut_utf16(event.tool_use_id, kLongestCallId));
  return record;
}

std::string record_id(const CallQuestion& question) {
  const GstackMarkers markers = gstack_markers_in(question.text);
  if (markers.ids.size() == 1 && markers.is_clear) return markers.ids.front();
  std::vector<std::string> labels;
  for (const CallOption& option : question.options) labels.push_back(option.label);
  std::ranges::sort(labels);
  return "hook-" +
         sha1_hex(fmt::format("{}::{}::{}", kUnknownSkill, question.text, fmt::join(labels, "|"))).substr(0, 10);
}

Status append_record(const Seams& seams, const gstack::PreferencePaths& place, Value record) {
  const Value checked =
      SB_TRY(gstack::checked_question_event(std::move(record), gstack::LogRules::kOwn, seams.clock.now_ms()));
  SB_TRY(gstack::append_question_event(seams.files, place, checked));
  return {};
}

}  // namespace sb::hook
