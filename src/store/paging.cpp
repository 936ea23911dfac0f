#include "store/paging.hpp"

#include <fmt/format.h>

#include "base/crypto.hpp"
#include "base/text.hpp"
#include "store/checks.hpp"

namespace sb::store {
namespace {

constexpr char kBetween = '\0';  // never in a name

}  // namespace

std::string cursor_after(std::string_view list, const Row& last) {
  return to_base64url(fmt::format("{}{}{}{}{}", list, kBetween, last.sort.value_or(""), kBetween, last.key));
}

Result<Row> row_of_cursor(std::string_view list, std::string_view cursor) {
  const auto refused = [&] {
    return fail(ErrorCode::kInvalid, "invalid cursor for this list",
                "Pass `next` of the previous page, or omit it to start at the first page");
  };
  const auto text = from_base64url(cursor);
  if (!text) return refused();
  const std::size_t first = text->find(kBetween);
  const std::size_t second = first == text->npos ? first : text->find(kBetween, first + 1);
  if (second == text->npos || text->substr(0, first) != list) return refused();
  Row row{text->substr(second + 1), text->substr(first + 1, second - first - 1), ""};
  if (!check_name("key", row.key) || (!row.sort->empty() && !check_name("sort key", *row.sort))) return refused();
  return row;
}

Result<RowPage> read_page(Snapshot& snapshot, std::string_view collection, Listing listing,
                          const PageRequest& request) {
  RowPage page;
  listing.limit = request.limit;
  listing.after.reset();
  page.facts.total = SB_TRY(snapshot.count(collection, listing));
  if (!request.after.empty()) listing.after = SB_TRY(row_of_cursor(collection, request.after));
  page.rows = SB_TRY(snapshot.list(collection, listing));
  if (page.rows.size() < static_cast<std::size_t>(request.limit)) return page;
  const auto shown = static_cast<std::int64_t>(page.rows.size());
  page.facts.more = page.facts.total - shown;
  if (listing.after) {
    listing.after = page.rows.back();
    page.facts.more = SB_TRY(snapshot.count(collection, listing));
  }
  if (page.facts.more > 0 && !page.rows.empty()) page.facts.next = cursor_after(collection, page.rows.back());
  return page;
}

}  // namespace sb::store
