#include "pipeline/plan/escalation.hpp"

#include <fmt/format.h>

#include <cctype>
#include <ranges>

#include "base/assert.hpp"
#include "base/text.hpp"
#include "base/text/unicode.hpp"
#include "decision/declaration/written_profile.hpp"

namespace sb::pipeline {
namespace {

constexpr std::string_view kTooLongToMerge =
    " Not all of it can be shown here, so it is not merged from here: read all of it, then merge the request yourself.";
constexpr std::size_t kShownFindings = 12;
constexpr std::size_t kShownLineBytes = 300;
constexpr std::size_t kShownTextBytes = 3'000;

const decision::Profiles& profiles() {
  static const decision::Profiles all = decision::with_written_profile("run");
  return all;
}

std::string instruction_of(const RunState& state, const QuestionContext& about) {
  if (about.question == "ui") return "Build the user interface as designed?";
  if (about.question == "merge") return "Merge this change?";
  if (about.question == "ticket_changed") return "The ticket was edited during the run: which version counts?";
  std::string phase = state.escalations.empty() ? "the run" : state.escalations.back().phase;
  if (phase == "routing") return "The run was routed to a person: what next?";
  if (phase == "time" || phase == "budget") return fmt::format("The run has used up its {}: what next?", phase);
  if (!phase.empty()) phase.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(phase.front())));
  return fmt::format("{} failed: what next?", phase);
}

// The newest result that a person has to judge.
Value::Array findings_now(const RunState& state) {
  int round = 0;
  for (const PhaseRecord& record : state.phases) round = std::max(round, record.round);
  for (const RunState::DeliveryRecord& made : state.deliveries) round = std::max(round, made.round);
  for (int next = round + 1; next > 0; --next) {
    if (auto findings = findings_before(state, next); !findings.empty()) return findings;
  }
  return {};
}

std::string findings_text(const Value::Array& findings) {
  std::string text;
  for (std::size_t i = 0; i < findings.size() && i < kShownFindings; ++i) {
    const Value& one = findings[i];
    const std::string file = one.string_at("file").value_or("");
    text += fmt::format("\n- {}: {}{}", one.string_at("severity").value_or("finding"),
                        shortened(one.string_at("summary").value_or(""), kShownLineBytes),
                        file.empty() ? "" : fmt::format(" ({})", shortened(file, kShownLineBytes)));
  }
  if (findings.size() > kShownFindings) text += fmt::format("\n- and {} more", findings.size() - kShownFindings);
  return text;
}

std::string design_text(const RunState& state) {
  const PhaseRecord* design = state.newest(Phase::kDesign);
  if (design == nullptr) return {};
  const PhaseResult& result = design->result;
  return shortened(result.kind == ResultKind::kFull ? to_pretty_json(result.artifact) : result.notes, kShownTextBytes);
}

std::string context_of(const RunState& state, const QuestionContext& about) {
  std::string text = fmt::format("Goal: {}\nRun {}", shortened(state.goal, 500), state.id);
  if (!about.reason.empty()) text += fmt::format("\nWhy: {}", shortened(about.reason, kShownTextBytes));
  if (const auto findings = findings_now(state); !findings.empty()) text += "\nFindings:" + findings_text(findings);
  if (about.question == "ui") text += fmt::format("\n\n{}", design_text(state));
  if (about.question == "ticket_changed") {
    const auto edited = Ticket::from(about.more["ticket"]);
    text += fmt::format("\n\nIt was:\n{}\n\nIt is now:\n{}", shortened(state.ticket.plain_text(), kShownTextBytes),
                        edited ? shortened(edited->plain_text(), kShownTextBytes) : "");
  }
  if (!about.diff_stat.empty()) text += fmt::format("\n\nChange:\n{}", shortened(about.diff_stat, 1'500));
  if (!state.url.empty()) text += fmt::format("\nRequest: {}", state.url);
  if (!state.tree.path.empty()) text += fmt::format("\nWork tree: {}", state.tree.path);
  text += fmt::format("\nMore: signalbox runs show {}", state.id);
  return text;
}

}  // namespace

Value packet_for(const RunState& state, const QuestionContext& about) {
  Value packet = Value::object({{"goal", state.goal}, {"reason", about.reason}});
  if (about.question == "escalation" && !state.escalations.empty()) {
    packet.set("phase", state.escalations.back().phase);
    packet.set("round", state.escalations.back().round);
  }
  packet.set("findings", Value(findings_now(state)));
  if (!about.diff_stat.empty()) packet.set("diff_stat", about.diff_stat);
  if (!about.judges.empty()) packet.set("judges", about.judges);
  if (!state.request.empty()) packet.set("request", state.request);
  if (!state.url.empty()) packet.set("url", state.url);
  if (!state.commit.empty()) packet.set("commit", state.commit);
  if (!state.tree.path.empty()) packet.set("work_tree", state.tree.path);
  if (!state.tree.branch.empty()) packet.set("branch", state.tree.branch);
  if (!about.more.is_null()) packet.set("more", about.more);
  return packet;
}

Checked<decision::Declaration> question_for(const RunState& state, const QuestionContext& about,
                                            const RunSettings& settings) {
  Value options = Value::array();
  for (const Choice& choice : choices_for(state, about.question, settings)) {
    if (about.question == "merge" && choice.id == "merge" && !about.has_all_of_judges) continue;
    Value option = Value::object({{"id", choice.id}, {"label", choice.label}});
    if (choice.safe) option.set("safe", true);
    options.push_back(std::move(option));
  }
  const std::string name = fmt::format("{}-{}-{}", decision::slug_of(about.question), state.id, state.events + 1);
  Value sections = Value::object({{"context", context_of(state, about)}});
  if (!about.judges.empty()) {
    sections.set("safety_notice", fmt::format("Read this first: it changes how later changes are judged.{}\n\n{}",
                                              about.has_all_of_judges ? "" : kTooLongToMerge, about.judges));
  }
  Value root = Value::object({{"decision", name},
                              {"profile", "run"},
                              {"instruction", instruction_of(state, about)},
                              {"sections", std::move(sections)},
                              {"options", std::move(options)}});
  const Document document{"the question", to_json(root), root};
  return decision::parse_declaration(document, profiles(), decision::Author::kWorkflow);
}

std::optional<decision::Declaration> run_declaration(const Value& source, const std::string& hash) {
  const Document document{"the question", to_json(source), source};
  auto declared = decision::parse_declaration(document, profiles(), decision::Author::kWorkflow);
  if (!declared || declared->hash != hash) return std::nullopt;
  return std::move(*declared);
}

}  // namespace sb::pipeline
