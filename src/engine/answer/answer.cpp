#include "engine/answer/answer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "base/text.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "engine/state/session_node.hpp"

namespace sb::engine {
namespace {

constexpr std::size_t kGoalGistBytes = 300;

const workflow::Step* workflow_step_of(const Program& program, const Node& node) {
  const StepNo number = program.find(node.position.step);
  return number == kNoStep ? nullptr : program.at(number).step;
}

std::string title_of(const Program& program, const Node& node) {
  if (!node.title.empty()) return node.title;
  const workflow::Step* step = workflow_step_of(program, node);
  return step == nullptr ? node.position.step : step->title;
}

void add_notices(std::string& text, const std::vector<std::string>& notices) {
  for (const std::string& notice : notices) text += fmt::format("Note: {}\n", notice);
  if (!notices.empty()) text += '\n';
}

std::string blocker_lines(const Blocker& blocker) {
  std::string lines = "- " + blocker.message + '\n';
  if (!blocker.fix.empty()) lines += fmt::format("  {}\n", blocker.fix);
  if (blocker.example.is_null()) return lines;
  const bool is_key = blocker.code == BlockerCode::kMissingContext || blocker.code == BlockerCode::kInvalidContext;
  return lines + fmt::format("  Example: {}{}\n", is_key ? "\"context\": " : "", to_json(blocker.example));
}

// A long goal is shown whole in the child's own first step.
std::string goal_gist(const std::string& goal) {
  return shortened(one_line(printable(goal)), kGoalGistBytes);
}

// `- ID (label, workflow, model tier heavy): goal`, then its token or how it ended.
std::string child_line(const ChildView& child) {
  std::vector<std::string> about;
  if (!child.label.empty()) about.push_back(child.label);
  if (!child.id.starts_with(child.workflow_id) && !is_loop_body(child.workflow_id)) about.push_back(child.workflow_id);
  if (!child.tier.empty()) about.push_back("model tier " + child.tier);
  std::string line = "- " + child.id;
  if (!about.empty()) line += fmt::format(" ({})", fmt::join(about, ", "));
  if (!child.goal.empty()) line += ": " + goal_gist(child.goal);
  if (!child.outcome.empty()) {
    line +=
        fmt::format(" [{}{}{}]", child.outcome, child.reason.empty() ? "" : ": ", one_line(printable(child.reason)));
  } else if (!child.token.empty()) {
    if (!child.decision.empty()) line += fmt::format(" [waits for a person to answer {}]", child.decision);
    line += "\n  continueToken: " + child.token;
  } else {
    line += " [queued]";
  }
  return line + '\n';
}

}  // namespace

Value SessionResponse::to_value() const {
  return Value::object({{"text", text}, {"line", line}});
}

SessionResponse SessionResponse::from(const Value& value) {
  return {value.string_at("text").value_or(""), value["line"]};
}

std::string render_blocked(const Program& program, const Node& node, const std::vector<Blocker>& blockers,
                           bool is_token_spent) {
  std::string text = fmt::format("Not accepted yet: {} (step {}).\n\n", title_of(program, node), node.position.step);
  const std::size_t shown = std::min(blockers.size(), limits::kBlockers);
  for (std::size_t i = 0; i < shown; ++i) text += blocker_lines(blockers[i]);
  if (shown < blockers.size()) text += fmt::format("- and {} more\n", blockers.size() - shown);
  text += is_token_spent
              ? "\nFix this and resubmit everything with the `retryContinueToken` below. The token you used is spent: "
                "it only repeats this answer.\n"
              : "\nFix this and resubmit everything with the same token.\n";
  return text;
}

std::string render_awaiting(const AwaitingView& view) {
  const Value& decision = view.decision;
  std::string text;
  if (!view.why.empty()) text += fmt::format("{}\n\n", view.why);
  if (view.evaluator != nullptr && !view.evaluator->token.empty()) {
    return text + child_line(*view.evaluator) +
           "\nIt is a separate session, best done by an agent that did not do the work: that agent first calls "
           "continue_workflow with only that token. When the session has ended, continue here with the same token.\n";
  }
  if (decision.is_null()) {
    return text + "You need to do nothing. Continue with the same token later to get the result.\n";
  }
  text += view.shown.empty() ? decision.string_at("text").value_or("") : view.shown + '\n';
  if (view.has_no_operator) {
    return text +
           "\nThis needs an operator's signature, but there is no operator yet. Ask a person to run `signalbox "
           "operator "
           "init`, then continue with the same token to ask again.\n";
  }
  text += fmt::format("\nA person must {} this: `{}`", view.is_signed ? "sign" : "answer", view.command);
  if (const auto url = decision.string_at("url"); url && !url->empty()) text += fmt::format(", or at {}", *url);
  text += view.is_signed ? " in a terminal, with their passphrase" : "";
  text += view.unsigned_options.empty() ? ".\n" : fmt::format("; {} needs none.\n", view.unsigned_options);
  const Value& relay = decision["relay"];
  if (relay.is_bool() && relay.as_bool()) {
    text += "Ask them, and pass on exactly their choice as `answer`. Do not choose for them.\n";
  } else {
    text += "Tell them. Continue with the same token once they have answered; do not answer for them.\n";
  }
  return text;
}

std::string render_children(const StepView& view, const std::vector<ChildView>& children, int needed, Surface surface) {
  std::string text = fmt::format("# {}\n\n{}", title_of(view.program, view.node), loop_banners(view));
  if (children.empty()) {
    return text + "None of its sessions applies here. Continue with the `continueToken` below.\n";
  }
  bool any_open = false;
  for (const ChildView& child : children) {
    text += child_line(child);
    any_open = any_open || (child.outcome.empty() && !child.token.empty());
  }
  text += '\n';
  if (any_open) {
    text += fmt::format("Each is a separate session with its own inputs: begin it with {} and only its token.\n",
                        surface == Surface::kTools ? "continue_workflow" : "`signalbox session continue`");
  }
  const std::string checks = requirement_text(view.program, view.node.position, view.context, view.braces);
  if (!checks.empty()) text += fmt::format("Checked when you continue here:\n{}\n", checks);
  text += needed > 0 ? fmt::format("This step continues when {} of {} have completed.", needed, children.size())
                     : std::string("This step continues when all have ended.");
  text += " Then continue here with the `continueToken` below.\n";
  return text;
}

std::string render_complete(std::string_view workflow_name, const std::vector<std::string>& notices,
                            const std::string& results) {
  std::string text;
  add_notices(text, notices);
  return text + results + fmt::format("{} is complete. There is nothing left to deliver.\n", workflow_name);
}

std::string already_delivered_notice(const Summary& summary) {
  if (summary.status == SessionStatus::kComplete && summary.step_id.empty()) {
    return "this step was already delivered, and the session is complete. Delivering it again starts a new branch from "
           "here.";
  }
  return fmt::format(
      "this step was already delivered; the session is now at \"{}\" (step {}, node {}). Delivering it again "
      "starts a new branch from here.",
      summary.step_title, summary.step_id, summary.tip);
}

}  // namespace sb::engine
