#include "gstack/memory_notes.hpp"

#include <algorithm>
#include <utility>

#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "decision/gstack_literals.hpp"

namespace sb::gstack {
namespace {

constexpr std::size_t kMostNotes = 3;
constexpr std::size_t kLongestNote = 300;

bool is_about(const Value& nugget, std::string_view signal_key) {
  const Value& keys = nugget["applies_to_signal_keys"];
  return keys.is_array() && std::ranges::any_of(keys.items(), [&](const Value& key) {
           return key.is_string() && key.as_string() == signal_key;
         });
}

// The newest first; those without a time last.
std::vector<std::string> newest_about(const Value& nuggets, std::string_view signal_key) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const Value& nugget : nuggets.items()) {
    const std::string text = cut_utf16(one_line(printable(nugget.string_at("nugget").value_or(""))), kLongestNote);
    if (text.empty() || !is_about(nugget, signal_key) || decision::is_instruction_like(text)) continue;
    found.emplace_back(nugget.string_at("applied_at").value_or(""), text);
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &std::pair<std::string, std::string>::first);
  std::vector<std::string> texts;
  for (auto& [when, text] : found) {
    if (texts.size() < kMostNotes) texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace

Result<std::vector<std::string>> memory_notes(const PreferencePaths& place, std::string_view session_id,
                                              const std::vector<std::string>& question_ids, const Seams& seams) {
  const auto bytes = seams.files.read(join_path(place.root, "free-text-memory.json"), limits::kDocumentBytes);
  if (!bytes && bytes.error().code == ErrorCode::kNotFound) return std::vector<std::string>();
  if (!bytes) return std::unexpected(bytes.error());
  const Value memory = SB_TRY(parse_json(*bytes));
  const Value& nuggets = memory["nuggets"];
  if (!nuggets.is_array()) return std::vector<std::string>();
  const std::string copy = join_path(place.session(session_id), "memory-cache.json");
  if (!session_id.empty() && seams.files.kind(copy) == FileKind::kMissing) {
    SB_TRY(seams.files.make_directories(place.session(session_id), 0700));
    const Value cached = Value::object({{"nuggets", nuggets}, {"cached_at", to_rfc3339(seams.clock.now_ms())}});
    SB_TRY(seams.files.write_atomic(copy, to_pretty_json(cached), 0600));
  }
  std::vector<std::string> notes;
  for (const std::string& id : question_ids) {
    const auto signal_key = decision::gstack_literals()["signal_keys"].string_at(id);
    if (!signal_key) continue;
    for (std::string& text : newest_about(nuggets, *signal_key)) {
      if (std::ranges::find(notes, text) == notes.end()) notes.push_back(std::move(text));
    }
  }
  return notes;
}

}  // namespace sb::gstack
