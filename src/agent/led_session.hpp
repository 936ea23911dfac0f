// A session as an agent program of its own works it: what the program is shown and may deliver, what it may spend, and
// what is kept of it in the agent's log (agent_log.hpp). One `turn` is one exchange with its model.
//
// Threads: the Leader's part on any, the rest on the thread that started the program.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "agent/agent_host.hpp"
#include "agent/agent_log.hpp"
#include "agent/redact.hpp"
#include "agent/staff.hpp"
#include "engine/session_desk.hpp"

namespace sb::agent {

struct LedParts {
  const StaffParts& staff;
  const Assignment& assignment;
  const ModelSettings& model;
  const ModelSettings* upstream = nullptr;
  std::string sandbox;  // for the record
  OnProgress on_progress;
};

// How a session stands that nobody needs to work on right now.
struct Standstill {
  EndState state = EndState::kComplete;
  std::string reason, decision;
};

class LedSession final : public Leader {
 public:
  static Result<std::unique_ptr<LedSession>> open(LedParts parts);

  // As it stands in the engine: complete, stopped or waiting for a person. Nothing: there is work to do.
  Result<std::optional<Standstill>> settled();
  // Writes `began`, or that it goes on after a crash.
  Status begin();
  // What the program is told when it starts; `again` after it stopped early.
  Result<std::string> prompt(bool again);
  Status ended(const Ended& ended);

  // Asked about once a second while the program runs: false, it must end. Why stands in verdict() then.
  bool keeps_going();
  // The first reason found; also what a model's failures mean once the program has ended by itself.
  std::optional<Standstill> verdict() const;
  std::optional<Standstill> outage() const;
  void fill(Ended& ended) const;  // usage, cost, turns
  std::int64_t retry_at_ms() const { return retry_at_ms_; }

  void sign_of_life() override;
  std::vector<ToolDeclaration> tools() override;
  ToolResult call(const ToolCall& call, const ToolRun& run) override;
  std::optional<ModelError> refusal(const std::function<bool()>& keeps_going) override;
  Replied reply(ModelRequest request) override;
  Status asked(const LedExchange& exchange) override;

 private:
  LedSession(LedParts parts, std::unique_ptr<engine::SessionDesk> desk, std::unique_ptr<engine::SessionDesk> tool_desk);
  Status recall();  // counts what the log has already
  void decide(EndState state, std::string reason);
  Result<engine::Answer> hand_in(const ToolCall& call, std::string& refused);
  std::string steering();
  void look_after(const engine::Answer& answer);
  void tell(Progress::Kind kind, std::string text);
  std::optional<ModelError> over_limits();
  Standstill failure_verdict(const ModelError& failure) const;

  LedParts parts_;
  Redactor redactor_;
  std::unique_ptr<Model> scripted_;

  mutable std::mutex mutex_;  // of all below but what is atomic
  std::unique_ptr<engine::SessionDesk> desk_;
  AgentLog log_;
  int turns_ = 0;
  Usage usage_;
  std::int64_t micro_cents_ = 0;
  std::optional<Standstill> verdict_;
  std::optional<ModelError> last_failure_;
  std::int64_t retry_at_ms_ = 0;
  int calls_ = 0;            // of tools, for their ids
  int turns_after_end_ = 0;  // exchanges since there was nothing left to do
  bool has_begun_ = false;
  std::string step_;
  std::vector<Progress> told_;  // not passed on yet: that is done on the working thread

  std::mutex tool_mutex_;  // of the desk that tools work at: a step's command may take minutes
  std::unique_ptr<engine::SessionDesk> tool_desk_;

  std::atomic<TimestampMs> last_life_ms_ = 0, over_at_ms_ = 0;  // over: complete, or a person's turn; 0: neither
  std::atomic<int> calls_running_ = 0, held_ = 0;
  std::atomic<bool> is_paused_ = false;
  std::atomic<bool> is_at_tools_ = false;  // the model's last reply called some: the program works on them
};

}  // namespace sb::agent
