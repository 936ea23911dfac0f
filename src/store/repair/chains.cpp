#include "store/repair/chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "store/chain.hpp"

namespace sb::store::repair {
namespace {

using sqlite::Connection;
using sqlite::Statement;

struct Stream {
  Head whole;             // up to which its events are whole
  std::int64_t last = 0;  // of the events and heads found
  std::map<std::int64_t, std::string> cut;
  bool has_wrong_head = false;
};
using Streams = std::map<std::string, Stream>;

std::optional<Digest> digest_at(const Statement& row, int column) {
  const std::string_view bytes = row.bytes(column);
  Digest digest;
  if (bytes.size() != digest.size()) return std::nullopt;
  std::ranges::copy(bytes, digest.begin());
  return digest;
}

bool continues(const Head& head, const Statement& row, Digest& hash) {
  const auto previous = digest_at(row, 5);
  const auto own = digest_at(row, 6);
  if (!previous || !own || row.integer(1) != head.seq + 1 || *previous != head.hash) return false;
  hash = *own;
  return event_hash(*previous, row.bytes(0), row.integer(1), row.bytes(2), row.integer(3), row.bytes(4)) == hash;
}

Status read_events(Connection& connection, Streams& streams) {
  Statement row = SB_TRY(connection.prepare(
      "SELECT stream, seq, type, time_ms, payload, previous, hash FROM events ORDER BY stream, seq"));
  while (SB_TRY(row.step())) {
    Stream& stream = streams[std::string(row.bytes(0))];
    const std::int64_t seq = row.integer(1);
    Digest hash{};
    if (stream.cut.empty() && continues(stream.whole, row, hash)) {
      stream.whole = {seq, hash};
    } else {
      stream.cut[seq] = row.bytes(2);
    }
    stream.last = std::max(stream.last, seq);
  }
  return {};
}

// A head beyond the number of all events is itself damaged and says nothing about lost ones.
Status read_heads(Connection& connection, Streams& streams) {
  const std::int64_t most =
      SB_TRY(connection.value("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'"));
  Statement row = SB_TRY(connection.prepare("SELECT name, seq, hash FROM streams"));
  while (SB_TRY(row.step())) {
    Stream& stream = streams[std::string(row.bytes(0))];
    if (row.integer(1) <= most) stream.last = std::max(stream.last, row.integer(1));
    stream.has_wrong_head = Head{row.integer(1), digest_at(row, 2).value_or(Digest{})} != stream.whole;
  }
  return {};
}

// Streams without a row in `streams` have a wrong head too.
Status find_headless(Connection& connection, Streams& streams) {
  Statement row =
      SB_TRY(connection.prepare("SELECT DISTINCT stream FROM events WHERE stream NOT IN (SELECT name FROM streams)"));
  while (SB_TRY(row.step())) streams[std::string(row.bytes(0))].has_wrong_head = true;
  return {};
}

Status write_stream(Connection& connection, const std::string& name, const Stream& stream) {
  if (!stream.cut.empty()) {
    Statement cut = SB_TRY(connection.prepare("DELETE FROM events WHERE stream = ?1 AND seq > ?2"));
    SB_TRY(cut.bind(1, name).bind(2, stream.whole.seq).run());
  }
  if (stream.whole.seq == 0) {
    return SB_TRY(connection.prepare("DELETE FROM streams WHERE name = ?1")).bind(1, name).run();
  }
  Statement head = SB_TRY(connection.prepare("INSERT OR REPLACE INTO streams(name, seq, hash) VALUES(?1, ?2, ?3)"));
  return head.bind(1, name).bind(2, stream.whole.seq).bind_blob(3, as_bytes(stream.whole.hash)).run();
}

void report_stream(const std::string& name, const Stream& stream, bool has_heads, RepairReport& report) {
  if (stream.last > stream.whole.seq) {
    LostEvents& lost = report.lost[name];
    lost.kept = stream.whole.seq;
    lost.last = std::max(lost.last, stream.last);
    lost.types.insert(stream.cut.begin(), stream.cut.end());
    report.found.push_back(fmt::format("event {} of \"{}\" is damaged or missing", stream.whole.seq + 1, name));
  } else if (stream.has_wrong_head && has_heads) {
    report.found.push_back(fmt::format("the head of \"{}\" was damaged; its events are whole", name));
  }
}

Status fix_streams(Connection& connection, const KnownHeads& known, bool has_heads, RepairReport& report) {
  Streams streams;
  SB_TRY(read_events(connection, streams));
  SB_TRY(read_heads(connection, streams));
  SB_TRY(find_headless(connection, streams));
  for (const auto& [name, seq] : known) {
    Stream& stream = streams[name];
    stream.last = std::max(stream.last, seq);
  }
  for (const auto& [name, stream] : streams) {
    report.events += stream.whole.seq;
    report.streams += stream.whole.seq > 0 ? 1 : 0;
    if (stream.cut.empty() && !stream.has_wrong_head && stream.last == stream.whole.seq) continue;
    SB_TRY(write_stream(connection, name, stream));
    report_stream(name, stream, has_heads, report);
  }
  return {};
}

Status fix_blobs(Connection& connection, RepairReport& report) {
  std::vector<std::int64_t> damaged;
  {
    Statement row = SB_TRY(connection.prepare("SELECT rowid, hash, bytes FROM blobs"));
    while (SB_TRY(row.step())) {
      ++report.blobs;
      if (as_bytes(sha256(row.bytes(2))) == row.bytes(1)) continue;
      damaged.push_back(row.integer(0));
      report.lost_blobs.push_back(to_hex(row.bytes(1)));
      report.found.push_back(fmt::format("the content {} is damaged", report.lost_blobs.back()));
    }
  }
  report.blobs -= static_cast<std::int64_t>(damaged.size());
  for (const std::int64_t row : damaged) {
    SB_TRY(SB_TRY(connection.prepare("DELETE FROM blobs WHERE rowid = ?1")).bind(1, row).run());
  }
  return {};
}

}  // namespace

Status fix_chains(Connection& connection, const KnownHeads& known, bool has_heads, RepairReport& report) {
  SB_TRY(connection.run("BEGIN IMMEDIATE"));
  const auto fix = [&]() -> Status {
    SB_TRY(fix_streams(connection, known, has_heads, report));
    SB_TRY(fix_blobs(connection, report));
    return connection.run("COMMIT");
  };
  const Status fixed = fix();
  if (!fixed) connection.roll_back();
  return fixed;
}

}  // namespace sb::store::repair
