#include "engine/advance/item_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/shown_values.hpp"
#include "engine/advance/blockers.hpp"
#include "workflow/check/foresight.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {
namespace {

using workflow::Loop;
using workflow::LoopStep;
using workflow::Step;

constexpr std::size_t kItemsNamed = 5;
constexpr std::size_t kFieldsNamed = 12;

// Collects the paths below one item variable.
class UsedFields {
 public:
  explicit UsedFields(const std::string& item) : start_(item + ".") {}

  void of_steps(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (!step.run_condition) of_step(step);
    }
  }
  std::vector<std::string> fields() && { return std::move(fields_); }

 private:
  void of_step(const Step& step) {
    for (const std::string& text : {step.title, step.prompt, step.agent_role}) of_text(text);
    for (const std::string& line : step.guidance) of_text(line);
    for (const workflow::PromptFragment& fragment : step.fragments) {
      if (!fragment.when) of_text(fragment.text);
    }
    if (const auto* call = step.call()) of_delegation(call->call);
    if (const auto* parallel = step.parallel()) {
      for (const workflow::Delegation& delegation : parallel->delegations) {
        if (!delegation.run_condition) of_delegation(delegation);
      }
    }
    if (const LoopStep* inner = step.loop(); inner != nullptr && begins_always(inner->loop)) of_steps(inner->body);
  }

  void of_delegation(const workflow::Delegation& delegation) {
    of_text(delegation.goal);
    for (const auto& [name, text] : delegation.args) of_text(text);
  }

  // A loop that ends on an artifact has a first iteration; its variables may hide those around it.
  bool begins_always(const Loop& loop) const {
    const bool ends_on_artifact = std::holds_alternative<Loop::FromArtifact>(loop.source);
    const bool is_counted = std::holds_alternative<int>(loop.count) && std::get<int>(loop.count) > 0;
    const auto hides = [&](const std::string& name) { return start_ == name + "."; };
    return (ends_on_artifact || is_counted) && !hides(loop.item_var) && !hides(loop.iteration_var);
  }

  void of_text(std::string_view text) {
    for (const std::string& path : workflow::paths_in(text)) {
      if (!path.starts_with(start_)) continue;
      std::string field = path.substr(start_.size());
      if (std::ranges::find(fields_, field) == fields_.end()) fields_.push_back(std::move(field));
    }
  }

  const std::string start_;
  std::vector<std::string> fields_;
};

bool has_field(const Value& item, const std::string& field) {
  const Value* value = workflow::look_up(item, field);
  if (value != nullptr && !value->is_null()) return true;
  // `.length` of a list or a text.
  constexpr std::string_view kLength = "length";
  const std::size_t dot = field.rfind('.');
  if (field.substr(dot == std::string::npos ? 0 : dot + 1) != kLength) return false;
  const Value* whole = dot == std::string::npos ? &item : workflow::look_up(item, field.substr(0, dot));
  return whole != nullptr && (whole->is_array() || whole->is_string());
}

// By keys that are set; one that is not may still be.
bool is_ruled_out(const workflow::Condition& condition, const Value& context) {
  return workflow::foresee(condition, context, [](const std::string&) { return false; }) == workflow::Foresight::kFalse;
}

std::string names_of(const std::vector<std::string>& fields) {
  std::string text;
  for (std::size_t i = 0; i < std::min(fields.size(), kFieldsNamed); ++i) text += (i == 0 ? "" : ", ") + fields[i];
  if (fields.size() > kFieldsNamed) text += fmt::format(" and {} more", fields.size() - kFieldsNamed);
  return text;
}

// `item 2 lacks files, tests`; empty if it lacks nothing.
std::string lack_of(const Value& item, std::size_t number, const std::vector<std::string>& fields) {
  std::vector<std::string> missing;
  std::ranges::copy_if(fields, std::back_inserter(missing), [&](const auto& field) { return !has_field(item, field); });
  if (missing.empty()) return {};
  if (!item.is_object()) {
    return fmt::format("item {} is {} ({})", number, kind_name(item.kind()), shown_value(item, 60));
  }
  return fmt::format("item {} lacks {}", number, names_of(missing));
}

bool is_over_list(const Step& step, std::string_view key) {
  return step.loop() != nullptr && step.loop()->loop.kind == Loop::Kind::kForEach && step.loop()->loop.items == key;
}

}  // namespace

std::vector<std::string> item_fields(const LoopStep& loop) {
  if (loop.loop.kind != Loop::Kind::kForEach) return {};
  UsedFields used(loop.loop.item_var);
  used.of_steps(loop.body);
  return std::move(used).fields();
}

std::vector<std::string> item_fields_of(const Program& program, std::string_view key) {
  std::vector<std::string> fields;
  for (StepNo number = 0; number < program.size(); ++number) {
    const Step& step = *program.at(number).step;
    if (!is_over_list(step, key)) continue;
    for (std::string& field : item_fields(*step.loop())) {
      if (std::ranges::find(fields, field) == fields.end()) fields.push_back(std::move(field));
    }
  }
  return fields;
}

std::optional<Blocker> lacking_items(const Step& loop, const Value& view) {
  const LoopStep* own = loop.loop();
  if (own == nullptr || own->loop.kind != Loop::Kind::kForEach) return std::nullopt;
  const Value* items = workflow::look_up(view, own->loop.items);
  if (items == nullptr || !items->is_array() || items->size() == 0) return std::nullopt;
  const std::vector<std::string> fields = item_fields(*own);
  if (fields.empty()) return std::nullopt;
  std::string lacks;
  std::size_t lacking = 0;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const std::string lack = lack_of(items->items()[i], i + 1, fields);
    if (lack.empty()) continue;
    if (++lacking <= kItemsNamed) lacks += (lacks.empty() ? "" : "; ") + lack;
  }
  if (lacking == 0) return std::nullopt;
  if (lacking > kItemsNamed) lacks += fmt::format("; and {} more", lacking - kItemsNamed);
  const std::string& key = own->loop.items;
  return Blocker{
      BlockerCode::kInvalidContext, key,
      fmt::format("{} uses fields of each item of {} that are not there: {}.", described(loop), quote_json(key), lacks),
      fmt::format("Send {} in context again; each item needs: {}.", quote_json(key), names_of(fields)), Value()};
}

std::vector<Blocker> lacking_items_of(const Program& program, const Value& set, const Value& after) {
  std::vector<Blocker> found;
  if (!set.is_object() || set.size() == 0) return found;
  for (StepNo number = 0; number < program.size(); ++number) {
    const Step& step = *program.at(number).step;
    if (step.loop() == nullptr) continue;
    const std::string& key = step.loop()->loop.items;
    const bool is_set = set.find(key) != nullptr || set.find(key.substr(0, key.find('.'))) != nullptr;
    if (key.empty() || !is_set) continue;
    if (step.run_condition && is_ruled_out(*step.run_condition, after)) continue;
    if (auto lacking = lacking_items(step, after)) found.push_back(std::move(*lacking));
  }
  return found;
}

}  // namespace sb::engine
