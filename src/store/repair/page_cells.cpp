#include "store/repair/page_cells.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "base/limits.hpp"
#include "store/sqlite/wal_file.hpp"

namespace sb::store::repair {
namespace {

using sqlite::big_endian_16;
using sqlite::big_endian_32;

constexpr std::uint8_t kTableRows = 13, kIndexRows = 10, kIndexInner = 2;
constexpr std::size_t kMaxColumns = 16;
constexpr std::size_t kFreeCountAt = 36, kLargestRootAt = 52;  // on the first page; the second is 0 without a map
constexpr std::int64_t kMaxRowBytes = static_cast<std::int64_t>(limits::kStoreValueBytes) + 65'536;

// Up to 9 bytes, 7 bits in each but the last.
std::optional<std::int64_t> read_variable(std::string_view bytes, std::size_t& at) {
  std::uint64_t value = 0;
  for (int i = 0; i < 9; ++i) {
    if (at >= bytes.size()) return std::nullopt;
    const auto byte = static_cast<unsigned char>(bytes[at++]);
    if (i == 8) return static_cast<std::int64_t>(value << 8 | byte);
    value = value << 7 | (byte & 0x7f);
    if ((byte & 0x80) == 0) break;
  }
  return static_cast<std::int64_t>(value);
}

std::int64_t read_integer(std::string_view bytes) {
  std::int64_t value = bytes.empty() || (static_cast<unsigned char>(bytes[0]) & 0x80) == 0 ? 0 : -1;
  for (const char byte : bytes) {
    value = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << 8 | static_cast<unsigned char>(byte));
  }
  return value;
}

std::optional<std::size_t> size_of_type(std::int64_t type) {
  constexpr std::size_t kSizes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0};
  if (type < 0 || type == 10 || type == 11 || type > 2 * kMaxRowBytes + 13) return std::nullopt;
  if (type < 10) return kSizes[type];
  return static_cast<std::size_t>((type - 12) / 2);
}

Column read_column(std::int64_t type, std::string_view bytes) {
  Column column;
  if (type == 0) return column;
  if (type == 7) {
    column.kind = Column::Kind::kReal;
  } else if (type < 10) {
    column.kind = Column::Kind::kInteger;
    column.integer = type == 8 ? 0 : type == 9 ? 1 : read_integer(bytes);
  } else {
    column.kind = type % 2 == 0 ? Column::Kind::kBlob : Column::Kind::kText;
    column.bytes = bytes;
  }
  return column;
}

std::optional<std::vector<Column>> read_row(std::string_view row) {
  std::size_t at = 0;
  const auto header = read_variable(row, at);
  if (!header || *header < 1 || *header > static_cast<std::int64_t>(row.size())) return std::nullopt;
  std::size_t value = static_cast<std::size_t>(*header);
  std::vector<Column> columns;
  while (at < static_cast<std::size_t>(*header)) {
    const auto type = read_variable(row, at);
    const auto size = type ? size_of_type(*type) : std::nullopt;
    if (!size || value + *size > row.size() || columns.size() == kMaxColumns) return std::nullopt;
    columns.push_back(read_column(*type, row.substr(value, *size)));
    value += *size;
  }
  return columns;
}

// The rest of a row that does not fit into its page, from a chain of others.
bool append_overflow(std::string& row, std::uint32_t next, std::size_t size, std::size_t page_bytes,
                     const PageReader& read) {
  std::set<std::uint32_t> seen;
  while (row.size() < size) {
    const std::string page = next == 0 || !seen.insert(next).second ? std::string() : read(next);
    if (page.size() != page_bytes) return false;
    next = big_endian_32(page, 0);
    row += page.substr(4, std::min(size - row.size(), page_bytes - 4));
  }
  return true;
}

// How much of a row is in its page; the file format's formula.
std::size_t local_bytes(std::size_t size, std::size_t page_bytes, bool is_table) {
  const std::size_t most = is_table ? page_bytes - 35 : (page_bytes - 12) * 64 / 255 - 23;
  const std::size_t least = (page_bytes - 12) * 32 / 255 - 23;
  if (size <= most) return size;
  const std::size_t fitting = least + (size - least) % (page_bytes - 4);
  return fitting <= most ? fitting : least;
}

std::optional<Cell> read_cell(std::string_view page, std::size_t at, std::uint8_t type, const PageReader& read) {
  if (type == kIndexInner) at += 4;
  const auto size = read_variable(page, at);
  if (!size || *size < 2 || *size > kMaxRowBytes) return std::nullopt;
  Cell cell;
  if (type == kTableRows) {
    const auto row = read_variable(page, at);
    if (!row) return std::nullopt;
    cell.row = *row;
  }
  const auto bytes = static_cast<std::size_t>(*size);
  const std::size_t local = local_bytes(bytes, page.size(), type == kTableRows);
  if (at + local > page.size()) return std::nullopt;
  std::string row(page.substr(at, local));
  if (local < bytes && !append_overflow(row, big_endian_32(page, at + local), bytes, page.size(), read)) {
    return std::nullopt;
  }
  auto columns = read_row(row);
  if (!columns) return std::nullopt;
  cell.columns = std::move(*columns);
  return cell;
}

// The map's pages have 5 bytes per page that follows them, of which the first is what that page is.
bool is_free_in_map(std::uint32_t page, std::string_view first, const PageReader& read) {
  constexpr char kFree = 2;
  if (page < 3 || first.size() < 512) return false;
  const auto mapped = static_cast<std::uint32_t>((first.size() - static_cast<unsigned char>(first[20])) / 5);
  const std::uint32_t map = (page - 2) / (mapped + 1) * (mapped + 1) + 2;
  const std::string entries = read(map);
  const std::size_t at = 5 * (std::size_t{page} - map - 1);
  return page != map && at < entries.size() && entries[at] == kFree;
}

}  // namespace

std::vector<Cell> cells_of(std::uint32_t number, std::string_view page, const PageReader& read) {
  const std::size_t header = number == 1 ? 100 : 0;
  if (page.size() < header + 12) return {};
  const auto type = static_cast<std::uint8_t>(page[header]);
  if (type != kTableRows && type != kIndexRows && type != kIndexInner) return {};
  const std::size_t first = header + (type == kIndexInner ? 12 : 8);
  std::vector<Cell> cells;
  // A damaged count may be too small; a damaged position is skipped.
  const std::size_t count = std::min<std::size_t>(big_endian_16(page, header + 3), (page.size() - first) / 2);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = big_endian_16(page, first + 2 * i);
    if (at < first || at >= page.size()) continue;
    if (auto cell = read_cell(page, at, type, read)) cells.push_back(std::move(*cell));
  }
  return cells;
}

FreePages free_pages(std::string_view first, std::uint32_t pages, const PageReader& read) {
  std::set<std::uint32_t> listed, trunks;
  for (std::uint32_t trunk = big_endian_32(first, 32); trunk != 0 && trunk <= pages;) {
    const std::string page = read(trunk);
    if (page.empty() || !trunks.insert(trunk).second) break;
    listed.insert(trunk);
    const std::uint32_t count =
        std::min<std::uint32_t>(big_endian_32(page, 4), static_cast<std::uint32_t>(page.size() / 4 - 2));
    for (std::uint32_t i = 0; i < count; ++i) listed.insert(big_endian_32(page, 8 + 4 * std::size_t{i}));
    trunk = big_endian_32(page, 0);
  }
  const bool has_map = big_endian_32(first, kLargestRootAt) != 0;
  const bool is_counted = listed.size() == big_endian_32(first, kFreeCountAt);
  FreePages free;
  for (const std::uint32_t page : listed) {
    const bool is_sure = has_map ? is_free_in_map(page, first, read) : is_counted;
    (is_sure ? free.sure : free.doubtful).insert(page);
  }
  return free;
}

}  // namespace sb::store::repair
