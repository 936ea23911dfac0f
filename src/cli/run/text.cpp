#include "cli/run/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "cli/local_time.hpp"
#include "pipeline/plan/next_action.hpp"

namespace sb::cli {
namespace {

using pipeline::Phase;
using pipeline::PhaseRecord;
using pipeline::ResultKind;
using pipeline::RunEvent;
using pipeline::RunState;

constexpr std::string_view kSpinner = "|/-\\";

std::string text(const Value& payload, std::string_view name) {
  return payload.string_at(name).value_or("");
}

std::string phase_name(std::string_view phase, std::int64_t round, std::int64_t attempt) {
  std::string name(phase);
  if (round > 0) name += fmt::format(" {}", round);
  if (attempt > 1) name += fmt::format(" (attempt {})", attempt);
  return name;
}

std::string phase_name(const PhaseRecord& record) {
  return phase_name(to_string(record.phase), record.round, record.attempt);
}

std::string phase_name(const Value& payload) {
  const auto number = [&](std::string_view name) {
    return payload[name].is_integer() ? payload[name].as_integer() : std::int64_t{0};
  };
  return phase_name(text(payload, "phase"), number("round"), number("attempt"));
}

std::string outcome_of(const PhaseRecord& record) {
  if (record.state != "complete") {
    return record.reason.empty() ? record.state : fmt::format("{}: {}", record.state, record.reason);
  }
  if (record.phase == Phase::kReview && record.result.kind == ResultKind::kFull) return pipeline::verdict_of(record);
  if (record.result.kind == ResultKind::kFull) return "done";
  return fmt::format("{}: {}", to_string(record.result.kind), record.result.why);
}

std::string used_by(const PhaseRecord& record) {
  std::string used =
      fmt::format("{}, {} tokens", turn_count_text(record.turns), token_count_text(record.usage.total()));
  if (record.micro_cents > 0) used += ", " + agent::dollars(record.micro_cents);
  return used + ", " + duration_text(record.ended_at - record.started_at);
}

std::string delivered_line(const Value& payload) {
  const bool passed = payload["passed"].is_bool() && payload["passed"].as_bool();
  std::string line = fmt::format("delivery: {} {}", text(payload, "step"), passed ? "ok" : "failed");
  if (const auto url = payload["facts"].string_at("url")) line += " " + *url;
  if (passed || !payload["findings"].is_array()) return line;
  for (const Value& finding : payload["findings"].items()) line += "; " + text(finding, "summary");
  return line;
}

std::string ended_line(const RunState& state) {
  std::string line = fmt::format("{}", state.outcome);
  if (!state.outcome_reason.empty()) line += ": " + state.outcome_reason;
  if (!state.url.empty()) line += " " + state.url;
  return line;
}

std::string restored_line(const Value& payload) {
  std::string lost;
  for (const Value& phase : payload["lost"].items()) lost += (lost.empty() ? "" : ", ") + phase_name(phase);
  return fmt::format("work tree restored at {}; {}", text(payload, "at").substr(0, 12),
                     lost.empty() ? "nothing was lost" : "lost and done again: " + lost);
}

std::string line_of(const RunState& state, const RunEvent& event) {
  const Value& payload = event.payload;
  const std::string& type = event.type;
  if (type == "opened") return fmt::format("run {}: {}", state.id, state.goal);
  if (type == "routed") return fmt::format("mode {}", text(payload, "mode"));
  if (type == "tree_made") return fmt::format("work tree {} on {}", text(payload, "path"), text(payload, "branch"));
  if (type == "tree_restored") return restored_line(payload);
  if (type == "phase_started") {
    return fmt::format("{}: started ({}, session {})", phase_name(payload), text(payload, "workflow"),
                       text(payload, "session"));
  }
  if (type == "interpretation") return fmt::format("read as: {}", text(payload["artifact"], "interpretation"));
  if (type == "phase_ended" && !state.phases.empty()) {
    for (const PhaseRecord& record : state.phases | std::views::reverse) {
      if (record.ended_seq == event.seq) {
        return fmt::format("{}: {} ({})", phase_name(record), outcome_of(record), used_by(record));
      }
    }
  }
  if (type == "phase_reopened") {
    return fmt::format("{}: continued by {} (session {})", phase_name(payload), text(payload, "by"),
                       text(payload, "session"));
  }
  if (type == "delivered") return delivered_line(payload);
  if (type == "asked") return fmt::format("question ({}): {}", text(payload, "question"), text(payload, "decision"));
  if (type == "decided") {
    const std::string by = text(payload, "by");
    return fmt::format("answered ({}): {}{}", text(payload, "question"), text(payload, "choice"),
                       by.empty() ? "" : " by " + by);
  }
  if (type == "escalated") return fmt::format("escalated ({}): {}", text(payload, "phase"), text(payload, "reason"));
  if (type == "parked") {
    return fmt::format("parked until {}: {}", until_text(state.parked_until, event.time_ms), text(payload, "reason"));
  }
  if (type == "woken") return "continues";
  if (type == "stop_asked") return fmt::format("stop requested by {}", text(payload, "by"));
  if (type == "settings_changed") return "the settings changed; the new ones apply from here";
  if (type == "workflow_changed") return fmt::format("workflow {} changed", text(payload, "workflow"));
  if (type == "pitch_archived") return fmt::format("pitch archived: {}", text(payload, "to"));
  if (type == "ended") return ended_line(state);
  return {};
}

}  // namespace

std::string token_count_text(std::int64_t tokens) {
  if (tokens < 1'000) return fmt::format("{}", tokens);
  if (tokens < 1'000'000) return fmt::format("{:.1f}k", static_cast<double>(tokens) / 1e3);
  return fmt::format("{:.1f}M", static_cast<double>(tokens) / 1e6);
}

std::string turn_count_text(int turns) {
  return fmt::format("{} turn{}", turns, turns == 1 ? "" : "s");
}

std::string duration_text(std::int64_t duration_ms) {
  const std::int64_t seconds = std::max<std::int64_t>(0, duration_ms) / 1'000;
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3'600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{:02}m", seconds / 3'600, seconds / 60 % 60);
}

std::string until_text(TimestampMs until, TimestampMs now) {
  return fmt::format("{} (in {})", local_until(until, now), duration_text(until - now));
}

std::string one_line(std::string_view text, std::size_t columns) {
  std::string clean = printable(text);
  std::ranges::replace(clean, '\n', ' ');
  std::string cut;
  std::size_t at = 0, used = 0;
  while (at < clean.size()) {
    const std::size_t begin = at;
    const char32_t c = next_code_point(clean, at);
    const std::size_t wide = is_unspaced_script(c) || is_emoji(c) ? 2 : is_mark(c) ? 0 : 1;
    if (used + wide > columns) {
      while (!cut.empty() && used >= columns && columns > 0) {
        // Makes room for the ellipsis.
        std::size_t end = cut.size() - 1;
        while (end > 0 && (static_cast<unsigned char>(cut[end]) & 0xC0) == 0x80) --end;
        cut.resize(end);
        --used;
      }
      return columns == 0 ? std::string() : cut + "…";
    }
    cut.append(clean, begin, at - begin);
    used += wide;
  }
  return cut;
}

std::string event_line(const RunState& state, const RunEvent& event) {
  const std::string line = line_of(state, event);
  return line.empty() ? line : one_line(line, 400);
}

std::string sandbox_note(const RunState& state) {
  if (state.sandbox.empty() || state.sandbox.starts_with("bubblewrap")) return {};
  std::string why = state.sandbox;
  if (why.starts_with("none: ")) why.erase(0, 6);
  return fmt::format("no sandbox ({}): commands of agents and checks can access everything you can", why);
}

Value result_of(const RunState& state, const pipeline::RunStatus& run_status) {
  Value value =
      Value::object({{"type", "result"}, {"run", state.id}, {"status", state.status()}, {"standing", run_status.word}});
  const auto set = [&](std::string_view name, const std::string& what) {
    if (!what.empty()) value.set(name, what);
  };
  set("outcome", state.outcome);
  set("reason", state.outcome_reason);
  set("ticket_open", state.outcome.empty() ? "" : state.open_ticket());
  set("commit", state.commit);
  set("request", state.request);
  set("url", state.url);
  set("waits_for", state.waits_for);
  if (const pipeline::RunQuestion* asked = state.open_question()) {
    set("question", asked->question);
    set("decision", asked->decision);
  }
  value.set("tokens", state.usage().total());
  value.set("cost_usd", agent::cost_in_dollars(state.micro_cents()));
  return value;
}

std::vector<std::string> run_block(const RunState& state, const PhaseProgress& now, const BlockStyle& style) {
  std::vector<std::string> lines;
  const std::size_t width = static_cast<std::size_t>(std::max(2, style.width)) - 1;
  const auto paint = [&](std::string_view code, const std::string& line) {
    return style.has_colour ? fmt::format("\x1b[{}m{}\x1b[0m", code, line) : line;
  };
  const std::string mode = state.route ? std::string(to_string(state.route->mode)) : "…";
  lines.push_back(paint("1", one_line(fmt::format("{}  {}", mode, state.goal), width)));
  if (const std::string note = sandbox_note(state); !note.empty()) {
    lines.push_back(paint("33", one_line("! " + note, width)));
  }
  for (const PhaseRecord& record : state.phases) {
    if (record.is_over) {
      const bool is_good = record.state == "complete" && record.result.kind == ResultKind::kFull;
      lines.push_back(
          paint(is_good ? "32" : "33", one_line(fmt::format("{} {:<12} {}  {}", is_good ? "✓" : "!", phase_name(record),
                                                            outcome_of(record), used_by(record)),
                                                width)));
      continue;
    }
    const char mark = kSpinner[static_cast<std::size_t>(style.frame) % kSpinner.size()];
    lines.push_back(
        paint("36", one_line(fmt::format("{} {:<12} {}  {}, {} tokens, {}, {}", mark, phase_name(record), now.step,
                                         turn_count_text(now.turns), token_count_text(now.usage.total()),
                                         agent::dollars(now.micro_cents), duration_text(style.now - record.started_at)),
                             width)));
    if (now.waits_until > style.now) {
      lines.push_back(paint("33", one_line(fmt::format("    waiting for the model until {}: {}",
                                                       until_text(now.waits_until, style.now), now.wait_reason),
                                           width)));
    } else if (!now.doing.empty()) {
      lines.push_back(paint("2", one_line("    " + now.doing, width)));
    }
  }
  if (!state.deliveries.empty()) {
    const auto& last = state.deliveries.back();
    const auto count = std::ranges::count(state.deliveries, last.round, &RunState::DeliveryRecord::round);
    const std::string round = last.round > 0 ? fmt::format(" {}", last.round) : std::string();
    lines.push_back(one_line(
        fmt::format("{} {:<12} {} {}  {} of 10 steps", last.done.passed ? "✓" : "!", "delivery" + round,
                    to_string(last.step), last.done.passed ? "ok" : "failed", std::min<std::ptrdiff_t>(count, 10)),
        width));
  }
  if (state.parked_until != 0) {
    lines.push_back(paint("33", one_line(fmt::format("  parked until {}: {}", until_text(state.parked_until, style.now),
                                                     state.parked_reason),
                                         width)));
  }
  for (const pipeline::RunQuestion& asked : state.asked) {
    if (!asked.choice.empty()) continue;
    lines.push_back(paint("33", one_line(fmt::format("? {} {}", asked.question, asked.decision), width)));
  }
  lines.push_back(paint("2", one_line(fmt::format("  {} · {} tokens · {}", duration_text(style.now - state.started_at),
                                                  token_count_text(state.usage().total() + now.usage.total()),
                                                  agent::dollars(state.micro_cents() + now.micro_cents)),
                                      width)));
  return lines;
}

}  // namespace sb::cli
