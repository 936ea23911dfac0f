// Drives one run: performs the plan's actions and appends the results. Its parts are in driver.cpp, driver_people.cpp,
// driver_phases.cpp, driver_delivery.cpp and driver_tree.cpp.
#pragma once

#include <memory>

#include "agent/loop/agent_log.hpp"
#include "pipeline/plan/escalation.hpp"
#include "pipeline/plan/pitch.hpp"
#include "pipeline/run/coordinator.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::pipeline {

// Whether the run continues now, or is left to be resumed later; RunState::waits_for says why.
enum class DriveStatus { kContinue, kSuspend };

// Which audit: one for findings about the architecture, the other for the rest.
inline constexpr std::string_view kAuditWorkflow = "wr.production-readiness-audit";
inline constexpr std::string_view kArchitectureWorkflow = "wr.architecture-scalability-audit";

// An error that cannot be fixed in the change or in the settings: it ends the driving, not the run.
inline bool is_internal_failure(ErrorCode code) {
  return code == ErrorCode::kIo || code == ErrorCode::kCorrupt || code == ErrorCode::kInternal;
}

// Where the checkouts are in which checks run.
inline std::string check_place(const HomeDirectories& homes) {
  return join_path(homes.data, "check-trees");
}

// The first that exists and that no run has used; empty: there is none.
std::string unused_pitch(const Files& files, const HomeDirectories& homes, const std::string& workspace);

class RunDriver {
 public:
  RunDriver(CoordinatorParts& parts, std::string run, WaitLimits wait_limits);
  Result<RunState> drive();
  // Asks whether the run continues with its ticket when the ticket has changed.
  Status compare_ticket(const Ticket& now);

 private:
  struct PhaseSetup {
    std::string workflow, role, tier;
    agent::Bundle bundle;
    std::vector<agent::ContextSource> sources;
    std::vector<std::string> notes;
  };

  Result<RunState> drive_until_blocked();
  void halt(const Error& error);
  Status load();
  bool should_continue() const { return !parts_.should_continue || parts_.should_continue(); }
  Status append(std::string type, Value payload, std::vector<std::string> blobs = {});
  DriveStatus suspend(std::string why);
  Status record_resume();
  Status compare_workflows();
  Status note_workflow(const std::string& workflow, const std::string& hash);

  Result<DriveStatus> act(const ChooseMode&);
  Result<DriveStatus> act(const CreateWorkTree&);
  Result<DriveStatus> act(const StartPhase& start);
  Result<DriveStatus> act(const ContinuePhase& work);
  Result<DriveStatus> act(const DeliverStep& step);
  Result<DriveStatus> act(const AskPerson& ask);
  Result<DriveStatus> act(const AwaitAnswer& wait);
  Result<DriveStatus> act(const Escalate& escalate);
  Result<DriveStatus> act(const WaitUntil& wait);
  Result<DriveStatus> act(const ArchivePitch&);
  Result<DriveStatus> act(const EndRun& end);
  Result<DriveStatus> act(const Finished&) { return DriveStatus::kSuspend; }

  Status open_question(QuestionContext about);
  Status withdraw_questions();
  Result<bool> settle_question(const RunQuestion& asked);
  Result<bool> settle_any_question();
  Result<bool> is_settled_by_forge(const RunQuestion& asked);
  Status record_answer(const RunQuestion& asked, std::string choice, std::string remark);
  Result<bool> reopen();
  Result<bool> is_still_open(const RunQuestion& asked);
  Result<DriveStatus> suspend_for_question(const RunQuestion& asked);
  Result<DriveStatus> wait_for_person(const RunQuestion& asked);
  // `is_retry_after`: the server named the time.
  Result<DriveStatus> park(TimestampMs until, std::string reason, bool is_retry_after = false);
  // What the ticket depends on and is not merged yet; empty: nothing.
  Result<std::string> missing_dependency() const;
  Status copy_pitch(const WorkTree& tree);

  Result<engine::StartRequest> prepare(const StartPhase& start, PhaseSetup& started);
  Result<DriveStatus> phase_not_started(const StartPhase& start, const Error& error);
  // `work`: names by which rules may refer to it. `notes`: rules that were ignored, and why.
  Result<std::vector<agent::ContextSource>> sources_for(const StartPhase& start, const std::vector<std::string>& work,
                                                        std::vector<std::string>& notes);
  // Empty: there is none.
  Result<Pitch> pitch_in_tree() const;
  // The context of a new session in addition to its goal, with the source kind of each item for the session's mode.
  struct ContextItem {
    std::string name;
    Value value;
    agent::ContextSource as;
  };
  std::vector<ContextItem> context_items_for(const StartPhase& start);
  void apply_isolation(const agent::ContextSpec& spec, const std::vector<ContextItem>& context_items,
                       engine::StartRequest& start_request, agent::Bundle& bundle) const;
  PhaseResults results_before(const StartPhase& start) const;
  Result<DriveStatus> end_phase(const PhaseRecord& record, agent::WorkResult ended);
  Status note_interpretation(const PhaseRecord& record);
  struct PhaseOutput {
    Value artifact;
    std::string notes;
  };
  Result<PhaseOutput> phase_output(const PhaseRecord& record);
  Result<Value> artifact_of(const std::string& session, const std::string& kind);
  Value::Array degradations() const;

  DeliverySpec delivery_spec(int round) const;
  Value facts_of(const DeliverStep& step) const;
  int delivered_round(const DeliverStep& step) const;
  DeliveryParts delivery_parts();
  Status note_refusal(const DeliverStep& step, const Error& error);
  Result<DriveStatus> refused(const DeliverStep& step, const Error& error);
  Status retry_close();
  Status restore_work_tree();
  Status restore_branch();
  Status discard_questions();
  std::string pushed_commit() const;  // empty: nothing is delivered
  std::string base_commit() const;
  std::string used_pitch() const;
  std::string diff_stat();
  void add_judge_hunks(QuestionContext& about);
  Result<std::string> change_text(std::size_t max_bytes);

  CoordinatorParts& parts_;
  RunLog log_;
  std::string run_;
  WaitLimits wait_limits_;
  RunState state_;
  std::vector<agent::LoggedEvent> agent_events_;  // of the session whose question is open, as far as read
};

}  // namespace sb::pipeline
