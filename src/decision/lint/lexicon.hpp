// The phrases of the lexical rules, as data: one file per language (data/lint/<language>.yaml), each with a version.
//
// A pattern is tried only on sentences that contain one of its trigger words; files are read and patterns compiled when
// first needed, so that a short text in one language costs little. Immutable to the caller and safe to use from several
// threads.
//
//   language: en
//   version: en-1               # part of every finding; incremented with each change
//   blocks: true                # false: its findings only advise
//   words: {verb: add|write}    # <verb> in a pattern stands for (?:add|write)
//   offers:                     # also: choices, approvals, questions, narration, status, summary, reasoning, drops
//     - on: [know]              # the pattern is tried where one of these words (folded) occurs
//       find: '\blet me know\b' # PCRE2, on one sentence (choices: one line), folded, single spaces
//       with: [i, we]           # and only where one of these occurs too: avoids useless searches
//       unless: '...'           # not where this matches too
//       where: last             # out of scope only in the last sentence: others may ask and answer themselves
//       scope: out              # only out of scope (or: in)
//   labels: '...'               # a line that is only this and a colon, or starts with it and a colon
//   label_lines: '...'          # a line that is only this, with or without a colon
//   others: '...'               # an option that is only this
//   recommended: '...'          # a mark of recommendation
//   summaries: '...'            # headers of a confirmation
//   abbreviations: '...'        # a dot after one of these does not end a sentence
//   drop_verbs: '...'           # leaving an option out …
//   option_caps: '...'          # … because of the number of options a host can show
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text/pattern.hpp"
#include "decision/lint/span.hpp"

namespace sb::decision::linting {

enum class PhraseKind { kOffer, kChoice, kApproval, kQuestion, kNarration, kStatus, kSummary, kReasoning, kDrop };
enum class ScopeFilter { kAlways, kIn, kOut };

struct Lexicon;

// A pattern compiled at its first use, and again, for speed, when it is used often.
class LazyPattern {
 public:
  LazyPattern() = default;
  explicit LazyPattern(std::string expression) : expression_(std::move(expression)) {}
  void set(std::string expression) { expression_ = std::move(expression); }  // only before the first use
  bool empty() const { return expression_.empty(); }
  // The text must be UTF-8.
  std::optional<Span> find(std::string_view text) const;
  bool matches(std::string_view text) const { return !empty() && find(text).has_value(); }

 private:
  std::string expression_;
  mutable std::once_flag once_, once_fast_;
  mutable std::optional<Pattern> pattern_, fast_;
  mutable std::atomic<int> uses_ = 0;
};

struct Phrase {
  PhraseKind phrase_kind = PhraseKind::kOffer;
  std::vector<std::string> on;
  std::vector<std::string> with;
  LazyPattern find;
  LazyPattern unless;
  bool last_only = false;
  ScopeFilter when = ScopeFilter::kAlways;
  const Lexicon* lexicon = nullptr;

  Phrase(std::string find_expression, std::string unless_expression)
      : find(std::move(find_expression)), unless(std::move(unless_expression)) {}
};

struct Lexicon {
  std::string language;
  std::string version;
  bool blocks = false;
  std::vector<std::unique_ptr<Phrase>> phrases;
  LazyPattern labels, label_lines, others, recommended, summaries, abbreviations, drop_verbs, option_caps;

  Lexicon(std::string_view language, std::string_view yaml);
};

// The phrases triggered by a word. The caller hashes words while it scans, byte by byte.
class TriggerIndex {
 public:
  static constexpr std::uint64_t kSeed = 0xcbf29ce484222325u;
  static std::uint64_t step(std::uint64_t hash, unsigned char byte) { return (hash ^ byte) * 0x100000001b3u; }

  void add(const Phrase& phrase);
  // Null for nearly every word, without reading more than one bit.
  const std::vector<const Phrase*>* find(std::uint64_t hash) const {
    const std::uint64_t bit = (hash ^ (hash >> 29)) & (kBits - 1);
    if ((bits_[bit >> 6] & (std::uint64_t{1} << (bit & 63))) == 0) return nullptr;
    const auto found = phrases_.find(hash);
    return found == phrases_.end() ? nullptr : &found->second;
  }

 private:
  static constexpr std::uint64_t kBits = 1u << 16;
  std::array<std::uint64_t, kBits / 64> bits_{};
  std::unordered_map<std::uint64_t, std::vector<const Phrase*>> phrases_;
};

// Languages that share letters are processed together. A set of groups is a mask of these.
enum Group : unsigned { kEnglish = 1, kLatin = 2, kRussian = 4, kUkrainian = 8, kEastAsian = 16 };
inline constexpr unsigned kGroupSets = 32;

class Lexicons {
 public:
  static const Lexicons& built_in();

  // The lexicons of these groups, English first.
  std::vector<const Lexicon*> of(unsigned groups) const;
  const TriggerIndex& index(unsigned groups) const;

  // 0 for a language without a lexicon.
  static unsigned group_of(std::string_view language);
  // The groups whose letters occur in the text.
  static unsigned groups_in(std::string_view text);

 private:
  struct Slot {
    std::once_flag once;
    std::unique_ptr<Lexicon> lexicon;
  };
  struct IndexSlot {
    std::once_flag once;
    std::unique_ptr<TriggerIndex> index;
  };
  const Lexicon& at(std::size_t language) const;

  mutable std::array<Slot, 13> slots_;
  mutable std::array<IndexSlot, kGroupSets> indexes_;
};

}  // namespace sb::decision::linting
