// `session show`: the tree of a session's nodes, or one node with everything that was delivered for it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/document/shown_values.hpp"
#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "cli/session/session_commands.hpp"

namespace sb::cli {
namespace {

using engine::Attempt;
using engine::Node;
using engine::NodeKind;
using engine::NodeNo;
using engine::Sessions;
using engine::Summary;

constexpr std::size_t kShownNodes = 200;
constexpr std::size_t kShownValuesBytes = 8u << 10;

struct ShowOptions {
  std::string id;
  int node = 0;
  bool wants_json = false, wants_all = false;
};

using Children = std::map<NodeNo, std::vector<const Node*>>;

std::string mark_of(const Node& node, bool has_successor, const Summary& summary) {
  if (node.kind == NodeKind::kEnd) return "end";
  if (node.waiting) return "waiting";
  if (has_successor) return "done";
  if (summary.status == engine::SessionStatus::kStopped) return "stopped";
  return node.kind == NodeKind::kChildren ? "waiting" : "open";
}

std::string loops_of(const Node& node) {
  std::string text;
  for (const engine::LoopFrame& frame : node.position.loops) {
    text += fmt::format(" [{} {}]", frame.loop, frame.iteration + 1);
  }
  return text;
}

std::string line_of(const Node& node, const Children& children, const Summary& summary) {
  const auto behind = children.find(node.number);
  const bool has_successor = behind != children.end() && !behind->second.empty();
  std::string line = fmt::format("{:>4}  {:<7} ", node.number, mark_of(node, has_successor, summary));
  line += node.kind == NodeKind::kEnd
              ? "complete"
              : fmt::format("{}  {}{}", node.position.step, printable(node.title), loops_of(node));
  const int tries = node.attempt - (has_successor ? static_cast<int>(behind->second.size()) : 0) - 1;
  if (tries > 0) line += fmt::format("  ({} refused)", tries);
  if (node.is_checkpoint) line += "  (checkpoint)";
  if (node.number == summary.tip) line += "  <- here";
  for (const engine::Child& child : node.children) {
    line += fmt::format("\n              - {}{}: {}{}", child.id,
                        child.label.empty() ? "" : fmt::format(" ({})", printable(child.label)),
                        child.session.empty() ? "not started" : child.session,
                        child.outcome.empty() ? "" : " " + child.outcome);
  }
  return line;
}

// A branch is one column; where it splits, each later branch is indented one level more.
void draw(const Context& context, const Children& children, NodeNo from, int depth, const Summary& summary,
          std::size_t& left_out) {
  std::vector<std::pair<const Node*, int>> stack;
  const auto push = [&](NodeNo parent, int at) {
    const auto found = children.find(parent);
    if (found == children.end()) return;
    for (std::size_t i = found->second.size(); i-- > 0;) {
      stack.push_back({found->second[i], at + (i > 0 ? 1 : 0)});
    }
    // The first child stays in its parent's column and is drawn last, so that a column reads downwards.
    if (found->second.size() > 1)
      std::rotate(stack.end() - static_cast<long>(found->second.size()), stack.end() - 1, stack.end());
  };
  push(from, depth);
  while (!stack.empty()) {
    const auto [node, at] = stack.back();
    stack.pop_back();
    if (left_out > 0) {
      --left_out;
    } else {
      context.out(std::string(static_cast<std::size_t>(at) * 4, ' ') + line_of(*node, children, summary) + "\n");
    }
    push(node->number, at);
  }
}

Value node_value(const Node& node) {
  return to_value(node);
}

// The values that its newest step sees.
Result<Value> context_of(Sessions& sessions, const Summary& summary) {
  return sessions.context(SB_TRY(sessions.node(summary.id, summary.tip)));
}

Status show_tree(const Context& context, Sessions& sessions, const Summary& summary, const ShowOptions& options) {
  const std::vector<Node> nodes = SB_TRY(sessions.nodes(summary.id));
  if (options.wants_json) {
    Value all = Value::array();
    for (const Node& node : nodes) all.push_back(node_value(node));
    context.out(to_json(Value::object({{"session", to_value(summary)},
                                       {"nodes", std::move(all)},
                                       {"context", SB_TRY(context_of(sessions, summary))}})) +
                "\n");
    return {};
  }
  context.out(
      fmt::format("{}  {}\n{} ({})\n", summary.id, to_string(summary.status), summary.workflow_id, summary.hash));
  context.out(fmt::format("goal: {}\n", printable(summary.goal.empty() ? summary.title : summary.goal)));
  if (!summary.stopped_reason.empty()) context.out(fmt::format("stopped: {}\n", printable(summary.stopped_reason)));
  if (!summary.parent_session.empty()) {
    context.out(fmt::format("child {} of {}\n", summary.parent_child, summary.parent_session));
  }
  if (!summary.run.empty()) {
    context.out(fmt::format("{} run {}\n", summary.is_taken_over ? "taken over from" : "driven by", summary.run));
  }
  context.out("\n");
  Children children;
  for (const Node& node : nodes) children[node.parent].push_back(&node);
  std::size_t left_out = options.wants_all || nodes.size() <= kShownNodes ? 0 : nodes.size() - kShownNodes;
  if (left_out > 0) context.out(fmt::format("      {} earlier nodes omitted; show them with --all\n", left_out));
  draw(context, children, 0, 0, summary, left_out);
  const std::string values =
      shown_values(SB_TRY(context_of(sessions, summary)), kShownValuesBytes,
                   fmt::format("`signalbox session show {} --node {}`", summary.id, summary.tip), {"goal"});
  if (!values.empty()) context.out("\ncontext:\n" + values);
  return {};
}

Status show_node(const Context& context, Sessions& sessions, const Summary& summary, const ShowOptions& options) {
  const Node node = SB_TRY(sessions.node(summary.id, options.node));
  const Value held = SB_TRY(sessions.context(node));
  Value attempts = Value::array();
  for (int number = 1; number <= node.attempt; ++number) {
    const auto attempt = SB_TRY(sessions.attempt(summary.id, node.number, number));
    if (!attempt) continue;
    const Sessions::Output output = SB_TRY(sessions.output(summary.id, *attempt));
    attempts.push_back(Value::object({{"attempt", number},
                                      {"ended", attempt->ended_seq == 0 ? "open" : to_string(attempt->ended)},
                                      {"successor", attempt->successor},
                                      {"notes", output.notes},
                                      {"artifacts", Value(Value::Array(output.artifacts))}}));
  }
  if (options.wants_json) {
    context.out(to_json(Value::object({{"node", node_value(node)}, {"context", held}, {"attempts", attempts}})) + "\n");
    return {};
  }
  context.out(
      fmt::format("node {} of {}: {}  {}\n", node.number, summary.id, node.position.step, printable(node.title)));
  context.out(fmt::format("\ncontext: {}\n", to_pretty_json(held)));
  for (const Value& attempt : attempts.items()) {
    context.out(fmt::format("\nattempt {} ({})\n{}\n", attempt["attempt"].as_integer(), attempt["ended"].as_string(),
                            printable(attempt["notes"].as_string())));
    for (const Value& artifact : attempt["artifacts"].items()) context.out(to_pretty_json(artifact) + "\n");
  }
  return {};
}

Status show(const Context& context, const ShowOptions& options) {
  const auto home = SB_TRY(SessionHome::open(context.seams));
  Sessions& sessions = home->sessions();
  const Summary summary = SB_TRY(sessions.summary(SB_TRY(sessions.resolve(options.id))));
  return options.node == 0 ? show_tree(context, sessions, summary, options)
                           : show_node(context, sessions, summary, options);
}

}  // namespace

Subcommand declare_session_show(App& session) {
  auto options = std::make_shared<ShowOptions>();
  App* app = session.add_subcommand("show", "Show a session's steps, or one of them with what it delivered");
  app->add_flag("--json", options->wants_json, "Print JSON");
  app->add_flag("--all", options->wants_all, "All nodes of a long session");
  app->add_option("ID", options->id, "The session")->required();
  app->add_option("--node", options->node, "One node, with context, notes and artifacts")
      ->range(1, limits::kSessionNodes);
  return {app, [options](Context& context) {
            const Status done = show(context, *options);
            return done ? kExitOk : report(context, done.error());
          }};
}

}  // namespace sb::cli
