// A node of a session, with what is needed to show it or to ask about it. Refers to all three.
#pragma once

#include "engine/advance/step_program.hpp"
#include "engine/state/session_state.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {

// What `{name}` is in the texts of this session: in a routine always an argument (one of a user that was started by its
// id alone, if the context has it); in another session that a session has started, filled in if the context has it;
// elsewhere, and in the body of a parallel loop, text.
workflow::Braces braces_in(const Summary& summary);

struct SessionNode {
  const Program& program;
  const Summary& summary;
  const Node& node;

  workflow::Braces braces() const { return braces_in(summary); }
  const workflow::Step& step() const { return program.step(node.position.step); }  // of a node that is not the end
};

}  // namespace sb::engine
