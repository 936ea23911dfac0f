#include "engine/answer/earlier_iterations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/document/shown_values.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "engine/answer/child_results.hpp"

namespace sb::engine {
namespace {

constexpr std::size_t kShownArtifact = 600;
constexpr std::size_t kShownKeys = 12;
constexpr std::size_t kOlderLineBytes = 80;

std::string iteration_entry(const IteratedStep& step, std::size_t notes_bytes) {
  std::string text =
      fmt::format("## Iteration {}: {} ({})\n", step.iteration + 1, one_line(printable(step.title)), step.step_id);
  if (!is_blank(step.notes)) text += quoted_part(step.notes, notes_bytes);
  if (!step.keys.empty()) {
    text += "Set: ";
    for (std::size_t i = 0; i < std::min(step.keys.size(), kShownKeys); ++i) {
      text += fmt::format("{}{}", i == 0 ? "" : ", ", one_line(printable(utf8_prefix(step.keys[i], 80))));
    }
    text += step.keys.size() > kShownKeys ? fmt::format(" and {} more\n", step.keys.size() - kShownKeys) : "\n";
  }
  for (const Value& artifact : step.artifacts) text += fmt::format("- {}\n", shown_value(artifact, kShownArtifact));
  return text + '\n';
}

}  // namespace

std::string earlier_iterations_text(const std::vector<IteratedStep>& newest_first, bool has_more, std::size_t budget) {
  if (newest_first.empty()) return {};
  std::string text = "Earlier iterations delivered, newest first:\n\n";
  const std::size_t share = (budget - std::min(budget, text.size() + kOlderLineBytes)) / newest_first.size();
  std::size_t shown = 0;
  for (const IteratedStep& step : newest_first) {
    const std::string entry = iteration_entry(step, share / 2);
    if (text.size() + entry.size() + kOlderLineBytes > budget) break;
    text += entry;
    ++shown;
  }
  if (shown == 0) return {};
  if (has_more || shown < newest_first.size()) text += "Older ones are left out for length.\n\n";
  return text;
}

bool repeats(const Program& program, const LoopFrame& frame) {
  if (frame.iteration == 0) return false;
  const StepNo number = program.find(frame.loop);
  const workflow::LoopStep* loop = number == kNoStep ? nullptr : program.at(number).step->loop();
  return loop != nullptr && loop->loop.kind != workflow::Loop::Kind::kForEach;
}

const LoopFrame* repeated_loop(const Program& program, const Position& position) {
  for (auto frame = position.loops.rbegin(); frame != position.loops.rend(); ++frame) {
    if (repeats(program, *frame)) return &*frame;
  }
  return nullptr;
}

const LoopFrame* begun_iteration(const Program& program, const Position& from, const Position& to) {
  for (std::size_t i = 0; i < std::min(from.loops.size(), to.loops.size()); ++i) {
    if (from.loops[i].loop != to.loops[i].loop) return nullptr;
    if (from.loops[i].iteration == to.loops[i].iteration) continue;
    return repeats(program, to.loops[i]) ? &to.loops[i] : nullptr;
  }
  return nullptr;
}

}  // namespace sb::engine
