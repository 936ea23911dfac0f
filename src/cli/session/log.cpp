// `session log`: what the agent of a session did, turn by turn, what it was denied, and what people told it to do.
#include <fmt/format.h>

#include "agent/loop/agent_log.hpp"
#include "agent/model/prices.hpp"
#include "base/document/document.hpp"
#include "base/text/printable.hpp"
#include "cli/local_time.hpp"
#include "cli/run/text.hpp"
#include "cli/session/session_commands.hpp"

namespace sb::cli {
namespace {

constexpr std::size_t kLineColumns = 400;
constexpr std::size_t kTextBytes = 16u << 10;  // of one reply or result with --full

struct LogOptions {
  std::string id;
  bool wants_json = false, is_full = false;
};

std::string text_at(const Value& value, std::string_view name) {
  return value.string_at(name).value_or("");
}

std::string numbers_of(const Value& payload) {
  const auto usage = agent::usage_from(payload["usage"]);
  const Value& cost = payload["cost"];
  return fmt::format("{} tokens, {}", token_count_text(usage.total()),
                     agent::dollars(cost.is_integer() ? cost.as_integer() : 0));
}

// Describes an event in one line; an event type without a text here is printed as JSON.
std::string words_for(const agent::LoggedEvent& event) {
  const Value& payload = event.payload;
  const auto text = [&](std::string_view name) { return text_at(payload, name); };
  const auto by = [&](std::string_view what) {
    const std::string more = text("reason").empty() ? text("text") : text("reason");
    return fmt::format("{} {}{}{}", text("by"), what, more.empty() ? "" : ": ", more);
  };
  const std::string& type = event.type;
  if (type == "began") {
    return fmt::format("began {} with {}{}{}; mode {}; sandbox: {}", text("workflow"), text("model"),
                       text("role").empty() ? "" : " as ", text("role"), text("mode"), text("sandbox"));
  }
  if (type == "turn") {
    return fmt::format("{} ({}){}{}{}", text("stop"), numbers_of(payload), text("breaks").empty() ? "" : "; breaks ",
                       text("breaks"), payload["malformed"] == Value(true) ? "; partly unreadable" : "");
  }
  if (type == "discarded") {
    return fmt::format("discarded, attempt {}: {} ({})", to_json(payload["attempt"]), text("rule"),
                       numbers_of(payload));
  }
  if (type == "tool_started") return fmt::format("{} {}", text("tool"), text("what"));
  if (type == "tool_ended") {
    return fmt::format("{} {}", text("tool"), payload["error"] == Value(true) ? "failed" : "done");
  }
  if (type == "program_tool") {
    return fmt::format("{} {}{}", text("tool"), text("what"), payload["error"] == Value(true) ? ": failed" : "");
  }
  if (type == "refused") return fmt::format("refused {}: {}", text("what"), text("why"));
  if (type == "issue") return fmt::format("issue, {} {}: {}", text("severity"), text("kind"), text("summary"));
  if (type == "signal") return fmt::format("signal {}: {}", text("signalKind"), to_json(payload["payload"]));
  if (type == "awaiting") return fmt::format("waiting for an answer to {}", text("decision"));
  if (type == "parked") return fmt::format("parked: {}", text("reason"));
  if (type == "setback") return fmt::format("the model failed: {}", text("reason"));
  if (type == "nudged") return fmt::format("nudged ({}): {}", text("why"), text("text"));
  if (type == "recovered") return fmt::format("recovered, {}: {}", text("how"), text("why"));
  if (type == "child_began") return fmt::format("started {} on {}", text("child"), text("workflow"));
  if (type == "child_ended") return fmt::format("{} ended {} {}", text("child"), text("state"), text("reason"));
  if (type == "ended") return fmt::format("ended {} {} ({})", text("state"), text("reason"), numbers_of(payload));
  if (type == "steered") return by("said");
  if (type == "pause_asked") return by("paused it");
  if (type == "go_on_asked") return by("unpaused it");
  if (type == "kill_asked") return by("killed it");
  if (type == "taken_over") return by("took it over");
  if (type == "retried") return by("retried it");
  if (type == "steer_seen") return "read the messages";
  if (type == "compacted") return "the conversation was compacted";
  return fmt::format("{} {}", type, to_json(payload));
}

std::string indented(std::string text) {
  if (text.size() > kTextBytes) text = text.substr(0, kTextBytes) + "\n…";
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += "    " + printable(text.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return out;
}

// The texts and tool calls of a stored reply.
std::string reply_text(const std::string& bytes) {
  const auto reply = parse_json(bytes);
  const Value* content = reply ? reply->find("content") : nullptr;
  if (content == nullptr || !content->is_array()) return {};
  std::string text;
  for (const Value& block : content->items()) {
    const std::string type = text_at(block, "type");
    if (type == "text") text += indented(text_at(block, "text"));
    if (type != "tool_use") continue;
    const Value& input = block["input"];
    text +=
        indented(fmt::format("{} {}", text_at(block, "name"), input.is_string() ? input.as_string() : to_json(input)));
  }
  return text;
}

std::string full_text(const agent::AgentLog& log, const agent::LoggedEvent& event) {
  if (event.type == "turn" || event.type == "discarded")
    return reply_text(log.blob(text_at(event.payload, "reply")).value_or(""));
  if (event.type == "tool_ended" || event.type == "program_tool")
    return indented(log.blob(text_at(event.payload, "result")).value_or(""));
  return {};
}

int run_log(const Context& context, const LogOptions& options) {
  const auto failed = [&](const Error& error) {
    return print_error(context, engine::session_error(error), options.wants_json);
  };
  const auto home = SessionHome::open(context.seams);
  if (!home) return failed(home.error());
  const auto id = (*home)->sessions().resolve(options.id);
  if (!id) return failed(id.error());
  const agent::AgentLog log((*home)->home().store(), context.seams.clock, *id);
  const auto events = log.read();
  if (!events) return failed(events.error());
  if (events->empty() && !options.wants_json) {
    context.out(fmt::format("No agent has worked on session {}.\n", *id));
    return kExitOk;
  }
  for (const agent::LoggedEvent& event : *events) {
    if (options.wants_json) {
      context.out(to_json(Value::object({{"seq", event.seq},
                                         {"time", to_rfc3339(event.time_ms)},
                                         {"type", event.type},
                                         {"payload", event.payload}})) +
                  "\n");
      continue;
    }
    const Value& turn = event.payload["turn"];
    const std::string at = turn.is_integer() ? fmt::format("turn {:<3}", turn.as_integer()) : "        ";
    context.out(fmt::format("{}  {}  {}\n", local_clock(event.time_ms), at, one_line(words_for(event), kLineColumns)));
    if (options.is_full) context.out(full_text(log, event));
  }
  return kExitOk;
}

}  // namespace

Subcommand declare_session_log(App& session) {
  auto options = std::make_shared<LogOptions>();
  App* app = session.add_subcommand("log", "Show what the agent did, turn by turn");
  app->add_option("ID", options->id, "The session's id, or a prefix of it")->required();
  app->add_flag("--full", options->is_full, "Include the agent's texts and its tools' results");
  app->add_flag("--json", options->wants_json, "Print one JSON object per event");
  return {app, [options](Context& context) { return run_log(context, *options); }};
}

}  // namespace sb::cli
