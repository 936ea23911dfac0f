#include "decision/prompt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/assert.hpp"
#include "base/text/unicode.hpp"
#include "decision/brief.hpp"
#include "decision/texts.hpp"

namespace sb::decision {
namespace {

// A label as a host or a reader might compare it.
std::string folded_label(std::string_view label) {
  return case_fold(nfkc(on_one_line(label)));
}

// The pager's entry at the end of a page. A declared label is not changed, so if one looks the same, this one gets a
// number: of the next page, or for "none of these" of its own page.
Option own_option(const Decision& decision, int page) {
  const bool is_many = decision.select.mode == SelectMode::kMany;
  const std::string plain(text(decision.locale, is_many ? "none_of_these" : "more_options"));
  std::set<std::string> declared;
  for (const Option& option : decision.options) declared.insert(folded_label(option.label));
  Option own;
  own.id = is_many ? kNoneId : kMoreId;
  own.role = is_many ? "none" : "navigate";
  own.label = plain;
  const std::string number = std::to_string(is_many ? page : page + 1);
  for (int extra = 0; declared.contains(folded_label(own.label)); ++extra) {
    const std::string full = extra == 0 ? number : fmt::format("{}.{}", number, extra);
    own.label = fmt::format("{} ({})", plain, text_with(decision.locale, "page_number", "page", full));
  }
  return own;
}

}  // namespace

bool is_contradictory(const std::vector<std::string>& ids) {
  return ids.size() > 1 &&
         std::ranges::any_of(ids, [](const std::string& id) { return id == "none" || id == kNoneId; });
}

std::vector<PageRange> paginate(std::size_t count, std::size_t cap, bool own_question) {
  SB_ASSERT(cap >= 2);
  std::vector<PageRange> pages;
  if (count <= cap) {
    pages.push_back({0, count, false});
    return pages;
  }
  std::size_t first = 0;
  while (first < count) {
    const std::size_t left = count - first;
    const bool is_last = own_question ? left <= cap - 1 : left <= cap;
    const std::size_t last = is_last ? count : first + cap - 1;
    pages.push_back({first, last, own_question || !is_last});
    first = last;
  }
  return pages;
}

std::vector<Prompt> prompts_of(const Decision& decision, const Profile& profile, const std::string& definition_hash,
                               int host_cap) {
  Prompt whole;
  whole.decision_id = decision.id;
  whole.label = decision.label.empty() && !profile.sections_required.empty() ? "D1" : decision.label;
  whole.is_declared = true;
  whole.recommended_in_all = static_cast<int>(std::ranges::count(decision.options, true, &Option::recommended));
  whole.question_id = decision.question_id;
  whole.profile = profile.id;
  whole.locale = decision.locale;
  whole.definition_hash = definition_hash;
  whole.kind = decision.kind;
  whole.instruction = decision.instruction;
  whole.header = decision.header;
  whole.title = decision.title;
  whole.sections = decision.sections;
  whole.select = decision.select;
  whole.fields = decision.fields;
  whole.url = decision.url;
  whole.secret = decision.secret;
  whole.door = decision.door;
  whole.irreversible_note = decision.irreversible_note;

  const int cap = host_cap > 0 ? std::min(profile.max_options, host_cap) : profile.max_options;
  const bool is_many = decision.select.mode == SelectMode::kMany;
  const auto ranges = paginate(decision.options.size(), static_cast<std::size_t>(std::max(cap, 2)), is_many);
  std::vector<Prompt> prompts;
  for (const PageRange& range : ranges) {
    Prompt prompt = whole;
    prompt.page = static_cast<int>(prompts.size()) + 1;
    prompt.pages = static_cast<int>(ranges.size());
    for (std::size_t i = 0; i < decision.options.size(); ++i) {
      if (i >= range.first && i < range.last) {
        prompt.options.push_back(decision.options[i]);
      } else {
        prompt.shown_elsewhere.push_back(decision.options[i].label);
        // Where many may be chosen the next page follows whatever is chosen here.
        if (i >= range.last && !is_many) prompt.asked_next.push_back(decision.options[i].label);
      }
    }
    if (range.has_own_option) {
      prompt.options.push_back(own_option(decision, prompt.page));
      prompt.has_numbered_pager =
          prompt.options.back().label != text(decision.locale, is_many ? "none_of_these" : "more_options");
    }
    if (is_many && ranges.size() > 1) {
      // Each page is its own question; whether enough were chosen is known only after the last one.
      prompt.select.min = 1;
      prompt.select.max = std::min<int>(decision.select.max, static_cast<int>(range.last - range.first));
    }
    prompts.push_back(std::move(prompt));
  }
  return prompts;
}

std::vector<Prompt> prompts_of(const Flow& flow, const FlowStep& step, const Profile& profile,
                               const std::string& definition_hash, int host_cap) {
  auto prompts = prompts_of(step.decision, profile, definition_hash, host_cap);
  for (Prompt& prompt : prompts) prompt.decision_id = fmt::format("{}.{}", flow.id, step.key());
  return prompts;
}

}  // namespace sb::decision
