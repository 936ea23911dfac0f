// The context of a phase: the sources of its bundle, and the initial context of its session.
#include <fmt/format.h>

#include <algorithm>

#include "agent/context/rule_files.hpp"
#include "agent/limits.hpp"
#include "agent/secrets/redact.hpp"
#include "base/crypto.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "inbox/hidden_paths.hpp"
#include "pipeline/limits.hpp"
#include "pipeline/run/driver.hpp"

namespace sb::pipeline {
namespace {

using agent::ContextSource;
using agent::SourceKind;

constexpr std::size_t kContextTicketBytes = 64u << 10;  // a session's context is stored with every step
constexpr std::size_t kShownNotes = 20;
constexpr std::size_t kNoteBytes = 400;
constexpr std::size_t kShownDiffBytes = 512u << 10;

bool needs_diff(Phase phase) {
  return phase == Phase::kReview || phase == Phase::kFix || phase == Phase::kAudit;
}

std::string checks_text(const RunState& state, int round) {
  const RunState::DeliveryRecord* made = state.newest(DeliveryStep::kChecks, round);
  if (made == nullptr) return {};
  std::string text;
  const Value& checks = made->done.facts["checks"];
  if (!checks.is_array()) return text;
  for (const Value& check : checks.items()) {
    const Value& passed = check["passed"];
    text += fmt::format("- {}: {}\n", check.string_at("name").value_or("?"),
                        passed.is_bool() && passed.as_bool() ? "passed" : "failed");
  }
  return text;
}

// A project can have any number of ignored files.
std::vector<std::string> shown_notes(const std::vector<std::string>& all) {
  std::vector<std::string> shown_ones;
  for (const std::string& note : all) {
    if (shown_ones.size() == kShownNotes) {
      shown_ones.push_back(fmt::format("and {} more", all.size() - kShownNotes));
      break;
    }
    shown_ones.push_back(shown(shortened(note, kNoteBytes)));
  }
  return shown_ones;
}

// Why the phase is repeated, and how the previous attempt ended.
std::string previous_attempt_text(const RunState& state, const StartPhase& start) {
  std::string text;
  const PhaseRecord* last = state.newest(start.phase, start.round);
  if (start.attempt > 1 && last != nullptr) {
    text = fmt::format("This is attempt {}. The previous one ended {}", start.attempt, last->state);
    const std::string& why = last->reason.empty() ? last->result.why : last->reason;
    text += why.empty() ? "." : fmt::format(": {}.", why);
  }
  if (!state.asked.empty() && !state.asked.back().remark.empty()) {
    text += fmt::format("{}A person said: {}", text.empty() ? "" : "\n", state.asked.back().remark);
  }
  return text;
}

}  // namespace

// A user's pitch must arrive complete. A pitch written by this run's own shaping is only mentioned, and can be read as
// a file.
Result<Pitch> RunDriver::pitch_in_tree() const {
  auto found = find_pitch(parts_.seams.files, state_.tree.path);
  if (found) return std::move(*found).value_or(Pitch{});
  if (state_.route && state_.route->mode == RunMode::kImplement) return std::unexpected(found.error());
  return Pitch{kPitchFiles.front(), fmt::format("It is not included here: {}.", found.error().message)};
}

Result<std::vector<ContextSource>> RunDriver::sources_for(const StartPhase& start, const std::vector<std::string>& work,
                                                          std::vector<std::string>& notes) {
  const Files& files = parts_.seams.files;
  std::vector<ContextSource> sources;
  sources.push_back({"goal", SourceKind::kTask, "The goal of the run", state_.goal});
  if (state_.ticket != Ticket{}) {
    sources.push_back({"ticket", SourceKind::kTask, "The ticket", state_.ticket.as_text()});
  }
  if (std::string text = previous_attempt_text(state_, start); !text.empty()) {
    sources.push_back({"attempt", SourceKind::kTask, "Previous attempts", std::move(text)});
  }
  if (start.phase == Phase::kCoding) {
    if (Pitch pitch = SB_TRY(pitch_in_tree()); !pitch.text.empty()) {
      // A pitch that came with the task is the task; one that this run shaped is a result for a challenger.
      const bool is_ours = state_.newest(Phase::kShaping) != nullptr;
      const SourceKind kind = is_ours ? SourceKind::kDocument : SourceKind::kTask;
      sources.push_back({"pitch", kind, "The pitch, " + pitch.path, std::move(pitch.text)});
    }
  }
  const inbox::Home& home = parts_.home.home();
  agent::RuleSources rules = agent::read_rules(
      files,
      {.work_tree = state_.tree.path,
       .hidden = inbox::hidden_paths(files, parts_.seams.environment, home.homes(), secret_files(parts_.settings)),
       .soul = parts_.settings.soul,
       .config_home = home.homes().config,
       .tier0 = parts_.settings.tier0,
       .committed =
           [this](const std::vector<std::string>& paths) {
             auto git = git_of_work_tree(parts_.seams, state_.tree);
             auto texts = git ? git->texts_at(state_.tree.base_commit, paths, agent::limits::kRuleFileBytes)
                              : std::unexpected(git.error());
             return texts ? std::move(*texts) : std::map<std::string, std::string>();
           },
       .work = work});
  for (ContextSource& source : rules.sources) sources.push_back(std::move(source));
  notes = shown_notes(rules.notes);
  // Before the change itself, which an agent can look up if not all fits.
  for (ContextSource& source : context_for(start.phase, results_before(start))) sources.push_back(std::move(source));
  if (needs_diff(start.phase)) {
    sources.push_back(
        {"diff", SourceKind::kRaw, "The current change, against its base", SB_TRY(change_text(kShownDiffBytes))});
    if (std::string checks = checks_text(state_, start.round); !checks.empty()) {
      sources.push_back({"checks", SourceKind::kRaw, "The project's own checks", std::move(checks)});
    }
  }
  const agent::Redactor redactor(parts_.secrets);
  for (ContextSource& source : sources) source.text = redactor.clean(source.text);
  return sources;
}

std::vector<RunDriver::ContextItem> RunDriver::context_items_for(const StartPhase& start) {
  std::vector<ContextItem> context_items;
  const auto add = [&](std::string name, Value value, std::string key, SourceKind kind) {
    ContextSource as{.key = std::move(key), .kind = kind, .title = {}, .text = {}};
    context_items.push_back({std::move(name), std::move(value), std::move(as)});
  };
  Value ticket = state_.ticket.to_value();
  if (to_json(ticket).size() > kContextTicketBytes) {
    ticket = Value::object({{"title", state_.ticket.title}, {"body", "See the prompt."}});
  }
  add("ticket", std::move(ticket), "ticket", SourceKind::kTask);
  std::string pitch;
  for (const std::string& file : kPitchFiles) {
    if (pitch.empty() && parts_.seams.files.kind(join_path(state_.tree.path, file)) == FileKind::kFile) pitch = file;
  }
  const PhaseRecord* shaped = state_.newest(Phase::kShaping);
  if (shaped != nullptr && pitch.empty()) pitch = shaped->result.artifact.string_at("pitchPath").value_or("");
  if (!pitch.empty()) {
    add("pitchPath", pitch, "pitch", shaped == nullptr ? SourceKind::kTask : SourceKind::kDocument);
  }
  if (start.phase == Phase::kFix || start.phase == Phase::kAudit) {
    const int round = start.phase == Phase::kFix ? start.round : start.round + 1;
    Value findings(findings_before(state_, round));
    if (to_json(findings).size() > kContextTicketBytes) {
      findings = fmt::format("{} findings; see the prompt.", findings.size());
    }
    add("findings", std::move(findings), "review.findings", SourceKind::kDocument);
  }
  if (!needs_diff(start.phase)) return context_items;
  add("prUrl", state_.url, "diff", SourceKind::kRaw);
  add("prNumber", state_.request, "diff", SourceKind::kRaw);
  add("mergeBaseRef", base_commit(), "diff", SourceKind::kRaw);
  add("diffStat", diff_stat(), "diff", SourceKind::kRaw);
  if (shaped != nullptr && shaped->result.artifact["validationChecklist"].is_array()) {
    add("validationChecklist", shaped->result.artifact["validationChecklist"], "shaping.validationChecklist",
        SourceKind::kPrior);
  }
  return context_items;
}

// A session is another path to an agent besides its bundle: what the mode excludes is not in it either, and what it
// includes is logged with the rest.
void RunDriver::apply_isolation(const agent::ContextSpec& spec, const std::vector<ContextItem>& context_items,
                                engine::StartRequest& start_request, agent::Bundle& bundle) const {
  const auto record = [&](const std::string& name, const std::string& text) {
    bundle.entries.push_back({.key = name, .slot = "session", .hash = sha256_hex(text), .bytes = text.size()});
  };
  if (agent::is_given(bundle.mode, spec, {"goal", SourceKind::kTask, "", ""})) {
    record("goal", start_request.goal);
  } else {
    start_request.goal = "Work with the inputs given here";
  }
  const agent::Redactor redactor(parts_.secrets);
  start_request.context = Value::object({{"runId", run_}, {"phase", start_request.context["phase"]}});
  for (const ContextItem& item : context_items) {
    if (!agent::is_given(bundle.mode, spec, item.as)) continue;
    Value value = redactor.clean_value(item.value);
    record(item.name, to_json(value));
    start_request.context.set(item.name, std::move(value));
  }
}

}  // namespace sb::pipeline
