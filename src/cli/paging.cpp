#include "cli/paging.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"

namespace sb::cli {

void add_page_options(App& app, store::PageRequest& request) {
  app.add_option("--limit", request.limit, "How many to list")->range(1, limits::kStorePageRows)->shows_default();
  app.add_option("--after", request.after, "Start after this cursor: `next` of the previous page");
}

std::string count_text(std::int64_t number) {
  std::string text = fmt::format("{}", number);
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, ",");
  return text;
}

std::string counted(std::int64_t number, std::string_view one) {
  return fmt::format("{} {}{}", count_text(number), one, number == 1 ? "" : "s");
}

std::string more_line(const store::PageFacts& facts, std::string_view command) {
  if (facts.more == 0) return {};
  return fmt::format("and {} more; the next page: {} --after {}\n", count_text(facts.more), command, facts.next);
}

Value page_value(std::string_view name, Value items, const store::PageFacts& facts) {
  return Value::object({{std::string(name), std::move(items)},
                        {"total", facts.total},
                        {"more", facts.more},
                        {"next", facts.next.empty() ? Value() : Value(facts.next)}});
}

}  // namespace sb::cli
