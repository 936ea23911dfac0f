// What the caller can do next, for the surface they use: a shell has commands, an agent has tools.
//
// Errors are created where the fault is found; the surface of the call is known there. The workers of runs use
// commands' words; only they may continue sessions that a run drives. Pure.
#pragma once

#include <string>
#include <string_view>

namespace sb::engine {

enum class Surface { kCommands, kTools, kWorkers };

enum class RemedyKind {
  kFindSession,  // the token no longer identifies it
  kGiveContext,  // a key the workflow needs at the start
  kRewind,       // go back to an earlier step, or start a new session
  kLeaveToRun    // the session is a run's
};

// A full sentence without its period.
std::string_view remedy_for(RemedyKind step, Surface surface);

// Where everything that a session holds can be read: a command or a resource.
std::string where_to_read(std::string_view session, Surface surface);

}  // namespace sb::engine
