// Reads a flow and its steps.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "decision/declaration/declaration_readers.hpp"

namespace sb::decision {
namespace {

bool is_step_key(std::string_view key) {
  return !key.empty() && key.size() <= limits::kIdBytes && key[0] >= 'a' && key[0] <= 'z' &&
         std::ranges::all_of(
             key, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; });
}

FlowStep read_step(const Reader& reader, const Flow& flow, const Profile& profile, const ReadContext& context) {
  FlowStep step;
  Fields fields = reader.fields();
  step.decision.profile = profile.id;
  step.decision.locale = flow.locale;
  if (const auto key = fields.get("key", Need::kRequired)) {
    step.decision.id = key->string().value_or("");
    if (key->value().is_string() && !is_step_key(step.decision.id)) {
      key->fault(fmt::format("\"{}\" is not a valid step key", step.decision.id.substr(0, 80)),
                 "Start with a lower-case letter, then letters, digits, hyphens and underscores, at most 64");
    }
  }
  read_decision(fields, Placement::kInFlow, profile, context, step.decision);
  step.title = step.key();
  if (const auto title = fields.get("title")) {
    if (auto line = read_line(*title)) {
      check_label(*title, *line, profile);
      step.title = std::move(*line);
    }
  }
  fields.strings("depends_on");
  for (const std::string_view name : {"default", "on_timeout", "deadline"}) {
    if (const auto reader_of = fields.get(name)) {
      reader_of->fault(fmt::format("a step of a flow has no {}", name), "Remove it: a flow waits for its answers");
    }
  }
  fields.finish();
  return step;
}

// Steps may depend only on earlier ones: later answers do not exist yet when the step is asked.
void read_dependencies(const Reader& reader, const std::unordered_map<std::string, std::size_t>& earlier,
                       FlowStep& step) {
  const Value* list = reader.value().find("depends_on");
  if (!list || !list->is_array()) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Value& item = list->items()[i];
    if (!item.is_string()) continue;
    if (!earlier.contains(item.as_string())) {
      reader.at(*list).fault(fmt::format("no earlier step has the key \"{}\"", item.as_string()),
                             "Name a step that is asked before this one");
    }
    step.depends_on.push_back(item.as_string());
  }
}

}  // namespace

Flow read_flow(Fields& fields, const Profile& profile, const ReadContext& context) {
  Flow flow;
  flow.id = read_id(fields, "flow");
  flow.profile = profile.id;
  static constexpr std::pair<std::string_view, Confirm> kConfirms[] = {{"auto", Confirm::kAuto},
                                                                       {"always", Confirm::kAlways}};
  flow.confirm = fields.choice<Confirm>("confirm", kConfirms).value_or(Confirm::kAuto);
  flow.compact_multi = fields.boolean("compact_multi").value_or(false);
  flow.literal_format = fields.boolean("literal_format").value_or(false);
  flow.command_case_fold = fields.boolean("command_case_fold").value_or(profile.command_case_fold);
  flow.expires = read_time(fields, "expires");
  const auto list = fields.get("steps", Need::kRequired);
  std::string sample;
  if (list && list->value().is_array() && list->value().size() > 0) {
    sample = list->value().items()[0].string_at("instruction").value_or("");
  }
  flow.locale = read_locale(fields, sample);
  if (!list) return flow;
  std::unordered_map<std::string, std::size_t> keys;
  for (const Reader& item : list->items(limits::kFlowSteps)) {
    FlowStep step = read_step(item, flow, profile, context);
    read_dependencies(item, keys, step);
    if (!step.key().empty() && !keys.emplace(step.key(), flow.steps.size()).second) {
      item.fault(fmt::format("two steps have the key \"{}\"", step.key()), "Give each its own key");
    }
    flow.steps.push_back(std::move(step));
  }
  if (list->value().is_array() && list->value().size() == 0) list->fault("the flow has no steps", "Add one");
  return flow;
}

}  // namespace sb::decision
