// As a position: {"kind": "pages", "page": P, "chosen": [[PAGE, ids…]…], "streak": N}
#include "decision/walk/paged_choice.hpp"

#include <algorithm>

#include "decision/brief.hpp"
#include "decision/chain/input.hpp"
#include "decision/chain/machine.hpp"
#include "decision/text_block.hpp"
#include "decision/texts.hpp"

namespace sb::decision {
namespace {

PagedChoice::Turn ending(PagedChoice::Turn::Kind kind) {
  PagedChoice::Turn turn;
  turn.kind = kind;
  return turn;
}

bool has_option(const Prompt& prompt, std::string_view id) {
  return std::ranges::any_of(prompt.options, [&](const Option& option) { return option.id == id; });
}

// The pager's own entry, which is last; a declared option may have the same id.
bool is_own_entry(const Prompt& prompt, std::string_view id) {
  const Option& last = prompt.options.back();
  return !last.role.empty() && last.id == id && (id == kMoreId || id == kNoneId);
}

std::string letters_error(const Prompt& prompt) {
  std::string letters;
  for (std::size_t i = 0; i < prompt.options.size(); ++i) letters += (i == 0 ? "" : ", ") + letter_of(i);
  const bool is_many = prompt.select.mode == SelectMode::kMany;
  return text_with(prompt.locale, is_many ? "chain.error.many" : "chain.error.one", "letters", letters);
}

}  // namespace

std::vector<Prompt> PagedChoice::pages(const Declaration& declaration) const {
  return prompts_of(*declaration.decision(), declaration.profile, declaration.hash);
}

PagedChoice::Turn PagedChoice::reject(const Declaration& declaration) {
  const Profile& profile = declaration.profile;
  ++streak;
  if (streak > profile.max_invalid) {
    if (profile.on_exhausted == OnExhausted::kEvent) {
      streak = 0;
      return ending(Turn::Kind::kSuspended);
    }
    streak = profile.max_invalid;
  }
  const Prompt prompt = pages(declaration)[page];
  Turn turn;
  turn.error = profile.grammar == Grammar::kLetters
                   ? letters_error(prompt)
                   : retry_line(prompt.locale, streak,
                                format_hint(prompt.select, static_cast<int>(prompt.options.size()), false));
  return turn;
}

PagedChoice::Turn PagedChoice::answer(const Declaration& declaration, const std::vector<std::string>& ids) {
  const Decision& decision = *declaration.decision();
  const auto all = pages(declaration);
  const Prompt& prompt = all[page];
  const bool is_many = decision.select.mode == SelectMode::kMany;
  const bool is_shown = std::ranges::all_of(ids, [&](const std::string& id) { return has_option(prompt, id); });
  if (!is_shown || (!is_many && ids.size() != 1)) return reject(declaration);
  if (ids.size() == 1 && is_own_entry(prompt, ids.front()) && ids.front() == kMoreId) {
    streak = 0;
    ++page;
    return {};
  }
  std::vector<std::string> own;
  for (const std::string& id : ids) {
    if (!is_own_entry(prompt, id)) own.push_back(id);
  }
  if (own.size() < ids.size() && ids.size() > 1) return reject(declaration);  // "none of these" and a choice
  if (!is_many) {
    Turn turn = ending(Turn::Kind::kAnswered);
    turn.options = std::move(own);
    return turn;
  }
  chosen[page] = std::move(own);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (chosen.contains(i)) continue;
    streak = 0;
    page = i;
    return {};
  }
  Turn turn = ending(Turn::Kind::kAnswered);
  for (const auto& [number, options] : chosen) turn.options.insert(turn.options.end(), options.begin(), options.end());
  const int count = static_cast<int>(turn.options.size());
  if (count >= decision.select.min && count <= decision.select.max && !is_contradictory(turn.options)) return turn;
  // No page is left to choose more or fewer on: from the first page again.
  chosen.clear();
  page = 0;
  return reject(declaration);
}

PagedChoice::Turn PagedChoice::take(const Declaration& declaration, std::string_view line) {
  const Prompt prompt = pages(declaration)[page];
  const ChainInput input = read_chain_input(line, prompt, declaration.profile);
  if (std::holds_alternative<CancelWord>(input)) return ending(Turn::Kind::kCancelled);
  if (std::holds_alternative<ChainFreeText>(input)) {
    streak = 0;
    Turn turn;
    turn.free_text = std::string(line);
    return turn;
  }
  const auto* picked = std::get_if<PickedOptions>(&input);
  if (picked == nullptr) return reject(declaration);
  std::vector<std::string> ids;
  for (const std::size_t index : picked->indexes) ids.push_back(prompt.options[index].id);
  return answer(declaration, ids);
}

Value to_value(const PagedChoice& choice) {
  Value chosen = Value::array();
  for (const auto& [page, ids] : choice.chosen) {
    chosen.push_back(Value(Value::Array{Value(page), Value::array(ids)}));
  }
  return Value::object(
      {{"kind", "pages"}, {"page", choice.page}, {"chosen", std::move(chosen)}, {"streak", choice.streak}});
}

Result<PagedChoice> paged_choice_from(const Value& value, const Declaration& declaration) {
  const auto bad = [] { return fail(ErrorCode::kInvalid, "the position does not belong to this decision"); };
  PagedChoice choice;
  const auto all = choice.pages(declaration);
  const auto page_in = [&](const Value& number) -> std::optional<std::size_t> {
    const bool is_page =
        number.is_integer() && number.as_integer() >= 0 && static_cast<std::size_t>(number.as_integer()) < all.size();
    return is_page ? std::optional(static_cast<std::size_t>(number.as_integer())) : std::nullopt;
  };
  const auto page = page_in(value["page"]);
  const Value& streak = value["streak"];
  if (!page || !value["chosen"].is_array() || !streak.is_integer()) return bad();
  choice.page = *page;
  choice.streak = static_cast<int>(std::clamp<std::int64_t>(streak.as_integer(), 0, declaration.profile.max_invalid));
  for (const Value& row : value["chosen"].items()) {
    if (!row.is_array() || row.size() != 2 || !row.items()[1].is_array()) return bad();
    const auto at = page_in(row.items()[0]);
    if (!at) return bad();
    auto& ids = choice.chosen[*at];
    for (const Value& id : row.items()[1].items()) {
      if (!id.is_string() || !has_option(all[*at], id.as_string())) return bad();
      ids.push_back(id.as_string());
    }
  }
  return choice;
}

}  // namespace sb::decision
