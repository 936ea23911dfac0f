// Moves the cursor from one step to the next.
#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "engine/advance/advance.hpp"
#include "engine/advance/blockers.hpp"
#include "engine/advance/item_fields.hpp"
#include "engine/advance/loop_scope.hpp"

namespace sb::engine {
namespace {

using workflow::Condition;
using workflow::Loop;
using workflow::LoopStep;
using workflow::Step;

constexpr std::size_t kSeenBytes = 200;

bool is_parallel_loop(const Step& step) {
  return step.loop() != nullptr && step.loop()->loop.parallel > 0;
}

// The values a condition saw, shortened so that the record does not grow as large as the context.
Value brief(Value seen) {
  if (!seen.is_object()) return seen;
  for (auto& [key, value] : seen.members()) {
    if (to_json(value).size() <= kSeenBytes) continue;
    if (value.is_string()) {
      value = fmt::format("a text of {} bytes", value.as_string().size());
    } else {
      value = fmt::format("{} of {}", kind_name(value.kind()), value.size());
    }
  }
  return seen;
}

// Whether a loop has another iteration, and if not, why.
struct Verdict {
  bool continues = true;
  const char* reason = "limit";
  std::size_t total = 0;  // items or count
  std::size_t left_over = 0;
  bool wanted_more = false;
};

class Cursor {
 public:
  Cursor(const Program& program, const std::map<std::string, int>& jumps, const Value& context)
      : program_(program), scope_(program, context) {
    move_.jumps = jumps;
  }

  CursorMove from_start() && {
    settle(program_.first());
    return std::move(move_);
  }

  CursorMove from_behind(const Position& from, std::span<const Value> artifacts) && {
    frames_ = from.loops;
    const StepNo number = program_.find(from.step);
    if (number == kNoStep || !is_inside(number)) {
      move_.missing.push_back(
          {BlockerCode::kInvalidContext, from.step,
           fmt::format("The session is at step {}, which its workflow does not have.", quote_json(from.step)),
           "Start the workflow again.", Value()});
      return std::move(move_);
    }
    settle(leave_step(number, artifacts));
    return std::move(move_);
  }

 private:
  const ProgramStep& at(StepNo number) const { return program_.at(number); }
  const Value& view() { return scope_.at(frames_); }
  bool is_exhausted() const { return move_.trace.size() >= limits::kSkippedStepsPerAdvance; }

  bool is_inside(StepNo number) const {
    std::size_t depth = frames_.size();
    for (StepNo loop = at(number).loop; loop != kNoStep; loop = at(loop).loop) {
      if (depth == 0 || frames_[--depth].loop != at(loop).step->id) return false;
    }
    return depth == 0;
  }

  void trace(const char* type, Value payload) { move_.trace.push_back({type, std::move(payload)}); }

  // After a step that was delivered or joined: jump back, leave a loop by its decision, or continue.
  StepNo leave_step(StepNo number, std::span<const Value> artifacts) {
    const Step& step = *at(number).step;
    if (is_parallel_loop(step)) record_joined(step);
    if (const StepNo target = jump_target(number); target != kNoStep) return target;
    if (at(number).exits != kNoStep && says_stop(at(number).exits, artifacts)) {
      return leave_loops(at(number).exits);
    }
    return behind(number);
  }

  // Walks until a step opens, a key is missing, or the workflow ends.
  void settle(StepNo number) {
    while (number != kNoStep && move_.missing.empty()) {
      const Step& step = *at(number).step;
      if (is_skipped(step)) {
        number = behind(number);
      } else if (!has_what_it_needs(step) || !items_are_complete(step)) {
        move_.to = {step.id, frames_};
      } else if (step.loop() == nullptr) {
        move_.to = {step.id, frames_};
        return;
      } else if (is_parallel_loop(step)) {
        if (opens_children(number)) return;
        number = behind(number);
      } else {
        number = enter(number);
      }
    }
  }

  // A step that checks another step runs if that one ran, even if the context has changed since.
  std::optional<bool> follows(const Step& step) const {
    const auto at = step.id.rfind("__");
    if (at == std::string::npos) return std::nullopt;
    const auto last = std::ranges::find_if(move_.trace.rbegin(), move_.trace.rend(),
                                           [](const Event& event) { return event.type == "step_skipped"; });
    if (last == move_.trace.rend() || last != move_.trace.rbegin()) return false;
    const std::string skipped = last->payload.string_at("step").value_or("");
    const std::string base = step.id.substr(0, at);
    return skipped == base || skipped.starts_with(base + "__");
  }

  bool is_skipped(const Step& step) {
    if (const auto with_its_step = follows(step)) {
      if (*with_its_step) {
        trace("step_skipped", Value::object({{"step", step.id},
                                             {"loops", to_value(frames_)},
                                             {"condition", "as the step it checks"},
                                             {"saw", Value::object()}}));
      }
      return *with_its_step;
    }
    if (!step.run_condition || workflow::holds(*step.run_condition, view())) return false;
    trace("step_skipped", Value::object({{"step", step.id},
                                         {"loops", to_value(frames_)},
                                         {"condition", workflow::to_text(*step.run_condition)},
                                         {"saw", brief(workflow::observed_values(*step.run_condition, view()))}}));
    return true;
  }

  bool has_what_it_needs(const Step& step) {
    for (const KeyNeed& need : needs_of(step)) {
      for (Blocker& blocker : missing_needs(need, described(step), view())) move_.missing.push_back(std::move(blocker));
    }
    return move_.missing.empty();
  }

  // A list may also come from the start of the session, a decision or a child session.
  bool items_are_complete(const Step& step) {
    if (auto lacking = lacking_items(step, view())) move_.missing.push_back(std::move(*lacking));
    return move_.missing.empty();
  }

  // Continues after a step that is done or skipped.
  StepNo behind(StepNo number) {
    if (at(number).next != kNoStep) return at(number).next;
    return at(number).loop == kNoStep ? kNoStep : iterate(at(number).loop);
  }

  StepNo enter(StepNo number) {
    const Step& step = *at(number).step;
    const Verdict verdict = test(number, 0);
    if (!verdict.continues) return left(number, 0, verdict);
    trace("loop_entered", entered(step, verdict));
    frames_.push_back({step.id, 0});
    return at(number).body == kNoStep ? iterate(number) : at(number).body;
  }

  Value entered(const Step& step, const Verdict& verdict) const {
    Value payload = Value::object({{"loop", step.id}});
    if (step.loop()->loop.kind == Loop::Kind::kForEach) payload.set("items", verdict.total);
    if (step.loop()->loop.kind == Loop::Kind::kFor) payload.set("count", verdict.total);
    return payload;
  }

  StepNo iterate(StepNo loop) {
    const int done = frames_.back().iteration + 1;
    LoopFrame frame = std::move(frames_.back());
    frames_.pop_back();
    // The list or number may have been removed while the body ran.
    if (!has_what_it_needs(*at(loop).step)) {
      move_.to = {at(loop).step->id, frames_};
      return kNoStep;
    }
    const Verdict verdict = test(loop, done);
    if (!verdict.continues || at(loop).body == kNoStep) return left(loop, done, verdict);
    frame.iteration = done;
    trace("loop_iterated", Value::object({{"loop", frame.loop}, {"iteration", done}}));
    frames_.push_back(std::move(frame));
    return at(loop).body;
  }

  // Whether iteration `next` runs; `frames` are those around the loop.
  Verdict test(StepNo number, int next) {
    const Loop& loop = at(number).step->loop()->loop;
    Verdict verdict;
    if (loop.kind == Loop::Kind::kFor || loop.kind == Loop::Kind::kForEach) {
      verdict.total = extent(loop);
      const auto done = static_cast<std::size_t>(next);
      verdict.continues = done < verdict.total;
      verdict.left_over = verdict.continues ? verdict.total - done : 0;
      verdict.reason = loop.kind == Loop::Kind::kFor ? "count" : "items";
    } else if (const Condition* condition = std::get_if<Condition>(&loop.source)) {
      frames_.push_back({at(number).step->id, next});
      verdict.continues = workflow::holds(*condition, view()) == (loop.kind == Loop::Kind::kWhile);
      frames_.pop_back();
      verdict.reason = "condition";
    }
    if (verdict.continues && (next >= loop.max_iterations || is_exhausted())) {
      verdict.continues = false;
      verdict.reason = "limit";
      verdict.wanted_more = true;
    }
    return verdict;
  }

  std::size_t extent(const Loop& loop) {
    if (loop.kind == Loop::Kind::kForEach) {
      const Value* items = workflow::look_up(view(), loop.items);
      return items && items->is_array() ? items->size() : 0;
    }
    if (const int* count = std::get_if<int>(&loop.count)) return static_cast<std::size_t>(std::max(*count, 0));
    const auto* key = std::get_if<std::string>(&loop.count);
    const Value* count = key ? workflow::look_up(view(), *key) : nullptr;
    if (count == nullptr || !count->is_number()) return 0;
    return static_cast<std::size_t>(std::clamp(count->as_number(), 0.0, 1e9));
  }

  StepNo left(StepNo number, int iterations, const Verdict& verdict) {
    record_left(*at(number).step, iterations, verdict);
    return behind(number);
  }

  void record_left(const Step& step, int iterations, const Verdict& verdict) {
    Value payload = Value::object({{"loop", step.id}, {"iterations", iterations}, {"reason", verdict.reason}});
    if (verdict.left_over > 0) payload.set("left_over", verdict.left_over);
    if (verdict.wanted_more) {
      payload.set("wanted_more", true);
      warn_of_limit(step, iterations, verdict);
    }
    trace("loop_left", std::move(payload));
  }

  void warn_of_limit(const Step& step, int iterations, const Verdict& verdict) {
    const bool by_us = iterations < step.loop()->loop.max_iterations;
    const std::string why =
        by_us ? fmt::format("{} steps in a row were skipped", limits::kSkippedStepsPerAdvance)
              : fmt::format("its limit of {} iterations was reached", step.loop()->loop.max_iterations);
    std::string rest = "it was not finished";
    if (verdict.left_over > 0) {
      const bool is_list = step.loop()->loop.kind == Loop::Kind::kForEach;
      rest = fmt::format("{} {} not visited", verdict.left_over, is_list ? "items were" : "iterations were");
    }
    move_.warnings.push_back(fmt::format("Loop {} was left because {}; {}.", quote_json(step.id), why, rest));
  }

  bool opens_children(StepNo number) {
    const Step& step = *at(number).step;
    const Verdict verdict = test(number, 0);
    if (!verdict.continues) {
      record_left(step, 0, verdict);
      return false;
    }
    trace("loop_entered", entered(step, verdict));
    move_.to = {step.id, frames_};
    return true;
  }

  // A parallel loop whose children are joined: every item up to the limit had a child.
  void record_joined(const Step& step) {
    const std::size_t total = extent(step.loop()->loop);
    const std::size_t most = static_cast<std::size_t>(step.loop()->loop.max_iterations);
    Verdict verdict{.continues = false, .reason = "items", .total = total};
    if (total > most) {
      verdict.reason = "limit";
      verdict.left_over = total - most;
      verdict.wanted_more = true;
    }
    record_left(step, static_cast<int>(std::min(total, most)), verdict);
  }

  // The last valid decision in the submission that does not name another enclosing loop.
  bool says_stop(StepNo loop, std::span<const Value> artifacts) const {
    const auto* source = std::get_if<Loop::FromArtifact>(&at(loop).step->loop()->loop.source);
    const workflow::Contract* contract = source ? program_.compiled().contracts.find(source->contract_ref) : nullptr;
    if (contract == nullptr) return false;
    for (auto artifact = artifacts.rbegin(); artifact != artifacts.rend(); ++artifact) {
      if (artifact->string_at("kind") != contract->kind || is_for_another(loop, *artifact)) continue;
      if (!workflow::violations(*contract, *artifact).empty()) continue;
      return artifact->string_at("decision") == "stop";
    }
    return false;
  }

  bool is_for_another(StepNo loop, const Value& artifact) const {
    const auto id = artifact.string_at("loopId");
    if (!id || is_named(loop, *id)) return false;
    return std::ranges::any_of(frames_,
                               [&](const LoopFrame& frame) { return is_named(program_.find(frame.loop), *id); });
  }

  bool is_named(StepNo loop, const std::string& id) const {
    if (at(loop).step->id == id) return true;
    const auto* source = std::get_if<Loop::FromArtifact>(&at(loop).step->loop()->loop.source);
    return source != nullptr && source->loop_id == id;
  }

  // Leaves this loop and those inside it.
  StepNo leave_loops(StepNo loop) {
    for (bool is_last = false; !is_last;) {
      const LoopFrame frame = std::move(frames_.back());
      frames_.pop_back();
      is_last = frame.loop == at(loop).step->id;
      record_frame_left(frame, "stop");
    }
    return behind(loop);
  }

  void record_frame_left(const LoopFrame& frame, const char* reason) {
    trace("loop_left", Value::object({{"loop", frame.loop}, {"iterations", frame.iteration + 1}, {"reason", reason}}));
  }

  // The target of this step's jump, taken and recorded; kNoStep if it is not taken.
  StepNo jump_target(StepNo number) {
    const Step& step = *at(number).step;
    if (!step.jump || !workflow::holds(step.jump->when, view())) return kNoStep;
    StepNo target = program_.find(step.jump->to);
    if (target == kNoStep || target > number) return kNoStep;
    const auto taken = move_.jumps.find(step.id);
    const int count = taken == move_.jumps.end() ? 0 : taken->second;
    if (count >= step.jump->max_times) {
      move_.warnings.push_back(
          fmt::format("Step {} should jump back to {} again, but it has done so {} of {} times. Continuing.",
                      quote_json(step.id), quote_json(step.jump->to), count, step.jump->max_times));
      return kNoStep;
    }
    move_.jumps[step.id] = count + 1;
    trace("jumped", Value::object({{"from", step.id}, {"to", step.jump->to}, {"count", count + 1}}));
    unwind_to(target);
    return target;
  }

  // Leaves the loops that do not contain the target. A target inside a loop we are not in becomes that loop.
  void unwind_to(StepNo& target) {
    std::vector<StepNo> around;
    for (StepNo loop = at(target).loop; loop != kNoStep; loop = at(loop).loop) around.insert(around.begin(), loop);
    std::size_t shared = 0;
    while (shared < around.size() && shared < frames_.size() && frames_[shared].loop == at(around[shared]).step->id)
      ++shared;
    if (shared < around.size()) target = around[shared];
    while (frames_.size() > shared) {
      record_frame_left(frames_.back(), "jump");
      frames_.pop_back();
    }
  }

  const Program& program_;
  LoopScope scope_;
  std::vector<LoopFrame> frames_;
  CursorMove move_;
};

}  // namespace

CursorMove next_position(const Program& program, const Position& from, const std::map<std::string, int>& jumps,
                         const Value& context, std::span<const Value> artifacts, bool at_start) {
  Cursor cursor(program, jumps, context);
  if (at_start && from.step.empty()) return std::move(cursor).from_start();
  return std::move(cursor).from_behind(from, artifacts);
}

NodeKind kind_at(const Program& program, const Position& position) {
  const StepNo number = position.step.empty() ? kNoStep : program.find(position.step);
  if (number == kNoStep) return NodeKind::kEnd;
  const Step& step = *program.at(number).step;
  if (step.decision()) return NodeKind::kDecision;
  return step.parallel() || step.call() || step.loop() ? NodeKind::kChildren : NodeKind::kStep;
}

}  // namespace sb::engine
