// What a model called for: told from what it may not call, run, and kept.
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

Tool* Loop::find_tool(std::string_view name) {
  const auto found = std::ranges::find_if(tools_, [&](const auto& tool) { return tool->declaration().name == name; });
  return found == tools_.end() ? nullptr : found->get();
}

std::string Loop::objection_to(const ToolCall& call) {
  if (const ToolDeclaration* declared = session_tools_.find(call.name)) return misfit(*declared, call.input);
  if (Tool* tool = find_tool(call.name)) return misfit(tool->declaration(), call.input);
  std::vector<std::string> names;
  for (const ToolDeclaration& each : session_tools_.declarations()) names.push_back(each.name);
  for (const auto& tool : tools_) names.push_back(tool->declaration().name);
  const std::string nearest = nearest_name(call.name, names);
  return fmt::format("There is no tool {} here{}. There are: {}.", quote_json(call.name.substr(0, 64)),
                     nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest), fmt::join(names, ", "));
}

ToolRun Loop::run_terms() {
  return {.keeps_going = [this] { return duty_.watch.keeps_going(); },
          .on_output = [this](std::string_view) { duty_.watch.alive(); },
          .left_ms = duty_.watch.left_ms()};
}

void Loop::add_end(Batch& batch, const ToolCall& call, ToolResult result, std::int64_t ms) {
  const std::string text = duty_.redactor.clean(as_utf8(result.text));
  Value payload = Value::object({{"turn", duty_.turn},
                                 {"call", call.id},
                                 {"tool", call.name},
                                 {"result", sha256_hex(text)},
                                 {"error", result.is_error},
                                 {"ms", ms}});
  if (!result.facts.is_null()) payload.set("facts", std::move(result.facts));
  if (!result.refused.empty()) {
    batch.entries.push_back({"refused", Value::object({{"turn", duty_.turn},
                                                       {"what", fmt::format("{} {}", call.name, call.id)},
                                                       {"why", duty_.redactor.clean(result.refused)}})});
  }
  batch.entries.push_back({"tool_ended", std::move(payload), {text}});
}

std::optional<Ended> Loop::run_calls(std::vector<CourseCall> calls, Batch batch) {
  duty_.turn = std::max(duty_.turn, course_.turn());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CourseCall& call = calls[i];
    if (call.has_ended) continue;
    const bool is_session_tool = SessionTools::is_one(call.call.name);
    if (call.has_started && !is_session_tool) {
      add_end(
          batch, call.call,
          {.text =
               "This call was interrupted: the process ended while it ran. Whether it took effect is not known, and "
               "it was not repeated. Look what is there before you go on.",
           .is_error = true},
          0);
      continue;
    }
    if (const std::string objection = objection_to(call.call); !objection.empty()) {
      add_end(batch, call.call, {.text = objection, .is_error = true}, 0);
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
    std::vector<std::pair<Tool*, const CourseCall*>> reads{{tool, &call}};
    while (i + 1 < calls.size() && !calls[i + 1].has_ended && !calls[i + 1].has_started &&
           objection_to(calls[i + 1].call).empty()) {
      Tool* next = find_tool(calls[i + 1].call.name);
      if (next == nullptr || !next->only_reads(calls[i + 1].call)) break;
      reads.emplace_back(next, &calls[++i]);
    }
    run_reads(reads, batch);
  }
  return keep(batch);
}

void Loop::run_reads(const std::vector<std::pair<Tool*, const CourseCall*>>& reads, Batch& batch) {
  struct Done {
    ToolResult result;
    std::int64_t ms = 0;
  };
  std::vector<Done> done(reads.size());
  Clock& clock = duty_.parts.seams.clock;
  const auto run = [&](std::size_t at) {
    const std::int64_t from = clock.now_ms();
    done[at].result = reads[at].first->run(reads[at].second->call, run_terms());
    done[at].ms = clock.now_ms() - from;
  };
  for (const auto& [tool, call] : reads) {
    duty_.tell(Progress::Kind::kTool, duty_.redactor.clean(tool->what(call->call)), step_);
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

std::optional<Ended> Loop::run_change(Tool& tool, const CourseCall& call, Batch& batch) {
  const std::string what = duty_.redactor.clean(tool.what(call.call));
  batch.entries.push_back(
      {"tool_started",
       Value::object({{"turn", duty_.turn}, {"call", call.call.id}, {"tool", call.call.name}, {"what", what}})});
  if (auto end = keep(batch)) return end;
  if (auto end = duty_.watch.end()) return finish(std::move(*end));
  duty_.tell(Progress::Kind::kTool, what, step_);
  const std::int64_t from = duty_.parts.seams.clock.now_ms();
  ToolResult result = tool.run(call.call, run_terms());
  add_end(batch, call.call, std::move(result), duty_.parts.seams.clock.now_ms() - from);
  if (auto end = duty_.watch.end()) {
    if (auto broke = keep(batch)) return broke;
    return finish(std::move(*end));
  }
  return std::nullopt;
}

std::optional<Ended> Loop::run_session_tool(const CourseCall& call, Batch& batch) {
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
        Value::object({{"turn", duty_.turn}, {"call", call.call.id}, {"tool", call.call.name}, {"what", what}});
    if (!token.empty()) started.set("token", token);
    const auto make = [&](store::Transaction& transaction) -> Result<std::vector<AgentLog::Entry>> {
      if (start->question) {
        inbox::Desk& desk = duty_.parts.desk.desk();
        const inbox::Asking asking{.workspace = duty_.assignment.work_tree, .session = duty_.assignment.session};
        decision = SB_TRY(desk.inbox().open_in(transaction, *start->question, asking)).id;
        started.set("decision", decision);
      }
      std::vector<AgentLog::Entry> entries = batch.entries;
      entries.push_back({"tool_started", started});
      return entries;
    };
    const Status kept = duty_.log.append_with(make, batch.rows);
    batch = {};
    const Status followed = kept ? follow() : kept;
    if (!followed) return with_totals({.state = EndState::kBroke, .reason = followed.error().to_string()});
  }
  duty_.tell(Progress::Kind::kTool, fmt::format("{} {}", call.call.name, what), step_);
  const std::int64_t from = duty_.parts.seams.clock.now_ms();
  SessionToolEnd done = session_tools_.run(call.call, token, decision);
  if (done.left) {
    if (auto end = keep(batch)) return end;
    return leave(std::move(*done.left));
  }
  for (AgentLog::Entry& entry : done.entries) batch.entries.push_back(std::move(entry));
  const Value facts = done.result.facts;
  add_end(batch, call.call, std::move(done.result), duty_.parts.seams.clock.now_ms() - from);
  if (facts["refused"] == Value(true)) {
    const std::string hint = hint_after(course_.refusals() + 1, facts["blockers"]);
    if (!hint.empty()) {
      batch.entries.push_back(
          {"nudged", Value::object({{"turn", duty_.turn}, {"why", "step_refused"}, {"text", hint}})});
    }
  }
  if (facts.find("place") != nullptr) step_.clear();
  if (!done.is_complete) return std::nullopt;
  return finish({.state = EndState::kComplete}, std::move(batch));
}

}  // namespace sb::agent
