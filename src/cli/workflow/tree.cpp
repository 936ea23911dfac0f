// Draws the steps of a workflow as a tree: conditions, gates, and what each step must deliver.
#include <fmt/format.h>

#include "cli/workflow/workflow_commands.hpp"

namespace sb::cli {
namespace {

using namespace workflow;

using Lines = std::vector<std::string>;

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string describe(const Loop& loop) {
  std::string out;
  switch (loop.kind) {
    case Loop::Kind::kWhile:
      out = "while ";
      break;
    case Loop::Kind::kUntil:
      out = "until ";
      break;
    case Loop::Kind::kFor:
      out = "repeat ";
      break;
    case Loop::Kind::kForEach:
      out = fmt::format("for each {} of {}", loop.item_var, loop.items);
      break;
  }
  if (const auto* condition = std::get_if<Condition>(&loop.source)) out += to_text(*condition);
  if (const auto* artifact = std::get_if<Loop::FromArtifact>(&loop.source)) {
    out += fmt::format("{} says so", artifact->contract_ref);
  }
  if (const int* count = std::get_if<int>(&loop.count)) out += fmt::format("{} times", *count);
  if (const std::string* key = std::get_if<std::string>(&loop.count)) out += fmt::format("{} times", *key);
  out += fmt::format(", at most {}", loop.max_iterations);
  if (loop.parallel > 0) out += fmt::format(", {} in parallel", loop.parallel);
  return out;
}

std::string describe(const Delegation& call) {
  std::string out = call.workflow_id;
  if (!call.goal.empty()) out += fmt::format(": {}", call.goal);
  if (call.run_condition) out += fmt::format(", when {}", to_text(*call.run_condition));
  for (const auto& [from, to] : call.context_mapping) out += fmt::format(", {} as {}", from, to);
  for (const auto& [name, value] : call.args) out += fmt::format(", {} = {}", name, quote_json(value));
  if (call.model_tier) out += fmt::format(", model {}", to_string(*call.model_tier));
  if (!call.allowed_tools.empty()) out += fmt::format(", tools {}", joined(call.allowed_tools));
  if (!call.capture_as.empty()) out += fmt::format(" -> {}", call.capture_as);
  return out;
}

std::string describe(const Confirmation& confirmation) {
  const bool is_person = confirmation.kind == Confirmation::Kind::kPerson;
  std::string out = is_person ? "gate: a person must approve" : "gate: must be confirmed";
  if (confirmation.when) out += fmt::format(", when {}", to_text(*confirmation.when));
  return out;
}

void add_kind(Lines& lines, const Step& step) {
  if (const LoopStep* loop = step.loop()) {
    lines.push_back(describe(loop->loop));
    if (!loop->loop.capture_as.empty()) lines.push_back("results -> " + loop->loop.capture_as);
  }
  if (const ParallelStep* parallel = step.parallel()) {
    for (const Delegation& each : parallel->delegations) lines.push_back("child " + describe(each));
    if (parallel->quorum > 0) lines.push_back(fmt::format("continues when {} have ended", parallel->quorum));
  }
  if (const DecisionStep* decision = step.decision()) {
    lines.push_back(decision->options_from.empty() ? "a person decides"
                                                   : fmt::format("a person decides among {}", decision->options_from));
    lines.push_back("answer -> " + decision->capture_as);
  }
  if (const CallStep* call = step.call()) lines.push_back("runs " + describe(call->call));
}

void add_demands(Lines& lines, const Step& step) {
  if (step.model_tier) lines.push_back(fmt::format("model {}", to_string(*step.model_tier)));
  if (!step.needs.empty()) lines.push_back("needs " + joined(step.needs));
  if (step.contract)
    lines.push_back("delivers " + step.contract->ref + (step.contract->is_required ? "" : " (optional)"));
  if (!step.assessment_refs.empty()) lines.push_back("rates " + joined(step.assessment_refs));
  std::vector<std::string> keys;
  for (const Capture& capture : step.captures) keys.push_back(capture.key);
  if (!keys.empty()) lines.push_back("sets " + joined(keys));
  for (const DerivedCount& count : step.counts) {
    const std::string where = count.where ? fmt::format(" where {}", to_text(*count.where)) : "";
    lines.push_back(fmt::format("counts {}{} -> {}", count.of, where, count.key));
  }
  if (step.criteria) lines.emplace_back("notes are checked");
  if (!step.command.empty()) lines.push_back("runs `" + step.command + "`");
  if (step.interlock.writes_declared) {
    lines.push_back(step.interlock.writes.empty() ? "writes nothing" : "writes only " + joined(step.interlock.writes));
  }
  if (step.interlock.commands_read_only) lines.emplace_back("commands only read");
  if (step.confirmation.kind != Confirmation::Kind::kNone) lines.push_back(describe(step.confirmation));
  if (step.jump) {
    lines.push_back(fmt::format("back to {} when {}, at most {} {}", step.jump->to, to_text(step.jump->when),
                                step.jump->max_times, step.jump->max_times == 1 ? "time" : "times"));
  }
}

void draw(std::string& out, const std::vector<Step>& steps, const std::string& margin) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    const bool is_last = i + 1 == steps.size();
    const bool has_body = step.loop() != nullptr && !step.loop()->body.empty();
    const std::string below = margin + (is_last ? "   " : "│  ");
    out += fmt::format("{}{} {}  {}\n", margin, is_last ? "└─" : "├─", step.id, step.title);
    Lines lines;
    if (step.run_condition) lines.push_back("when " + to_text(*step.run_condition));
    add_kind(lines, step);
    add_demands(lines, step);
    for (const std::string& line : lines) out += fmt::format("{}{}  {}\n", below, has_body ? "│" : " ", line);
    if (has_body) draw(out, step.loop()->body, below);
  }
}

}  // namespace

std::string draw_steps(const Definition& definition) {
  std::string out;
  draw(out, definition.steps, "");
  return out;
}

}  // namespace sb::cli
