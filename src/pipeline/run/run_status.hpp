// The status of a run for an observer: whether a process drives it now, and who must act next. Read-only. Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "base/seams.hpp"
#include "inbox/home.hpp"
#include "pipeline/run/run_log.hpp"

namespace sb::pipeline {

// Held by the process that drives the run; the lock ends with it.
std::string run_lock_path(const HomeDirectories& homes, std::string_view run);
// If that cannot be determined, as in a read-only home, another process may be driving it.
bool is_driven(Files& files, const HomeDirectories& homes, std::string_view run);

struct RunStatus {
  // The outcome, or one of: running, stopping, interrupted, halted, paused, taken over, waiting for you, parked.
  std::string word;
  bool is_driven = false;
  std::string session = {};   // of the running phase
  std::string decision = {};  // waiting for you: what to answer
  // When the provider of the session's model is asked again; 0: it is not waited for.
  TimestampMs waits_until = 0;
  std::string wait_reason = {};
};
Result<RunStatus> read_run_status(const Seams& seams, inbox::Home& home, const RunState& state);

}  // namespace sb::pipeline
