// A loop: its type, count or items, and its body.
#include <fmt/format.h>

#include <algorithm>

#include "workflow/check/contract.hpp"
#include "workflow/definition/definition_readers.hpp"

namespace sb::workflow {
namespace {

constexpr Table<Loop::Kind> kLoopKinds[] = {{"while", Loop::Kind::kWhile},
                                            {"until", Loop::Kind::kUntil},
                                            {"for", Loop::Kind::kFor},
                                            {"forEach", Loop::Kind::kForEach}};

void read_source(const Reader& reader, Loop& loop) {
  static constexpr Table<bool> kKinds[] = {{"artifact_contract", true}, {"context_variable", false}};
  Fields fields = reader.fields();
  if (!reader.value().is_object()) return;
  const auto from_artifact = fields.choice<bool>("kind", kKinds);
  if (!from_artifact && fields.has("kind")) return;
  if (from_artifact.value_or(fields.has("contractRef"))) {
    Loop::FromArtifact source{text_of(fields, "contractRef", 1), text_of(fields, "loopId", 1)};
    finish(fields, {"kind", "contractRef"});
    loop.source = std::move(source);
    return;
  }
  if (auto condition = condition_of(fields, "condition")) loop.source = std::move(*condition);
  finish(fields, {"kind", "condition"});
}

void read_count_of(Fields& fields, Loop& loop) {
  const auto reader = fields.get("count");
  if (!reader) return;
  if (reader->value().is_string()) {
    if (auto key = read_text(*reader, 1, 128)) loop.count = std::move(*key);
  } else if (reader->value().is_number()) {
    if (const auto count = read_count(*reader, 0, limits::kLoopIterations)) loop.count = *count;
  } else {
    fault(*reader, "wrong_kind",
          fmt::format("expected a number or the name of a context key, found {}", kind_name(reader->value().kind())),
          "Write a number from 0 to 1000, or a key");
  }
}

// An explicitly named variable must not hide one of an enclosing loop; default names may, the innermost wins.
void read_variables(Fields& fields, const StepReadContext& reading, Loop& loop) {
  std::vector<std::string> own;
  const auto variable = [&](std::string_view name, std::string& into) {
    if (!fields.has(name)) {
      fields.get(name);
      return;
    }
    std::string word = name_of(fields, name);
    if (word.empty()) return;
    const bool is_outer = std::ranges::find(reading.loop_names, word) != reading.loop_names.end();
    if (is_outer || std::ranges::find(own, word) != own.end()) {
      fault(*fields.get(name), "duplicate_loop_variable",
            is_outer ? fmt::format("\"{}\" is already a variable of an enclosing loop", word)
                     : fmt::format("\"{}\" is already a variable of this loop", word),
            "Choose another name");
    }
    own.push_back(word);
    into = std::move(word);
  };
  variable("iterationVar", loop.iteration_var);
  variable("itemVar", loop.item_var);
  variable("indexVar", loop.index_var);
}

void read_parallelism(Fields& fields, Loop& loop) {
  const auto parallel = fields.get("parallel");
  const auto capture = fields.get("captureAs");
  if (parallel) {
    loop.parallel = read_count(*parallel, 1, static_cast<int>(limits::kChildren)).value_or(1);
    if (loop.kind != Loop::Kind::kForEach) {
      fault(*parallel, "parallel_without_items",
            fmt::format("a loop of the type {} cannot be parallel", to_string(loop.kind)),
            "Use type: forEach, or remove parallel");
    }
  }
  if (!capture) return;
  loop.capture_as = key_of(fields, "captureAs");
  if (!parallel) {
    fault(*capture, "capture_without_parallel", "only a parallel loop has results to capture",
          "Add parallel, or declare captures on a step of the body");
  }
}

void check_loop_has(Fields& fields, const Loop& loop) {
  const auto lacks = [&](std::string_view what, std::string remedy) {
    fault(fields.self(), "missing_key", fmt::format("a loop of the type {} needs {}", to_string(loop.kind), what),
          std::move(remedy));
  };
  if (loop.kind == Loop::Kind::kFor) {
    if (!fields.has("count")) lacks("\"count\"", "Add count: 3, or the name of a context key");
  } else if (loop.kind == Loop::Kind::kForEach) {
    if (!fields.has("items")) lacks("\"items\"", "Add items: the context key that holds the list");
  } else if (!fields.has("condition") && !fields.has("conditionSource")) {
    lacks("a condition", "Add condition or conditionSource");
  }
}

Loop read_loop_rules(const Reader& reader, const StepReadContext& reading) {
  Loop loop;
  Fields fields = reader.fields();
  if (!reader.value().is_object()) return loop;
  const auto kind = fields.choice<Loop::Kind>("type", kLoopKinds);
  if (kind) loop.kind = *kind;
  if (const auto most = fields.get("maxIterations"))
    loop.max_iterations = read_count(*most, 1, limits::kLoopIterations).value_or(1);
  if (auto condition = condition_of(fields, "condition")) loop.source = std::move(*condition);
  if (const auto source = fields.get("conditionSource")) {
    loop.source = std::monostate{};
    read_source(*source, loop);
  }
  read_count_of(fields, loop);
  loop.items = text_of(fields, "items", 1, 128);
  read_variables(fields, reading, loop);
  read_parallelism(fields, loop);
  if (finish(fields, {"type", "maxIterations"}) && kind) check_loop_has(fields, loop);
  return loop;
}

void read_loop_body(const Reader& reader, StepReadContext& reading, Step& step, LoopStep& loop) {
  const Value& value = reader.value();
  if (value.is_string() && !reading.is_pinned()) {
    loop.body_ref = value.as_string();
    if (loop.body_ref.empty()) fault(reader, "too_short", "the body is empty", "Name a step, or write steps here");
    return;
  }
  if (!value.is_array()) {
    fault(reader, "wrong_kind", fmt::format("expected the steps of the body, found {}", kind_name(value.kind())),
          "Write a list of steps, or the id of one");
    return;
  }
  if (reading.depth >= limits::kLoopDepth) {
    reader.fault(fmt::format("loops are nested more than {} deep", limits::kLoopDepth),
                 "Move the inner ones to a separate workflow", ErrorCode::kLimit, "too_deep");
    return;
  }
  const std::size_t names = reading.loop_names.size(), functions = reading.functions.size();
  for (const std::string& name : {loop.loop.iteration_var, loop.loop.item_var, loop.loop.index_var})
    reading.loop_names.push_back(name);
  for (const FunctionDefinition& function : step.functions) reading.functions.push_back(&function);
  ++reading.depth;
  loop.body = read_steps(reader, reading);
  --reading.depth;
  reading.loop_names.resize(names);
  reading.functions.resize(functions);
}

}  // namespace

void read_loop(Fields& fields, StepReadContext& reading, Step& step) {
  LoopStep loop;
  read_common(fields, step);
  step.functions = read_functions(fields, Duplicates::kAllowed);
  read_needs(fields, reading, step);
  if (const auto rules = fields.get("loop")) loop.loop = read_loop_rules(*rules, reading);
  if (const auto body = fields.get("body")) read_loop_body(*body, reading, step, loop);
  step.what = std::move(loop);
  finish(fields, {"id", "title", "loop", "body"});
}

std::string_view to_string(Loop::Kind kind) {
  return std::ranges::find(kLoopKinds, kind, &Table<Loop::Kind>::second)->first;
}

}  // namespace sb::workflow
