// What a chain will ask, before anything is asked: its shape under a cap, and every prompt in order.
//
// Pure. A plan is complete: each declared option is in exactly one prompt of a single question or a batch, or has its
// own child in a split.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"
#include "decision/declaration/declaration.hpp"
#include "decision/declaration/profile.hpp"
#include "decision/prompt.hpp"

namespace sb::decision {

enum class ChainShape {
  kSingle,  // all options in one question
  kBatch,   // pages
  kSplit,   // one question per option
};

struct ChainPlanEntry {
  std::string label;
  std::string id;
  std::vector<std::string> options;  // declared keys, buckets, or the chain's own option ids
  std::optional<int> stage;          // 2: the question after "not now" where four buckets do not fit
};

struct ChainPlan {
  ChainShape shape = ChainShape::kSingle;
  bool has_meta = false;
  std::vector<ChainPlanEntry> prompts;
};

// Ids of options that belong to the chain and not to the declaration.
inline constexpr std::string_view kNotNowId = "not-now";

// The smaller of the profile's cap and the host's (0: the host has none). Rejects fewer than 3.
Result<int> effective_cap(const Profile& profile, int host_cap);

ChainShape shape_of(const Chain& chain, const Profile& profile, int cap);
bool asks_meta(const Chain& chain, const Profile& profile, int cap);
// Whether several may be chosen in the single question or in each page; otherwise exactly one.
bool chooses_many(const Chain& chain);
// How the options are divided into pages (batch), or the single question.
std::vector<PageRange> pages_of(const Chain& chain, const Profile& profile, int cap);
// How they are divided into groups once the person asked for groups: as many as fit, without a pager entry.
std::vector<PageRange> groups_of(std::size_t count, int cap);
// The pages of multi-select questions: the groups of a split, else the pages themselves.
std::vector<PageRange> group_pages_of(const Chain& chain, const Profile& profile, int cap);

Result<ChainPlan> plan_chain(const Chain& chain, const Profile& profile, int host_cap);

std::string_view to_string(ChainShape shape);
// The output of `split plan --json`.
Value to_value(const ChainPlan& plan);

}  // namespace sb::decision
