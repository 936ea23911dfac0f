#include "engine/advance/blockers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/limits.hpp"
#include "base/text/unicode.hpp"

namespace sb::engine {
namespace {

std::string_view kind_of(KeyNeed::Kind kind) {
  switch (kind) {
    case KeyNeed::Kind::kAnything:
      return "a value";
    case KeyNeed::Kind::kList:
      return "a list";
    case KeyNeed::Kind::kCount:
      return "a whole number of at least 0";
    case KeyNeed::Kind::kOptions:
      return "a list of options, each a text or {id, label}";
  }
  return "a value";
}

bool is_option(const Value& value) {
  const Value& id = value.is_object() ? value["id"] : value;
  return id.is_string() && !is_blank(id.as_string());
}

bool fits(KeyNeed::Kind kind, const Value& value) {
  switch (kind) {
    case KeyNeed::Kind::kAnything:
      return true;
    case KeyNeed::Kind::kList:
      return value.is_array();
    case KeyNeed::Kind::kCount:
      return value.is_number() && value.as_number() >= 0 && std::floor(value.as_number()) == value.as_number();
    case KeyNeed::Kind::kOptions:
      return value.is_array() && value.size() > 0 && std::ranges::all_of(value.items(), is_option);
  }
  return true;
}

}  // namespace

std::string_view to_string(BlockerCode code) {
  switch (code) {
    case BlockerCode::kMissingNotes:
      return "MISSING_REQUIRED_NOTES";
    case BlockerCode::kMissingOutput:
      return "MISSING_REQUIRED_OUTPUT";
    case BlockerCode::kInvalidOutput:
      return "INVALID_REQUIRED_OUTPUT";
    case BlockerCode::kAssessmentFollowup:
      return "ASSESSMENT_FOLLOWUP_REQUIRED";
    case BlockerCode::kMissingContext:
      return "MISSING_CONTEXT_KEY";
    case BlockerCode::kInvalidContext:
      return "INVALID_CONTEXT_KEY";
    case BlockerCode::kCriteria:
      return "CRITERIA_NOT_MET";
    case BlockerCode::kVerificationFailed:
      return "VERIFICATION_FAILED";
    case BlockerCode::kNotTrusted:
      return "NOT_TRUSTED";
    case BlockerCode::kDeclaredFiles:
      return "DECLARED_FILES_DIFFER";
    case BlockerCode::kChildrenOpen:
      return "CHILDREN_OPEN";
    case BlockerCode::kRejected:
      return "REJECTED";
  }
  return "REJECTED";
}

Value to_value(const Blocker& blocker) {
  Value value = Value::object({{"code", to_string(blocker.code)},
                               {"subject", blocker.subject},
                               {"message", blocker.message},
                               {"fix", blocker.fix}});
  if (!blocker.example.is_null()) value.set("example", blocker.example);
  return value;
}

Blocker missing_key(std::string_view key, std::string_view who, std::string_view kind) {
  return {BlockerCode::kMissingContext,
          std::string(key),
          fmt::format("{} needs the context key {}, {}; it is not set.", who, quote_json(key), kind),
          fmt::format("Send {} in context, {}.", quote_json(key), kind),
          Value(),
          std::string(kind)};
}

Blocker invalid_key(std::string_view key, std::string_view who, std::string_view kind, const Value& value) {
  return {BlockerCode::kInvalidContext, std::string(key),
          fmt::format("{} needs the context key {} to be {}; it is {}.", who, quote_json(key), kind,
                      value.is_array() && value.size() == 0 ? "an empty list" : kind_name(value.kind())),
          fmt::format("Send {} in context, {}.", quote_json(key), kind), Value()};
}

namespace {

// Keys by name and form; if there are too many, first the forms are omitted, then names.
std::string listed(const std::vector<const Blocker*>& keys) {
  constexpr std::size_t kFormsBytes = 3'000, kNamesBytes = 4'000;
  std::string text;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (text.size() > kNamesBytes) return text + fmt::format(", and {} more", keys.size() - i);
    const Blocker& key = *keys[i];
    text += fmt::format("{}{}", text.empty() ? "" : ", ", quote_json(key.subject));
    if (!key.form.empty() && text.size() + key.form.size() < kFormsBytes) text += fmt::format(" ({})", key.form);
  }
  return text;
}

Value examples_of(const std::vector<const Blocker*>& keys) {
  constexpr std::size_t kExampleBytes = 4'000;
  Value all = Value::object();
  std::size_t bytes = 0;
  for (const Blocker* key : keys) {
    if (!key->example.is_object()) continue;
    bytes += to_json(key->example).size();
    if (bytes > kExampleBytes) break;
    for (const auto& member : key->example.members()) all.set(member.name, member.value);
  }
  return all.size() > 0 ? all : Value();
}

Blocker missing_keys(const std::vector<const Blocker*>& keys) {
  std::string subjects;
  for (const Blocker* key : keys) {
    if (subjects.size() < limits::kIdBytes) subjects += (subjects.empty() ? "" : ", ") + key->subject;
  }
  return {BlockerCode::kMissingContext, std::move(subjects),
          fmt::format("{} context keys are not set: {}.", keys.size(), listed(keys)), "Send all of them in `context`.",
          examples_of(keys)};
}

// Merges all unset keys into one blocker, at the position of the first.
std::vector<Blocker> with_keys_together(std::vector<Blocker> blockers) {
  std::vector<const Blocker*> keys;
  for (const Blocker& blocker : blockers) {
    if (blocker.code == BlockerCode::kMissingContext) keys.push_back(&blocker);
  }
  if (keys.size() < 2) return blockers;
  Blocker together = missing_keys(keys);
  *std::ranges::find(blockers, BlockerCode::kMissingContext, &Blocker::code) = together;
  bool is_first = true;
  std::erase_if(blockers, [&](const Blocker& blocker) {
    return blocker.code == BlockerCode::kMissingContext && !std::exchange(is_first, false);
  });
  return blockers;
}

}  // namespace

std::vector<Blocker> bounded(std::vector<Blocker> blockers) {
  std::vector<Blocker> kept;
  for (Blocker& blocker : blockers) {
    const bool is_key = blocker.code == BlockerCode::kMissingContext || blocker.code == BlockerCode::kInvalidContext;
    const auto is_same = [&](const Blocker& other) {
      return other.code == blocker.code && other.subject == blocker.subject;
    };
    if (!is_key || std::ranges::none_of(kept, is_same)) kept.push_back(std::move(blocker));
  }
  kept = with_keys_together(std::move(kept));
  if (kept.size() > limits::kBlockers) {
    const std::size_t left_out = kept.size() - limits::kBlockers;
    kept.resize(limits::kBlockers);
    kept.back().message += fmt::format(" ({} more not shown.)", left_out);
  }
  return kept;
}

std::vector<Blocker> missing_needs(const KeyNeed& need, std::string_view who, const Value& context) {
  const Value* value = workflow::look_up(context, need.key);
  if (value == nullptr || value->is_null()) return {missing_key(need.key, who, kind_of(need.kind))};
  if (!fits(need.kind, *value)) return {invalid_key(need.key, who, kind_of(need.kind), *value)};
  return {};
}

std::vector<KeyNeed> needs_of(const workflow::Step& step) {
  std::vector<KeyNeed> needs;
  for (const std::string& key : step.needs) needs.push_back({key, KeyNeed::Kind::kAnything});
  if (const workflow::LoopStep* loop = step.loop()) {
    if (loop->loop.kind == workflow::Loop::Kind::kForEach) needs.push_back({loop->loop.items, KeyNeed::Kind::kList});
    if (const auto* key = std::get_if<std::string>(&loop->loop.count);
        key && loop->loop.kind == workflow::Loop::Kind::kFor)
      needs.push_back({*key, KeyNeed::Kind::kCount});
  }
  if (const workflow::DecisionStep* decision = step.decision(); decision && !decision->options_from.empty())
    needs.push_back({decision->options_from, KeyNeed::Kind::kOptions});
  return needs;
}

std::string described(const workflow::Step& step) {
  const std::string_view kind = step.loop() ? "loop" : step.decision() ? "decision" : "step";
  return fmt::format("The {} {}", kind, quote_json(step.id));
}

}  // namespace sb::engine
