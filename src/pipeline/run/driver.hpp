// One run being driven: does what the plan says and appends what happened. The parts of it, by what they deal with, are
// in driver.cpp, driver_people.cpp, driver_phases.cpp and driver_delivery.cpp.
#pragma once

#include <memory>

#include "agent/loop/agent_log.hpp"
#include "pipeline/plan/escalation.hpp"
#include "pipeline/plan/pitch.hpp"
#include "pipeline/run/coordinator.hpp"
#include "workflow/catalog/catalog.hpp"

namespace sb::pipeline {

// Whether the run goes on now, or is left to be driven later; RunState::waits_for says why.
enum class Next { kGoOn, kLeaveOff };

// An audit of the one kind where the findings are about the architecture, of the other where they are not.
inline constexpr std::string_view kAuditWorkflow = "wr.production-readiness-audit";
inline constexpr std::string_view kArchitectureWorkflow = "wr.architecture-scalability-audit";

// Nothing that somebody could mend in the change or in the settings: it ends the driving, not the run.
inline bool is_ours(ErrorCode code) {
  return code == ErrorCode::kIo || code == ErrorCode::kCorrupt || code == ErrorCode::kInternal;
}

// The first that is there and that no run has used up; empty: there is none.
std::string fresh_pitch(const Files& files, const Homes& homes, const std::string& workspace);

class RunDriver {
 public:
  RunDriver(CoordinatorParts& parts, std::string run, Patience patience);
  Result<RunState> drive();
  // Asks whether the run goes on with the ticket it has, when that is not what the ticket says now.
  Status compare_ticket(const Ticket& now);

 private:
  struct Started {
    std::string workflow, role, tier;
    agent::Bundle bundle;
    std::vector<agent::Source> sources;
    std::vector<std::string> notes;
  };

  Result<RunState> go_through();
  void halt(const Error& error);
  Status load();
  bool keeps_going() const { return !parts_.keeps_going || parts_.keeps_going(); }
  Status append(std::string type, Value payload, std::vector<std::string> blobs = {});
  Next leave(std::string why);
  Status take_up();
  Status compare_workflows();
  Status note_workflow(const std::string& workflow, const std::string& hash);

  Result<Next> act(const RouteIt&);
  Result<Next> act(const MakeTree&);
  Result<Next> act(const StartPhase& start);
  Result<Next> act(const WorkPhase& work);
  Result<Next> act(const DeliverStep& step);
  Result<Next> act(const Ask& ask);
  Result<Next> act(const AwaitAnswer& wait);
  Result<Next> act(const Escalate& escalate);
  Result<Next> act(const Wait& wait);
  Result<Next> act(const ArchivePitch&);
  Result<Next> act(const EndRun& end);
  Result<Next> act(const Over&) { return Next::kLeaveOff; }

  Status open_question(AskedAbout about);
  Status drop_questions();
  Result<bool> settle(const Asked& asked);
  Result<bool> settle_any();
  Result<bool> settled_by_forge(const Asked& asked);
  Status settle_as(const Asked& asked, std::string choice, std::string remark);
  Result<bool> reopen();
  Result<bool> is_still_asked(const Asked& asked);
  Result<Next> leave_question(const Asked& asked);
  Result<Next> wait_for_person(const Asked& asked);
  // `is_told`: by whoever is waited for.
  Result<Next> park(TimestampMs until, std::string reason, bool is_told = false);
  // What the ticket depends on and is not merged yet; empty: nothing.
  Result<std::string> missing_dependency() const;
  Status bring_pitch(const WorkTree& tree);

  Result<engine::Starting> prepare(const StartPhase& start, Started& started);
  Result<Next> not_started(const StartPhase& start, const Error& error);
  // `work`: what rules may name it by. `notes`: what of the rules was not taken, and why.
  Result<std::vector<agent::Source>> sources_for(const StartPhase& start, const std::vector<std::string>& work,
                                                 std::vector<std::string>& notes);
  // Empty: there is none.
  Result<Pitch> pitch_in_tree() const;
  // What a session starts with besides its goal, and as what each counts where the session's mode is looked at.
  struct Told {
    std::string name;
    Value value;
    agent::Source as;
  };
  std::vector<Told> told_to(const StartPhase& start);
  void hold_back(const agent::Wish& wish, const std::vector<Told>& told, engine::Starting& starting,
                 agent::Bundle& bundle) const;
  Results results_before(const StartPhase& start) const;
  Result<Next> end_phase(const PhaseRecord& record, agent::Ended ended);
  Status note_interpretation(const PhaseRecord& record);
  struct Left {
    Value artifact;
    std::string notes;
  };
  Result<Left> left_behind(const PhaseRecord& record);
  Result<Value> artifact_of(const std::string& session, const std::string& kind);
  Value::Array degradations() const;

  DeliveryWish wish_for(int round) const;
  Value facts_of(const DeliverStep& step) const;
  int delivered_round(const DeliverStep& step) const;
  DeliveryParts delivery_parts();
  Status note_refusal(const DeliverStep& step, const Error& error);
  Result<Next> refused(const DeliverStep& step, const Error& error);
  Status close_again();
  std::string pushed_commit() const;  // empty: nothing is delivered
  std::string base_commit() const;
  std::string used_pitch() const;
  std::string diff_stat();
  Result<std::string> change_text(std::size_t max_bytes);

  CoordinatorParts& parts_;
  RunLog log_;
  std::string run_;
  Patience patience_;
  RunState state_;
  std::vector<agent::LoggedEvent> told_;  // of the session whose question is waited for, as far as it was read
};

}  // namespace sb::pipeline
