// The page of `runs show`.
#include <fmt/format.h>

#include "cli/local_time.hpp"
#include "cli/run/text.hpp"
#include "pipeline/plan/next_action.hpp"

namespace sb::cli {
namespace {

using pipeline::PhaseRecord;
using pipeline::RunState;
using pipeline::RunStatus;

constexpr std::size_t kWide = 160;

class Page {
 public:
  Page(const RunState& state, const RunStatus& run_status, bool has_colour)
      : state_(state), run_status_(run_status), has_colour_(has_colour) {}

  std::string text() {
    head();
    phases();
    delivery();
    decisions();
    foot();
    return std::move(text_);
  }

 private:
  void line(const std::string& what) { text_ += one_line(what, kWide) + "\n"; }
  void title(const std::string& what) {
    text_ += has_colour_ ? fmt::format("\n\x1b[1m{}\x1b[0m\n", what) : fmt::format("\n{}\n", what);
  }

  void head() {
    line(fmt::format("{}  {}", state_.id, run_status_.word));
    line(fmt::format("goal      {}", state_.goal));
    if (!state_.ticket.title.empty()) {
      line(fmt::format("ticket    {}{}", state_.ticket.id.empty() ? "" : state_.ticket.id + " ", state_.ticket.title));
    }
    if (state_.route) line(fmt::format("mode      {}", to_string(state_.route->mode)));
    line(fmt::format("workspace {}", state_.workspace));
    if (!state_.tree.path.empty()) line(fmt::format("work tree {} on {}", state_.tree.path, state_.tree.branch));
    if (const std::string note = sandbox_note(state_); !note.empty()) line(fmt::format("warning   {}", note));
    line(fmt::format("started   {}", local_time(state_.started_at)));
    for (const pipeline::InputChange& changed : state_.changes) {
      line(fmt::format("changed   {} during the run, {}", changed.what, local_time(changed.at)));
    }
    if (const auto reading = state_.interpretation.string_at("interpretation")) {
      line(fmt::format("read as   {}", *reading));
    }
  }

  void phases() {
    if (state_.phases.empty()) return;
    title("Phases");
    for (const PhaseRecord& record : state_.phases) phase(record);
  }

  void phase(const PhaseRecord& record) {
    std::string name(to_string(record.phase));
    if (record.round > 0) name += fmt::format(" {}", record.round);
    if (record.attempt > 1) name += fmt::format("/{}", record.attempt);
    if (!record.is_over) {
      line(fmt::format("  {:<12} running     session {}", name, record.session));
      left_out(record);
      return;
    }
    std::string how = record.state == "complete" ? std::string(to_string(record.result.kind)) : record.state;
    if (record.phase == pipeline::Phase::kReview && record.state == "complete") how = pipeline::verdict_of(record);
    line(fmt::format("  {:<12} {:<11} {}, {} tokens, {}, {}   session {}", name, how, turn_count_text(record.turns),
                     token_count_text(record.usage.total()), agent::dollars(record.micro_cents),
                     duration_text(record.ended_at - record.started_at), record.session));
    const std::string& why = record.reason.empty() ? record.result.why : record.reason;
    if (!why.empty()) line(fmt::format("    {}", why));
    const Value& findings = record.result.artifact["findings"];
    if (findings.is_array()) {
      for (const Value& finding : findings.items()) {
        line(fmt::format("    - {}: {}", finding.string_at("severity").value_or("finding"),
                         finding.string_at("summary").value_or("")));
      }
    }
    for (const Value& mark : record.result.degraded) {
      line(fmt::format("    degraded: {} was {}", mark.string_at("phase").value_or("?"),
                       mark.string_at("kind").value_or("?")));
    }
    left_out(record);
  }

  // Context that exists but was not given to the phase.
  void left_out(const PhaseRecord& record) {
    const auto each = [&](std::string_view name, const auto& act) {
      const Value& list = record.bundle[name];
      if (!list.is_array()) return;
      for (const Value& item : list.items()) act(item);
    };
    each("keys", [&](const Value& key) {
      if (key["left_out"] == Value(true)) {
        line(fmt::format("    left out: {}: no room", key.string_at("key").value_or("?")));
      }
    });
    each("notes", [&](const Value& note) {
      if (note.is_string()) line(fmt::format("    left out: {}", note.as_string()));
    });
  }

  void delivery() {
    if (state_.deliveries.empty()) return;
    title("Delivery");
    for (const RunState::DeliveryRecord& made : state_.deliveries) {
      std::string what =
          fmt::format("  {:<2} {:<15} {}", made.round, to_string(made.step), made.done.passed ? "ok" : "failed");
      if (const auto commit = made.done.facts.string_at("commit")) what += "  " + *commit;
      if (const auto url = made.done.facts.string_at("url")) what += "  " + *url;
      line(what);
      for (const pipeline::DeliveryFinding& finding : made.done.findings)
        line(fmt::format("    - {}", finding.summary));
    }
  }

  void decisions() {
    if (state_.asked.empty()) return;
    title("Decisions");
    for (const pipeline::RunQuestion& asked : state_.asked) {
      line(fmt::format("  {:<12} {}  {}", asked.question, asked.decision,
                       asked.choice.empty()
                           ? "open"
                           : fmt::format("{}{}", asked.choice, asked.by.empty() ? "" : " by " + asked.by)));
      if (!asked.remark.empty()) line(fmt::format("    {}", asked.remark));
      const std::string reason = asked.packet.string_at("reason").value_or("");
      if (!reason.empty()) line(fmt::format("    why: {}", reason));
    }
  }

  void foot() {
    text_ += "\n";
    if (!state_.outcome.empty()) {
      line(fmt::format("{}{}{}", state_.outcome, state_.outcome_reason.empty() ? "" : ": ", state_.outcome_reason));
    }
    if (!state_.halted.empty()) line(fmt::format("halted: {}", state_.halted));
    if (state_.parked_until != 0) {
      line(fmt::format("parked until {}: {}", local_time(state_.parked_until), state_.parked_reason));
    }
    if (run_status_.waits_until != 0) {
      line(fmt::format("waiting for the model until {}: {}", local_time(run_status_.waits_until),
                       run_status_.wait_reason));
    }
    if (!state_.url.empty()) line(fmt::format("request {}", state_.url));
    if (state_.outcome == "merged") line(fmt::format("commit {}", state_.commit));
    if (const std::string why = state_.open_ticket(); !state_.outcome.empty() && !why.empty()) {
      line(fmt::format("the ticket is still open: {}", why));
      line(fmt::format("Fix that, then run: signalbox runs resume {}", state_.id));
    }
    line(fmt::format("{} tokens, {}, {} of work, {} events", token_count_text(state_.usage().total()),
                     agent::dollars(state_.micro_cents()), duration_text(state_.worked_ms), state_.events));
    if (state_.outcome.empty()) next();
  }

  void next() {
    if (!run_status_.decision.empty())
      line(fmt::format("Answer with: signalbox inbox answer {}", run_status_.decision));
    if (run_status_.word == "paused")
      line(fmt::format("Continue with: signalbox session unpause {}", run_status_.session));
    if (run_status_.word == "taken over") {
      line(fmt::format("Return it to the agent with: signalbox session retry {}", run_status_.session));
    }
    if (!run_status_.is_driven) line(fmt::format("Resume with: signalbox runs resume {}", state_.id));
  }

  const RunState& state_;
  const RunStatus& run_status_;
  bool has_colour_;
  std::string text_;
};

}  // namespace

std::string run_page(const RunState& state, const RunStatus& run_status, bool has_colour) {
  return Page(state, run_status, has_colour).text();
}

}  // namespace sb::cli
