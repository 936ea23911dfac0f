// A node of a session, with what is needed to show it or to ask about it. Refers to all three.
#pragma once

#include "engine/advance/step_program.hpp"
#include "engine/state/session_state.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {

// What `{name}` is in the texts of this session: in a bundled routine always an argument; in another routine, and in a
// session that another one started, if the context has it; elsewhere, and in the body of a parallel loop, text.
workflow::Braces braces_in(const Summary& summary);

struct SessionNode {
  const Program& program;
  const Summary& summary;
  const Node& node;

  workflow::Braces braces() const { return braces_in(summary); }
  const workflow::Step& step() const { return program.step(node.position.step); }  // of a node that is not the end
};

}  // namespace sb::engine
