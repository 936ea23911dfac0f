#include "engine/answer/remedy.hpp"

namespace sb::engine {

std::string_view remedy_for(RemedyKind step, Surface surface) {
  const bool has_tools = surface == Surface::kTools;
  switch (step) {
    case RemedyKind::kFindSession:
      return has_tools ? "Call resume_session, which finds where it stands"
                       : "signalbox session resume finds where it stands";
    case RemedyKind::kGiveContext:
      return has_tools ? "Send the key in `context` of start_workflow"
                       : "Give the key when starting: --context KEY=VALUE";
    case RemedyKind::kRewind:
      return has_tools
                 ? "Begin a new one with start_workflow, or ask the person to go back to an earlier step (signalbox "
                   "session fork)"
                 : "Start a new one, or go back to an earlier step: signalbox session fork";
  }
  return {};
}

}  // namespace sb::engine
