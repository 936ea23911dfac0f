// What somebody can do next, in the words of where they are: a shell has commands, an agent has tools.
//
// Errors are made where the fault is found, and there it is known from which surface the call came. Pure.
#pragma once

#include <string_view>

namespace sb::engine {

enum class Surface { kCommands, kTools };

enum class RemedyKind {
  kFindSession,  // that a token no longer leads to
  kGiveContext,  // a key the workflow needs from the beginning
  kRewind        // to an earlier step, or to a new session
};

// A whole sentence without its full stop.
std::string_view remedy_for(RemedyKind step, Surface surface);

}  // namespace sb::engine
