// Long lists in pages: the options and what follows a page, the same for every list.
#pragma once

#include <string>
#include <string_view>

#include "base/document/value.hpp"
#include "cli/app.hpp"
#include "store/paging.hpp"

namespace sb::cli {

void add_page_options(App& app, store::PageRequest& request);

// 4980 as 4,980.
std::string count_text(std::int64_t number);
// `1 session`, `4,980 sessions`.
std::string counted(std::int64_t number, std::string_view one);
// `and 4,980 more; the next page: COMMAND --after CURSOR`, as one line; empty after the last page.
std::string more_line(const store::PageFacts& facts, std::string_view command);
// {NAME: [items], total, more, next}; next is null after the last page.
Value page_value(std::string_view name, Value items, const store::PageFacts& facts);

}  // namespace sb::cli
