#include "engine/recall/proposals.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <set>

#include "engine/recall/tags.hpp"
#include "engine/state/rows.hpp"
#include "store/checks.hpp"

namespace sb::engine {
namespace {

using store::TagQuery;

constexpr std::size_t kHeaviestWords = 6;  // of which combinations are tried; the others only count in the ranking
constexpr std::size_t kCombinations = 12;
constexpr int kSpare = 3;  // some may be damaged, or lack a word that has the same parts

struct WeighedWord {
  std::string_view word;
  double weight = 0;
};

// Some of the words, as bits.
struct Combination {
  unsigned words = 0;
  double share = 0;
};

class WordCombinations {
 public:
  explicit WordCombinations(const std::vector<std::string>& words) {
    double all = 0;
    for (const std::string& word : words) {
      words_.push_back({word, word_weight(word)});
      all += words_.back().weight;
    }
    std::ranges::stable_sort(words_, std::greater(), &WeighedWord::weight);
    if (words_.size() > kHeaviestWords) words_.resize(kHeaviestWords);
    for (unsigned bits = 1; bits < (1u << words_.size()); ++bits) {
      Combination one{bits, 0};
      for (std::size_t i = 0; i < words_.size(); ++i) one.share += (bits >> i & 1) ? words_[i].weight / all : 0;
      combinations_.push_back(one);
    }
    std::ranges::stable_sort(combinations_, std::greater(), &Combination::share);
  }

  const std::vector<Combination>& heaviest_first() const { return combinations_; }

  // Without any of its words it would weigh too little.
  bool is_least(const Combination& one) const {
    const auto weighs = [&](unsigned bits) {
      return std::ranges::find(combinations_, bits, &Combination::words)->share >= kEnoughShare;
    };
    if (one.share < kEnoughShare) return false;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      const unsigned without = one.words & ~(1u << i);
      if (without != one.words && without != 0 && weighs(without)) return false;
    }
    return true;
  }

  template <class Tagged>
  TagQuery query_of(const Combination& one, const Tagged& tagged) const {
    std::vector<TagQuery> parts;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      if (one.words >> i & 1) parts.push_back(tagged(words_[i].word));
    }
    return TagQuery::all(std::move(parts));
  }

 private:
  std::vector<WeighedWord> words_;
  std::vector<Combination> combinations_;
};

template <class Tagged>
TagQuery all_words(const std::vector<std::string>& words, const Tagged& tagged) {
  std::vector<TagQuery> parts;
  for (const std::string& word : words) parts.push_back(tagged(word));
  return TagQuery::all(std::move(parts));
}

class Proposals {
 public:
  Proposals(store::Snapshot& snapshot, const ResumeQuery& query, std::size_t keep)
      : snapshot_(snapshot), query_(query), here_(tagged_here(query)), keep_(keep) {}

  Status look() {
    const std::int64_t here = SB_TRY(snapshot_.count_tagged(here_));
    has_others_ = !query_.same_workspace_only && SB_TRY(snapshot_.count_tagged(tagged_any())) > here;
    return {};
  }

  void add(std::string id) {
    if (known_.insert(id).second) ids_.push_back(std::move(id));
  }
  Status add_here(const TagQuery& query) {
    for (std::string& id : SB_TRY(snapshot_.tagged(TagQuery::all({here_, query}), limit()))) {
      of_here_.insert(id);
      add(std::move(id));
    }
    return {};
  }
  Status add_anywhere(const TagQuery& query) {
    SB_TRY(add_here(query));
    if (!has_others_) return {};
    for (std::string& id : SB_TRY(snapshot_.tagged(TagQuery(query).without(here_), limit()))) add(std::move(id));
    return {};
  }

  bool has_enough_here() const { return of_here_.size() >= static_cast<std::size_t>(limit()); }
  std::vector<std::string> take() { return std::move(ids_); }

 private:
  int limit() const { return static_cast<int>(keep_) + kSpare; }

  store::Snapshot& snapshot_;
  const ResumeQuery& query_;
  const TagQuery here_;
  const std::size_t keep_;
  bool has_others_ = false;
  std::set<std::string> known_, of_here_;
  std::vector<std::string> ids_;
};

Status add_by_words(Proposals& proposals, const std::vector<std::string>& words) {
  SB_TRY(proposals.add_anywhere(all_words(words, tagged_in_text)));
  if (proposals.has_enough_here()) return {};
  const WordCombinations combinations(words);
  std::size_t tried = 0;
  for (const Combination& one : combinations.heaviest_first()) {
    if (++tried > kCombinations || proposals.has_enough_here()) break;
    for (const auto tagged : {tagged_in_text, tagged_anywhere}) {
      const TagQuery query = combinations.query_of(one, tagged);
      SB_TRY(one.share >= kEnoughShare ? proposals.add_anywhere(query) : proposals.add_here(query));
    }
  }
  return proposals.add_anywhere(all_words(words, tagged_in_workflow));
}

Status add_by_id(store::Snapshot& snapshot, std::string_view prefix, std::size_t keep, Proposals& proposals) {
  if (!store::check_name("session", prefix)) return {};
  const store::Listing listing{.prefix = std::string(prefix), .limit = static_cast<int>(keep)};
  for (const store::Row& row : SB_TRY(snapshot.list(kSessions, listing))) proposals.add(row.key);
  return {};
}

}  // namespace

Result<std::vector<std::string>> propose_sessions(store::Snapshot& snapshot, const ResumeQuery& query,
                                                  const std::vector<std::string>& words, std::size_t keep) {
  if (!query.session_id.empty()) {
    return store::check_name("session", query.session_id) ? std::vector{query.session_id} : std::vector<std::string>{};
  }
  Proposals proposals(snapshot, query, keep);
  SB_TRY(proposals.look());
  if (const auto prefix = id_prefix(query); !prefix.empty()) SB_TRY(add_by_id(snapshot, prefix, keep, proposals));
  if (!words.empty()) SB_TRY(add_by_words(proposals, words));
  SB_TRY(proposals.add_anywhere(tagged_commit(query)));
  SB_TRY(proposals.add_here(tagged_branch(query)));
  SB_TRY(proposals.add_here(tagged_any()));
  return proposals.take();
}

Result<std::size_t> count_resumable(store::Snapshot& snapshot, const ResumeQuery& query,
                                    const std::vector<std::string>& words) {
  if (!query.session_id.empty()) return 0;
  const TagQuery here = tagged_here(query);
  std::int64_t count = SB_TRY(snapshot.count_tagged(here));
  if (query.same_workspace_only || SB_TRY(snapshot.count_tagged(tagged_any())) == count) {
    return static_cast<std::size_t>(count);
  }
  std::vector<TagQuery> elsewhere{tagged_commit(query)};
  const WordCombinations combinations(words);
  for (const Combination& one : combinations.heaviest_first()) {
    if (combinations.is_least(one)) elsewhere.push_back(combinations.query_of(one, tagged_anywhere));
  }
  count += SB_TRY(snapshot.count_tagged(TagQuery::any(std::move(elsewhere)).without(here)));
  return static_cast<std::size_t>(count);
}

}  // namespace sb::engine
