// Walks a compiled workflow to its end, answering every step from its announced requirements. For tests.
//
//   const Walk walk = walk_through(bundle, {.answers = Value::object({{"isTrivial", true}})});
//   EXPECT_TRUE(walk.is_complete) << walk.stuck;
//
// Uses only the pure engine: no store, no inbox. Gates are approved, decisions take their first option (the first two
// of a multiple choice), children are walked as well. The answers also serve other drivers: answering needs only the
// program and the position.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/advance/advance.hpp"
#include "engine/advance/item_fields.hpp"
#include "engine/answer/answer.hpp"
#include "workflow/check/assessment.hpp"
#include "workflow/schema/example.hpp"

namespace sb::engine {

struct Playing {
  Value context = Value::object();  // the initial context
  Value answers = Value::object();  // context keys: sent instead of a made-up value whenever a step requires the key
  std::map<std::string, int> rounds = {};  // step id: how many times its loop control says continue before it says stop
  std::map<std::string, Value> merge = {};  // step id: members to set in the artifact of its contract
  std::string goal = "Try it out";
};

struct Walk {
  bool is_complete = false;
  std::string stuck;                   // why not
  std::vector<std::string> steps;      // ids as they were opened, loops by their bodies
  std::string last_step, last_prompt;  // the last one an agent delivered, and what it was shown
  std::vector<Value> last_artifacts;   // what was delivered with it
  std::string last_notes;
  std::vector<std::string> warnings;     // limits reached
  std::vector<std::string> refusals;     // `step: what was wrong`, each fixed by sending its example
  std::map<std::string, Walk> children;  // by delegation
  Value context;

  bool opened(std::string_view step) const { return std::ranges::find(steps, step) != steps.end(); }
};

// What to deliver for a step.
class Answering {
 public:
  Answering(const Program& program, const Playing& playing) : program_(program), playing_(playing) {}

  // `wanted`: the step's requirements, as `pending.requires` has them.
  Submission deliver(const workflow::Step& step, const Value& wanted) {
    Submission submission;
    submission.notes = notes_for(wanted);
    submission.context = Value::object();
    for (const Value& capture : list_in(wanted, "captures")) {
      const std::string key = capture.string_at("key").value_or("");
      submission.context.set(key, value_for(step, key, capture.string_at("type").value_or("")));
    }
    for (const Value& ref : list_in(wanted, "contracts")) add_artifact(step, ref, submission);
    for (const std::string& ref : step.assessment_refs) submission.artifacts.push_back(rating(step, ref));
    if (!step.command.empty()) submission.command = CommandRun{.command = step.command, .sandbox = "none"};
    return submission;
  }

  Value choice(const workflow::Step& step, const Value& context) const {
    const workflow::DecisionStep& decision = *step.decision();
    if (const Value* answer = playing_.answers.find(decision.capture_as)) return *answer;
    const Value* options = decision.options_from.empty() ? decision.declaration.find("options")
                                                         : workflow::look_up(context, decision.options_from);
    std::vector<std::string> ids;
    if (options && options->is_array()) {
      for (const Value& option : options->items()) {
        ids.push_back(option.is_string() ? option.as_string() : option.string_at("id").value_or(""));
      }
    }
    if (ids.empty()) return Value("none");
    if (decision.declaration.string_at("select") != "many") return Value(ids.front());
    ids.resize(std::min<std::size_t>(ids.size(), 2));
    return Value::array(ids);
  }

 private:
  static const Value::Array& list_in(const Value& value, std::string_view name) {
    static const Value::Array kNone;
    const Value* list = value.find(name);
    return list && list->is_array() ? list->items() : kNone;
  }

  static std::string notes_for(const Value& wanted) {
    std::string notes = "Done as asked.";
    std::size_t least = 0;
    for (const Value& rule : list_in(wanted, "criteria")) {
      const std::string type = rule.string_at("type").value_or("");
      const std::string value = rule.string_at("value").value_or("");
      if (type == "contains") notes += "\n" + value;
      if (type == "length" && rule["min"].is_number()) {
        least = std::max(least, static_cast<std::size_t>(rule["min"].as_number()));
      }
      if (type != "regex") continue;
      const auto fitting = workflow::example_of(Value::object({{"type", "string"}, {"pattern", value}}));
      // Most patterns in use are words to find; without their special characters they are their own example.
      std::string words = value;
      std::erase_if(words,
                    [](char c) { return std::string_view("\\^$.*+?()[]{}|").find(c) != std::string_view::npos; });
      notes += "\n" + (fitting ? fitting->as_string() : words);
    }
    while (notes.size() < least) notes += "\nAnd more of what was done.";
    return notes;
  }

  // With the fields that loops over it use.
  Value items_for(const std::string& key) const {
    const std::vector<std::string> fields = item_fields_of(program_, key, Value::object());
    if (fields.empty()) return Value::array({"first", "second"});
    Value item = Value::object();
    for (const std::string& field : fields) item.set(field, "example");
    return Value(Value::Array{item, item});
  }

  Value value_for(const workflow::Step& step, const std::string& key, const std::string& type) const {
    if (const Value* answer = playing_.answers.find(key)) return *answer;
    const auto declared = std::ranges::find(step.captures, key, &workflow::Capture::key);
    if (declared != step.captures.end()) {
      if (auto example = workflow::example_of(declared->schema)) return std::move(*example);
    }
    // Needed by a loop or decision ahead, which specifies only the type.
    if (type == "array" || type == "list") return items_for(key);
    if (type == "integer" || type == "number" || type == "count") return Value(2);
    if (type == "boolean") return Value(true);
    if (type == "object") return Value::object();
    return Value("example");
  }

  void add_artifact(const workflow::Step& step, const Value& ref, Submission& submission) {
    const workflow::Contract* contract =
        ref.is_string() ? program_.compiled().contracts.find(ref.as_string()) : nullptr;
    // Ratings are sent in separate artifacts.
    if (contract == nullptr || (contract->ref == workflow::kAssessment && !step.assessment_refs.empty())) return;
    Value artifact = contract->example;
    if (contract->ref == workflow::kLoopControl) {
      const auto rounds = playing_.rounds.find(step.id);
      const bool continues = rounds != playing_.rounds.end() && said_continue_[step.id]++ < rounds->second;
      artifact.set("decision", continues ? "continue" : "stop");
    }
    if (const auto merge = playing_.merge.find(step.id); merge != playing_.merge.end()) {
      for (const auto& [name, value] : merge->second.members()) artifact.set(name, value);
    }
    submission.artifacts.push_back(std::move(artifact));
  }

  // The best level (the last one) that has no consequence.
  Value rating(const workflow::Step& step, const std::string& ref) const {
    Value dimensions = Value::object();
    const workflow::AssessmentDefinition* assessment = program_.definition().assessment(ref);
    for (const workflow::AssessmentDimension& dimension : assessment->dimensions) {
      const auto is_free = [&](const std::string& level) {
        return std::ranges::none_of(step.consequences, [&](const workflow::AssessmentConsequence& consequence) {
          return consequence.level == level &&
                 (consequence.for_assessment.empty() || consequence.for_assessment == ref);
        });
      };
      const auto best = std::find_if(dimension.levels.rbegin(), dimension.levels.rend(), is_free);
      dimensions.set(dimension.id, best == dimension.levels.rend() ? dimension.levels.back() : *best);
    }
    return Value::object({{"kind", "wr.assessment"}, {"assessmentId", ref}, {"dimensions", dimensions}});
  }

  const Program& program_;
  const Playing& playing_;
  std::map<std::string, int> said_continue_;
};

// Follows a refusal: sends its example.
inline void fix(Submission& submission, const Blocker& blocker) {
  if (!blocker.example.is_object()) return;
  const auto kind = blocker.example.string_at("kind");
  const bool is_key = blocker.code == BlockerCode::kMissingContext || blocker.code == BlockerCode::kInvalidContext;
  if (is_key) {
    for (const auto& [key, value] : blocker.example.members()) submission.context.set(key, value);
    return;
  }
  std::erase_if(submission.artifacts, [&](const Value& artifact) { return artifact.string_at("kind") == kind; });
  submission.artifacts.push_back(blocker.example);
}

class Walking {
 public:
  Walking(const workflow::Bundle& bundle, std::shared_ptr<const workflow::CompiledWorkflow> what,
          const Playing& playing)
      : bundle_(bundle), program_(std::move(what)), playing_(playing), answering_(program_, playing) {
    walk_.context = playing.context;
  }

  Walk run() && {
    CursorMove move = next_position(program_, {}, {}, walk_.context, {}, true);
    for (int steps = 0; take(move); ++steps) {
      if (move.to.step.empty()) {
        walk_.is_complete = true;
        break;
      }
      if (steps > 2000) {
        walk_.stuck = "it does not end";
        break;
      }
      node_.number += 1;
      node_.position = move.to;
      node_.jumps = move.jumps;
      walk_.steps.push_back(move.to.step);
      move = pass(*program_.at(program_.find(move.to.step)).step);
    }
    return std::move(walk_);
  }

 private:
  bool take(const CursorMove& move) {
    for (const std::string& warning : move.warnings) walk_.warnings.push_back(warning);
    if (walk_.stuck.empty() && !move.missing.empty()) {
      walk_.stuck = fmt::format("{}: {}", move.to.step, move.missing.front().message);
    }
    return walk_.stuck.empty();
  }

  CursorMove pass(const workflow::Step& step) {
    if (step.decision()) {
      node_.kind = NodeKind::kDecision;
      walk_.context.set(step.decision()->capture_as, answering_.choice(step, view()));
    } else if (step.parallel() || step.call() || step.loop()) {
      node_.kind = NodeKind::kChildren;
      join(step);
    } else {
      return deliver(step);
    }
    return next_position(program_, node_.position, node_.jumps, walk_.context, {}, false);
  }

  Value view() const { return context_at(program_, node_.position, walk_.context); }

  CursorMove deliver(const workflow::Step& step) {
    node_.kind = NodeKind::kStep;
    const Value context = view();
    Submission submission = answering_.deliver(step, requirements(program_, node_.position, context));
    walk_.last_step = step.id;
    walk_.last_prompt = render_step({.program = program_, .node = node_, .context = context});
    Result<AdvanceResult> outcome = advance(program_, node_, walk_.context, submission);
    if (outcome && outcome->kind == AdvanceResult::Kind::kBlocked) {
      for (const Blocker& blocker : outcome->blockers) {
        walk_.refusals.push_back(fmt::format("{}: {}", step.id, blocker.message));
        fix(submission, blocker);
      }
      outcome = advance(program_, node_, walk_.context, submission);
    }
    if (outcome && outcome->kind == AdvanceResult::Kind::kGate) {
      outcome = advance(program_, node_, walk_.context, submission, true);
    }
    if (!outcome) return stop(fmt::format("{}: {}", step.id, outcome.error().to_string()));
    if (outcome->kind != AdvanceResult::Kind::kAdvanced) {
      std::string why;
      for (const Blocker& blocker : outcome->blockers) why += blocker.message + " ";
      return stop(fmt::format("{}: {}", step.id, why));
    }
    walk_.last_artifacts = submission.artifacts;
    walk_.last_notes = submission.notes;
    walk_.context = std::move(outcome->context);
    return std::move(outcome->move);
  }

  CursorMove stop(std::string why) {
    walk_.stuck = std::move(why);
    return {};
  }

  void join(const workflow::Step& step) {
    if (step.call()) return join_one(step.call()->call);
    if (step.loop()) return join_items(step);
    for (const workflow::Delegation& delegation : step.parallel()->delegations) {
      if (!delegation.run_condition || workflow::holds(*delegation.run_condition, view())) join_one(delegation);
    }
  }

  void join_one(const workflow::Delegation& delegation) {
    Playing playing;
    const Value context = view();
    for (const auto& [own, theirs] : delegation.context_mapping) {
      if (const Value* value = workflow::look_up(context, own)) playing.context.set(theirs, *value);
    }
    for (const auto& [key, value] : delegation.args) playing.context.set(key, value);
    const Value result = child(delegation.id, delegation.workflow_id, playing);
    if (!delegation.capture_as.empty()) walk_.context.set(delegation.capture_as, result);
  }

  void join_items(const workflow::Step& step) {
    const workflow::Loop& loop = step.loop()->loop;
    Value results = Value::array();
    const Value context = view();
    const Value* items = workflow::look_up(context, loop.items);
    for (std::size_t i = 0; items && items->is_array() && i < items->size(); ++i) {
      Playing playing{.context = context, .answers = playing_.answers, .rounds = playing_.rounds};
      playing.context.set(loop.item_var, items->items()[i]);
      playing.context.set(loop.index_var, i);
      results.push_back(child(fmt::format("{}#{}", step.id, i), step.id + "#body", playing));
    }
    if (!loop.capture_as.empty()) walk_.context.set(loop.capture_as, results);
  }

  Value child(const std::string& id, const std::string& workflow_id, const Playing& playing) {
    const auto hash = program_.compiled().calls.find(workflow_id);
    const auto callee = std::ranges::find_if(bundle_, [&](const auto& compiled) {
      return hash != program_.compiled().calls.end() && compiled->hash == hash->second;
    });
    Walk walk;
    if (callee == bundle_.end()) {
      walk.stuck = fmt::format("nothing is pinned for {}", workflow_id);
    } else {
      walk = Walking(bundle_, *callee, playing).run();
    }
    if (!walk.is_complete) walk_.stuck = fmt::format("{} > {}", id, walk.stuck);
    Value artifacts = Value::array();
    for (const Value& artifact : walk.last_artifacts) artifacts.push_back(artifact);
    Value result = Value::object({{"outcome", "complete"}, {"notes", walk.last_notes}, {"artifacts", artifacts}});
    walk_.children[id] = std::move(walk);
    return result;
  }

  const workflow::Bundle& bundle_;
  Program program_;
  const Playing& playing_;
  Answering answering_;
  Node node_;
  Walk walk_;
};

inline Walk walk_through(const workflow::Bundle& bundle, const Playing& playing = {}) {
  return Walking(bundle, bundle.back(), playing).run();
}

}  // namespace sb::engine
