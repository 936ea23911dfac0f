// Checks that need all steps: ids, bodies given by id, jump targets, what ends each loop.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "workflow/check/contract.hpp"
#include "workflow/definition/definition_readers.hpp"

namespace sb::workflow {
namespace {

// A list of steps and the position in it: a step, or the loop whose body we are in.
struct Level {
  const std::vector<Step>* steps = nullptr;
  const std::unordered_set<std::string_view>* bodies = nullptr;  // steps of the list that loops use as their body
  std::size_t at = 0;
  bool is_parallel = false;  // for the loop at `at`: its body runs in separate sessions
};

class StepChecks {
 public:
  explicit StepChecks(const Reader& root) : root_(root) {}

  void check(std::vector<Step>& steps, const Value& items) {
    std::unordered_set<std::string_view> bodies;
    for (std::size_t i = 0; i < steps.size(); ++i) check_body_ref(steps, i, items, bodies);
    levels_.push_back({&steps, &bodies, 0, false});
    for (std::size_t i = 0; i < steps.size(); ++i) {
      levels_.back().at = i;
      check_step(steps, i, items.items()[i]);
    }
    levels_.pop_back();
  }

 private:
  void check_step(std::vector<Step>& steps, std::size_t i, const Value& item) {
    Step& step = steps[i];
    check_id(step, item);
    if (step.jump) check_jump(step, item);
    auto* loop = std::get_if<LoopStep>(&step.what);
    if (!loop) return;
    settle_source(*loop, steps, item);
    if (loop->body.empty()) return;
    levels_.back().is_parallel = loop->loop.parallel > 0;
    check(loop->body, *item.find("body"));
    levels_.back().is_parallel = false;
  }

  void check_id(const Step& step, const Value& item) {
    if (step.id.empty()) return;
    const Value& id = *item.find("id");
    const auto [first, is_new] = ids_.emplace(step.id, &id);
    if (is_new) return;
    const SourceLocation other = root_.at(*first->second).location();
    fault(root_.at(id), "duplicate_step_id", fmt::format("two steps have the id \"{}\"", step.id),
          other.line > 0 ? fmt::format("Rename this one, or the one in line {}", other.line) : "Rename one of them");
  }

  void check_body_ref(const std::vector<Step>& steps, std::size_t i, const Value& items,
                      std::unordered_set<std::string_view>& bodies) {
    const LoopStep* loop = steps[i].loop();
    if (!loop || loop->body_ref.empty()) return;
    const Reader at = root_.at(*items.items()[i].find("body"));
    const auto body = std::ranges::find(steps, loop->body_ref, &Step::id);
    if (body == steps.end()) {
      std::vector<std::string> known;
      for (const Step& step : steps) {
        if (!step.loop() && !step.id.empty()) known.push_back(step.id);
      }
      fault(at, "unknown_body", fmt::format("there is no step \"{}\" next to this loop", loop->body_ref.substr(0, 80)),
            did_you_mean(loop->body_ref, known, "Name a step of the same list, or write the body here"));
      return;
    }
    if (const auto reason = why_no_body(*body); !reason.empty()) {
      fault(at, "bad_body", fmt::format("step \"{}\" cannot be a body by its id: {}", body->id, reason),
            "Write the step inside the body");
    } else if (!bodies.insert(body->id).second) {
      fault(at, "bad_body", fmt::format("step \"{}\" is already the body of another loop", body->id),
            "Write the step inside the body, with its own id");
    }
  }

  static std::string why_no_body(const Step& body) {
    if (body.loop()) return "it is a loop";
    if (body.template_call) return "it calls a template";
    if (body.run_condition) return "it has a runCondition";
    if (body.audit) return "it has an audit";
    if (body.verification) return "it has a verification";
    if (body.jump) return "it has a jumpIf";
    return {};
  }

  void check_jump(const Step& step, const Value& item) {
    const std::string& to = step.jump->to;
    if (to.empty()) return;
    std::vector<std::string> known;
    for (std::size_t depth = levels_.size(); depth-- > 0;) {
      const Level& level = levels_[depth];
      if (level.is_parallel) break;
      for (std::size_t i = 0; i < level.at; ++i) {
        const std::string& id = (*level.steps)[i].id;
        if (id.empty() || level.bodies->contains(id)) continue;
        if (id == to) return;
        known.push_back(id);
      }
    }
    fault(root_.at(*item.find("jumpIf")->find("to")), "bad_jump",
          fmt::format("no step before this one has the id \"{}\"", to.substr(0, 80)),
          did_you_mean(to, known, "Jump to a step before this one, or before a loop around it"));
  }

  // For while and until: what was written first, then a body step that carries the decision, then the condition.
  static void settle_source(LoopStep& loop, const std::vector<Step>& siblings, const Value& item) {
    if (loop.loop.kind != Loop::Kind::kWhile && loop.loop.kind != Loop::Kind::kUntil) {
      loop.loop.source = std::monostate{};
      return;
    }
    const Value* rules = item.find("loop");
    if (rules && rules->find("conditionSource")) return;
    const auto carries = [](const Step& step) { return step.contract && step.contract->ref == kLoopControl; };
    const auto body = std::ranges::find(siblings, loop.body_ref, &Step::id);
    const bool is_sibling = !loop.body_ref.empty() && body != siblings.end() && carries(*body);
    if (is_sibling || std::ranges::any_of(loop.body, carries))
      loop.loop.source = Loop::FromArtifact{std::string(kLoopControl), ""};
  }

  Reader root_;
  std::unordered_map<std::string_view, const Value*> ids_;
  std::vector<Level> levels_;
};

}  // namespace

void check_steps(Definition& definition, const Reader& root) {
  const Value* items = root.value().find("steps");
  if (!definition.steps.empty()) StepChecks(root).check(definition.steps, *items);
}

}  // namespace sb::workflow
