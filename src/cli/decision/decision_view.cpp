#include "cli/decision/decision_view.hpp"

#include <fmt/format.h>

#include "agent/tools/agent_question.hpp"
#include "base/text.hpp"
#include "base/text/printable.hpp"
#include "cli/local_time.hpp"
#include "engine/advance/questions.hpp"
#include "pipeline/plan/escalation.hpp"

namespace sb::cli {
namespace {

using inbox::DecisionOutcome;
using inbox::DecisionState;

std::string chosen(const DecisionOutcome& outcome) {
  if (!outcome.options.empty()) return fmt::format(": {}", fmt::join(outcome.options, ", "));
  if (outcome.values.is_object() && outcome.values.size() > 0) return ": " + to_json(outcome.values);
  return {};
}

std::string exceptions(const inbox::OpenedDecision& opened) {
  const std::string ids = inbox::unsigned_options(opened);
  return ids.empty() ? "" : fmt::format(" except for {}", ids);
}

std::string status_text(const DecisionState& state) {
  if (!state.outcome) {
    std::string text(to_string(state.state));
    if (state.opened.needs_signature) text += ", needs a signature" + exceptions(state.opened);
    if (state.position["held"] == Value(true)) text += ", on hold";
    if (state.opened.deadline) text += fmt::format(", until {}", local_time(*state.opened.deadline));
    return text;
  }
  const DecisionOutcome& outcome = *state.outcome;
  const std::string by = outcome.principal.empty() ? "" : fmt::format(" by {}", outcome.principal);
  return continued(printable(fmt::format("{}{} ({}) at {}{}", to_string(outcome.kind), by, to_string(outcome.channel),
                                         local_time(outcome.at), chosen(outcome))));
}

Value optional(const std::string& text) {
  return text.empty() ? Value() : Value(text);
}

}  // namespace

std::string summary_line(const DecisionState& state) {
  if (state.is_damaged) return fmt::format("{}  damaged: {}", state.id, printable(state.rejected.front()));
  return fmt::format("{}  {}  {}  [{}]", state.id, state.opened.question.id, first_line(state.opened.question.text),
                     status_text(state));
}

std::string full_text(const DecisionState& state) {
  std::string text = fmt::format("{}\n", state.opened.question.text);
  text += fmt::format("id         {}\nasked      {}\nstate      {}\n", state.id, local_time(state.opened.opened_at),
                      status_text(state));
  if (!state.opened.workspace.empty())
    text += fmt::format("workspace  {}\n", continued(printable(state.opened.workspace)));
  if (!state.opened.overruled_word.empty()) {
    text += fmt::format("door       two-way, as its file declares, although it says \"{}\"\n",
                        continued(printable(state.opened.overruled_word)));
  }
  if (state.outcome && state.outcome->waived.is_array()) {
    for (const Value& pair : state.outcome->waived.items()) {
      text += fmt::format("waived     {} and {}: left broken on purpose\n",
                          continued(printable(pair.items().at(0).as_string())),
                          continued(printable(pair.items().at(1).as_string())));
    }
  }
  if (state.is_consumed) text += fmt::format("read by    {}\n", printable(state.consumed_by));
  for (const std::string& said : state.free_texts) text += fmt::format("said       {}\n", continued(printable(said)));
  for (const inbox::LateAnswer& late : state.late) {
    text +=
        fmt::format("came late  {}\n",
                    continued(printable(fmt::format("{}, by {} ({}) at {}: not counted", late.answer, late.principal,
                                                    to_string(late.channel), local_time(late.at)))));
  }
  for (const std::string& why : state.rejected) text += fmt::format("warning    {}\n", continued(printable(why)));
  return text;
}

Value full_view(const DecisionState& state) {
  if (state.is_damaged) {
    return Value::object({{"decision", state.id}, {"state", "damaged"}, {"warnings", Value::array(state.rejected)}});
  }
  Value view = to_json_value(state);
  const inbox::OpenedDecision& opened = state.opened;
  view.set("asked", opened.question.id);
  view.set("text", opened.question.text);
  view.set("parts", to_value(opened.question)["parts"]);
  view.set("opened_at", to_rfc3339(opened.opened_at));
  view.set("deadline", opened.deadline ? Value(to_rfc3339(*opened.deadline)) : Value());
  view.set("workspace", optional(opened.workspace));
  view.set("session", optional(opened.session));
  view.set("digest", optional(opened.digest));
  view.set("render_hash", opened.render_hash);
  view.set("signed", opened.needs_signature);
  if (opened.is_gate) view.set("gate", true);
  if (!opened.overruled_word.empty()) view.set("two_way_over", opened.overruled_word);
  Value free_texts = Value::array();
  for (const std::string& text : state.free_texts) free_texts.push_back(printable(text));
  view.set("free_texts", std::move(free_texts));
  Value late = Value::array();
  for (const inbox::LateAnswer& each : state.late) {
    late.push_back(Value::object({{"answer", printable(each.answer)},
                                  {"principal", each.principal},
                                  {"channel", to_string(each.channel)},
                                  {"at", to_rfc3339(each.at)}}));
  }
  view.set("late", std::move(late));
  view.set("warnings", Value::array(state.rejected));
  return view;
}

std::optional<decision::Declaration> declaration_of(const inbox::DecisionState& state) {
  const inbox::OpenedDecision& opened = state.opened;
  if (auto declared = engine::declaration_of(opened)) return declared;
  if (auto declared = pipeline::run_declaration(opened.source, opened.definition)) return declared;
  return agent::agent_question_declaration(opened.source, opened.definition);
}

}  // namespace sb::cli
