#include "engine/advance/keys_ahead.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace sb::engine {
namespace {

using workflow::Condition;
using workflow::Foresight;
using workflow::Loop;
using workflow::Step;

// What a step sets when it runs.
std::set<std::string> keys_set_by(const Step& step) {
  std::set<std::string> keys;
  if (const auto* decision = step.decision()) {
    keys.insert(decision->capture_as.empty() ? step.id : decision->capture_as);
  }
  if (const auto* call = step.call()) keys.insert(call->call.capture_as);
  if (const auto* parallel = step.parallel()) {
    for (const auto& delegation : parallel->delegations) keys.insert(delegation.capture_as);
  }
  if (const auto* loop = step.loop()) keys.insert(loop->loop.capture_as);
  for (const workflow::Capture& capture : step.captures) keys.insert(capture.key);
  for (const workflow::DerivedCount& count : step.counts) keys.insert(count.key);
  return keys;
}

bool sets(const Step& step, const std::string& key) {
  return keys_set_by(step).contains(key);
}

bool ends_by_condition(const Loop& loop) {
  const bool has_condition = loop.kind == Loop::Kind::kWhile || loop.kind == Loop::Kind::kUntil;
  return has_condition && std::holds_alternative<Condition>(loop.source);
}

Foresight certain_if(bool is_true) {
  return is_true ? Foresight::kTrue : Foresight::kFalse;
}

// Walks every way that the cursor may take from a step.
class Ahead {
 public:
  Ahead(const Program& program, const Position& position, const Value& view)
      : program_(program), position_(position), view_(view), from_(program.find(position.step)) {}

  std::vector<KeyAhead> keys() && {
    if (from_ == kNoStep) return {};
    const Step& step = *at(from_).step;
    made_ = keys_set_by(step);
    for (const workflow::Capture& sent : step.captures) made_.erase(sent.key);  // by its agent, if at all
    if (step.jump && foresee(step.jump->when) != Foresight::kFalse) is_certain_ = false;
    if (at(from_).exits != kNoStep) {
      is_certain_ = false;
      follow(from_);
      follow(at(from_).exits);
    } else {
      follow(from_);
    }
    return std::move(found_);
  }

 private:
  const ProgramStep& at(StepNo number) const { return program_.at(number); }

  Foresight foresee(const Condition& condition) const {
    return workflow::foresee(condition, view_, [&](const std::string& key) {
      return changing_.contains(key) || sets(*at(from_).step, key);
    });
  }

  bool is_fixed(const std::string& key) const {
    const std::string top = view_.find(key) != nullptr ? key : key.substr(0, key.find('.'));
    return workflow::look_up(view_, key) != nullptr && !changing_.contains(top) && !sets(*at(from_).step, top);
  }

  // After a step that was delivered or skipped.
  void follow(StepNo number) {
    if (const StepNo next = at(number).next; next != kNoStep) return visit(next);
    const StepNo loop = at(number).loop;
    if (loop != kNoStep) iterate(loop);
  }

  void iterate(StepNo loop) {
    Foresight again = has_iteration(loop, iteration_of(loop) + 1);
    // Its own steps change such a condition, declared or not; otherwise it would never end.
    if (again == Foresight::kTrue && ends_by_condition(at(loop).step->loop()->loop)) again = Foresight::kOpen;
    if (again == Foresight::kFalse) return follow(loop);
    if (again == Foresight::kOpen) is_certain_ = false;
    change_variables(loop);
    visit(at(loop).body);
    if (again == Foresight::kOpen) follow(loop);
  }

  int iteration_of(StepNo loop) const {
    const auto frame = std::ranges::find(position_.loops, at(loop).step->id, &LoopFrame::loop);
    return frame == position_.loops.end() ? 0 : frame->iteration;
  }

  Foresight has_iteration(StepNo number, int next) const {
    const Loop& loop = at(number).step->loop()->loop;
    if (next >= loop.max_iterations) return Foresight::kFalse;
    if (loop.kind == Loop::Kind::kForEach) return has_item(loop.items, next);
    if (loop.kind == Loop::Kind::kFor) {
      if (const int* count = std::get_if<int>(&loop.count)) return certain_if(next < *count);
      const auto* key = std::get_if<std::string>(&loop.count);
      if (key == nullptr || !is_fixed(*key)) return Foresight::kOpen;
      const Value* count = workflow::look_up(view_, *key);
      return certain_if(count->is_number() && static_cast<double>(next) < count->as_number());
    }
    if (const Condition* condition = std::get_if<Condition>(&loop.source)) {
      const Foresight holds = foresee(*condition);
      return loop.kind == Loop::Kind::kWhile ? holds : workflow::opposite(holds);
    }
    // Only the step that carries the decision can end it.
    return Foresight::kTrue;
  }

  Foresight has_item(const std::string& key, int next) const {
    if (!is_fixed(key)) return Foresight::kOpen;
    const Value* items = workflow::look_up(view_, key);
    return certain_if(items->is_array() && static_cast<std::size_t>(next) < items->size());
  }

  void change_variables(StepNo loop) {
    const Loop& own = at(loop).step->loop()->loop;
    for (const auto& name : {own.item_var, own.index_var, own.iteration_var}) {
      changing_.insert(name);
      made_.insert(name);
    }
  }

  // A step that checks another runs if that one ran.
  Foresight runs(const Step& step) const {
    const auto mark = step.id.rfind("__");
    const std::string checked = mark == std::string::npos ? "" : step.id.substr(0, mark);
    const bool is_own = position_.step == checked || position_.step.starts_with(checked + "__");
    if (!checked.empty() && is_own) return Foresight::kTrue;
    return step.run_condition ? foresee(*step.run_condition) : Foresight::kTrue;
  }

  void visit(StepNo number) {
    if (number == kNoStep || !seen_.insert(number).second) return;
    const Step& step = *at(number).step;
    const Foresight will_run = runs(step);
    if (will_run == Foresight::kFalse) return follow(number);
    if (will_run == Foresight::kOpen) is_certain_ = false;
    for (const KeyNeed& need : needs_of(step)) {
      if (!is_skipped_without(step, need)) consider(need, number);
    }
    bool may_pass = will_run == Foresight::kOpen;
    if (step.loop() != nullptr) may_pass = enter(number) || may_pass;
    if (!may_pass) return;
    // The steps after a skippable one may rely on what it sets.
    made_.merge(keys_set_by(step));
    follow(number);
  }

  // A step that runs only if the key it needs is set never lacks it.
  bool is_skipped_without(const Step& step, const KeyNeed& need) const {
    if (!step.run_condition || workflow::holds(*step.run_condition, view_)) return false;
    const std::vector<std::string> keys = workflow::keys_of(*step.run_condition);
    return std::ranges::find(keys, need.key) != keys.end();
  }

  // Whether the loop may have no iteration at all. One whose list or number is not known yet is expected to have some.
  bool enter(StepNo number) {
    const Foresight first = has_iteration(number, 0);
    if (first == Foresight::kFalse) return true;
    if (first == Foresight::kOpen) is_certain_ = false;
    change_variables(number);
    visit(at(number).body);
    return first == Foresight::kOpen && std::holds_alternative<Condition>(at(number).step->loop()->loop.source);
  }

  void consider(const KeyNeed& need, StepNo needed_by) {
    const std::string top = need.key.substr(0, need.key.find('.'));
    if (made_.contains(need.key) || made_.contains(top) || missing_needs(need, "", view_).empty()) return;
    const auto is_same = [&](const KeyAhead& other) { return other.need.key == need.key; };
    if (std::ranges::none_of(found_, is_same)) found_.push_back({need, needed_by, is_certain_});
  }

  const Program& program_;
  const Position& position_;
  const Value& view_;
  const StepNo from_;
  bool is_certain_ = true;
  std::set<StepNo> seen_;
  std::set<std::string> made_;      // set on the way
  std::set<std::string> changing_;  // variables of loops on the way
  std::vector<KeyAhead> found_;
};

}  // namespace

std::vector<KeyAhead> keys_ahead(const Program& program, const Position& position, const Value& view) {
  return Ahead(program, position, view).keys();
}

Foresight foresee_at_delivery(const Step& step, const Condition& condition, const Value& view) {
  return workflow::foresee(condition, view, [&](const std::string& key) { return sets(step, key); });
}

}  // namespace sb::engine
