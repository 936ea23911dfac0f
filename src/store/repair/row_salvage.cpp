#include "store/repair/row_salvage.hpp"

#include <algorithm>
#include <set>
#include <span>

#include "store/chain.hpp"
#include "store/checks.hpp"

namespace sb::store::repair {
namespace {

using sqlite::Connection;
using sqlite::Statement;
using Kind = Column::Kind;

constexpr std::size_t kDigestBytes = sizeof(Digest);
constexpr std::int64_t kMostEvents = std::int64_t{1} << 40;  // a larger number is damage

bool has_shape(const Cell& cell, std::initializer_list<Kind> kinds) {
  return std::ranges::equal(cell.columns, kinds, {}, &Column::kind);
}

bool is_digest(const Column& column) {
  return column.kind == Kind::kBlob && column.bytes.size() == kDigestBytes;
}

bool is_number(std::int64_t seq) {
  return seq > 0 && seq < kMostEvents;
}

bool is_event(const Cell& cell) {
  return cell.row > 0 &&
         has_shape(cell, {Kind::kNull, Kind::kText, Kind::kInteger, Kind::kText, Kind::kInteger, Kind::kBlob,
                          Kind::kBlob, Kind::kBlob}) &&
         is_digest(cell.columns[6]) && is_digest(cell.columns[7]) && is_number(cell.columns[2].integer) &&
         check_name("stream", cell.columns[1].bytes) && check_name("type", cell.columns[3].bytes);
}

bool is_head(const Cell& cell) {
  return cell.row == 0 && has_shape(cell, {Kind::kText, Kind::kInteger, Kind::kBlob}) && is_digest(cell.columns[2]) &&
         is_number(cell.columns[1].integer) && check_name("stream", cell.columns[0].bytes);
}

bool matches_hash(const Cell& event) {
  const auto& c = event.columns;
  Digest previous;
  std::ranges::copy(c[6].bytes, previous.begin());
  const Digest hash = event_hash(previous, c[1].bytes, c[2].integer, c[3].bytes, c[4].integer, c[5].bytes);
  return as_bytes(hash) == c[7].bytes;
}

bool is_projection(const Cell& cell) {
  const bool has_sort = has_shape(cell, {Kind::kText, Kind::kText, Kind::kText, Kind::kBlob});
  if (cell.row <= 0 || (!has_sort && !has_shape(cell, {Kind::kText, Kind::kText, Kind::kNull, Kind::kBlob}))) {
    return false;
  }
  return check_name("collection", cell.columns[0].bytes) && check_name("key", cell.columns[1].bytes) &&
         (!has_sort || check_name("sort key", cell.columns[2].bytes));
}

bool is_blob(const Cell& cell) {
  return cell.row > 0 && has_shape(cell, {Kind::kBlob, Kind::kBlob}) && is_digest(cell.columns[0]) &&
         as_bytes(sha256(cell.columns[1].bytes)) == cell.columns[0].bytes;
}

bool is_work(const Cell& cell) {
  return cell.row == 0 && has_shape(cell, {Kind::kText, Kind::kText, Kind::kText, Kind::kInteger, Kind::kInteger});
}

bool is_counter(const Cell& cell) {
  return cell.row == 0 && has_shape(cell, {Kind::kText, Kind::kInteger});
}

Status insert(Connection& to, const char* sql, std::span<const Column> columns, std::int64_t row = 0) {
  Statement statement = SB_TRY(to.prepare(sql));
  int index = 1;
  if (row != 0) statement.bind(index++, row);
  for (const Column& column : columns) {
    if (column.kind == Kind::kInteger) statement.bind(index, column.integer);
    if (column.kind == Kind::kText) statement.bind(index, std::string_view(column.bytes));
    if (column.kind == Kind::kBlob) statement.bind_blob(index, column.bytes);
    if (column.kind == Kind::kNull) statement.bind_null(index);
    ++index;
  }
  return statement.run();
}

Status copy_proved(const Cell& cell, Connection& to) {
  if (is_event(cell) && matches_hash(cell)) {
    return insert(to,
                  "INSERT OR IGNORE INTO events(position, stream, seq, type, time_ms, payload, previous, hash) "
                  "VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                  std::span(cell.columns).subspan(1), cell.row);
  }
  if (is_blob(cell)) return insert(to, "INSERT OR IGNORE INTO blobs(hash, bytes) VALUES(?1, ?2)", cell.columns);
  return {};
}

Status copy_other(const Cell& cell, Connection& to) {
  if (is_projection(cell)) {
    return insert(to, "INSERT OR IGNORE INTO projections(collection, key, sort, value) VALUES(?1, ?2, ?3, ?4)",
                  cell.columns);
  }
  if (is_work(cell)) {
    return insert(to, "INSERT OR IGNORE INTO work(queue, name, owner, free_ms, fence) VALUES(?1, ?2, ?3, ?4, ?5)",
                  cell.columns);
  }
  if (is_counter(cell)) {
    return insert(to,
                  "INSERT INTO counters(name, value) VALUES(?1, ?2) "
                  "ON CONFLICT(name) DO UPDATE SET value = max(value, excluded.value)",
                  cell.columns);
  }
  return {};
}

void trace(const Cell& cell, Traces& traces) {
  if (is_head(cell)) {
    std::int64_t& last = traces.heads[cell.columns[0].bytes];
    last = std::max(last, cell.columns[1].integer);
  } else if (is_event(cell)) {
    traces.types[cell.columns[1].bytes][cell.columns[2].integer] = cell.columns[3].bytes;
  }
}

Status copy_all(const RowSource& source, Connection& to, Traces& traces) {
  std::set<std::uint32_t> free;
  for (const std::uint32_t page : free_pages(source.read(1), source.pages, source.read)) free.insert(page);
  for (std::uint32_t number = 1; number <= source.pages; ++number) {
    if (free.contains(number)) continue;
    for (const Cell& cell : cells_of(number, source.read(number), source.read)) {
      trace(cell, traces);
      SB_TRY(copy_proved(cell, to));
      SB_TRY(copy_other(cell, to));
    }
  }
  for (const PageBytes& page : source.damaged) {
    for (const Cell& cell : cells_of(page.number, page.bytes, source.read)) SB_TRY(copy_proved(cell, to));
  }
  return {};
}

}  // namespace

void Traces::add(std::uint32_t number, std::string_view page, const PageReader& read) {
  for (const Cell& cell : cells_of(number, page, read)) trace(cell, *this);
}

Status copy_rows(const RowSource& source, Connection& empty, Traces& traces) {
  SB_TRY(empty.run("BEGIN IMMEDIATE"));
  const auto copy = [&]() -> Status {
    SB_TRY(copy_all(source, empty, traces));
    return empty.run("COMMIT");
  };
  const Status copied = copy();
  if (!copied) empty.roll_back();
  return copied;
}

}  // namespace sb::store::repair
