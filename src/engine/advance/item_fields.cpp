#include "engine/advance/item_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/shown_values.hpp"
#include "engine/advance/blockers.hpp"
#include "workflow/check/foresight.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {
namespace {

using workflow::Condition;
using workflow::Foresight;
using workflow::Loop;
using workflow::LoopStep;
using workflow::Step;

constexpr std::size_t kItemsNamed = 5;
constexpr std::size_t kFieldsNamed = 12;

// What must hold for a step to run, and reads the item or is not certain yet.
struct Guard {
  const Condition* condition = nullptr;
  bool is_negated = false;
  std::string list = {};  // instead: a list of the item that is not empty
};

struct Use {
  std::string field;
  std::vector<Guard> guards;
};

// By keys that are set; one that is not may still be.
Foresight foreseen(const Condition& condition, const Value& view) {
  return workflow::foresee(condition, view, [](const std::string&) { return false; });
}

bool is_empty_list(const Value* value) {
  return value != nullptr && value->is_array() && value->size() == 0;
}

// Collects the paths below one item variable, as far as the context does not rule them out.
class UsedFields {
 public:
  UsedFields(const std::string& item, const Value& view) : start_(item + "."), view_(view) {}

  void of_steps(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      under(step.run_condition, [&] { of_step(step); });
    }
  }
  std::vector<Use> uses() && { return std::move(uses_); }

 private:
  template <class Collect>
  void under(const std::optional<Condition>& condition, const Collect& collect) {
    if (!condition) return collect();
    under(Guard{&*condition}, collect);
  }

  template <class Collect>
  void under(Guard guard, const Collect& collect) {
    const Foresight ruled_out = guard.is_negated ? Foresight::kTrue : Foresight::kFalse;
    if (guard.condition != nullptr && foreseen(*guard.condition, view_) == ruled_out) return;
    guards_.push_back(std::move(guard));
    collect();
    guards_.pop_back();
  }

  void of_step(const Step& step) {
    for (const std::string& text : {step.title, step.prompt, step.agent_role}) of_text(text);
    for (const std::string& line : step.guidance) of_text(line);
    for (const std::string& path : step.needs) of_path(path);
    for (const workflow::PromptFragment& fragment : step.fragments) {
      under(fragment.when, [&] { of_text(fragment.text); });
    }
    if (const auto* call = step.call()) of_delegation(call->call);
    if (const auto* parallel = step.parallel()) {
      for (const workflow::Delegation& delegation : parallel->delegations) {
        under(delegation.run_condition, [&] { of_delegation(delegation); });
      }
    }
    if (const auto* decision = step.decision()) {
      of_text(decision->declaration.string_at("instruction").value_or(""));
      of_path(decision->options_from);
    }
    if (const LoopStep* inner = step.loop()) of_loop(*inner);
  }

  void of_delegation(const workflow::Delegation& delegation) {
    of_text(delegation.goal);
    for (const auto& [name, text] : delegation.args) of_text(text);
    for (const auto& [from, to] : delegation.context_mapping) of_path(from);
  }

  // Its variables may hide those around it.
  void of_loop(const LoopStep& inner) {
    const Loop& loop = inner.loop;
    const auto* key = std::get_if<std::string>(&loop.count);
    if (key != nullptr) of_path(*key);
    of_path(loop.items);
    const auto hides = [&](const std::string& name) { return start_ == name + "."; };
    const bool is_each = loop.kind == Loop::Kind::kForEach;
    if (hides(loop.iteration_var) || (is_each && (hides(loop.item_var) || hides(loop.index_var)))) return;
    const Value* count = key == nullptr ? nullptr : workflow::look_up(view_, *key);
    const bool is_zero = count != nullptr ? count->is_number() && count->as_number() <= 0
                                          : std::holds_alternative<int>(loop.count) && std::get<int>(loop.count) <= 0;
    if (is_zero || is_empty_list(workflow::look_up(view_, loop.items))) return;
    const auto body = [&] { of_steps(inner.body); };
    if (is_each && loop.items.starts_with(start_)) return under(Guard{.list = loop.items.substr(start_.size())}, body);
    const Condition* condition = std::get_if<Condition>(&loop.source);
    if (condition == nullptr) return body();
    under(Guard{.condition = condition, .is_negated = loop.kind == Loop::Kind::kUntil}, body);
  }

  void of_text(std::string_view text) {
    for (const std::string& path : workflow::paths_in(text)) of_path(path);
  }

  void of_path(const std::string& path) {
    if (path.starts_with(start_)) uses_.push_back({path.substr(start_.size()), guards_});
  }

  const std::string start_;
  const Value& view_;
  std::vector<Guard> guards_;
  std::vector<Use> uses_;
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

// A condition that reads a field which the item does not have is there for such items.
bool reads_what_is_not_there(const Condition& condition, const Value& item, std::string_view start) {
  return std::ranges::any_of(workflow::keys_of(condition), [&](const std::string& key) {
    return key.starts_with(start) && !has_field(item, key.substr(start.size()));
  });
}

// The fields that are used of one item, each once.
class NeededFields {
 public:
  NeededFields(const LoopStep& loop, const Value& view) : item_(loop.loop.item_var), view_(view) {
    view_.erase(item_);
    UsedFields used(item_, view_);
    used.of_steps(loop.body);
    uses_ = std::move(used).uses();
  }

  bool empty() const { return uses_.empty(); }

  std::vector<std::string> of(const Value& item) {
    view_.set(item_, item);
    return where([&](const Guard& guard) {
      if (guard.condition == nullptr) return !is_empty_list(workflow::look_up(item, guard.list));
      if (reads_what_is_not_there(*guard.condition, item, item_ + ".")) return false;
      return foreseen(*guard.condition, view_) != (guard.is_negated ? Foresight::kTrue : Foresight::kFalse);
    });
  }

  // Of every item, whatever it is.
  std::vector<std::string> of_any() const {
    return where([&](const Guard& guard) {
      return guard.condition == nullptr ||
             std::ranges::none_of(workflow::keys_of(*guard.condition),
                                  [&](const std::string& key) { return key.starts_with(item_ + "."); });
    });
  }

 private:
  template <class Passes>
  std::vector<std::string> where(const Passes& passes) const {
    std::vector<std::string> fields;
    for (const Use& use : uses_) {
      const bool is_known = std::ranges::find(fields, use.field) != fields.end();
      if (!is_known && std::ranges::all_of(use.guards, passes)) fields.push_back(use.field);
    }
    return fields;
  }

  const std::string item_;
  Value view_;
  std::vector<Use> uses_;
};

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

std::vector<std::string> item_fields_of(const Program& program, std::string_view key, const Value& view) {
  std::vector<std::string> fields;
  for (StepNo number = 0; number < program.size(); ++number) {
    const Step& step = *program.at(number).step;
    if (!is_over_list(step, key)) continue;
    if (step.run_condition && foreseen(*step.run_condition, view) == Foresight::kFalse) continue;
    for (std::string& field : NeededFields(*step.loop(), view).of_any()) {
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
  NeededFields needed(*own, view);
  if (needed.empty()) return std::nullopt;
  std::string lacks;
  std::size_t lacking = 0;
  std::vector<std::string> named;  // needed by any of those that lack something
  for (std::size_t i = 0; i < items->size(); ++i) {
    const std::vector<std::string> fields = needed.of(items->items()[i]);
    const std::string lack = lack_of(items->items()[i], i + 1, fields);
    if (lack.empty()) continue;
    if (++lacking > kItemsNamed) continue;
    lacks += (lacks.empty() ? "" : "; ") + lack;
    for (const std::string& field : fields) {
      if (std::ranges::find(named, field) == named.end()) named.push_back(field);
    }
  }
  if (lacking == 0) return std::nullopt;
  if (lacking > kItemsNamed) lacks += fmt::format("; and {} more", lacking - kItemsNamed);
  const std::string& key = own->loop.items;
  return Blocker{
      BlockerCode::kInvalidContext, key,
      fmt::format("{} uses fields that items of {} do not have: {}.", described(loop), quote_json(key), lacks),
      fmt::format("Send {} in context again; each item needs: {}.", quote_json(key), names_of(named)), Value()};
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
    if (step.run_condition && foreseen(*step.run_condition, after) == Foresight::kFalse) continue;
    if (auto lacking = lacking_items(step, after)) found.push_back(std::move(*lacking));
  }
  return found;
}

}  // namespace sb::engine
