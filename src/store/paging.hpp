// Pages of listings for people and programs: how many there are, how many follow, and a cursor for the next page.
//
// A cursor is opaque: base64url of the name of the list and the last row shown, separated by NUL. So a page begins
// after that row, whatever was added or removed meanwhile. A row that moves to the front while someone pages is seen
// there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "store/store.hpp"

namespace sb::store {

struct PageRequest {
  int limit = 20;
  std::string after = {};  // a cursor; empty: the first page
};

// Beside the items of a page.
struct PageFacts {
  std::int64_t total = 0;  // of the whole list
  std::int64_t more = 0;   // after this page
  std::string next = {};   // the cursor of the next page; empty: this is the last one
};

struct RowPage {
  std::vector<Row> rows;
  PageFacts facts;
};

std::string cursor_after(std::string_view list, const Row& last);
// The row with key and sort key; kInvalid if the cursor is not one of this list.
Result<Row> row_of_cursor(std::string_view list, std::string_view cursor);

// A page of one listing, whose limit and cursor are ignored.
Result<RowPage> read_page(Snapshot& snapshot, std::string_view collection, Listing listing, const PageRequest& request);

inline constexpr int kRowsAtOnce = 1'000;

// Every row of a listing, read in pages; its limit and cursor are ignored. `visit` may return a Status, or a bool,
// which is false to stop.
template <class Visit>
Status each_row(Snapshot& snapshot, std::string_view collection, Listing listing, const Visit& visit) {
  listing.limit = kRowsAtOnce;
  listing.after.reset();
  for (;;) {
    const auto rows = SB_TRY(snapshot.list(collection, listing));
    for (const Row& row : rows) {
      using Answer = decltype(visit(row));
      if constexpr (std::is_void_v<Answer>) {
        visit(row);
      } else if constexpr (std::is_same_v<Answer, bool>) {
        if (!visit(row)) return {};
      } else {
        SB_TRY(visit(row));
      }
    }
    if (rows.size() < static_cast<std::size_t>(kRowsAtOnce)) return {};
    listing.after = rows.back();
  }
}

}  // namespace sb::store
