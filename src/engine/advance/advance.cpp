#include "engine/advance/advance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/crypto.hpp"
#include "base/limits.hpp"
#include "base/text.hpp"
#include "base/text/unicode.hpp"
#include "engine/advance/blockers.hpp"
#include "engine/advance/item_fields.hpp"
#include "engine/advance/loop_scope.hpp"
#include "engine/state/tree_check.hpp"
#include "workflow/check/assessment.hpp"

namespace sb::engine {
namespace {

using workflow::Step;

// The step number of a node; kCorrupt if the pinned workflow has no such step.
Result<StepNo> step_of(const Program& program, const Node& node) {
  const StepNo number = program.find(node.position.step);
  if (number == kNoStep || node.kind != NodeKind::kStep) {
    return fail(ErrorCode::kCorrupt, fmt::format("the session is at {}, where its workflow has nothing to deliver",
                                                 quote_json(node.position.step)));
  }
  return number;
}

Status check_notes_bytes(const std::string& notes) {
  if (notes.size() > limits::kNotesBytes) {
    return fail(ErrorCode::kLimit,
                fmt::format("the notes have {} bytes; {} are allowed", notes.size(), limits::kNotesBytes),
                "Shorten them, or put the long part into a file and send its path.");
  }
  if (!is_utf8(notes)) return fail(ErrorCode::kInvalid, "the notes are not UTF-8", "Send UTF-8.");
  return {};
}

Status check_artifact(const Value& artifact, std::size_t number) {
  const std::string what = fmt::format("artifact {}", number);
  if (!artifact.is_object()) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is {}, not an object", what, kind_name(artifact.kind())),
                "Send each artifact as an object with its kind: {\"kind\": \"…\", …}.");
  }
  const auto kind = artifact.string_at("kind");
  if (!kind || kind->empty()) {
    return fail(ErrorCode::kInvalid, fmt::format("{} has no kind", what),
                "Add \"kind\", a string that says what it is.");
  }
  if (kind->size() > limits::kArtifactKindBytes) {
    return fail(ErrorCode::kLimit,
                fmt::format("the kind of {} has more than {} bytes", what, limits::kArtifactKindBytes), "Shorten it.");
  }
  return check_tree(artifact, what);
}

// Whether this step requests artifacts of this kind.
bool is_asked_for(const Program& program, const ProgramStep& here, std::string_view kind) {
  const auto is_kind_of = [&](std::string_view ref) {
    const workflow::Contract* contract = program.compiled().contracts.find(ref);
    return contract != nullptr && contract->kind == kind;
  };
  if (here.step->contract && is_kind_of(here.step->contract->ref)) return true;
  if (!here.step->assessment_refs.empty() && kind == "wr.assessment") return true;
  if (!here.is_exit) return false;
  const auto* source = std::get_if<workflow::Loop::FromArtifact>(&program.at(here.exits).step->loop()->loop.source);
  return source != nullptr && is_kind_of(source->contract_ref);
}

// Kinds of which a submission may have several, and the member that says what each is about.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kAboutSeveral = {
    {{"wr.assessment", "assessmentId"}, {"wr.loop_control", "loopId"}, {"wr.child_outcome", "child"}}};

// What the artifact is about, within its kind; empty: everything of that kind.
std::string subject_of(const Value& artifact) {
  const std::string kind = artifact.string_at("kind").value_or("");
  for (const auto& [name, member] : kAboutSeveral) {
    if (name == kind) return to_lower(trimmed(artifact.string_at(member).value_or("")));
  }
  return {};
}

// Two different statements about the same thing: choosing one of them could choose the wrong one.
Status check_contradictions(const std::vector<Value>& artifacts) {
  for (std::size_t i = 0; i < artifacts.size(); ++i) {
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      const std::string kind = artifacts[i].string_at("kind").value_or("");
      if (artifacts[earlier].string_at("kind") != kind || artifacts[earlier] == artifacts[i]) continue;
      const std::string one = subject_of(artifacts[earlier]), other = subject_of(artifacts[i]);
      if (!one.empty() && !other.empty() && one != other) continue;
      return fail(ErrorCode::kInvalid,
                  fmt::format("artifacts {} and {} are both of kind {}", earlier + 1, i + 1, quote_json(kind)),
                  other.empty() ? "Send one of each kind, with everything in it."
                                : fmt::format("Send one about {}, with everything in it.", quote_json(other)));
    }
  }
  return {};
}

// Checks them and gives them the form in which they are stored; events and rows use the hashes found here.
Result<std::vector<SubmittedArtifact>> check_artifacts(const Program& program, const ProgramStep& here,
                                                       const std::vector<Value>& artifacts) {
  if (artifacts.size() > limits::kArtifacts) {
    return fail(ErrorCode::kLimit,
                fmt::format("{} artifacts were sent; {} are allowed", artifacts.size(), limits::kArtifacts),
                "Combine them, or send only those requested.");
  }
  std::vector<SubmittedArtifact> checked;
  for (std::size_t i = 0; i < artifacts.size(); ++i) {
    SB_TRY(check_artifact(artifacts[i], i + 1));
    std::string json = to_canonical_json(artifacts[i]);
    if (json.size() > limits::kArtifactBytes) {
      return fail(ErrorCode::kLimit,
                  fmt::format("artifact {} has {} bytes; {} are allowed", i + 1, json.size(), limits::kArtifactBytes),
                  "Put it into a file and send its path.");
    }
    const std::string kind = *artifacts[i].string_at("kind");
    std::string hash = sha256_hex(json);
    checked.push_back({kind, std::move(json), std::move(hash), is_asked_for(program, here, kind)});
  }
  SB_TRY(check_contradictions(artifacts));
  return checked;
}

Value hashes_of(const std::vector<SubmittedArtifact>& artifacts, bool only_unsolicited) {
  Value hashes = Value::array();
  for (const SubmittedArtifact& artifact : artifacts) {
    if (!only_unsolicited || !artifact.is_requested) hashes.push_back(artifact.hash);
  }
  return hashes;
}

Value to_value(const CommandRun& run) {
  Value value = Value::object({{"command", run.command},
                               {"exit", run.exit},
                               {"output", is_utf8(run.output) ? run.output : to_base64url(run.output)},
                               {"sandbox", run.sandbox},
                               {"ms", run.duration_ms}});
  if (run.timed_out) value.set("timed_out", true);
  if (run.output_truncated) value.set("output_cut", true);
  if (!run.not_run_reason.empty()) value.set("not_run", run.not_run_reason);
  return value;
}

Value to_value(const std::vector<workflow::RecordedAssessment>& recorded) {
  Value list = Value::array();
  for (const workflow::RecordedAssessment& assessment : recorded) {
    Value ratings = Value::array();
    for (const workflow::Rating& rating : assessment.ratings) {
      Value item = Value::object({{"dimension", rating.dimension}, {"level", rating.level}});
      if (!rating.rationale.empty()) item.set("rationale", rating.rationale);
      ratings.push_back(std::move(item));
    }
    Value item = Value::object({{"id", assessment.id}, {"ratings", std::move(ratings)}});
    if (!assessment.summary.empty()) item.set("summary", assessment.summary);
    if (!assessment.notes.empty()) item.set("notes", Value::array(assessment.notes));
    list.push_back(std::move(item));
  }
  return list;
}

// What was sent, plus the keys that Signalbox counts itself.
Value with_counts(const Program& program, const Node& node, const Step& step, const Value& after, Value sent) {
  LoopScope scope(program, after);
  const Value& view = scope.at(node.position.loops);
  for (const workflow::DerivedCount& count : step.counts) {
    const Value* list = workflow::look_up(view, count.of);
    const auto is_counted = [&](const Value& item) { return !count.where || workflow::holds(*count.where, item); };
    const bool is_list = list != nullptr && list->is_array();
    sent.set(count.key, is_list ? std::ranges::count_if(list->items(), is_counted) : 0);
  }
  return sent;
}

// One advance: a submission checked against one step.
class Delivery {
 public:
  Delivery(const Program& program, const Node& node, StepNo number, const Submission& submission,
           std::vector<SubmittedArtifact> artifacts)
      : program_(program), node_(node), here_(program.at(number)), submission_(submission) {
    outcome_.submitted = std::move(artifacts);
  }

  AdvanceResult run(Value after, bool gate_passed) && {
    outcome_.context = std::move(after);
    outcome_.move =
        next_position(program_, node_.position, node_.jumps, outcome_.context, submission_.artifacts, false);
    if (!gate_passed) {
      outcome_.blockers = check(program_, node_, outcome_.context, submission_);
      // Here, and not at the loop, because here the agent still knows what it meant.
      std::ranges::move(lacking_items_of(program_, submission_.context, outcome_.context),
                        std::back_inserter(outcome_.blockers));
    }
    std::ranges::copy(outcome_.move.missing, std::back_inserter(outcome_.blockers));
    outcome_.blockers = bounded(std::move(outcome_.blockers));
    if (!outcome_.blockers.empty()) {
      outcome_.kind = AdvanceResult::Kind::kBlocked;
      outcome_.delivered.push_back(blocked_event(node_, outcome_.blockers, submission_, outcome_.submitted));
      return std::move(outcome_);
    }
    outcome_.kind = !gate_passed && is_gated() ? AdvanceResult::Kind::kGate : AdvanceResult::Kind::kAdvanced;
    if (outcome_.kind == AdvanceResult::Kind::kGate) outcome_.gate = here_.step->confirmation.kind;
    for (const SubmittedArtifact& artifact : outcome_.submitted) {
      if (artifact.is_requested) outcome_.artifacts[artifact.kind] = artifact.hash;
    }
    const auto reading = workflow::read_assessments(program_.definition(), *here_.step, submission_.artifacts);
    if (!gate_passed) outcome_.delivered.push_back(recorded(reading.recorded));
    add_agent_notes(reading.recorded, gate_passed);
    return std::move(outcome_);
  }

 private:
  bool is_gated() const {
    const workflow::Confirmation& confirmation = here_.step->confirmation;
    if (confirmation.kind == workflow::Confirmation::Kind::kNone) return false;
    if (!confirmation.when) return true;
    LoopScope scope(program_, outcome_.context);
    return workflow::holds(*confirmation.when, scope.at(node_.position.loops));
  }

  Event recorded(const std::vector<workflow::RecordedAssessment>& assessments) const {
    Value set = Value::object(), removed = Value::array();
    if (submission_.context.is_object()) {
      for (const auto& [key, value] : submission_.context.members()) {
        if (value.is_null()) {
          removed.push_back(key);
        } else {
          set.members().push_back({key, value});
        }
      }
    }
    Value payload = Value::object({{"attempt", node_.attempt},
                                   {"notes", submission_.notes},
                                   {"artifacts", hashes_of(outcome_.submitted, false)},
                                   {"context_set", std::move(set)}});
    if (removed.size() > 0) payload.set("removed", std::move(removed));
    if (Value unsolicited = hashes_of(outcome_.submitted, true); unsolicited.size() > 0)
      payload.set("unsolicited", std::move(unsolicited));
    if (!assessments.empty()) payload.set("assessments", to_value(assessments));
    if (submission_.command) payload.set("command", to_value(*submission_.command));
    return {"output_recorded", std::move(payload)};
  }

  void add_agent_notes(const std::vector<workflow::RecordedAssessment>& assessments, bool gate_passed) {
    std::vector<std::string>& notes = outcome_.notes_to_agent;
    if (!gate_passed) {
      for (const SubmittedArtifact& artifact : outcome_.submitted) {
        if (!artifact.is_requested)
          notes.push_back(fmt::format("Stored, but not requested by this step: {}.", quote_json(artifact.kind)));
      }
      for (const auto& assessment : assessments) std::ranges::copy(assessment.notes, std::back_inserter(notes));
      if (const std::string gap = declaration_gap(submission_); !gap.empty()) {
        notes.push_back(fmt::format("Accepted although `filesChanged` differs from what changed. {}", gap));
      }
    }
    // A pending gate moves nothing yet; the cursor's warnings are reported when it moves.
    if (outcome_.kind == AdvanceResult::Kind::kAdvanced)
      std::ranges::copy(outcome_.move.warnings, std::back_inserter(notes));
  }

  const Program& program_;
  const Node& node_;
  const ProgramStep& here_;
  const Submission& submission_;
  AdvanceResult outcome_;
};

}  // namespace

bool Submission::has_output() const {
  return !notes.empty() || !artifacts.empty() || (context.is_object() && context.size() > 0);
}

Event blocked_event(const Node& node, const std::vector<Blocker>& blockers, const Submission& submission,
                    const std::vector<SubmittedArtifact>& artifacts) {
  Value reported = Value::array();
  for (const Blocker& blocker : blockers) reported.push_back(to_value(blocker));
  Value payload = Value::object({{"attempt", node.attempt},
                                 {"blockers", std::move(reported)},
                                 {"notes", submission.notes},
                                 {"artifacts", hashes_of(artifacts, false)}});
  if (submission.command) payload.set("command", to_value(*submission.command));
  return {"attempt_blocked", std::move(payload)};
}

Result<AdvanceResult> advance(const Program& program, const Node& node, const Value& context,
                              const Submission& submission, bool gate_passed) {
  const StepNo number = SB_TRY(step_of(program, node));
  SB_TRY(check_notes_bytes(submission.notes));
  auto artifacts = SB_TRY(check_artifacts(program, program.at(number), submission.artifacts));
  Value after = SB_TRY(merge_context(context, submission.context));
  if (program.at(number).step->counts.empty()) {
    return Delivery(program, node, number, submission, std::move(artifacts)).run(std::move(after), gate_passed);
  }
  Submission counted = submission;
  counted.context = with_counts(program, node, *program.at(number).step, after, submission.context);
  after = SB_TRY(merge_context(context, counted.context));
  return Delivery(program, node, number, counted, std::move(artifacts)).run(std::move(after), gate_passed);
}

}  // namespace sb::engine
