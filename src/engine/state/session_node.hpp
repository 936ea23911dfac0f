// A node of a session, with what is needed to show it or to ask about it. Refers to all three.
#pragma once

#include "engine/advance/step_program.hpp"
#include "engine/state/session_state.hpp"

namespace sb::engine {

struct SessionNode {
  const Program& program;
  const Summary& summary;
  const Node& node;

  const workflow::Step& step() const { return program.step(node.position.step); }  // of a node that is not the end
};

}  // namespace sb::engine
