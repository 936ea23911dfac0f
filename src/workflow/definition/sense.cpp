// Checks that a valid file makes sense: unreachable steps, loops that only their limit ends, keys that nothing sets.
//
// Reported only where it is certain. Keys are checked only in workflows that declare captures: in others only the
// prompts say what is set when.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "workflow/check/condition_sense.hpp"
#include "workflow/compile/prompt_text.hpp"
#include "workflow/definition/definition_readers.hpp"

namespace sb::workflow {
namespace {

template <class Visit>
void for_each_with_source(const std::vector<Step>& steps, const Value& items, const Visit& visit) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Value& item = items.items()[i];
    visit(steps[i], item);
    const LoopStep* loop = steps[i].loop();
    if (loop && !loop->body.empty()) for_each_with_source(loop->body, *item.find("body"), visit);
  }
}

void check_reach(const std::optional<Condition>& condition, const Reader& root, const Value& owner,
                 std::string_view key, std::string_view what) {
  if (!condition || !never_holds(*condition)) return;
  fault(root.at(*owner.find(key)), "never_true", fmt::format("this can never be true, so {}", what),
        "Fix the condition");
}

void check_loop(const Loop& loop, const Reader& root, const Value& item) {
  const auto* condition = std::get_if<Condition>(&loop.source);
  if (!condition) return;
  const bool never_ends = loop.kind == Loop::Kind::kWhile ? always_holds(*condition) : never_holds(*condition);
  const bool is_over = loop.kind == Loop::Kind::kWhile ? never_holds(*condition) : always_holds(*condition);
  if (never_ends) {
    fault(root.at(*item.find("loop")), "endless_loop", "only maxIterations can end this loop",
          "Use a condition that changes, or type: for with a count");
  } else if (is_over) {
    fault(root.at(*item.find("loop")), "never_true", "this loop ends before its first iteration", "Fix the condition");
  }
}

void check_conditions(const Step& step, const Value& item, const Reader& root) {
  check_reach(step.run_condition, root, item, "runCondition", "the step is never reached");
  for (std::size_t i = 0; i < step.fragments.size(); ++i) {
    check_reach(step.fragments[i].when, root, item.find("promptFragments")->items()[i], "when",
                "the fragment is never shown");
  }
  if (const ParallelStep* parallel = step.parallel()) {
    for (std::size_t i = 0; i < parallel->delegations.size(); ++i) {
      check_reach(parallel->delegations[i].run_condition, root, item.find("parallelDelegations")->items()[i],
                  "runCondition", "the delegation never starts");
    }
  }
  if (step.jump && never_holds(step.jump->when))
    fault(root.at(*item.find("jumpIf")), "never_true", "this can never be true, so the jump is never taken",
          "Fix the condition");
  if (const LoopStep* loop = step.loop()) check_loop(loop->loop, root, item);
}

// The keys that steps set, and the keys that are read; each unknown one is reported once, where it is first read.
class Keys {
 public:
  Keys(const Definition& definition, const Reader& root) : root_(root) {
    known_ = {"goal"};
    const auto add = [&](const std::vector<std::string>& keys) { known_.insert(keys.begin(), keys.end()); };
    if (definition.isolation) add(definition.isolation->inputs);
    // The input of a workflow is what its first step needs.
    add(definition.steps.front().needs);
    for_each_step(definition.steps, [&](const Step& step) { add_set_by(step, known_); });
  }

  static void add_set_by(const Step& step, std::set<std::string, std::less<>>& into) {
    for (const Capture& capture : step.captures) into.insert(capture.key);
    for (const DerivedCount& count : step.counts) into.insert(count.key);
    if (const DecisionStep* decision = step.decision()) into.insert(decision->capture_as);
    if (const CallStep* call = step.call()) into.insert(call->call.capture_as);
    if (const ParallelStep* parallel = step.parallel()) {
      for (const Delegation& delegation : parallel->delegations) into.insert(delegation.capture_as);
    }
    if (const LoopStep* loop = step.loop()) {
      for (const std::string& name :
           {loop->loop.iteration_var, loop->loop.item_var, loop->loop.index_var, loop->loop.capture_as})
        into.insert(name);
    }
  }

  bool knows(std::string_view key) const {
    return known_.contains(key) || known_.contains(key.substr(0, key.find('.'))) || key.starts_with("metrics_");
  }

  void read_key(std::string_view key, const Reader& at) {
    if (key.empty() || knows(key) || !reported_.emplace(key).second) return;
    fault(at, "unknown_context_key", fmt::format("no step sets \"{}\"", key.substr(0, 80)),
          did_you_mean(key, std::vector<std::string>(known_.begin(), known_.end()),
                       "Declare it in the captures of a step, or in the needs of the first one"));
  }

  void read_condition_of(const std::optional<Condition>& condition, const Value* at) {
    if (!condition || !at) return;
    for (const std::string& key : keys_of(*condition)) read_key(key, root_.at(*at));
  }

  // Every text below `at`.
  void read_texts(const Value* at) {
    if (!at) return;
    if (at->is_string()) {
      for (const std::string& name : names_in(at->as_string())) read_key(name, root_.at(*at));
    } else if (at->is_array()) {
      for (const Value& item : at->items()) read_texts(&item);
    } else if (at->is_object()) {
      for (const auto& member : at->members()) read_texts(&member.value);
    }
  }

  void read_step(const Step& step, const Value& item) {
    for (const std::string_view name :
         {"title", "prompt", "promptBlocks", "guidance", "agentRole", "audit", "verification", "synthesis", "goal"})
      read_texts(item.find(name));
    read_condition_of(step.run_condition, item.find("runCondition"));
    read_condition_of(step.confirmation.when, item.find("requireConfirmation"));
    if (step.jump) read_condition_of(step.jump->when, item.find("jumpIf"));
    for (const std::string& key : step.needs) read_key(key, root_.at(*item.find("needs")));
    for (const DerivedCount& count : step.counts) read_key(count.of, root_.at(*item.find("counts")));
    if (step.contract) {
      for (std::size_t i = 0; i < step.contract->narrowings.size(); ++i) {
        const Value& narrowing = item["outputContract"]["narrow"].items()[i];
        read_condition_of(step.contract->narrowings[i].when, narrowing.find("when"));
      }
    }
    for (std::size_t i = 0; i < step.fragments.size(); ++i) {
      const Value& fragment = item.find("promptFragments")->items()[i];
      read_condition_of(step.fragments[i].when, fragment.find("when"));
      read_texts(fragment.find("text"));
    }
    if (const LoopStep* loop = step.loop()) read_loop(loop->loop, *item.find("loop"));
    if (const DecisionStep* decision = step.decision())
      read_key(decision->options_from, root_.at(*item.find("decision")));
    if (const CallStep* call = step.call()) read_call(call->call, item);
    if (const ParallelStep* parallel = step.parallel()) {
      for (std::size_t i = 0; i < parallel->delegations.size(); ++i)
        read_call(parallel->delegations[i], item.find("parallelDelegations")->items()[i]);
    }
  }

 private:
  void read_loop(const Loop& loop, const Value& rules) {
    if (const auto* condition = std::get_if<Condition>(&loop.source)) {
      for (const std::string& key : keys_of(*condition)) read_key(key, root_.at(rules));
    }
    if (const auto* count = std::get_if<std::string>(&loop.count)) read_key(*count, root_.at(*rules.find("count")));
    if (loop.kind == Loop::Kind::kForEach) read_key(loop.items, root_.at(*rules.find("items")));
  }

  void read_call(const Delegation& call, const Value& item) {
    read_condition_of(call.run_condition, item.find("runCondition"));
    for (const auto& [ours, theirs] : call.context_mapping) read_key(ours, root_.at(*item.find("contextMapping")));
    read_texts(item.find("goal"));
    read_texts(item.find("args"));
  }

  Reader root_;
  std::set<std::string, std::less<>> known_, reported_;
};

// In a workflow that declares captures, a loop whose condition depends on nothing its body sets never ends.
void check_loop_keys(const Step& step, const Value& item, const Keys& all, const Reader& root) {
  const LoopStep* loop = step.loop();
  const auto* condition = loop ? std::get_if<Condition>(&loop->loop.source) : nullptr;
  if (!condition || loop->body.empty()) return;
  std::set<std::string, std::less<>> set_inside;
  Keys::add_set_by(step, set_inside);
  for_each_step(loop->body, [&](const Step& inner) { Keys::add_set_by(inner, set_inside); });
  const auto keys = keys_of(*condition);
  const bool changes = std::ranges::any_of(keys, [&](const std::string& key) {
    return set_inside.contains(key) || set_inside.contains(std::string_view(key).substr(0, key.find('.')));
  });
  // A key that nothing sets at all has been reported already.
  if (changes || keys.empty() || !std::ranges::all_of(keys, [&](const auto& key) { return all.knows(key); })) return;
  fault(root.at(*item.find("loop")), "endless_loop",
        fmt::format("no step of the body sets \"{}\", so only maxIterations can end this loop", keys.front()),
        "Declare it in the captures of a step of the body");
}

void check_keys(const Definition& definition, const Value& items, const Reader& root) {
  bool has_captures = false, has_templates = false;
  for_each_step(definition.steps, [&](const Step& step) {
    has_captures = has_captures || !step.captures.empty();
    has_templates = has_templates || step.template_call.has_value();
  });
  // What a routine sets is unknown here.
  if (!has_captures || has_templates) return;
  Keys keys(definition, root);
  for_each_with_source(definition.steps, items, [&](const Step& step, const Value& item) {
    keys.read_step(step, item);
    check_loop_keys(step, item, keys, root);
  });
}

}  // namespace

void check_semantics(const Definition& definition, const Reader& root) {
  const Value& items = *root.value().find("steps");
  for_each_with_source(definition.steps, items,
                       [&](const Step& step, const Value& item) { check_conditions(step, item, root); });
  check_keys(definition, items, root);
}

}  // namespace sb::workflow
