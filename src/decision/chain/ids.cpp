#include "decision/chain/ids.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "base/limits.hpp"

namespace sb::decision {
namespace {

constexpr std::string_view kInfix = "-split-";
constexpr std::size_t kSuffixRoom = 3;  // -2 … -99
constexpr std::size_t kSkillMax = limits::kIdBytes - kInfix.size() - kSuffixRoom - 1;

std::string without_trailing_dashes(std::string slug) {
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug;
}

std::string prefix_of(const Chain& chain) {
  const std::string slug = chain.skill.empty() ? slug_of(chain.id) : chain.skill;
  return without_trailing_dashes(slug.substr(0, kSkillMax)) + std::string(kInfix);
}

std::string in_base_36(std::size_t number) {
  std::string digits;
  do {
    digits.insert(digits.begin(), "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36]);
    number /= 36;
  } while (number > 0);
  return digits;
}

}  // namespace

ChainIds::ChainIds(const Chain& chain) : prefix_(prefix_of(chain)) {
  meta_ = claim("meta", false);
  final_ = claim("final", false);
  claim_options(chain);
  whole_ = claim(slug_of(chain.id), false);
  narrow_ = claim("narrow", false);
  rest_ = claim("rest", false);
  pick_revise_ = claim("revise", false);
  cut_more_ = claim("cut-more", false);
}

// A key's own slug has priority over a numbered one: `rspec-2` keeps it although there are two `rspec`.
void ChainIds::claim_options(const Chain& chain) {
  const auto is_reserved = [](const std::string& slug) { return slug.starts_with("conflict-"); };
  options_.resize(chain.options.size());
  for (std::size_t i = 0; i < chain.options.size(); ++i) {
    const auto& slug = slugs_.emplace_back(slug_of(chain.options[i].key));
    const bool is_natural = !is_reserved(slug) && slug.size() <= room() && !taken_.contains(slug);
    if (is_natural) options_[i] = claim(slug, false);
  }
  for (std::size_t i = 0; i < options_.size(); ++i) {
    if (options_[i].empty()) options_[i] = claim(slugs_[i], is_reserved(slugs_[i]));
  }
}

std::size_t ChainIds::room() const {
  return limits::kIdBytes - prefix_.size();
}

std::string ChainIds::of_conflict(std::size_t first, std::size_t second) const {
  SB_ASSERT(first < slugs_.size() && second < slugs_.size());
  const std::string slug = "conflict-" + slugs_[first] + "-" + slugs_[second];
  if (slug.size() <= room() && !taken_.contains(slug)) return prefix_ + slug;
  // Too long, or already an option's: the pair's number makes it unique.
  const std::string number = in_base_36(first * slugs_.size() + second);
  if (room() < number.size() + 2) return prefix_ + number;
  return prefix_ + without_trailing_dashes(slug.substr(0, room() - number.size() - 1)) + "-" + number;
}

// Reserves the slug, or its first free numbered form, and returns the whole id. A reserved slug is only used with a
// number.
std::string ChainIds::claim(const std::string& slug, bool is_reserved) {
  std::string base = slug;
  if (base.size() > room()) base = without_trailing_dashes(base.substr(0, room() - kSuffixRoom));
  std::string chosen = base;
  // Used numbers stay used, so each base continues where it stopped.
  std::size_t& n = next_number_.try_emplace(base, 2).first->second;
  for (; (is_reserved && chosen == base) || taken_.contains(chosen); ++n) {
    const std::string suffix = "-" + std::to_string(n);
    const std::size_t left = room() > suffix.size() ? room() - suffix.size() : 0;
    const std::string shortened = without_trailing_dashes(base.substr(0, left));
    // Without room for the base, the number alone still makes the ids unique.
    chosen = shortened.empty() ? std::to_string(n) : shortened + suffix;
  }
  taken_.insert(chosen);
  return prefix_ + chosen;
}

std::string parent_label(const Chain& chain) {
  return "D" + std::to_string(chain.number);
}
std::string meta_label(const Chain& chain) {
  return parent_label(chain) + ".0";
}
std::string child_label(const Chain& chain, std::size_t index) {
  return parent_label(chain) + "." + std::to_string(index + 1);
}
std::string final_label(const Chain& chain) {
  return parent_label(chain) + ".final";
}
std::string revise_label(const Chain& chain, std::size_t index) {
  return parent_label(chain) + ".revise-" + std::to_string(index + 1);
}

namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= 9 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view without_d(std::string_view label) {
  if (label.starts_with('D')) label.remove_prefix(1);
  return label;
}

}  // namespace

bool is_label(std::string_view text) {
  text = without_d(text);
  const auto dot = text.find('.');
  if (!is_number(text.substr(0, dot))) return false;
  if (dot == std::string_view::npos) return true;
  auto rest = text.substr(dot + 1);
  if (rest == "final") return true;
  if (rest.starts_with("revise-")) rest.remove_prefix(7);
  return is_number(rest);
}

bool same_label(std::string_view one, std::string_view other) {
  return without_d(one) == without_d(other);
}

}  // namespace sb::decision
