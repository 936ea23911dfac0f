#include "decision/chain/plan.hpp"

#include <algorithm>

#include "decision/chain/ids.hpp"

namespace sb::decision {
namespace {

constexpr int kSmallestCap = 3;
constexpr int kBucketCount = 4;

void add_children(ChainPlan& plan, const Chain& chain, const ChainIds& ids, int cap) {
  for (std::size_t i = 0; i < chain.options.size(); ++i) {
    const auto label = child_label(chain, i);
    if (cap >= kBucketCount) {
      plan.prompts.push_back({label, ids.of_option(i), {"include", "defer", "cut", "hold"}, std::nullopt});
      continue;
    }
    plan.prompts.push_back({label, ids.of_option(i), {"include", std::string(kNotNowId), "hold"}, std::nullopt});
    plan.prompts.push_back({label, ids.of_option(i), {"defer", "cut"}, 2});
  }
}

void add_final(ChainPlan& plan, const Chain& chain, const Profile& profile, const ChainIds& ids) {
  std::vector<std::string> options = {"ship", "revise", "cut-more"};
  if (profile.end == FlowEnd::kConfirmRestartEdit) options = {"ship", "reset", "revise"};
  plan.prompts.push_back({final_label(chain), ids.final(), std::move(options), std::nullopt});
}

void add_pages(ChainPlan& plan, const Chain& chain, const Profile& profile, const ChainIds& ids, int cap) {
  const auto own_option = chooses_many(chain) ? kNoneId : kMoreId;
  for (const auto& page : pages_of(chain, profile, cap)) {
    ChainPlanEntry prompt{parent_label(chain), ids.whole(), {}, std::nullopt};
    for (std::size_t i = page.first; i < page.last; ++i) prompt.options.push_back(chain.options[i].key);
    if (page.has_own_option) prompt.options.emplace_back(own_option);
    plan.prompts.push_back(std::move(prompt));
  }
}

}  // namespace

Result<int> effective_cap(const Profile& profile, int host_cap) {
  if (host_cap < 0) return fail(ErrorCode::kInvalid, "the cap is negative", "Give the host's number of options.");
  const int cap = host_cap == 0 ? profile.max_options : std::min(profile.max_options, host_cap);
  if (cap < kSmallestCap) {
    return fail(ErrorCode::kInvalid,
                "a cap of " + std::to_string(cap) + " is too small for a chain: its questions need 3 options",
                "Use a host that shows at least 3 options, or text.");
  }
  return cap;
}

bool chooses_many(const Chain& chain) {
  return chain.relation != Relation::kAlternatives;
}

ChainShape shape_of(const Chain& chain, const Profile& profile, int cap) {
  if (chain.options.size() <= static_cast<std::size_t>(cap)) return ChainShape::kSingle;
  switch (chain.relation) {
    case Relation::kAlternatives:
      return ChainShape::kBatch;
    case Relation::kIndependent:
      return profile.independent == IndependentOverflow::kSplit ? ChainShape::kSplit : ChainShape::kBatch;
    case Relation::kUnknown:
      return ChainShape::kSplit;
  }
  return ChainShape::kSplit;
}

bool asks_meta(const Chain& chain, const Profile& profile, int cap) {
  return shape_of(chain, profile, cap) == ChainShape::kSplit && profile.meta_above > 0 &&
         chain.options.size() > static_cast<std::size_t>(profile.meta_above);
}

std::vector<PageRange> pages_of(const Chain& chain, const Profile& profile, int cap) {
  const std::size_t count = chain.options.size();
  if (count <= static_cast<std::size_t>(cap)) return {{0, count, false}};
  if (!chooses_many(chain) && profile.page_style == PageStyle::kDoc) return groups_of(count, cap);
  return paginate(count, static_cast<std::size_t>(cap), chooses_many(chain));
}

std::vector<PageRange> groups_of(std::size_t count, int cap) {
  std::vector<PageRange> groups;
  const auto size = static_cast<std::size_t>(cap);
  for (std::size_t first = 0; first < count; first += size) {
    groups.push_back({first, std::min(count, first + size), false});
  }
  return groups;
}

std::vector<PageRange> group_pages_of(const Chain& chain, const Profile& profile, int cap) {
  return shape_of(chain, profile, cap) == ChainShape::kSplit ? groups_of(chain.options.size(), cap)
                                                             : pages_of(chain, profile, cap);
}

Result<ChainPlan> plan_chain(const Chain& chain, const Profile& profile, int host_cap) {
  const int cap = SB_TRY(effective_cap(profile, host_cap));
  const ChainIds ids(chain);
  ChainPlan plan;
  plan.shape = shape_of(chain, profile, cap);
  plan.has_meta = asks_meta(chain, profile, cap);
  if (plan.has_meta) {
    plan.prompts.push_back({meta_label(chain), ids.meta(), {"split", "narrow", "groups"}, std::nullopt});
  }
  if (plan.shape == ChainShape::kSplit) {
    add_children(plan, chain, ids, cap);
  } else {
    add_pages(plan, chain, profile, ids, cap);
  }
  const bool is_confirmed =
      plan.shape == ChainShape::kSplit || (plan.shape == ChainShape::kBatch && chooses_many(chain));
  if (is_confirmed) add_final(plan, chain, profile, ids);
  return plan;
}

std::string_view to_string(ChainShape shape) {
  switch (shape) {
    case ChainShape::kSingle:
      return "single";
    case ChainShape::kBatch:
      return "batch";
    case ChainShape::kSplit:
      return "split";
  }
  return "split";
}

Value to_value(const ChainPlan& plan) {
  Value prompts = Value::array();
  for (const auto& prompt : plan.prompts) {
    Value row = Value::object({{"label", prompt.label}, {"id", prompt.id}, {"options", Value::array(prompt.options)}});
    if (prompt.stage) row.set("stage", *prompt.stage);
    prompts.push_back(std::move(row));
  }
  return Value::object({{"shape", to_string(plan.shape)}, {"meta", plan.has_meta}, {"prompts", std::move(prompts)}});
}

}  // namespace sb::decision
