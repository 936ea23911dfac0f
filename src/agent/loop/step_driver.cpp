#include "agent/loop/step_driver.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "agent/loop/child_sessions.hpp"
#include "engine/session/session_home.hpp"

namespace sb::agent {
namespace {

using engine::SessionResponse;
using engine::SessionResult;

constexpr int kClaimAttempts = 5;
constexpr int kRounds = 10'000;  // of advancing without the agent

StepOutcome suspended(WorkResult ended) {
  return {.kind = StepOutcome::Kind::kSuspended, .ended = std::move(ended)};
}

StepOutcome broke(std::string reason) {
  return suspended({.state = EndState::kInternalError, .reason = std::move(reason)});
}

SessionResult<SessionResponse> continue_session(WorkContext& work_context, const std::string& token,
                                                const engine::Submission& submission, bool delivers) {
  engine::ContinueRequest continuing{.token = token, .submission = submission};
  continuing.should_continue = [&work_context] { return work_context.watchdog.should_continue(); };
  if (delivers) continuing.intent = engine::ContinueRequest::Intent::kAdvance;
  for (int tried = 1;; ++tried) {
    auto answer = work_context.parts.home.sessions().continue_session(continuing);
    const bool may_try =
        !answer && (answer.error().error.code == ErrorCode::kUnavailable || answer.error().error.is_retryable);
    if (!may_try || tried == kClaimAttempts || !work_context.watchdog.should_continue()) return answer;
  }
}

// The node of the step whose children or gate need work.
struct OpenNode {
  engine::Summary summary;
  engine::Node node;
};
Result<OpenNode> look(WorkContext& work_context) {
  engine::Sessions& sessions = work_context.parts.home.sessions();
  OpenNode here;
  here.summary = SB_TRY(sessions.summary(work_context.assignment.session));
  here.node = SB_TRY(sessions.node(work_context.assignment.session, here.summary.tip));
  return here;
}

std::vector<ChildSession> open_children(const engine::Program& program, const engine::Node& node) {
  if (node.kind != engine::NodeKind::kChildren) return {};
  const workflow::Step& step = program.step(node.position.step);
  const auto delegation_of = [&](const std::string& id) -> const workflow::Delegation* {
    if (step.call() != nullptr) return &step.call()->call;
    if (step.parallel() == nullptr) return nullptr;
    const auto& all = step.parallel()->delegations;
    const auto found = std::ranges::find(all, id, &workflow::Delegation::id);
    return found == all.end() ? nullptr : &*found;
  };
  std::vector<ChildSession> children;
  for (const engine::Child& child : node.children) {
    if (child.session.empty() || !child.outcome.empty()) continue;
    ChildSession work{.session = child.session};
    if (const auto* delegation = delegation_of(child.id)) {
      if (delegation->model_tier) work.tier = workflow::to_string(*delegation->model_tier);
      work.tools = delegation->allowed_tools;
    }
    children.push_back(std::move(work));
  }
  return children;
}

// For children that did not complete: what the step is informed of, so that it does not wait for them.
engine::Submission reports(const engine::Node& node, const std::vector<ChildSession>& worked,
                           const std::vector<WorkResult>& ended) {
  engine::Submission submission;
  for (std::size_t i = 0; i < worked.size(); ++i) {
    if (ended[i].state == EndState::kComplete || ended[i].state == EndState::kSessionStopped) continue;
    const auto child = std::ranges::find(node.children, worked[i].session, &engine::Child::session);
    if (child == node.children.end()) continue;
    const std::string reason =
        fmt::format("{}{}{}", to_string(ended[i].state), ended[i].reason.empty() ? "" : ": ", ended[i].reason);
    submission.artifacts.push_back(
        Value::object({{"kind", "wr.child_outcome"}, {"child", child->id}, {"outcome", "dead"}, {"reason", reason}}));
  }
  return submission;
}

bool waits_for_children(const SessionResponse& answer) {
  const Value& blockers = answer.line["blockers"];
  return answer.line.string_at("kind") == "blocked" && blockers.is_array() && blockers.size() > 0 &&
         std::ranges::all_of(blockers.items(),
                             [](const Value& each) { return each.string_at("code") == "CHILDREN_OPEN"; });
}

std::string notices_of(std::string_view text) {
  std::string notices;
  while (text.starts_with("Note: ")) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    notices += text.substr(0, end);
    text.remove_prefix(end);
  }
  return notices.empty() ? notices : notices + "\n";
}

class StepDriver {
 public:
  explicit StepDriver(WorkContext& work_context) : work_context_(work_context) {}

  StepOutcome from(SessionResult<SessionResponse> answer) {
    for (int round = 0; round < kRounds; ++round) {
      if (!answer) return refused(answer.error());
      if (auto done = step(*answer)) return std::move(*done);
      answer = std::move(next_);
    }
    return broke("the session keeps advancing without reaching a step");
  }

 private:
  // Nothing: look at next_.
  std::optional<StepOutcome> step(const SessionResponse& answer) {
    const std::string kind = answer.line.string_at("kind").value_or("");
    const std::string token = answer.line.string_at("continueToken").value_or("");
    if (kind == "complete") return complete(answer);
    if (waits_for_children(answer)) return poll(token);
    if (kind == "blocked") return open(StepOutcome::Kind::kRefused, answer, token);
    const Value& children = answer.line["children"];
    const bool has_children = children.is_array();
    if (kind == "ok" && !has_children) return open(StepOutcome::Kind::kStep, answer, token);
    const auto here = look(work_context_);
    if (!here) return broke(here.error().to_string());
    if (kind == "ok") return with_children(*here, token);
    if (here->node.waiting && here->node.waiting->what == engine::Waiting::Kind::kEvaluator) {
      return with_evaluator(here->node.waiting->session, token);
    }
    WorkResult ended{.state = EndState::kAwaiting};
    ended.decision = answer.line["decision"].string_at("id").value_or("");
    // The repeated answer of a spent token may name a question that was answered long ago.
    if (asked_ != ended.decision || ended.decision.empty()) {
      if (ended.decision.empty() && ++idle_ > 2) return broke("the session waits, but no decision is open");
      asked_ = ended.decision;
      return poll(token);
    }
    ended.reason = fmt::format("a person must decide: {}", ended.decision);
    return suspended(std::move(ended));
  }

  std::optional<StepOutcome> complete(const SessionResponse& answer) {
    if (answer.line["isStopped"] == Value(true)) {
      return suspended({.state = EndState::kSessionStopped, .reason = "a person stopped the session"});
    }
    return StepOutcome{.kind = StepOutcome::Kind::kComplete, .text = answer.text};
  }

  std::optional<StepOutcome> open(StepOutcome::Kind kind, const SessionResponse& answer, const std::string& token) {
    const auto here = look(work_context_);
    if (!here) return broke(here.error().to_string());
    return StepOutcome{.kind = kind,
                       .text = without_token_hints(answer.text),
                       .notices = notices_of(answer.text),
                       .token = token,
                       .step = answer.line["pending"].string_at("stepId").value_or(""),
                       .place = fmt::format("{}/{}", here->node.number, here->node.attempt),
                       .blockers = answer.line["blockers"]};
  }

  std::optional<StepOutcome> poll(const std::string& token, const engine::Submission& reports = {}) {
    next_ = continue_session(work_context_, token, reports, !reports.artifacts.empty());
    return std::nullopt;
  }

  std::optional<StepOutcome> with_children(const OpenNode& here, const std::string& token) {
    const auto program = work_context_.parts.home.sessions().program(here.summary.hash);
    if (!program) return broke(program.error().to_string());
    const std::vector<ChildSession> children = open_children(**program, here.node);
    if (children.empty() && ++idle_ > 2) return broke("a step waits for sessions that do not exist");
    if (!children.empty()) idle_ = 0;
    const std::vector<WorkResult> ended = run_children(work_context_, children);
    if (auto end = suspended_by_child(work_context_, ended)) return suspended(std::move(*end));
    return poll(token, reports(here.node, children, ended));
  }

  std::optional<StepOutcome> with_evaluator(const std::string& session, const std::string& token) {
    const std::vector<WorkResult> ended = run_children(work_context_, {{.session = session}});
    if (auto end = suspended_by_child(work_context_, ended)) return suspended(std::move(*end));
    if (ended.front().state != EndState::kComplete) {
      // Without a verdict the engine asks a person.
      const std::string why = fmt::format("{}: {}", to_string(ended.front().state), ended.front().reason);
      if (const Status stopped = work_context_.parts.home.sessions().stop(session, why, "its agent"); !stopped) {
        return broke(stopped.error().to_string());
      }
    }
    return poll(token);
  }

  StepOutcome refused(const engine::SessionError& failed) {
    if (auto end = work_context_.watchdog.end()) return suspended(std::move(*end));
    const Error& error = failed.error;
    const auto here = look(work_context_);
    if (here && here->summary.status == engine::SessionStatus::kStopped) {
      return suspended({.state = EndState::kSessionStopped, .reason = here->summary.stopped_reason});
    }
    switch (error.code) {
      case ErrorCode::kInvalid:
      case ErrorCode::kLimit:
      case ErrorCode::kUnsupported:
      case ErrorCode::kNotFound:
        break;
      default:
        return broke(error.to_string());
    }
    if (!here) return broke(error.to_string());
    if (error.code == ErrorCode::kLimit && failed.code == "PRECONDITION_FAILED") {
      return suspended({.state = EndState::kStepRejected, .reason = error.message});
    }
    return StepOutcome{.kind = StepOutcome::Kind::kFault,
                       .text = error.to_string(),
                       .step = here->summary.step_id,
                       .place = fmt::format("{}/{}", here->node.number, here->node.attempt)};
  }

  WorkContext& work_context_;
  SessionResult<SessionResponse> next_;
  std::string asked_;
  int idle_ = 0;
};

void replace(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

}  // namespace

std::string without_token_hints(std::string text) {
  replace(text, "Then continue with the `continueToken` below.", "Then submit it with complete_step.");
  replace(text,
          "Fix this and resubmit everything with the `retryContinueToken` below. The token you used is spent: it only "
          "repeats this answer.",
          "Fix this and call complete_step again with everything.");
  replace(text, "Fix this and resubmit everything with the same token.",
          "Fix this and call complete_step again with everything.");
  return text;
}

StepOutcome advance_session(WorkContext& work_context) {
  engine::Sessions& sessions = work_context.parts.home.sessions();
  const auto summary = sessions.summary(work_context.assignment.session);
  if (!summary) return broke(summary.error().to_string());
  if (summary->status == engine::SessionStatus::kComplete) return {.kind = StepOutcome::Kind::kComplete};
  if (summary->status == engine::SessionStatus::kStopped) {
    return suspended({.state = EndState::kSessionStopped, .reason = summary->stopped_reason});
  }
  const auto token = sessions.token_for(*summary);
  if (!token) return broke(token.error().to_string());
  return StepDriver(work_context).from(continue_session(work_context, *token, {}, false));
}

StepOutcome submit_step(WorkContext& work_context, const std::string& token, engine::Submission submission) {
  // Already submitted and waiting for its gate: only check the gate.
  const auto here = look(work_context);
  const bool waits = here && here->node.waiting;
  return StepDriver(work_context)
      .from(waits ? continue_session(work_context, token, {}, false)
                  : continue_session(work_context, token, submission, true));
}

Result<std::string> full_step_text(WorkContext& work_context) {
  engine::Sessions& sessions = work_context.parts.home.sessions();
  const engine::Summary summary = SB_TRY(sessions.summary(work_context.assignment.session));
  const auto answer = sessions.rehydrate(SB_TRY(sessions.token_for(summary)));
  if (!answer) return std::unexpected(answer.error().error);
  return without_token_hints(answer->text);
}

}  // namespace sb::agent
