// The rules that check a chain's log instead of a text.
#include <algorithm>
#include <map>
#include <set>

#include "decision/lint/brief_text.hpp"

namespace sb::decision::linting {
namespace {

// The state of one parent according to the log so far.
struct Parent {
  long last_child = 0;
  std::set<long> asked;
  std::set<long> settled;
  bool has_meta = false;
  bool has_children = false;
  bool has_final = false;
  bool is_held = false;
  bool was_held = false;
  bool is_narrowed = false;  // the meta question dropped options, or chose groups
};

bool is_split_id(std::string_view id) {
  const std::size_t at = id.find("-split-");
  return at != std::string_view::npos && at > 0;
}

class Replay {
 public:
  Replay(const GstackFacts& facts, Span where, Report& report) : facts_(facts), where_(where), report_(report) {}

  void take(const GstackRecord& record) {
    check_answer(record);
    const auto label = parse_gstack_label(record.label);
    if (!label) return out_of_order();
    if (!parents_.contains(label->number) && label->number < highest_) out_of_order();
    highest_ = std::max(highest_, label->number);
    Parent& parent = parents_[label->number];
    switch (record.event) {
      case GstackEvent::kAsked:
        asked(*label, parent);
        break;
      case GstackEvent::kAnswered:
        answered(*label, parent, record);
        break;
      case GstackEvent::kHold:
        parent.is_held = parent.was_held = true;
        break;
      case GstackEvent::kResume:
        parent.is_held = false;
        break;
      case GstackEvent::kReset:
        parent = Parent{};
        break;
      case GstackEvent::kExecuted:
        if (parent.has_children && !parent.has_final) out_of_order();
        break;
    }
  }

 private:
  void out_of_order() { report_.add(rule::kGsLabelSeq, where_); }

  void asked(const GstackLabel& label, Parent& parent) {
    if (parent.is_held) report_.add(rule::kGsHoldContinues, where_);
    for (const auto& [number, other] : parents_) {
      // A new parent while an older chain has no final: that chain was not finished.
      const bool left_open = other.has_children && !other.has_final && !other.is_held;
      if (number < label.number && left_open) out_of_order();
    }
    switch (label.part) {
      case GstackLabel::Part::kParent:
        if (parent.has_children || parent.has_final || parent.asked.contains(0)) out_of_order();
        parent.asked.insert(0);
        break;
      case GstackLabel::Part::kMeta:
        if (parent.has_children) out_of_order();
        parent.has_meta = true;
        break;
      case GstackLabel::Part::kChild:
        child(label, parent);
        break;
      case GstackLabel::Part::kRevise:
        if (!parent.has_final && !parent.was_held) out_of_order();
        if (!parent.asked.contains(label.child) && !parent.is_narrowed) out_of_order();
        break;
      case GstackLabel::Part::kFinal:
        final(parent);
        break;
    }
  }

  void child(const GstackLabel& label, Parent& parent) {
    if (!parent.has_children && facts_.options > 6 && !parent.has_meta) report_.add(rule::kGsMetaMissing, where_);
    const bool is_next = label.child == parent.last_child + 1;
    const bool is_again = label.child == parent.last_child && !parent.settled.contains(label.child);
    // After a Hold the person may name any option, and the chain then continues with the first undecided one. A
    // narrowed chain asks only for the remaining ones, by their own numbers.
    const bool may_jump = (parent.was_held || parent.is_narrowed) && !parent.settled.contains(label.child);
    if (parent.has_final || (!is_next && !is_again && !may_jump)) out_of_order();
    if (facts_.options > 0 && label.child > facts_.options) out_of_order();
    parent.last_child = label.child;
    parent.asked.insert(label.child);
    parent.has_children = true;
  }

  void final(Parent& parent) {
    const auto wanted = facts_.options > 0 ? static_cast<std::size_t>(facts_.options) : parent.asked.size();
    const bool is_conflict = facts_.shape == GstackShape::kConflict;
    const bool is_open = facts_.conflicts_open > 0 && !is_conflict;
    const bool is_short = parent.settled.size() < wanted && !parent.is_narrowed;
    if (is_short || parent.is_held || is_open) report_.add(rule::kGsFinalEarly, where_);
    parent.has_final = true;
  }

  void answered(const GstackLabel& label, Parent& parent, const GstackRecord& record) {
    if (record.choice == "hold") {
      parent.is_held = parent.was_held = true;
    } else if (label.part == GstackLabel::Part::kChild && record.choice != "not-now") {
      parent.settled.insert(label.child);
    } else if (label.part == GstackLabel::Part::kMeta && record.choice != "split" && record.choice != "A") {
      parent.is_narrowed = true;
    }
  }

  void check_answer(const GstackRecord& record) {
    const bool is_answer = record.event == GstackEvent::kAnswered || record.event == GstackEvent::kExecuted;
    if (!is_answer) return;
    const auto& by = record.resolved_by;
    if (is_split_id(record.id) && (by == "preference" || by == "auto" || by == "auto-decided" || by == "deadline")) {
      report_.add(rule::kGsAutoSplit, where_);
    }
    if (by == "timeout" || by == "unknown" || record.answers == 0) report_.add(rule::kGsNonHuman, where_);
  }

  const GstackFacts& facts_;
  Span where_;
  Report& report_;
  std::map<long, Parent> parents_;
  long highest_ = 0;
};

// Without a log, only the prompt itself and the counts are checked.
void check_without_log(const GstackFacts& facts, const std::string& asked_now, Span where, Report& report) {
  const auto label = parse_gstack_label(asked_now);
  if (!label) return;
  const bool is_first_child = label->part == GstackLabel::Part::kChild && label->child == 1;
  if (is_first_child && facts.options > 6) report.add(rule::kGsMetaMissing, where);
  const bool is_final = label->part == GstackLabel::Part::kFinal && facts.shape != GstackShape::kConflict;
  if (is_final && facts.conflicts_open > 0) report.add(rule::kGsFinalEarly, where);
}

}  // namespace

void check_chain(const GstackFacts& facts, const std::string& asked_now, Span where, Report& report) {
  if (facts.is_prose && facts.tool_works) report.add(rule::kGsProseNotTool, where);
  if (facts.chain.empty()) return check_without_log(facts, asked_now, where, report);
  Replay replay(facts, where, report);
  for (const GstackRecord& record : facts.chain) replay.take(record);
  if (asked_now.empty()) return;
  const bool is_logged =
      !facts.chain.empty() && facts.chain.back().label == asked_now && facts.chain.back().event == GstackEvent::kAsked;
  if (is_logged) return;
  GstackRecord now;
  now.label = asked_now;
  replay.take(now);
}

}  // namespace sb::decision::linting
