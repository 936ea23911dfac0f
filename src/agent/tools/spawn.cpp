// The `spawn_agent` tool: child sessions, each with its own agent.
#include <fmt/format.h>

#include <algorithm>

#include "agent/loop/child_sessions.hpp"
#include "agent/tools/session_tools.hpp"
#include "base/crypto.hpp"
#include "engine/session/prepare.hpp"
#include "engine/session/session_home.hpp"

namespace sb::agent {
namespace {

constexpr std::size_t kShownArtifactBytes = 32u << 10;

std::vector<std::string> strings_at(const Value& value, std::string_view name) {
  std::vector<std::string> all;
  const Value& items = value[name];
  if (!items.is_array()) return all;
  for (const Value& item : items.items()) {
    if (item.is_string()) all.push_back(item.as_string());
  }
  return all;
}

// The same call always maps to the same sessions, so that a repeated call starts none twice.
std::string child_id(const WorkContext& work_context, const ToolCall& call, std::size_t index) {
  const std::string seed =
      fmt::format("sb-spawn-1\n{}\n{}\n{}\n{}", work_context.assignment.session, work_context.turn, call.id, index);
  const Digest digest = sha256(seed);
  return engine::session_id_from_bytes(as_bytes(digest).substr(0, 16));
}

// A restricted role gets only the context that its workflow asks for, and nothing else the caller adds.
Status check_context(const workflow::Definition& definition, const Value* context) {
  if (context == nullptr || !context->is_object() || !definition.role) return {};
  const std::string_view role = workflow::to_string(*definition.role);
  if (!is_restricted(role)) return {};
  std::vector<std::string> asked_for = definition.steps.front().needs;
  if (definition.isolation) {
    asked_for.insert(asked_for.end(), definition.isolation->inputs.begin(), definition.isolation->inputs.end());
  }
  for (const Value::Member& member : context->members()) {
    if (std::ranges::find(asked_for, member.name) != asked_for.end()) continue;
    return fail(ErrorCode::kForbidden,
                fmt::format("the role {} does not accept {}: its workflow does not ask for it", role,
                            quote_json(member.name.substr(0, 64))),
                asked_for.empty() ? "Omit context" : fmt::format("It asks for: {}", fmt::join(asked_for, ", ")));
  }
  return {};
}

engine::SessionResult<engine::SessionResponse> start_child(WorkContext& work_context, const ToolCall& call,
                                                           const Value& spec, std::size_t index) {
  const AgentRunnerParts& parts = work_context.parts;
  const std::string& workspace = work_context.assignment.work_tree;
  const auto catalog = workflow::Catalog::open(parts.seams.files, parts.seams.environment, parts.home.home().homes(),
                                               {.workspace = workspace, .list_command = "the list of workflows"});
  if (!catalog) return std::unexpected(engine::session_error(catalog.error()));
  const Value* context = spec.find("context");
  auto starting = engine::prepare_start(parts.seams.files, *catalog,
                                        {.workflow_id = spec.string_at("workflowId").value_or(""),
                                         .goal = spec.string_at("goal").value_or(""),
                                         .workspace = workspace,
                                         .context = context == nullptr ? Value() : *context,
                                         .is_autonomous = true});
  if (!starting) return std::unexpected(starting.error());
  if (const Status fits = check_context(starting->bundle.back()->definition, context); !fits) {
    return std::unexpected(engine::session_error(fits.error()));
  }
  starting->id = child_id(work_context, call, index);
  starting->parent = work_context.assignment.session;
  return parts.home.sessions().start(*starting);
}

Result<Value> result_of(WorkContext& work_context, const std::string& session, const WorkResult& ended) {
  engine::Sessions& sessions = work_context.parts.home.sessions();
  Value result = Value::object({{"childSessionId", session}, {"outcome", to_string(ended.state)}});
  if (!ended.reason.empty()) result.set("reason", ended.reason);
  const engine::Summary summary = SB_TRY(sessions.summary(session));
  const engine::Node tip = SB_TRY(sessions.node(session, summary.tip));
  const auto last = tip.parent == 0 ? std::nullopt : SB_TRY(sessions.attempt(session, tip.parent, tip.parent_attempt));
  if (last) result.set("notes", SB_TRY(sessions.output(session, *last)).notes);
  Value artifacts = Value::array();
  for (const auto& [kind, hash] : tip.artifacts) {
    const std::string text = SB_TRY(work_context.log.blob(hash));
    const auto artifact =
        text.size() > kShownArtifactBytes ? Result<Value>(std::unexpected(Error{})) : parse_json(text);
    artifacts.push_back(artifact ? *artifact : Value::object({{"kind", kind}, {"bytes", text.size()}}));
  }
  if (artifacts.size() > 0) result.set("artifacts", std::move(artifacts));
  return result;
}

Value failed(std::string_view why) {
  return Value::object({{"outcome", "not_started"}, {"reason", why}});
}

}  // namespace

SessionToolResult SessionTools::spawn_agent(const ToolCall& call) {
  SessionToolResult end;
  const Value* several = call.input.find("agents");
  const bool has_one = call.input.find("workflowId") != nullptr && call.input.find("goal") != nullptr;
  if ((several != nullptr) == has_one || (several != nullptr && call.input.size() > 1)) {
    end.result = {.text = "Give either workflowId and goal, or agents with at least one entry.", .is_error = true};
    return end;
  }
  const Value::Array requests = several != nullptr ? several->items() : Value::Array{call.input};
  std::vector<ChildSession> children;
  Value results = Value::array();
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto started =
        work_context_.assignment.depth >= work_context_.limits.depth
            ? engine::SessionResult<engine::SessionResponse>(std::unexpected(engine::session_error(
                  Error{ErrorCode::kForbidden,
                        fmt::format("agents may be nested at most {} deep", work_context_.limits.depth),
                        "Do the work in this session",
                        {},
                        false})))
            : start_child(work_context_, call, requests[i], i);
    results.push_back(failed(started ? "" : started.error().error.to_string()));
    if (!started) {
      if (started.error().error.code == ErrorCode::kForbidden) end.result.refused = started.error().error.message;
      continue;
    }
    ChildSession work{.session = child_id(work_context_, call, i), .tools = strings_at(requests[i], "allowedTools")};
    work.tier = requests[i].string_at("modelTier").value_or("");
    if (const Value* context = requests[i].find("context")) {
      for (const Value::Member& member : context->members()) work.shown_keys.push_back(member.name);
    }
    children.push_back(std::move(work));
    places.push_back(i);
  }
  const std::vector<WorkResult> ended = run_children(work_context_, children);
  if (auto left = suspended_by_child(work_context_, ended)) {
    end.left = std::move(left);
    return end;
  }
  end.result.is_error = children.empty();
  for (std::size_t i = 0; i < children.size(); ++i) {
    auto result = result_of(work_context_, children[i].session, ended[i]);
    results.items()[places[i]] = result ? std::move(*result) : failed(result.error().to_string());
  }
  const Value report = several != nullptr ? Value::object({{"kind", "parallel"}, {"results", std::move(results)}})
                                          : results.items().front();
  end.result.text = to_pretty_json(report);
  return end;
}

}  // namespace sb::agent
