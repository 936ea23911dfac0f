#include "engine/recall/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/text/unicode.hpp"
#include "engine/recall/words.hpp"

namespace sb::engine {
namespace {

constexpr double kRepositoryBonus = 0.2;
constexpr double kWorkflowShare = 0.75;
constexpr double kBranchShare = 0.5;
constexpr std::size_t kIdPrefix = 6;  // minimum length of an id prefix typed by hand: `s-` and four characters

// Words nearly every session has; they hardly distinguish one from another.
constexpr std::array<std::string_view, 12> kCommonWords = {"add",  "and", "fix",  "for",    "from", "session",
                                                           "task", "the", "this", "update", "with", "workflow"};

// A text to search, folded once.
class Haystack {
 public:
  explicit Haystack(std::string_view text) : text_(folded(text)) {}

  // Short words match only whole words, or `a` would match everywhere; scripts without spaces have no whole words.
  bool has(std::string_view word) const {
    if (!text_.contains(word)) return false;
    if (count_code_points(word) > 2 || is_unspaced(word)) return true;
    if (words_.empty()) words_ = words_of_folded(text_);
    return std::find(words_.begin(), words_.end(), word) != words_.end();
  }

 private:
  std::string text_;
  mutable std::vector<std::string> words_;
};

// How well the words fit a session. `share` is the matched part of their weight, 0 to 1.
struct Fit {
  bool all_in_text = false, any_in_text = false, all_in_workflow = false;
  double share = 0;
  std::vector<std::string_view> found;
};

Fit fit_of(const std::vector<std::string>& words, const Summary& summary) {
  const SearchedTexts texts = searched_texts(summary);
  const Haystack text(texts.text), workflow(texts.workflow), branch(texts.branch);
  Fit fit;
  fit.all_in_text = fit.all_in_workflow = !words.empty();
  double all = 0;
  for (const std::string& word : words) {
    const double weight = word_weight(word);
    all += weight;
    const bool in_text = text.has(word);
    const bool in_workflow = workflow.has(word);
    fit.all_in_text = fit.all_in_text && in_text;
    fit.any_in_text = fit.any_in_text || in_text;
    fit.all_in_workflow = fit.all_in_workflow && in_workflow;
    const double part = in_text ? 1 : in_workflow ? kWorkflowShare : branch.has(word) ? kBranchShare : 0;
    fit.share += part * weight;
    if (part > 0) fit.found.push_back(word);
  }
  if (all > 0) fit.share /= all;
  return fit;
}

bool is_same_branch(std::string_view a, std::string_view b) {
  return !a.empty() && !b.empty() && (a.starts_with(b) || b.starts_with(a));
}

bool names_session(const ResumeQuery& query, const Summary& summary) {
  if (!query.session_id.empty()) return query.session_id == summary.id;
  return !id_prefix(query).empty() && summary.id.starts_with(query.text);
}

}  // namespace

SearchedTexts searched_texts(const Summary& summary) {
  return {fmt::format("{}\n{}\n{}", summary.title, summary.goal, summary.recap),
          fmt::format("{}\n{}", summary.workflow_id, summary.workflow_name), summary.git_branch};
}

std::string_view id_prefix(const ResumeQuery& query) {
  return query.text.size() >= kIdPrefix && query.text.starts_with("s-") ? std::string_view(query.text) : "";
}

double word_weight(std::string_view word) {
  const std::size_t length = count_code_points(word);
  if (is_unspaced(word)) return length == 1 ? 0.5 : 1.0;
  if (length <= 2) return 0.2;
  if (std::binary_search(kCommonWords.begin(), kCommonWords.end(), word)) return 0.35;
  return std::min(2.5, 1 + 0.18 * (static_cast<double>(length) - 4));
}

Ranking::Ranking(ResumeQuery query, std::size_t keep)
    : query_(std::move(query)), words_(search_words(query_.text)), keep_(keep) {}

bool Ranking::is_same_repository(const Summary& summary) const {
  if (!query_.repository.empty() && !summary.repository.empty()) return query_.repository == summary.repository;
  return !query_.workspace.empty() && query_.workspace == summary.workspace;
}

ResumeCandidate Ranking::judge(const Summary& summary) const {
  const Fit fit = fit_of(words_, summary);
  ResumeCandidate candidate{summary, 6, fit.share, "most recent"};
  if (is_same_repository(summary)) candidate.score += kRepositoryBonus;
  const auto place = [&](int tier, std::string why) {
    candidate.tier = tier;
    candidate.why = std::move(why);
  };
  if (names_session(query_, summary)) {
    place(0, "its id");
  } else if (fit.all_in_text) {
    place(1, "all words found");
  } else if (fit.share >= kEnoughShare && (fit.any_in_text || !fit.all_in_workflow)) {
    place(2, fmt::format("found: {}", fmt::join(fit.found, ", ")));
  } else if (fit.all_in_workflow) {
    place(3, fmt::format("workflow {}", summary.workflow_id));
  } else if (!query_.git_head.empty() && query_.git_head == summary.git_head) {
    place(4, "same commit");
  } else if (is_same_repository(summary) && is_same_branch(query_.git_branch, summary.git_branch)) {
    place(5, query_.git_branch == summary.git_branch ? "same branch" : fmt::format("branch {}", summary.git_branch));
  }
  return candidate;
}

bool Ranking::is_eligible(const ResumeCandidate& candidate) const {
  const bool is_id = candidate.tier == 0;
  if (is_id || !query_.session_id.empty()) return is_id;
  if (!candidate.summary.is_in_progress()) return false;
  constexpr int kCommitTier = 4;
  return candidate.tier <= kCommitTier || is_same_repository(candidate.summary);
}

bool Ranking::is_better(const ResumeCandidate& a, const ResumeCandidate& b) const {
  const auto order = [&](const ResumeCandidate& one) {
    return std::tuple(one.tier, !is_same_repository(one.summary), !one.summary.is_in_progress(), -one.score,
                      -one.summary.updated_at);
  };
  const auto first = order(a), second = order(b);
  return first != second ? first < second : a.summary.id < b.summary.id;
}

void Ranking::add(const Summary& summary) {
  if (query_.same_workspace_only && !is_same_repository(summary)) return;
  ResumeCandidate candidate = judge(summary);
  if (!is_eligible(candidate)) return;
  ++eligible_;
  const auto at =
      std::upper_bound(best_.begin(), best_.end(), candidate,
                       [this](const ResumeCandidate& a, const ResumeCandidate& b) { return is_better(a, b); });
  if (at == best_.end() && best_.size() >= keep_) return;
  best_.insert(at, std::move(candidate));
  if (best_.size() > keep_) best_.pop_back();
}

}  // namespace sb::engine
