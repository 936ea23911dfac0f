// Ranks sessions to find the one a user wants to resume.
//
// Pure. Tiers as in the format (0 exact id, 1 all query words in title and recap, 2 a weighted share of them of at
// least 0.4, 3 workflow id, 4 HEAD, 5 branch, 6 recency); ties by same repository, in progress first, score, newest,
// id.
//
// Candidates are: by id, any session; by words or commit, those in progress, in any repository; by branch and recency,
// those in progress in the same repository. A branch of the same name in another repository means nothing, nor does the
// newest session of another project.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/state/session_state.hpp"

namespace sb::engine {

struct ResumeQuery {
  std::string text = {}, session_id = {};
  std::string workspace = {}, repository = {}, git_branch = {}, git_head = {};
  bool same_workspace_only = false;
};

struct ResumeCandidate {
  Summary summary;
  int tier = 6;
  double score = 0;
  std::string why;  // for people: `all words found`, `same branch`, …

  bool is_direct_match() const { return tier <= 3; }  // by id or by words
};

inline constexpr double kEnoughShare = 0.4;  // of the weight of the words, for tier 2

// What words are searched in.
struct SearchedTexts {
  std::string text, workflow, branch;
};
SearchedTexts searched_texts(const Summary& summary);
double word_weight(std::string_view word);
// The query's text if it can be the beginning of an id, else empty.
std::string_view id_prefix(const ResumeQuery& query);

// Add the summaries of all sessions that could be among the best, in any order, each once; only the best are kept.
class Ranking {
 public:
  Ranking(ResumeQuery query, std::size_t keep = 5);
  void add(const Summary& summary);
  std::size_t eligible() const { return eligible_; }
  std::vector<ResumeCandidate> best() const { return best_; }  // best first
  const std::vector<std::string>& words() const { return words_; }

 private:
  bool is_same_repository(const Summary& summary) const;
  bool is_eligible(const ResumeCandidate& candidate) const;
  bool is_better(const ResumeCandidate& a, const ResumeCandidate& b) const;
  ResumeCandidate judge(const Summary& summary) const;

  ResumeQuery query_;
  std::vector<std::string> words_;
  std::size_t keep_;
  std::size_t eligible_ = 0;
  std::vector<ResumeCandidate> best_;
};

}  // namespace sb::engine
