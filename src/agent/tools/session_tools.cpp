#include "agent/tools/session_tools.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agent/loop/child_sessions.hpp"
#include "agent/loop/step_driver.hpp"
#include "agent/tools/plain_text.hpp"
#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/text.hpp"
#include "engine/session/session_home.hpp"

namespace sb::agent {
namespace {

struct Described {
  std::string_view name, description, schema;
};

constexpr std::array<Described, 5> kTools{{
    {"complete_step",
     "Submits the open step. Returns the next step, or what is still missing, or that the workflow is complete.",
     R"({"type": "object", "additionalProperties": false, "required": ["notes"], "properties": {
      "notes": {"type": "string", "description": "What you found, did and decided, for a reader without other context"},
      "artifacts": {"type": "array", "items": {"type": "object"},
                    "description": "The artifacts that the step's contracts require, each with its kind"},
      "context": {"type": "object", "description": "Context keys to set; null removes one"}}})"},
    {"report_issue",
     "Records that something is broken, missing or unexpected. It has no other effect; the work continues.",
     R"({"type": "object", "additionalProperties": false, "required": ["kind", "severity", "summary"], "properties": {
      "kind": {"enum": ["tool_failure", "blocked", "unexpected_behavior", "needs_human", "self_correction"]},
      "severity": {"enum": ["info", "warn", "error", "fatal"]},
      "summary": {"type": "string", "minLength": 1, "maxLength": 200},
      "context": {"type": "string"}, "toolName": {"type": "string"}, "command": {"type": "string"},
      "suggestedFix": {"type": "string"}}})"},
    {"spawn_agent",
     "Starts child agents on workflows of their own and waits for them. They know only what you pass "
     "in goal and context. Give one agent, or up to ten in `agents`, which run in parallel.",
     R"({"type": "object", "additionalProperties": false, "properties": {
      "workflowId": {"type": "string", "minLength": 1}, "goal": {"type": "string", "minLength": 1},
      "context": {"type": "object"}, "modelTier": {"enum": ["lightweight", "mid", "heavy"]},
      "allowedTools": {"type": "array", "items": {"type": "string"}},
      "agents": {"type": "array", "minItems": 1, "maxItems": 10, "items": {
        "type": "object", "additionalProperties": false, "required": ["workflowId", "goal"], "properties": {
          "workflowId": {"type": "string", "minLength": 1}, "goal": {"type": "string", "minLength": 1},
          "context": {"type": "object"}, "modelTier": {"enum": ["lightweight", "mid", "heavy"]},
          "allowedTools": {"type": "array", "items": {"type": "string"}}}}}}})"},
    {"ask", "Asks a person a question that only they can answer or decide. The work pauses until they answer.",
     R"({"type": "object", "additionalProperties": false, "required": ["question"], "properties": {
      "question": {"type": "string", "minLength": 1, "maxLength": 2000},
      "context": {"type": "string", "maxLength": 8000, "description": "What they need to know to answer"},
      "options": {"type": "array", "minItems": 2, "maxItems": 20,
                  "items": {"type": "string", "minLength": 1, "maxLength": 200},
                  "description": "The options to choose from; without them the answer is free text"}}})"},
    {"signal", "Sends a message to the coordinator of this work now, before the step is submitted.",
     R"({"type": "object", "additionalProperties": false, "required": ["signalKind", "payload"], "properties": {
      "signalKind": {"enum": ["progress", "finding", "data_needed", "approval_needed", "blocked"]},
      "payload": {"type": "object"}}})"},
}};

// The tools that every agent gets.
bool is_always_there(std::string_view name) {
  return name == "complete_step" || name == "report_issue";
}

ToolResult fault(std::string text) {
  return {.text = std::move(text), .is_error = true};
}

std::string short_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return shortened(text, 160);
}

}  // namespace

SessionTools::SessionTools(WorkContext& work_context) : work_context_(work_context) {
  const std::vector<std::string>& allowed = work_context.assignment.tools;
  for (const Described& each : kTools) {
    const bool is_allowed =
        allowed.empty() || is_always_there(each.name) || std::ranges::find(allowed, each.name) != allowed.end();
    if (!is_allowed) continue;
    auto schema = parse_json(each.schema);
    declarations_.push_back(
        {std::string(each.name), std::string(each.description), schema ? *schema : Value::object()});
  }
}

const ToolDeclaration* SessionTools::find(std::string_view name) const {
  const auto found = std::ranges::find(declarations_, name, &ToolDeclaration::name);
  return found == declarations_.end() ? nullptr : &*found;
}

bool SessionTools::handles(std::string_view name) {
  return std::ranges::find(kTools, name, &Described::name) != kTools.end();
}

bool SessionTools::only_logs(std::string_view name) {
  return name == "report_issue" || name == "signal";
}

std::string SessionTools::what(const ToolCall& call) const {
  std::string about = call.input.string_at("notes").value_or("");
  if (call.name == "spawn_agent") about = call.input.string_at("goal").value_or("several agents");
  if (call.name == "ask") about = call.input.string_at("question").value_or("");
  if (call.name == "report_issue") about = call.input.string_at("summary").value_or("");
  if (call.name == "signal") about = call.input.string_at("signalKind").value_or("");
  return short_line(work_context_.redactor.clean(about));
}

Result<ToolStart> SessionTools::prepare(const ToolCall& call) {
  ToolStart start;
  if (call.name == "ask") start.question = SB_TRY(question_from(work_context_, call));
  if (call.name == "complete_step") {
    engine::Sessions& sessions = work_context_.parts.home.sessions();
    start.token = SB_TRY(sessions.token_for(SB_TRY(sessions.summary(work_context_.assignment.session))));
  }
  return start;
}

SessionToolResult SessionTools::run(const ToolCall& call, const std::string& token, const std::string& decision) {
  if (call.name == "complete_step") return complete_step(call, token);
  if (call.name == "spawn_agent") return spawn_agent(call);
  if (call.name == "ask") return ask(decision);
  if (call.name == "report_issue") return report_issue(call);
  return signal(call);
}

SessionToolResult SessionTools::complete_step(const ToolCall& call, const std::string& token) {
  engine::Submission submission;
  submission.notes = work_context_.redactor.clean(call.input.string_at("notes").value_or(""));
  if (const Value* artifacts = call.input.find("artifacts"); artifacts != nullptr && artifacts->is_array()) {
    for (const Value& artifact : artifacts->items())
      submission.artifacts.push_back(work_context_.redactor.clean_value(artifact));
  }
  if (const Value* context = call.input.find("context"))
    submission.context = work_context_.redactor.clean_value(*context);
  StepOutcome settled = submit_step(work_context_, token, std::move(submission));
  SessionToolResult end;
  Value facts = Value::object();
  if (!settled.place.empty()) facts.set("place", settled.place);
  switch (settled.kind) {
    case StepOutcome::Kind::kSuspended:
      end.left = std::move(settled.ended);
      return end;
    case StepOutcome::Kind::kComplete:
      facts.set("advanced", true);
      end.is_complete = true;
      end.result = {.text = settled.text.empty() ? "The workflow is complete." : std::move(settled.text)};
      break;
    case StepOutcome::Kind::kStep:
      facts.set("advanced", true);
      work_context_.report(Progress::Kind::kStep, settled.step, settled.step);
      end.result = {.text = std::move(settled.text)};
      break;
    case StepOutcome::Kind::kRefused:
      facts.set("refused", true);
      facts.set("blockers", settled.blockers);
      end.result = fault(std::move(settled.text));
      break;
    case StepOutcome::Kind::kFault:
      end.result = fault(fmt::format("Nothing was submitted: {}", settled.text));
      break;
  }
  end.result.facts = std::move(facts);
  return end;
}

SessionToolResult SessionTools::report_issue(const ToolCall& call) {
  Value payload = work_context_.redactor.clean_value(call.input);
  payload.set("turn", work_context_.turn);
  SessionToolResult end;
  end.entries.push_back({"issue", std::move(payload)});
  const bool is_fatal = call.input.string_at("severity") == "fatal";
  end.result.text = is_fatal
                        ? "Recorded. If you cannot continue at all, say in complete_step what is missing, or use ask."
                        : "Recorded. Continue.";
  return end;
}

SessionToolResult SessionTools::signal(const ToolCall& call) {
  Value payload = work_context_.redactor.clean_value(call.input);
  payload.set("turn", work_context_.turn);
  const std::string id =
      "sig_" + sha256_hex(fmt::format("{}/{}", work_context_.assignment.session, call.id)).substr(0, 16);
  payload.set("id", id);
  SessionToolResult end;
  end.entries.push_back({"signal", std::move(payload)});
  end.result.text = fmt::format("Sent, as {}. No answer will come; continue.", id);
  return end;
}

std::string hint_for_refusal(int refusals, const Value& blockers) {
  if (!blockers.is_array() || blockers.size() == 0 || refusals < 1 || refusals > 2) return {};
  std::string text = refusals == 1 ? "The step was rejected. Still missing:\n"
                                   : "The step was rejected again. A valid submission looks like this:\n";
  bool has_example = false;
  for (const Value& blocker : blockers.items()) {
    const std::string subject = blocker.string_at("subject").value_or("");
    const std::string message = blocker.string_at("message").value_or("");
    const Value* example = blocker.find("example");
    if (refusals == 1) text += fmt::format("- {}{}{}\n", subject, subject.empty() ? "" : ": ", message);
    if (refusals == 2 && example != nullptr && !example->is_null()) {
      has_example = true;
      const bool is_key = blocker.string_at("code").value_or("").find("CONTEXT") != std::string::npos;
      text += fmt::format("{}:\n{}\n", is_key ? "\"context\"" : "one of \"artifacts\"", to_pretty_json(*example));
    }
  }
  if (refusals == 2 && !has_example) return hint_for_refusal(1, blockers);
  if (refusals == 2) text += "Keep this form, fill in your own content, and send everything in one complete_step.\n";
  return text;
}

}  // namespace sb::agent
