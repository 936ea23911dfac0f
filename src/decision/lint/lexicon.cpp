#include "decision/lint/lexicon.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "decision/data.hpp"

namespace sb::decision::linting {
namespace {

struct Language {
  std::string_view code;
  Group group;
};

constexpr Language kLanguages[] = {
    {"en", kEnglish},   {"ru", kRussian},   {"uk", kUkrainian}, {"de", kLatin}, {"fr", kLatin},
    {"es", kLatin},     {"pt", kLatin},     {"it", kLatin},     {"pl", kLatin}, {"tr", kLatin},
    {"zh", kEastAsian}, {"ja", kEastAsian}, {"ko", kEastAsian},
};

constexpr std::pair<std::string_view, PhraseKind> kIdeas[] = {
    {"offers", PhraseKind::kOffer},       {"choices", PhraseKind::kChoice},      {"approvals", PhraseKind::kApproval},
    {"questions", PhraseKind::kQuestion}, {"narration", PhraseKind::kNarration}, {"status", PhraseKind::kStatus},
    {"summary", PhraseKind::kSummary},    {"reasoning", PhraseKind::kReasoning}, {"drops", PhraseKind::kDrop},
};

// <name> in a pattern stands for the word list of that name. Named groups, (?<name>…), are not used in the lexicons.
std::string expand(std::string_view expression, const Value& words) {
  std::string out;
  for (std::size_t at = 0; at < expression.size();) {
    const std::size_t close = expression[at] == '<' ? expression.find('>', at) : std::string_view::npos;
    const auto word =
        close == std::string_view::npos ? std::nullopt : words.string_at(expression.substr(at + 1, close - at - 1));
    if (word) {
      out += "(?:" + *word + ")";
      at = close + 1;
    } else {
      out += expression[at++];
    }
  }
  return out;
}

std::string expand_member(const Value& value, std::string_view name, const Value& words) {
  const auto text = value.string_at(name);
  return text ? expand(*text, words) : std::string();
}

}  // namespace

std::optional<Span> LazyPattern::find(std::string_view text) const {
  const auto compile = [this](std::optional<Pattern>& into, unsigned flags) {
    auto compiled = Pattern::compile(expression_, flags);
    SB_ASSERT(compiled.has_value());
    into = std::move(*compiled);
  };
  // JIT compilation takes longer than matching a short text.
  constexpr int kManyUses = 24;
  const bool is_used_much = uses_.load(std::memory_order_relaxed) >= kManyUses;
  if (is_used_much) {
    std::call_once(once_fast_, compile, fast_, Pattern::kFast);
  } else {
    uses_.fetch_add(1, std::memory_order_relaxed);
    std::call_once(once_, compile, pattern_, Pattern::kNone);
  }
  const auto place = (is_used_much ? *fast_ : *pattern_).find_range(text);
  return place ? std::optional(Span{place->first, place->second}) : std::nullopt;
}

Lexicon::Lexicon(std::string_view code, std::string_view yaml) : language(code) {
  auto document = parse_document(std::string(code) + ".yaml", std::string(yaml));
  SB_ASSERT(document.has_value());
  const Value& root = document->root;
  const Value& words = root["words"];
  version = root["version"].as_string();
  blocks = root["blocks"].as_bool();
  for (const auto& [name, phrase_kind] : kIdeas) {
    const Value* list = root.find(name);
    if (list == nullptr) continue;
    for (const Value& item : list->items()) {
      auto phrase = std::make_unique<Phrase>(expand_member(item, "find", words), expand_member(item, "unless", words));
      phrase->phrase_kind = phrase_kind;
      phrase->lexicon = this;
      for (const Value& word : item["on"].items()) phrase->on.push_back(word.as_string());
      if (const Value* with = item.find("with")) {
        for (const Value& word : with->items()) phrase->with.push_back(word.as_string());
      }
      phrase->last_only = item.string_at("where") == "last";
      if (const auto scope = item.string_at("scope"))
        phrase->when = *scope == "in" ? ScopeFilter::kIn : ScopeFilter::kOut;
      SB_ASSERT(!phrase->on.empty() && !phrase->find.empty());
      phrases.push_back(std::move(phrase));
    }
  }
  const auto whole = [&](std::string_view name) { return expand_member(root, name, words); };
  const auto anchored = [&](std::string_view name, std::string_view before, std::string_view after) {
    const std::string expression = whole(name);
    return expression.empty() ? expression : std::string(before) + expression + std::string(after);
  };
  labels.set(anchored("labels", "^(?:", ")\\s*[:：]"));
  label_lines.set(anchored("label_lines", "^(?:", ")\\s*[:：.!]*$"));
  others.set(anchored("others", "^(?:", ")$"));
  recommended.set(anchored("recommended", "(?:", ")"));
  summaries.set(anchored("summaries", "^(?:", ")\\s*[:：]?$"));
  drop_verbs.set(anchored("drop_verbs", "(?:", ")"));
  option_caps.set(anchored("option_caps", "(?:", ")"));
  abbreviations.set(anchored("abbreviations", "(?:^|[\\s(])(?:", ")\\.$"));
}

void TriggerIndex::add(const Phrase& phrase) {
  for (const std::string& word : phrase.on) {
    std::uint64_t hash = kSeed;
    for (char c : word) hash = step(hash, static_cast<unsigned char>(c));
    const std::uint64_t bit = (hash ^ (hash >> 29)) & (kBits - 1);
    bits_[bit >> 6] |= std::uint64_t{1} << (bit & 63);
    phrases_[hash].push_back(&phrase);
  }
}

const Lexicons& Lexicons::built_in() {
  static const Lexicons lexicons;
  return lexicons;
}

const Lexicon& Lexicons::at(std::size_t language) const {
  Slot& slot = slots_[language];
  std::call_once(slot.once, [&] {
    const std::string_view code = kLanguages[language].code;
    slot.lexicon = std::make_unique<Lexicon>(code, data_file("lint/" + std::string(code) + ".yaml"));
  });
  return *slot.lexicon;
}

unsigned Lexicons::group_of(std::string_view language) {
  const auto found = std::ranges::find(kLanguages, language, &Language::code);
  return found == std::end(kLanguages) ? 0u : found->group;
}

std::vector<const Lexicon*> Lexicons::of(unsigned groups) const {
  std::vector<const Lexicon*> out;
  for (std::size_t i = 0; i < std::size(kLanguages); ++i) {
    if (groups & kLanguages[i].group) out.push_back(&at(i));
  }
  return out;
}

const TriggerIndex& Lexicons::index(unsigned groups) const {
  IndexSlot& slot = indexes_[groups];
  std::call_once(slot.once, [&] {
    slot.index = std::make_unique<TriggerIndex>();
    for (const Lexicon* lexicon : of(groups)) {
      for (const auto& phrase : lexicon->phrases) slot.index->add(*phrase);
    }
  });
  return *slot.index;
}

unsigned Lexicons::groups_in(std::string_view text) {
  unsigned groups = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    // Once a letter was seen, ASCII provides no more information.
    if (groups & kEnglish) {
      std::uint64_t eight = 0;
      while (i + 8 <= text.size() && (std::memcpy(&eight, text.data() + i, 8), eight & 0x8080808080808080u) == 0)
        i += 8;
      if (i == text.size()) break;
    }
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') groups |= kEnglish | kLatin;
    } else if (c >= 0xC3 && c <= 0xC5) {
      groups |= kLatin;
    } else if (c >= 0xD0 && c <= 0xD3) {
      groups |= kRussian | kUkrainian;
    } else if (c >= 0xE3 && c <= 0xED) {
      groups |= kEastAsian;
    }
    if (groups == kGroupSets - 1) break;
  }
  return groups;
}

}  // namespace sb::decision::linting
