// Copies every row that can be read from the pages of a damaged database into an empty store.
//
// Rows are recognized by their shape, not by the tree they belong to: so damage to one page loses only the rows on it.
// Events and blobs are taken only if they match their hash.
#pragma once

#include "store/repair/chains.hpp"
#include "store/repair/page_cells.hpp"

namespace sb::store::repair {

struct PageBytes {
  std::uint32_t number = 0;
  std::string bytes;
};

// What is known of events that may be gone.
struct Traces {
  KnownHeads heads;
  std::map<std::string, std::map<std::int64_t, std::string>> types;  // by stream and number

  // Adds the heads and events on a page, whether they are whole or not.
  void add(std::uint32_t number, std::string_view page, const PageReader& read);
};

struct RowSource {
  std::uint32_t pages = 0;
  PageReader read;
  std::vector<PageBytes> damaged;  // other versions, of which only events and blobs are taken
};

// `empty` is a store without rows.
Status copy_rows(const RowSource& source, sqlite::Connection& empty, Traces& traces);

}  // namespace sb::store::repair
