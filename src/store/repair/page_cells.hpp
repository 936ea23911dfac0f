// Reads the rows of one page of an SQLite file without SQLite, as far as they can be read.
//
// A page of rows: at byte 0 (byte 100 of page 1) its type: 13 a table's rows, 10 and 2 an index or a table without row
// numbers (2 also holds the numbers of child pages), then at byte 3 the number of cells (2 bytes), and from byte 8 (12
// for type 2) the position of each (2 bytes). A cell is [child page, 4 bytes, type 2] [length of the row] [row number,
// type 13] the start of the row [next page with its rest, 4 bytes]. Lengths and row numbers are of variable size. A row
// is the length of its header, a type per column, then the values. Integers are big-endian.
//
// Pure except for the pages that `read` returns. Anything that does not fit is skipped: a damaged page gives fewer
// rows.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sb::store::repair {

struct Column {
  enum class Kind { kNull, kInteger, kText, kBlob, kReal };
  Kind kind = Kind::kNull;
  std::int64_t integer = 0;
  std::string bytes;  // of a text or blob
};

struct Cell {
  std::int64_t row = 0;  // 0 for pages without row numbers
  std::vector<Column> columns;
};

// The bytes of a page; empty if there is no such page.
using PageReader = std::function<std::string(std::uint32_t page)>;

std::vector<Cell> cells_of(std::uint32_t number, std::string_view page, const PageReader& read);

// Pages that hold nothing: their old rows must not come back. The file says so twice, in a list and (unless an older
// version created it) in a map; damage to one of them must not hide rows. `first` is the file's first page.
struct FreePages {
  std::set<std::uint32_t> sure;      // both agree
  std::set<std::uint32_t> doubtful;  // only the list says so
};
FreePages free_pages(std::string_view first, std::uint32_t pages, const PageReader& read);

}  // namespace sb::store::repair
