// A single decision with options, page by page: what was chosen so far, and the reading of answers. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"
#include "decision/declaration/declaration.hpp"
#include "decision/prompt.hpp"

namespace sb::decision {

struct PagedChoice {
  std::size_t page = 0;
  std::map<std::size_t, std::vector<std::string>> chosen;  // where many may be chosen: the answered pages
  int streak = 0;                                          // invalid inputs in a row

  struct Turn {
    enum class Kind { kAsk, kAnswered, kCancelled, kSuspended } kind = Kind::kAsk;
    std::string error;
    std::optional<std::string> free_text;
    std::vector<std::string> options;
  };

  std::vector<Prompt> pages(const Declaration& declaration) const;
  // Ids of the current page; the pager's own id alone.
  Turn answer(const Declaration& declaration, const std::vector<std::string>& ids);
  Turn take(const Declaration& declaration, std::string_view line);
  Turn reject(const Declaration& declaration);
};

Value to_value(const PagedChoice& choice);
// kInvalid if it does not belong to the declaration.
Result<PagedChoice> paged_choice_from(const Value& value, const Declaration& declaration);

}  // namespace sb::decision
