// The model's tool calls: checked, run and logged.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "agent/limits.hpp"
#include "agent/loop/agent_loop.hpp"
#include "agent/tools/plain_text.hpp"
#include "base/crypto.hpp"
#include "base/document/reader.hpp"
#include "engine/session/session_home.hpp"

namespace sb::agent {

Tool* AgentLoop::find_tool(std::string_view name) {
  const auto found = std::ranges::find_if(tools_, [&](const auto& tool) { return tool->declaration().name == name; });
  return found == tools_.end() ? nullptr : found->get();
}

std::string AgentLoop::call_error(const ToolCall& call) {
  if (const ToolDeclaration* declared = session_tools_.find(call.name)) return schema_errors(*declared, call.input);
  if (Tool* tool = find_tool(call.name)) return schema_errors(tool->declaration(), call.input);
  std::vector<std::string> names;
  for (const ToolDeclaration& each : session_tools_.declarations()) names.push_back(each.name);
  for (const auto& tool : tools_) names.push_back(tool->declaration().name);
  const std::string nearest = nearest_name(call.name, names);
  return fmt::format("Unknown tool {}{}. Available: {}.", quote_json(call.name.substr(0, 64)),
                     nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest), fmt::join(names, ", "));
}

ToolRun AgentLoop::tool_run() {
  return {.should_continue = [this] { return work_context_.watchdog.should_continue(); },
          .on_output = [this](std::string_view) { work_context_.watchdog.note_activity(); },
          .left_ms = work_context_.watchdog.left_ms()};
}

void AgentLoop::add_end(Batch& batch, const ToolCall& call, ToolResult result, std::int64_t ms) {
  const std::string text = work_context_.redactor.clean(as_utf8(result.text));
  Value payload = Value::object({{"turn", work_context_.turn},
                                 {"call", call.id},
                                 {"tool", call.name},
                                 {"result", sha256_hex(text)},
                                 {"error", result.is_error},
                                 {"ms", ms}});
  if (!result.facts.is_null()) payload.set("facts", std::move(result.facts));
  if (!result.refused.empty()) {
    batch.entries.push_back({"refused", Value::object({{"turn", work_context_.turn},
                                                       {"what", fmt::format("{} {}", call.name, call.id)},
                                                       {"why", work_context_.redactor.clean(result.refused)}})});
  }
  batch.entries.push_back({"tool_ended", std::move(payload), {text}});
}

std::optional<WorkResult> AgentLoop::run_calls(std::vector<TurnCall> calls, Batch batch) {
  work_context_.turn = std::max(work_context_.turn, transcript_.turn());
  const auto submits = [](const TurnCall& call) { return call.call.name == "complete_step"; };
  const bool submits_often = std::ranges::count_if(calls, submits) > 1;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const TurnCall& call = calls[i];
    if (call.has_ended) continue;
    const bool is_session_tool = SessionTools::handles(call.call.name);
    if (call.has_started && !is_session_tool) {
      add_end(
          batch, call.call,
          {.text =
               "This call was interrupted: the process ended while it ran. It is unknown whether it took effect, and "
               "it was not repeated. Check the current state before you continue.",
           .is_error = true},
          0);
      continue;
    }
    if (const std::string tool_denial = call_error(call.call); !tool_denial.empty()) {
      add_end(batch, call.call, {.text = tool_denial, .is_error = true}, 0);
      continue;
    }
    // The first could say the opposite of the others, and the others could only be about a step that was not read.
    if (submits_often && submits(call) && !call.has_started) {
      add_end(
          batch, call.call,
          {.text = "Nothing was submitted: the reply has several complete_step calls. Submit the open step once, with "
                   "everything in it.",
           .is_error = true},
          0);
      continue;
    }
    if (is_session_tool) {
      if (auto end = run_session_tool(call, batch)) return end;
      continue;
    }
    Tool* tool = find_tool(call.call.name);
    if (!tool->only_reads(call.call)) {
      if (auto end = run_change(*tool, call, batch)) return end;
      continue;
    }
    std::vector<std::pair<Tool*, const TurnCall*>> reads{{tool, &call}};
    while (i + 1 < calls.size() && !calls[i + 1].has_ended && !calls[i + 1].has_started &&
           call_error(calls[i + 1].call).empty()) {
      Tool* next = find_tool(calls[i + 1].call.name);
      if (next == nullptr || !next->only_reads(calls[i + 1].call)) break;
      reads.emplace_back(next, &calls[++i]);
    }
    run_reads(reads, batch);
  }
  return commit(batch);
}

void AgentLoop::run_reads(const std::vector<std::pair<Tool*, const TurnCall*>>& reads, Batch& batch) {
  struct Done {
    ToolResult result;
    std::int64_t ms = 0;
  };
  std::vector<Done> done(reads.size());
  Clock& clock = work_context_.parts.seams.clock;
  const auto run = [&](std::size_t at) {
    const std::int64_t from = clock.now_ms();
    done[at].result = reads[at].first->run(reads[at].second->call, tool_run());
    done[at].ms = clock.now_ms() - from;
  };
  for (const auto& [tool, call] : reads) {
    work_context_.report(Progress::Kind::kTool, work_context_.redactor.clean(tool->what(call->call)), step_);
  }
  for (std::size_t first = 0; first < reads.size(); first += limits::kReadsAtOnce) {
    std::vector<std::jthread> threads;
    const std::size_t end = std::min(reads.size(), first + limits::kReadsAtOnce);
    for (std::size_t at = first + 1; at < end; ++at) threads.emplace_back(run, at);
    run(first);
  }
  for (std::size_t at = 0; at < reads.size(); ++at) {
    add_end(batch, reads[at].second->call, std::move(done[at].result), done[at].ms);
  }
}

std::optional<WorkResult> AgentLoop::run_change(Tool& tool, const TurnCall& call, Batch& batch) {
  const std::string what = work_context_.redactor.clean(tool.what(call.call));
  batch.entries.push_back(
      {"tool_started",
       Value::object(
           {{"turn", work_context_.turn}, {"call", call.call.id}, {"tool", call.call.name}, {"what", what}})});
  if (auto end = commit(batch)) return end;
  if (auto end = work_context_.watchdog.end()) return finish(std::move(*end));
  work_context_.report(Progress::Kind::kTool, what, step_);
  const std::int64_t from = work_context_.parts.seams.clock.now_ms();
  ToolResult result = tool.run(call.call, tool_run());
  add_end(batch, call.call, std::move(result), work_context_.parts.seams.clock.now_ms() - from);
  if (auto end = work_context_.watchdog.end()) {
    if (auto broke = commit(batch)) return broke;
    return finish(std::move(*end));
  }
  return std::nullopt;
}

std::optional<WorkResult> AgentLoop::run_session_tool(const TurnCall& call, Batch& batch) {
  std::string token = call.token, decision = call.decision;
  const std::string what = session_tools_.what(call.call);
  if (!call.has_started && !SessionTools::only_logs(call.call.name)) {
    const auto start = session_tools_.prepare(call.call);
    if (!start) {
      add_end(batch, call.call, {.text = start.error().to_string(), .is_error = true}, 0);
      return std::nullopt;
    }
    token = start->token;
    Value started =
        Value::object({{"turn", work_context_.turn}, {"call", call.call.id}, {"tool", call.call.name}, {"what", what}});
    if (!token.empty()) started.set("token", token);
    const auto make = [&](store::Transaction& transaction) -> Result<std::vector<AgentLog::Entry>> {
      if (start->question) {
        inbox::Home& home = work_context_.parts.home.home();
        const inbox::AskContext asking{.workspace = work_context_.assignment.work_tree,
                                       .session = work_context_.assignment.session};
        decision = SB_TRY(home.inbox().open_in(transaction, *start->question, asking)).id;
        started.set("decision", decision);
      }
      std::vector<AgentLog::Entry> entries = batch.entries;
      entries.push_back({"tool_started", started});
      return entries;
    };
    const Status kept = work_context_.log.append_with(make, batch.rows);
    batch = {};
    const Status followed = kept ? follow() : kept;
    if (!followed) return with_totals({.state = EndState::kInternalError, .reason = followed.error().to_string()});
  }
  work_context_.report(Progress::Kind::kTool, fmt::format("{} {}", call.call.name, what), step_);
  const std::int64_t from = work_context_.parts.seams.clock.now_ms();
  SessionToolResult done = session_tools_.run(call.call, token, decision);
  if (done.left) {
    if (auto end = commit(batch)) return end;
    return suspend(std::move(*done.left));
  }
  for (AgentLog::Entry& entry : done.entries) batch.entries.push_back(std::move(entry));
  const Value facts = done.result.facts;
  add_end(batch, call.call, std::move(done.result), work_context_.parts.seams.clock.now_ms() - from);
  if (facts["refused"] == Value(true)) {
    const std::string hint = hint_for_refusal(transcript_.refusals() + 1, facts["blockers"]);
    if (!hint.empty()) {
      batch.entries.push_back(
          {"nudged", Value::object({{"turn", work_context_.turn}, {"why", "step_refused"}, {"text", hint}})});
    }
  }
  if (facts.find("place") != nullptr) step_.clear();
  if (!done.is_complete) return std::nullopt;
  return finish({.state = EndState::kComplete}, std::move(batch));
}

}  // namespace sb::agent
