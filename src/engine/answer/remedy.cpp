#include "engine/answer/remedy.hpp"

#include <fmt/format.h>

namespace sb::engine {

std::string_view remedy_for(RemedyKind step, Surface surface) {
  const bool has_tools = surface == Surface::kTools;
  switch (step) {
    case RemedyKind::kFindSession:
      return has_tools ? "Call resume_session to find the current step"
                       : "Find the current step: signalbox session resume";
    case RemedyKind::kGiveContext:
      return has_tools ? "Send the key in `context` of start_workflow"
                       : "Set the key at the start: --context KEY=VALUE";
    case RemedyKind::kRewind:
      return has_tools
                 ? "Start a new one with start_workflow, or ask the person to go back to an earlier step (signalbox "
                   "session fork)"
                 : "Start a new one, or go back to an earlier step: signalbox session fork";
    case RemedyKind::kLeaveToRun:
      return has_tools ? "Work on another session. A person can look at this one (signalbox session show) or take it "
                         "from the run (signalbox session take-over)"
                       : "Look at it with signalbox session show, or take it from the run: signalbox session take-over";
  }
  return {};
}

std::string where_to_read(std::string_view session, Surface surface) {
  return surface == Surface::kTools ? fmt::format("the resource `signalbox://session/{}`", session)
                                    : fmt::format("`signalbox session show {}`", session);
}

}  // namespace sb::engine
