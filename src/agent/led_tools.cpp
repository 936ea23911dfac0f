// The tools of a led session, and what its program is told: the parts of led_session.hpp that speak to the agent.
#include <fmt/format.h>

#include "agent/led_session.hpp"
#include "agent/plain_text.hpp"
#include "base/crypto.hpp"
#include "base/document.hpp"

namespace sb::agent {
namespace {

Value schema(std::string_view text) {
  auto read = parse_json(text);
  return read ? std::move(*read) : Value::object();
}

const ToolDeclaration& complete_step() {
  static const ToolDeclaration declaration{
      "complete_step",
      "Delivers the open step of your session. The answer is the next step, what is still missing, or that the "
      "workflow "
      "is complete.",
      schema(R"({"type": "object", "additionalProperties": false, "required": ["notes"], "properties": {
        "notes": {"type": "string", "description": "What you found, did and decided, for whoever goes on"},
        "artifacts": {"type": "array", "items": {"type": "object"},
          "description": "JSON objects, each with its kind, where the step asks for them"},
        "context": {"type": "object", "description": "Keys to set; null removes one"}}})")};
  return declaration;
}

const ToolDeclaration& continue_workflow() {
  static const ToolDeclaration declaration{
      "continue_workflow",
      "Shows the open step of your session again, with what was done before. With output it delivers the step, as "
      "complete_step does.",
      schema(R"({"type": "object", "additionalProperties": false, "properties": {
        "continueToken": {"type": "string", "description": "May be left out: then the open step is meant"},
        "output": {"type": "object", "additionalProperties": false, "properties": {
          "notesMarkdown": {"type": "string"}, "artifacts": {"type": "array", "items": {"type": "object"}}}},
        "context": {"type": "object"}}})")};
  return declaration;
}

engine::Submission submission_of(const ToolCall& call) {
  engine::Submission submission;
  const bool is_complete_step = call.name == complete_step().name;
  const Value& output = is_complete_step ? call.input : call.input["output"];
  submission.notes = output.string_at(is_complete_step ? "notes" : "notesMarkdown").value_or("");
  if (output["artifacts"].is_array()) submission.artifacts = output["artifacts"].items();
  submission.context = call.input["context"];
  return submission;
}

std::string text_of(const engine::Answer& answer) {
  std::string text = fmt::format("{}\n{}\n", answer.text, to_json(answer.line));
  const std::string kind = answer.line.string_at("kind").value_or("");
  if (kind == "complete") return text + "\nThe workflow is complete. End your turn; nothing is left to do.\n";
  if (kind == "awaiting_decision" && answer.line["decision"].string_at("id")) {
    return text + "\nA person must decide first. End your turn now: you are started again when they have.\n";
  }
  return text;
}

std::string spoken(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += fmt::format("A person who looks after this work says: {}\n\n", text);
  return all;
}

}  // namespace

std::vector<ToolDeclaration> LedSession::tools() {
  return {complete_step(), continue_workflow()};
}

std::string LedSession::steering() {
  const auto events = log_.read();
  if (!events) return {};
  const Wishes wishes = wishes_in(*events);
  if (wishes.steered.empty()) return {};
  const Status seen = log_.append({{"steer_seen", Value::object({{"turn", turns_}, {"upto", wishes.upto}})}});
  return seen ? spoken(wishes.steered) : std::string();
}

Result<engine::Answer> LedSession::hand_in(const ToolCall& call, std::string& refused) {
  const std::scoped_lock lock(tool_mutex_);
  engine::Sessions& sessions = tool_desk_->sessions();
  const engine::Summary summary = SB_TRY(sessions.summary(parts_.assignment.session));
  std::string token = call.input.string_at("continueToken").value_or("");
  if (token.empty()) {
    token = SB_TRY(sessions.token_for(summary));
  } else {
    const auto shown = sessions.rehydrate(token);
    if (!shown) return std::unexpected(shown.error().error);
    if (shown->line.string_at("sessionId") != summary.id) {
      refused = "the token is of another session";
      return fail(ErrorCode::kForbidden, "this token is of another session than yours", "Leave continueToken out");
    }
  }
  engine::Continuing continuing{.token = std::move(token), .submission = submission_of(call)};
  if (call.name == complete_step().name) continuing.intent = engine::Continuing::Intent::kAdvance;
  auto answer = sessions.go_on(continuing);
  if (!answer) return std::unexpected(answer.error().error);
  return std::move(*answer);
}

void LedSession::look_after(const engine::Answer& answer) {
  const std::string kind = answer.line.string_at("kind").value_or("");
  const std::string step = answer.line["pending"].string_at("stepId").value_or("");
  const bool is_over = kind == "complete" || (kind == "awaiting_decision" && answer.line["decision"].string_at("id"));
  if (is_over && over_at_ms_ == 0) over_at_ms_ = parts_.staff.seams.clock.now_ms();
  if (step == step_) return;
  step_ = step;
  tell(Progress::Kind::kStep, answer.line["pending"].string_at("title").value_or(""));
}

ToolResult LedSession::call(const ToolCall& call, const ToolRun&) {
  struct Running {
    std::atomic<int>& count;
    explicit Running(std::atomic<int>& counter) : count(counter) { ++count; }
    ~Running() { --count; }
  } const running(calls_running_);
  const ToolDeclaration& declaration = call.name == complete_step().name ? complete_step() : continue_workflow();
  if (std::string wrong = misfit(declaration, call.input); !wrong.empty()) return {std::move(wrong), true};
  const TimestampMs began = parts_.staff.seams.clock.now_ms();
  std::string id;
  {
    const std::scoped_lock lock(mutex_);
    id = fmt::format("mcp-{}", ++calls_);
    const Status noted = log_.append(
        {{"tool_started",
          Value::object(
              {{"turn", turns_}, {"call", id}, {"tool", call.name}, {"what", "the open step is delivered"}})}});
    if (!noted) return {fmt::format("Nothing was done: {}", noted.error().to_string()), true};
  }
  std::string refused;
  const auto answer = hand_in(call, refused);
  const std::scoped_lock lock(mutex_);
  ToolResult result;
  result.is_error = !answer;
  result.refused = refused;
  result.text = steering() + (answer ? text_of(*answer) : answer.error().to_string());
  if (answer) look_after(*answer);
  const std::string kept = redactor_.clean(as_utf8(result.text));
  std::vector<AgentLog::Entry> entries;
  if (!refused.empty()) {
    entries.push_back({"refused", Value::object({{"turn", turns_}, {"what", call.name}, {"why", refused}})});
  }
  entries.push_back({"tool_ended",
                     Value::object({{"turn", turns_},
                                    {"call", id},
                                    {"tool", call.name},
                                    {"result", sha256_hex(kept)},
                                    {"error", result.is_error},
                                    {"ms", parts_.staff.seams.clock.now_ms() - began}}),
                     {kept}});
  if (const Status noted = log_.append(std::move(entries)); !noted) {
    decide(EndState::kBroke, noted.error().to_string());
  }
  tell(Progress::Kind::kTool, call.name);
  return result;
}

Result<std::string> LedSession::prompt(bool again) {
  const std::scoped_lock lock(mutex_);
  engine::Sessions& sessions = desk_->sessions();
  const engine::Summary summary = SB_TRY(sessions.summary(parts_.assignment.session));
  const auto answer = sessions.rehydrate(SB_TRY(sessions.token_for(summary)));
  if (!answer) return std::unexpected(answer.error().error);
  step_ = answer->line["pending"].string_at("stepId").value_or("");
  std::string text;
  for (const Slot& slot : parts_.assignment.bundle.slots) {
    if (!slot.text.empty()) text += slot.text + "\n\n";
  }
  text += fmt::format(
      "## Your session\n\nYou work session {} of the workflow {}, in the folder {}{}. Its steps are delivered with the "
      "tool complete_step of the MCP server `signalbox`; continue_workflow shows the open step again. The work is done "
      "when an answer says that the workflow is complete, and not before.\n\n",
      summary.id, summary.workflow_id, parts_.assignment.work_tree,
      parts_.assignment.is_writable ? "" : ", which you may read and not change");
  if (again) {
    text +=
        "You were started before and ended before the workflow was complete. What was delivered is kept; look at the "
        "folder for what else was done, and go on.\n\n";
  }
  text += steering();
  return text + fmt::format("## The open step\n\n{}\n{}\n", answer->text, to_json(answer->line));
}

}  // namespace sb::agent
