// How a run stands, for somebody who looks at it without driving it: whether a process drives it now, and who has to
// move next. Changes nothing. Threads: from any.
#pragma once

#include <string>
#include <string_view>

#include "base/seams.hpp"
#include "inbox/home.hpp"
#include "pipeline/run/run_log.hpp"

namespace sb::pipeline {

// Held by the process that drives the run; the lock dies with it.
std::string run_lock_path(const HomeDirectories& homes, std::string_view run);
// Where that cannot be found out, as in a home that is only read, somebody may.
bool is_driven(Files& files, const HomeDirectories& homes, std::string_view run);

struct RunStatus {
  // The outcome, or one of: running, stopping, left off, halted, paused, taken over, waiting for you, parked.
  std::string word;
  bool is_driven = false;
  std::string session = {};   // of the phase under way
  std::string decision = {};  // waiting for you: what to answer
  // Of the session's model, whose provider is asked again at that time; 0: it is not waited for.
  TimestampMs waits_until = 0;
  std::string wait_reason = {};
};
Result<RunStatus> read_run_status(const Seams& seams, inbox::Home& home, const RunState& state);

}  // namespace sb::pipeline
