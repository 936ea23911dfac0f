#include "engine/recall/recall_index.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/stored_reader.hpp"
#include "engine/recall/session_list.hpp"
#include "engine/recall/tags.hpp"
#include "engine/state/rows.hpp"

namespace sb::engine {
namespace {

constexpr std::string_view kRecall = "recall", kMark = "mark";
constexpr int kIndexedAtOnce = 250;
// Before the first change: clocks are set back by a little now and then.
constexpr TimestampMs kOverlapMs = 10'000;

struct Mark {
  std::int64_t position = 0;
  std::int64_t until = 0;  // of the pass under way; 0: none is
  std::string after;       // TIME/ID of the last session of it that is done

  bool is_current(std::int64_t last) const { return until == 0 && last <= position; }
};

Result<Mark> read_mark(store::Snapshot& snapshot) {
  const auto row = SB_TRY(snapshot.get(kRecall, kMark));
  if (!row) return Mark{};
  const Value value = SB_TRY(open_row(kRecall, *row));
  StoredReader stored(value, "the mark of the index of sessions");
  Mark mark{stored.integer("position"), stored.integer("until"), stored.string("after")};
  SB_TRY(stored.done());
  return mark;
}

Status write_mark(store::Transaction& transaction, const Mark& mark) {
  const Value value = Value::object({{"position", mark.position}, {"until", mark.until}, {"after", mark.after}});
  return transaction.put(kRecall, kMark, seal_row(kRecall, kMark, value));
}

// What has changed since then is younger than this; empty: everything may be.
std::string begin_of_pass(store::Snapshot& snapshot, const Mark& mark) {
  if (mark.position == 0) return {};
  const auto first = snapshot.events_after(mark.position, 1);
  if (!first || first->empty()) return {};  // damaged: looks at all
  return fmt::format("{:015}/", std::max<TimestampMs>(first->front().time_ms - kOverlapMs, 0));
}

// True if there is more to do.
Result<bool> index_some(store::Transaction& transaction) {
  Mark mark = read_mark(transaction).value_or(Mark{});
  const std::int64_t last = SB_TRY(transaction.last_position());
  if (mark.is_current(last)) return false;
  if (mark.until == 0) mark = {mark.position, last, begin_of_pass(transaction, mark)};
  const auto rows = SB_TRY(rows_by_time(transaction, false, mark.after, kIndexedAtOnce));
  for (const store::Row& row : rows) {
    const auto value = open_row(kSessions, row);
    const auto summary = value ? summary_from(*value) : std::unexpected(value.error());
    if (summary) SB_TRY(index_session(transaction, *summary));
  }
  const bool is_done = rows.size() < static_cast<std::size_t>(kIndexedAtOnce);
  mark = is_done ? Mark{mark.until, 0, ""} : Mark{mark.position, mark.until, time_part(rows.back())};
  SB_TRY(write_mark(transaction, mark));
  return !is_done;
}

}  // namespace

Status index_session(store::Transaction& transaction, const Summary& summary) {
  if (summary.is_in_progress() && !summary.is_driven()) return transaction.put_tags(summary.id, tags_of(summary));
  return transaction.remove_tags(summary.id);
}

Status forget_recall_index(store::Transaction& transaction) {
  return transaction.remove(kRecall, kMark);
}

Status refresh_recall_index(store::Store& store) {
  const bool is_current = SB_TRY(store.read([](store::Snapshot& snapshot) -> Result<bool> {
    const auto mark = read_mark(snapshot);
    return mark && mark->is_current(SB_TRY(snapshot.last_position()));
  }));
  if (is_current) return {};
  while (SB_TRY(store.write(index_some))) store.give_way();
  return {};
}

}  // namespace sb::engine
