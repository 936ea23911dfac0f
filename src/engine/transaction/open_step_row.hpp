// The row about a session's open step that hooks read (guard/open_step.hpp), made from the session's rows and its
// workflow. Pure except for reading blobs.
#pragma once

#include "engine/advance/step_program.hpp"
#include "engine/state/session_state.hpp"
#include "guard/open_step.hpp"
#include "store/store.hpp"

namespace sb::engine {

// The parts that depend on the context and the artifacts; known when the step is opened.
struct OpenStepFacts {
  std::string required_output;
  std::vector<std::string> out_of_scope;
};

// What shaping put out of scope, as it said it: the context's `outOfScope`, and `outOfScope` of a `wr.shaping_handoff`
// that is in the context or was delivered on this branch.
Result<OpenStepFacts> facts_of(store::Snapshot& snapshot, const Program& program, const Node& node,
                               const Value& context);

// Nothing if the session is over or has no folder. The token is not filled in.
std::optional<guard::OpenStep> open_step_of(const Program& program, const Summary& summary, const Node& tip,
                                            OpenStepFacts facts);

}  // namespace sb::engine
