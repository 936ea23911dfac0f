#include "engine/answer/child_results.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/shown_values.hpp"
#include "base/text.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"

namespace sb::engine {
namespace {

constexpr std::size_t kCapturedNotesBytes = 8u << 10;
constexpr std::size_t kLeastShare = 600;
constexpr std::size_t kReasonBytes = 300;
constexpr std::size_t kBriefBytes = 200;  // of a child's notes
// Reserved for the line about the rest.
constexpr std::size_t kClosingBytes = 300;

// `taste (critics): complete (s-1)`
std::string name_and_outcome(const ChildResult& result) {
  std::string text = result.id;
  if (!result.label.empty()) text += fmt::format(" ({})", result.label);
  text += ": " + result.outcome;
  if (!result.reason.empty()) text += fmt::format(", {}", one_line(printable(shortened(result.reason, kReasonBytes))));
  if (!result.session.empty()) text += fmt::format(" ({})", result.session);
  return text;
}

std::string artifact_line(const ChildResult::Artifact& artifact, std::size_t room) {
  const std::string name = printable(artifact.kind);
  const std::string json = artifact.value.is_null() ? "" : shown_value(artifact.value, artifact.bytes);
  if (json.empty() || json.size() > room) return fmt::format("- {}: {} bytes, not shown\n", name, artifact.bytes);
  return fmt::format("- {}: {}\n", name, json);
}

std::string result_entry(const ChildResult& result, std::size_t share) {
  std::string text = fmt::format("## {}\n", name_and_outcome(result));
  const std::string& notes = is_blank(result.notes) ? result.recap : result.notes;
  std::size_t artifacts = 0;
  for (const ChildResult::Artifact& artifact : result.artifacts) artifacts += artifact.bytes;
  // Artifacts are what a program would read; notes get at least half.
  const std::size_t room = std::max(share / 2, share - std::min(share, artifacts + text.size()));
  text += is_blank(notes) ? "(no notes)\n" : quoted_part(notes, room);
  for (const ChildResult::Artifact& artifact : result.artifacts) {
    text += artifact_line(artifact, share > text.size() ? share - text.size() : 0);
  }
  return text + '\n';
}

}  // namespace

std::string quoted_part(std::string_view text, std::size_t bytes) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  text = text.substr(0, end == std::string_view::npos ? 0 : end + 1);
  const std::string_view begin = utf8_prefix(text, bytes);
  const std::string behind_bars = quoted(printable(begin));
  const std::string_view shown = utf8_prefix(behind_bars, bytes);
  if (begin.size() == text.size() && shown.size() == behind_bars.size()) return fmt::format("{}\n", shown);
  return fmt::format("{}… ({} bytes in total)\n", shown, text.size());
}

Value captured_value(const ChildResult& result, std::size_t bytes) {
  Value value = Value::object({{"outcome", result.outcome}});
  if (!result.reason.empty()) value.set("reason", result.reason);
  if (!result.session.empty()) value.set("session", result.session);
  std::size_t left = bytes - std::min(bytes, to_json(value).size());
  const std::size_t notes_bytes = to_json(Value(result.notes)).size();
  const bool is_long = result.notes.size() > kCapturedNotesBytes || notes_bytes > left;
  if (is_long) value.set("notesBytes", result.notes.size());
  value.set("notes", is_long ? fmt::format("[{} bytes: signalbox session show {}]", result.notes.size(), result.session)
                             : result.notes);
  if (!is_long) left -= notes_bytes;
  Value artifacts = Value::array();
  for (const ChildResult::Artifact& artifact : result.artifacts) {
    const bool is_included = !artifact.value.is_null() && artifact.bytes <= left;
    if (is_included) left -= artifact.bytes;
    artifacts.push_back(
        is_included ? artifact.value
                    : Value::object({{"kind", artifact.kind}, {"artifact", artifact.hash}, {"bytes", artifact.bytes}}));
  }
  value.set("artifacts", std::move(artifacts));
  return value;
}

std::string results_text(const std::vector<ChildResult>& results, std::size_t budget, std::string_view where) {
  if (results.empty()) return {};
  std::string text = "Results of the sessions that were started:\n\n";
  const std::size_t room = budget - std::min(budget, text.size() + kClosingBytes);
  const std::size_t share = std::max(room / results.size(), kLeastShare);
  std::size_t shown = 0;
  bool is_short = false;
  for (const ChildResult& result : results) {
    std::string entry = result_entry(result, share);
    if (text.size() + entry.size() + kClosingBytes > budget) break;
    is_short = is_short || entry.contains("bytes in total)") || entry.contains("bytes, not shown");
    text += entry;
    ++shown;
  }
  const std::size_t more = results.size() - shown;
  if (more > 0) text += fmt::format("And {} more. ", more);
  if (more > 0 || is_short) text += fmt::format("All of it: {}\n\n", where);
  return text;
}

std::string results_brief(const std::vector<ChildResult>& results, std::size_t more, std::size_t budget) {
  constexpr std::size_t kMoreBytes = 32;
  std::string text;
  std::size_t shown = 0;
  for (const ChildResult& result : results) {
    std::string line = "- " + name_and_outcome(result);
    const std::string notes = one_line(printable(is_blank(result.notes) ? result.recap : result.notes));
    if (!notes.empty()) line += ": " + shortened(notes, kBriefBytes);
    for (const ChildResult::Artifact& artifact : result.artifacts) {
      line += fmt::format(" [{}, {} bytes]", printable(artifact.kind), artifact.bytes);
    }
    if (text.size() + line.size() + kMoreBytes > budget) break;
    text += line + '\n';
    ++shown;
  }
  more += results.size() - shown;
  if (more > 0) text += fmt::format("- and {} more\n", more);
  return text;
}

}  // namespace sb::engine
