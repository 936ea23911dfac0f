#include "decision/chain/phrases.hpp"

#include <algorithm>

#include "base/text/unicode.hpp"
#include "decision/texts.hpp"

namespace sb::decision {
namespace {

constexpr std::string_view kSentenceEnds[] = {".", "!", "?", ":", ";", ")", "…", "。", "！", "？", "：", "；", "）"};

}  // namespace

std::string join_sentences(std::string_view first, std::string_view second) {
  std::string joined(first);
  if (!joined.empty() && !second.empty()) {
    // A declared text need not end with a full stop; the next sentence still starts as one.
    const bool is_ended =
        std::ranges::any_of(kSentenceEnds, [&](std::string_view end) { return joined.ends_with(end); });
    if (!is_ended) joined += '.';
    joined += ' ';
  }
  joined += second;
  return joined;
}

// Each slot is filled once, from left to right over the template only, so that a value that looks like a slot is not
// expanded.
std::string Phrases::operator()(std::string_view key, const Slots& slots) const {
  const std::string_view pattern = text(model_.chain.locale, key);
  std::string filled;
  for (std::size_t at = 0; at < pattern.size();) {
    const auto open = pattern.find('{', at);
    const auto close = open == std::string_view::npos ? open : pattern.find('}', open);
    if (close == std::string_view::npos) return filled.append(pattern.substr(at));
    filled.append(pattern.substr(at, open - at));
    const auto name = pattern.substr(open + 1, close - open - 1);
    const auto slot = std::find_if(slots.begin(), slots.end(), [&](const Slot& each) { return each.name == name; });
    if (slot != slots.end()) filled += slot->value;
    at = close + 1;
  }
  return filled;
}

std::string Phrases::sized(std::string_view key, const Slots& slots) const {
  return model_.profile.option_max_words > 0 ? (*this)(std::string(key) + ".short") : (*this)(key, slots);
}

std::string Phrases::paged(std::string_view key, int page, int pages) const {
  if (pages <= 1 || model_.profile.one_sentence) return (*this)(key);
  return (*this)(std::string(key) + ".page", {{"page", std::to_string(page)}, {"pages", std::to_string(pages)}});
}

namespace {

// Names inside an instruction must not look like the end of its sentence.
bool is_one_sentence(std::string_view text) {
  const auto end = text.find_first_of(".!?\n");
  return end == std::string_view::npos || end + 1 == text.size();
}

bool has_room(int max_words, std::string_view text) {
  return max_words == 0 || word_units(text) <= max_words;
}

}  // namespace

std::string Phrases::instruction(std::string_view key, const Slots& slots, const Slots& short_slots) const {
  std::string full = (*this)(key, slots);
  const bool fits =
      has_room(model_.profile.instruction_max_words, full) && (!model_.profile.one_sentence || is_one_sentence(full));
  return fits ? full : (*this)(std::string(key) + ".short", short_slots);
}

std::string Phrases::option(std::string_view key, const Slots& slots) const {
  std::string full = (*this)(key, slots);
  return has_room(model_.profile.option_max_words, full) ? full : (*this)(std::string(key) + ".short");
}

std::string Phrases::name_of(std::size_t index) const {
  const auto& option = model_.chain.options[index];
  return option.key == option.label ? option.label : option.key + " (" + option.label + ")";
}

std::string Phrases::names_of(const std::vector<std::size_t>& indexes) const {
  std::string list;
  for (const std::size_t index : indexes) {
    if (!list.empty()) list += ", ";
    list += name_of(index);
  }
  return list.empty() ? (*this)("chain.none") : list;
}

std::string Phrases::keys_of(const std::vector<std::size_t>& indexes) const {
  std::string list;
  for (const std::size_t index : indexes) {
    if (!list.empty()) list += ", ";
    list += model_.chain.options[index].key;
  }
  return list;
}

std::string Phrases::pairs_of(const std::vector<Violation>& violations) const {
  std::string list;
  for (const auto& violation : violations) {
    if (!list.empty()) list += ", ";
    const bool is_clash = violation.kind == Violation::Kind::kClash;
    list += (*this)(
        is_clash ? "chain.final.pair.clash" : "chain.final.pair.missing",
        {{"first", model_.chain.options[violation.first].key}, {"second", model_.chain.options[violation.second].key}});
  }
  return list;
}

std::string Phrases::was(const std::optional<Bucket>& disposition) const {
  return disposition ? (*this)("chain.was." + std::string(to_string(*disposition))) : (*this)("chain.none");
}

std::string Phrases::dependencies(std::size_t index, const Dispositions& dispositions) const {
  std::string sentences;
  const auto& graph = model_.graph;
  const auto add = [&](std::string_view key, std::size_t other) {
    const auto& decided = dispositions[other];
    const std::string full = decided ? std::string(key) + ".decided" : std::string(key);
    sentences = join_sentences(sentences, (*this)(full, {{"other", name_of(other)}, {"was", was(decided)}}));
  };
  for (const std::size_t other : graph.required[index]) {
    if (model_.chain.options[other].shipped) {
      sentences = join_sentences(sentences, (*this)("chain.needs.shipped", {{"other", name_of(other)}}));
    } else {
      add("chain.needs", other);
    }
  }
  for (const std::size_t other : graph.dependants[index]) add("chain.needed", other);
  for (const std::size_t other : graph.conflicting[index]) add("chain.clashes", other);
  if (graph.is_in_cycle[index]) {
    auto members = graph.members_of(index);
    std::erase(members, index);
    sentences = join_sentences(sentences, (*this)("chain.cycle", {{"others", names_of(members)}}));
  }
  return sentences;
}

}  // namespace sb::decision
