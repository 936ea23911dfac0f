// Steps that start other workflows: several in parallel, or one.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "workflow/definition/definition_readers.hpp"

namespace sb::workflow {
namespace {

bool is_delegation_id(std::string_view id) {
  return std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

bool is_tool(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !name.empty() && is_letter(name[0]) && std::ranges::all_of(name, [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == ':' || c == '-';
  });
}

// What a delegation of a parallel step and a step that calls a workflow have in common.
void read_call_fields(Fields& fields, Delegation& call) {
  call.workflow_id = text_of(fields, "workflowId", 1, 128);
  call.goal = text_of(fields, "goal");
  call.context_mapping = text_map_of(fields, "contextMapping");
  call.args = text_map_of(fields, "args");
  call.model_tier = tier_of(fields);
  call.capture_as = key_of(fields, "captureAs");
  for (const Reader& item : items_of(fields, "allowedTools", {.min_items = 1})) {
    auto tool = read_text(item);
    if (!tool) continue;
    if (!is_tool(*tool)) {
      fault(item, "bad_name", fmt::format("\"{}\" is not a valid tool name", tool->substr(0, 80)),
            "Use letters, digits, hyphens, underscores and colons, starting with a letter");
    }
    call.allowed_tools.push_back(std::move(*tool));
  }
}

Delegation read_delegation(const Reader& reader) {
  Delegation call;
  Fields fields = reader.fields();
  if (const auto id = fields.get("id")) {
    call.id = read_text(*id, 1, 128).value_or("");
    if (!is_delegation_id(call.id)) {
      fault(*id, "bad_id", fmt::format("\"{}\" is not an id", call.id),
            "Use letters, digits, hyphens, underscores and dots");
    }
  }
  call.run_condition = condition_of(fields, "runCondition");
  read_call_fields(fields, call);
  finish(fields, {"workflowId"});
  return call;
}

void check_distinct(const std::vector<Reader>& items, const std::vector<Delegation>& calls) {
  std::unordered_set<std::string_view> ids, captures;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!calls[i].id.empty() && !ids.insert(calls[i].id).second) {
      fault(items[i].at(*items[i].value().find("id")), "duplicate_delegation",
            fmt::format("two delegations have the id \"{}\"", calls[i].id), "Rename one of them");
    }
    if (!calls[i].capture_as.empty() && !captures.insert(calls[i].capture_as).second) {
      fault(items[i].at(*items[i].value().find("captureAs")), "duplicate_capture",
            fmt::format("two delegations are captured as \"{}\"", calls[i].capture_as), "Rename one of them");
    }
  }
}

void name_delegations(std::vector<Delegation>& calls) {
  std::unordered_set<std::string> taken;
  for (const Delegation& call : calls) taken.insert(call.id);
  for (Delegation& call : calls) {
    if (!call.id.empty()) continue;
    call.id = call.workflow_id;
    for (int number = 2; !taken.insert(call.id).second; ++number)
      call.id = fmt::format("{}-{}", call.workflow_id, number);
  }
}

std::optional<Synthesis> read_synthesis(Fields& fields) {
  const auto reader = fields.get("synthesis");
  if (!reader) return std::nullopt;
  Synthesis synthesis;
  Fields inner = reader->fields();
  synthesis.prompt = text_of(inner, "prompt", 1, 4096);
  synthesis.contract = contract_of(inner);
  finish(inner);
  return synthesis;
}

void read_quorum(Fields& fields, ParallelStep& parallel) {
  const auto reader = fields.get("quorum");
  if (!reader) return;
  const auto quorum = read_count(*reader, 1, static_cast<int>(limits::kChildren));
  if (!quorum) return;
  parallel.quorum = *quorum;
  if (parallel.delegations.empty() || static_cast<std::size_t>(*quorum) <= parallel.delegations.size()) return;
  fault(*reader, "quorum_too_large",
        fmt::format("the quorum is {} of {} delegations", *quorum, parallel.delegations.size()), "Lower it");
}

}  // namespace

void read_parallel(Fields& fields, StepReadContext& reading, Step& step) {
  ParallelStep parallel;
  read_common(fields, step);
  const auto items = items_of(fields, "parallelDelegations",
                              {.min_items = 1, .max_items = limits::kChildren, .duplicates = Duplicates::kFault});
  for (const Reader& item : items) parallel.delegations.push_back(read_delegation(item));
  check_distinct(items, parallel.delegations);
  name_delegations(parallel.delegations);
  read_quorum(fields, parallel);
  parallel.synthesis = read_synthesis(fields);
  read_needs_and_jump(fields, reading, step);
  read_interlock(fields, step);
  step.what = std::move(parallel);
  finish(fields, {"id", "title", "parallelDelegations"});
}

void read_call(Fields& fields, StepReadContext& reading, Step& step) {
  CallStep call;
  read_common(fields, step);
  read_call_fields(fields, call.call);
  call.call.id = call.call.workflow_id;
  read_needs_and_jump(fields, reading, step);
  read_interlock(fields, step);
  step.what = std::move(call);
  finish(fields, {"id", "title", "workflowId"});
}

}  // namespace sb::workflow
