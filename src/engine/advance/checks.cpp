// All checks of a submission.
#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "engine/advance/advance.hpp"
#include "engine/advance/blockers.hpp"
#include "engine/advance/loop_scope.hpp"
#include "engine/advance/narrowed_contract.hpp"
#include "guard/declared_paths.hpp"
#include "workflow/check/assessment.hpp"
#include "workflow/schema/example.hpp"
#include "workflow/schema/mismatches.hpp"

namespace sb::engine {
namespace {

using workflow::Step;

constexpr std::size_t kViolationsShown = 5;
constexpr std::size_t kOutputTailBytes = 1'200;

std::string joined(std::vector<std::string> parts) {
  std::string text;
  const std::size_t shown = std::min(parts.size(), kViolationsShown);
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : "; ") + parts[i];
  // Of more, the last one only says that there are more.
  const bool are_counted = parts.size() <= workflow::kMaxSchemaViolations;
  if (parts.size() > shown) {
    text += fmt::format("; and {}{} more", are_counted ? "" : "at least ",
                        std::min(parts.size(), workflow::kMaxSchemaViolations) - shown);
  }
  return text;
}

std::string tail_of(std::string_view output) {
  if (output.size() > kOutputTailBytes) {
    std::size_t from = output.size() - kOutputTailBytes;
    while (from < output.size() && (static_cast<unsigned char>(output[from]) & 0xC0) == 0x80) ++from;
    output.remove_prefix(from);
  }
  return std::string(output);
}

std::vector<std::string> violation_lines(const std::vector<workflow::SchemaViolation>& violations) {
  std::vector<std::string> lines;
  for (const workflow::SchemaViolation& violation : violations) {
    lines.push_back(violation.pointer.empty() ? violation.message : violation.pointer + " " + violation.message);
  }
  return lines;
}

class Checks {
 public:
  Checks(const Program& program, const Step& step, const Value& after, const Value& view, const Submission& submission,
         bool is_in_loop)
      : program_(program), step_(step), after_(after), view_(view), submission_(submission), is_in_loop_(is_in_loop) {}

  std::vector<Blocker> run() && {
    check_notes();
    check_contract();
    check_assessments();
    check_criteria();
    check_captures();
    check_command();
    check_declared_files();
    return std::move(blockers_);
  }

 private:
  void add(BlockerCode code, std::string subject, std::string message, std::string fix, Value example = {}) {
    blockers_.push_back({code, std::move(subject), std::move(message), std::move(fix), std::move(example)});
  }

  void check_notes() {
    if (step_.contract || step_.notes_optional || !is_blank(submission_.notes)) return;
    add(BlockerCode::kMissingNotes, step_.id, "Notes are missing.",
        "Send notes: what you did, what you found, what you decided.");
  }

  const Value* first_of_kind(std::string_view kind) const {
    for (const Value& artifact : submission_.artifacts) {
      if (artifact.string_at("kind") == kind) return &artifact;
    }
    return nullptr;
  }

  void check_contract() {
    if (!step_.contract) return;
    const workflow::Contract* contract = program_.compiled().contracts.find(step_.contract->ref);
    if (contract == nullptr) {
      add(BlockerCode::kInvalidOutput, step_.contract->ref, "The session's workflow was pinned without this contract.",
          "Start the workflow again.");
      return;
    }
    const Value* artifact = first_of_kind(contract->kind);
    if (artifact == nullptr) {
      if (!step_.contract->is_required) return;
      add(BlockerCode::kMissingOutput, contract->ref,
          fmt::format("An artifact of kind {} is missing.", quote_json(contract->kind)),
          fmt::format("{} Send it in artifacts, like the example.", contract->help),
          narrowed_example(*contract, step_, view_));
      return;
    }
    const std::vector<std::string> violations = workflow::violations(*contract, *artifact);
    if (violations.empty()) return check_narrowings(*contract, *artifact);
    add(BlockerCode::kInvalidOutput, contract->ref,
        fmt::format("The artifact {} does not fit: {}.", quote_json(contract->kind), joined(violations)),
        "Fix these and resubmit it.", narrowed_example(*contract, step_, view_));
  }

  void check_narrowings(const workflow::Contract& contract, const Value& artifact) {
    for (const workflow::Narrowing& narrowing : step_.contract->narrowings) {
      if (!applies(narrowing, view_)) continue;
      const std::vector<std::string> violations = violation_lines(narrowing.schema->check(artifact));
      if (violations.empty()) continue;
      add(BlockerCode::kInvalidOutput, contract.ref,
          fmt::format("{} The artifact {} does not fit that: {}.", narrowing.message, quote_json(contract.kind),
                      joined(violations)),
          "Fix these and resubmit it.", narrowed_example(contract, step_, view_));
    }
  }

  void check_assessments() {
    if (step_.assessment_refs.empty()) return;
    const auto reading = workflow::read_assessments(program_.definition(), step_, submission_.artifacts);
    if (!reading.issues.empty()) {
      const bool is_missing = first_of_kind("wr.assessment") == nullptr;
      add(is_missing ? BlockerCode::kMissingOutput : BlockerCode::kInvalidOutput, std::string(workflow::kAssessment),
          is_missing ? fmt::format("The assessment is missing: {}.", fmt::join(step_.assessment_refs, ", "))
                     : fmt::format("The assessment does not fit: {}.", joined(reading.issues)),
          fmt::format("Send one wr.assessment artifact for each, like the example.{}", assessment_levels()),
          assessment_example());
    }
    for (const workflow::FiredConsequence& fired : reading.fired) {
      add(BlockerCode::kAssessmentFollowup, fired.assessment,
          fmt::format("{} is rated {}, which requires more work.", quote_json(fired.dimension),
                      quote_json(fired.level)),
          fired.guidance);
    }
  }

  Value assessment_example() const {
    Value examples = Value::array();
    each_assessment([&](const auto& one) { examples.push_back(workflow::example_assessment(one, step_)); });
    return examples.size() == 1 ? examples.items().front() : examples;
  }

  std::string assessment_levels() const {
    std::string text;
    each_assessment([&](const auto& one) { text += fmt::format(" Levels: {}.", workflow::levels_text(one)); });
    return text;
  }

  template <class Visit>
  void each_assessment(const Visit& visit) const {
    for (const std::string& ref : step_.assessment_refs) {
      if (const auto* assessment = program_.definition().assessment(ref)) visit(*assessment);
    }
  }

  void check_criteria() {
    if (!step_.criteria) return;
    for (const std::string& message : workflow::unmet_criteria(*step_.criteria, submission_.notes, view_)) {
      add(BlockerCode::kCriteria, step_.id, message, "Change the notes to meet this.");
    }
  }

  void check_captures() {
    for (const workflow::Capture& capture : step_.captures) {
      // In a loop, a value sent in an earlier iteration does not count for this one.
      const Value* value = is_in_loop_ ? submission_.context.find(capture.key) : after_.find(capture.key);
      if (value == nullptr || value->is_null()) {
        add(BlockerCode::kMissingContext, capture.key,
            fmt::format("The context key {} is not set.", quote_json(capture.key)),
            fmt::format("Send it in `context` ({}).", form_of(capture.schema)), example_for(capture));
        blockers_.back().form = form_of(capture.schema);
      } else {
        check_capture(capture, *value);
      }
    }
  }

  void check_capture(const workflow::Capture& capture, const Value& value) {
    const Result<workflow::JsonSchema> schema = workflow::JsonSchema::compile(capture.schema);
    const std::vector<std::string> faults =
        schema ? violation_lines(schema->check(value)) : std::vector<std::string>{schema.error().message};
    if (faults.empty()) return;
    add(BlockerCode::kInvalidContext, capture.key,
        fmt::format("The context key {} does not fit: {}.", quote_json(capture.key), joined(faults)),
        fmt::format("Fix {} and send it in context again.", quote_json(capture.key)), example_for(capture));
  }

  static Value example_for(const workflow::Capture& capture) {
    const std::optional<Value> value = workflow::example_of(capture.schema);
    return value ? Value::object({{capture.key, *value}}) : Value();
  }

  void check_command() {
    if (step_.command.empty()) return;
    CommandRun missing;
    missing.not_run_reason = "no result was sent";
    const CommandRun& run = submission_.command ? *submission_.command : missing;
    if (!run.not_run_reason.empty()) {
      add(BlockerCode::kNotTrusted, step_.id, fmt::format("`{}` was not run: {}", step_.command, run.not_run_reason),
          "Resubmit this once a person has done that.");
      return;
    }
    if (run.exit == 0 && !run.timed_out) return;
    const std::string tail = tail_of(run.output);
    add(BlockerCode::kVerificationFailed, step_.id,
        fmt::format("`{}` {}.{}{}", run.command, run.timed_out ? "timed out" : fmt::format("exited with {}", run.exit),
                    tail.empty() ? " It printed nothing." : " Its last output:\n", tail),
        "Fix what it reports and resubmit; the command then runs again.");
  }

  void check_declared_files() {
    const std::string gap = declaration_gap(submission_);
    if (gap.empty() || submission_.changes->was_reported) return;
    add(BlockerCode::kDeclaredFiles, std::string(kCodingHandOff),
        fmt::format("`filesChanged` differs from what changed since the session began. {}", gap),
        "Undo what does not belong to the change, and list every other file, by path (relative to the session's "
        "folder), "
        "folder or glob. If the list is right as it is, say why in the notes and resubmit it.");
  }

  static std::string form_of(const Value& schema) {
    const Value& choices = schema["enum"];
    if (choices.is_array() && choices.size() <= kNamedChoices) {
      std::vector<std::string> words;
      for (const Value& choice : choices.items()) words.push_back(to_json(choice));
      return fmt::format("one of {}", fmt::join(words, ", "));
    }
    const auto type = schema.string_at("type");
    return type ? *type : "as in the example";
  }
  static constexpr std::size_t kNamedChoices = 12;

  const Program& program_;
  const Step& step_;
  const Value& after_;
  const Value& view_;
  const Submission& submission_;
  bool is_in_loop_;
  std::vector<Blocker> blockers_;
};

}  // namespace

std::string declaration_gap(const Submission& submission) {
  if (!submission.changes) return {};
  for (const Value& artifact : submission.artifacts) {
    if (artifact.string_at("kind") != kCodingHandOff || !artifact["filesChanged"].is_array()) continue;
    std::vector<std::string> declared;
    for (const Value& item : artifact["filesChanged"].items()) {
      if (item.is_string()) declared.push_back(item.as_string());
    }
    return guard::gap_between(declared, submission.changes->paths, submission.changes->folder).text();
  }
  return {};
}

std::vector<Blocker> check(const Program& program, const Node& node, const Value& after, const Submission& submission) {
  const StepNo number = program.find(node.position.step);
  if (number == kNoStep) return {};
  LoopScope scope(program, after);
  return Checks(program, *program.at(number).step, after, scope.at(node.position.loops), submission,
                !node.position.loops.empty())
      .run();
}

}  // namespace sb::engine
