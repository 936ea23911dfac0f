// A node of a session, with what is needed to show it or to ask about it. Refers to all three.
#pragma once

#include <string>
#include <string_view>

#include "engine/advance/step_program.hpp"
#include "engine/state/session_state.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {

// What `{name}` is in the texts of this session: in a routine always an argument (one of a user that was started by its
// id alone, if the context has it); in another session that a session has started, filled in if the context has it;
// elsewhere text. The body of a parallel loop is part of the workflow it was taken from: as in the session that started
// it.
workflow::Braces braces_in(const Summary& summary);
// What the summary of a session below this one records about that; empty if there is nothing to record.
std::string braces_below(const Summary& summary, std::string_view child_workflow);
// Of a parallel loop: what it starts for each item.
bool is_loop_body(std::string_view workflow_id);

struct SessionNode {
  const Program& program;
  const Summary& summary;
  const Node& node;

  workflow::Braces braces() const { return braces_in(summary); }
  const workflow::Step& step() const { return program.step(node.position.step); }  // of a node that is not the end
};

}  // namespace sb::engine
