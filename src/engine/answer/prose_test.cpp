// Limits how much text Signalbox adds around that of the bundled workflows.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/limits.hpp"
#include "base/testing/fakes.hpp"
#include "engine/answer/answer.hpp"
#include "workflow/catalog/catalog.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {
namespace {

void take_out(std::string& text, std::string part) {
  const std::size_t end = part.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return;
  part.resize(end + 1);
  if (const std::size_t at = text.find(part); at != std::string::npos) text.erase(at, part.size());
}

// What remains of a step's text without what its author wrote and without the list of checks.
std::string own_words(const Program& program, const workflow::Step& step, const Node& node,
                      RenderReason render_reason) {
  const Value context = context_at(program, node.position, Value::object());
  std::string text =
      render_step({.program = program, .node = node, .context = context, .render_reason = render_reason});
  const workflow::Definition& definition = program.definition();
  take_out(text, requirement_text(program, node.position, context));
  take_out(text, workflow::fill_in(step.prompt, context));
  take_out(text, workflow::fill_in_line(step.title, context));
  take_out(text, step.agent_role);
  for (const auto& line : step.guidance) take_out(text, "- " + workflow::fill_in(line, context));
  for (const auto& fragment : step.fragments) take_out(text, workflow::fill_in(fragment.text, context));
  for (const auto* lines : {&definition.preconditions, &definition.meta_guidance, &definition.clarification_prompts}) {
    for (const std::string& line : *lines) take_out(text, "- " + line);
  }
  for (const std::string& glob : step.interlock.writes) take_out(text, glob);
  for (const LoopFrame& frame : node.position.loops) take_out(text, program.step(frame.loop).title);
  return text;
}

TEST(Answer, OwnTextAroundAStepIsShort) {
  FakeFiles files;
  const auto catalog = workflow::Catalog::open(files, Environment(), {"/user/c", "/user/d", "/user/s"}, std::string());
  ASSERT_TRUE(catalog) << catalog.error().to_string();
  int steps = 0;
  for (const workflow::CatalogEntry* entry : catalog->list(true)) {
    const auto bundle = catalog->compile(*entry);
    ASSERT_TRUE(bundle) << entry->id << ": " << bundle.error().front().to_string();
    const Program program(bundle->back());
    for (StepNo number = 0; number < program.size(); ++number) {
      const workflow::Step& step = *program.at(number).step;
      if (!std::holds_alternative<workflow::WorkStep>(step.what)) continue;
      Node node;
      node.position.step = step.id;
      for (StepNo loop = program.at(number).loop; loop != kNoStep; loop = program.at(loop).loop) {
        node.position.loops.insert(node.position.loops.begin(), {program.at(loop).step->id, 0});
      }
      node.depth = number;
      for (const RenderReason render_reason :
           {RenderReason::kStart, RenderReason::kAdvance, RenderReason::kRehydrate}) {
        if (render_reason == RenderReason::kStart && number != program.first()) continue;
        const std::string words = own_words(program, step, node, render_reason);
        EXPECT_LE(words.size(), limits::kAnswerProseBytes) << entry->id << " " << step.id << "\n" << words;
      }
      ++steps;
    }
  }
  EXPECT_GT(steps, 50);
}

}  // namespace
}  // namespace sb::engine
