#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/limits.hpp"
#include "engine/advance/advance.hpp"
#include "engine/advance/loop_scope.hpp"
#include "engine/state/tree_check.hpp"

namespace sb::engine {
namespace {

constexpr std::string_view kPrototypeKeys[] = {"__proto__", "constructor", "prototype"};
constexpr std::string_view kReservedKeys[] = {"eat_token", "parent_eat_token", "metrics_harness",
                                              "metrics_active_model"};
constexpr std::string_view kMetricsOutcomes[] = {"success", "partial", "abandoned", "error"};

bool is_in(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

Status check_key(const std::string& key, const Value& value) {
  if (key.empty()) return fail(ErrorCode::kInvalid, "context has an empty key", "Name it or remove it.");
  if (is_in(key, kPrototypeKeys) || is_in(key, kReservedKeys)) {
    return fail(ErrorCode::kInvalid, fmt::format("the context key {} is reserved", quote_json(key)),
                "Remove or rename it.");
  }
  const bool is_outcome = value.is_string() && is_in(value.as_string(), kMetricsOutcomes);
  if (key == "metrics_outcome" && !value.is_null() && !is_outcome) {
    return fail(ErrorCode::kInvalid, "metrics_outcome must be one of success, partial, abandoned, error",
                "Send one of these values.");
  }
  return {};
}

}  // namespace

Status check_context_size(const Value& context, std::string_view what) {
  if (context.size() > limits::kContextKeys) {
    return fail(ErrorCode::kLimit,
                fmt::format("{} has {} keys; {} are allowed", what, context.size(), limits::kContextKeys),
                "Remove unused keys by setting them to null.");
  }
  SB_TRY(check_tree(context, what));
  const std::size_t bytes = to_json(context).size();
  if (bytes > limits::kContextBytes) {
    return fail(ErrorCode::kLimit, fmt::format("{} has {} bytes; {} are allowed", what, bytes, limits::kContextBytes),
                "Put large texts into files or artifacts, and remove unused keys by setting them to null.");
  }
  return {};
}

Result<Value> merge_context(const Value& context, const Value& changes) {
  if (changes.is_null()) return context.is_null() ? Value::object() : context;
  if (!changes.is_object()) {
    return fail(ErrorCode::kInvalid, fmt::format("context is {}, not an object", kind_name(changes.kind())),
                "Send keys and values: {\"key\": value}.");
  }
  SB_TRY(check_context_size(changes, "the context sent"));
  std::map<std::string_view, const Value*> wanted;
  for (const auto& [key, value] : changes.members()) {
    SB_TRY(check_key(key, value));
    wanted[key] = &value;
  }
  Value merged = Value::object();
  if (context.is_object()) {
    for (const auto& member : context.members()) {
      const auto change = wanted.find(member.name);
      if (change == wanted.end()) {
        merged.members().push_back(member);
      } else {
        if (!change->second->is_null()) merged.members().push_back({member.name, *change->second});
        wanted.erase(change);
      }
    }
  }
  for (const auto& [key, value] : changes.members()) {
    if (wanted.contains(key) && !value.is_null()) merged.members().push_back({key, value});
  }
  SB_TRY(check_context_size(merged, "the session's context"));
  return merged;
}

const Value& LoopScope::at(const std::vector<LoopFrame>& frames) {
  if (frames.empty()) return context_;
  if (!view_) view_ = context_.is_object() ? context_ : Value::object();
  for (const std::string& name : names_) {
    if (const Value* own = context_.find(name)) {
      view_->set(name, *own);
    } else {
      view_->erase(name);
    }
  }
  names_.clear();
  for (const LoopFrame& frame : frames) set_variables(frame);
  return *view_;
}

void LoopScope::set_variables(const LoopFrame& frame) {
  const StepNo number = program_.find(frame.loop);
  const workflow::LoopStep* step = number == kNoStep ? nullptr : program_.at(number).step->loop();
  if (step == nullptr) return;
  const workflow::Loop& loop = step->loop;
  if (loop.kind == workflow::Loop::Kind::kForEach) {
    const Value* items = workflow::look_up(*view_, loop.items);
    const auto index = static_cast<std::size_t>(frame.iteration);
    if (items && items->is_array() && index < items->size()) {
      Value item = items->items()[index];
      set(loop.item_var, std::move(item));
    }
    set(loop.index_var, frame.iteration);
  }
  set(loop.iteration_var, frame.iteration + 1);
}

void LoopScope::set(const std::string& name, Value value) {
  view_->set(name, std::move(value));
  names_.push_back(name);
}

Value context_at(const Program& program, const Position& position, const Value& context) {
  return LoopScope(program, context).at(position.loops);
}

}  // namespace sb::engine
