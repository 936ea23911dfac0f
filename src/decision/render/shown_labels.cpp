#include "decision/render/shown_labels.hpp"

#include <algorithm>
#include <set>

#include "base/text/unicode.hpp"

namespace sb::decision {
namespace {

std::string marked(const Option& option, const Profile& profile) {
  const bool is_marked = option.recommended && profile.recommended == RecommendedMark::kSuffix;
  return is_marked ? option.label + std::string(kRecommendedSuffix) : option.label;
}

// Whether a host might show or compare two entries as one: it may ignore case and white space.
bool has_twins(const std::vector<ShownOption>& options) {
  std::set<std::string> seen;
  for (const ShownOption& option : options) {
    if (!seen.insert(case_fold(nfkc(option.shown))).second) return true;
  }
  return false;
}

bool has_comma(const std::vector<ShownOption>& options) {
  return std::ranges::any_of(options, [](const ShownOption& o) { return o.shown.find(',') != std::string::npos; });
}

std::string_view without_suffix(std::string_view label) {
  constexpr std::string_view mark = "(recommended)";
  while (label.ends_with(' ')) label.remove_suffix(1);
  if (label.size() < mark.size()) return label;
  const std::string_view end = label.substr(label.size() - mark.size());
  const bool matches =
      std::ranges::equal(end, mark, [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
  if (!matches) return label;
  label.remove_suffix(mark.size());
  while (label.ends_with(' ')) label.remove_suffix(1);
  return label;
}

// The depth is at most the number of entries, since each is used once.
bool split_from(const std::vector<ShownOption>& options, std::string_view rest, std::vector<bool>& used) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (used[i] || !rest.starts_with(options[i].shown)) continue;
    std::string_view tail = rest.substr(options[i].shown.size());
    used[i] = true;
    if (tail.empty()) return true;
    if (tail.front() == ',') {
      tail.remove_prefix(1);
      if (split_from(options, tail, used)) return true;
      if (tail.starts_with(' ') && split_from(options, tail.substr(1), used)) return true;
    }
    used[i] = false;
  }
  return false;
}

}  // namespace

std::string letters_of(std::size_t index) {
  std::string letters;
  for (std::size_t n = index + 1; n > 0; n = (n - 1) / 26) {
    letters.insert(letters.begin(), static_cast<char>('A' + (n - 1) % 26));
  }
  return letters;
}

std::string ordinal_mark(OrdinalStyle style, std::size_t index) {
  return (style == OrdinalStyle::kLetterParen ? letters_of(index) : std::to_string(index + 1)) + ") ";
}

EntryKind entry_of(const Prompt& prompt, std::size_t index) {
  const Option& option = prompt.options[index];
  const bool is_own = !option.role.empty() && index + 1 == prompt.options.size();
  if (is_own && option.id == kMoreId) return EntryKind::kMore;
  if (is_own && option.id == kNoneId) return EntryKind::kNone;
  return EntryKind::kOption;
}

ShownLabels shown_labels(const Prompt& prompt, const Profile& profile) {
  ShownLabels labels;
  for (std::size_t i = 0; i < prompt.options.size(); ++i) {
    const Option& option = prompt.options[i];
    labels.options.push_back({option.id, option.label, marked(option, profile), entry_of(prompt, i)});
  }
  const bool is_many = prompt.select.mode == SelectMode::kMany;
  labels.has_ordinals = has_twins(labels.options) || (is_many && has_comma(labels.options));
  if (labels.has_ordinals) {
    for (std::size_t i = 0; i < labels.options.size(); ++i) {
      labels.options[i].shown.insert(0, ordinal_mark(profile.ordinals, i));
    }
  }
  return labels;
}

const ShownOption* find_shown(const std::vector<ShownOption>& options, std::string_view answer) {
  for (const ShownOption& option : options) {
    if (option.shown == answer) return &option;
  }
  const ShownOption* found = nullptr;
  for (const ShownOption& option : options) {
    if (without_suffix(option.shown) != without_suffix(answer)) continue;
    if (found) return nullptr;
    found = &option;
  }
  return found;
}

std::optional<std::vector<const ShownOption*>> split_joined(const std::vector<ShownOption>& options,
                                                            std::string_view answer) {
  std::vector<bool> used(options.size(), false);
  if (!split_from(options, answer, used)) return std::nullopt;
  std::vector<const ShownOption*> chosen;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (used[i]) chosen.push_back(&options[i]);
  }
  return chosen;
}

}  // namespace sb::decision
