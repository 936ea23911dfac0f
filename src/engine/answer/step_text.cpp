// A step as an agent reads it. Includes everything its author declared; our own text around it is short.
#include <fmt/format.h>

#include <algorithm>

#include "base/limits.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "engine/answer/answer.hpp"
#include "engine/answer/earlier_iterations.hpp"
#include "workflow/compile/prompt_text.hpp"

namespace sb::engine {
namespace {

using workflow::Definition;
using workflow::Filler;
using workflow::FunctionDefinition;
using workflow::Step;

// Loop items longer than this are cut; the step's prompt says which part matters.
constexpr std::size_t kItemBytes = 1'000;

Filler filler_of(const StepView& view) {
  return {view.context,
          view.braces,
          {.value_bytes = limits::kFilledValueBytes, .all_bytes = limits::kFilledBytes, .where = view.where}};
}

std::vector<std::string> filled_lines(Filler& filler, const std::vector<std::string>& lines) {
  std::vector<std::string> filled;
  for (const std::string& line : lines) filled.push_back(filler.fill(line));
  return filled;
}

void add_paragraph(std::string& text, std::string_view paragraph) {
  const std::size_t end = paragraph.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return;
  text += paragraph.substr(0, end + 1);
  text += "\n\n";
}

void add_list(std::string& text, std::string_view heading, const std::vector<std::string>& items) {
  if (items.empty()) return;
  text += fmt::format("{}\n", heading);
  for (const std::string& item : items) text += fmt::format("- {}\n", item);
  text += '\n';
}

std::string reference_path(const Value& resolved, const std::string& id) {
  if (!resolved.is_array()) return {};
  for (const Value& one : resolved.items()) {
    if (one.string_at("id") == id) return one.string_at("path").value_or("");
  }
  return {};
}

std::vector<std::string> reference_lines(const StepView& view) {
  std::vector<std::string> lines;
  for (const workflow::Reference& reference : view.program.definition().references) {
    const std::string path = reference_path(view.references, reference.id);
    const std::string where = path.empty() ? fmt::format("not found: {}", reference.source) : path;
    const bool is_short = view.render_reason == RenderReason::kRehydrate;
    lines.push_back(is_short ? fmt::format("{}: {}", reference.title, where)
                             : fmt::format("{}{}: {}\n  {}{}", reference.title,
                                           reference.is_authoritative ? " (authoritative)" : "", reference.purpose,
                                           where, path.empty() ? "" : fmt::format(" ({})", reference.source)));
  }
  return lines;
}

void add_notices(std::string& text, const StepView& view) {
  for (const std::string& notice : view.notices) text += fmt::format("Note: {}\n", notice);
  if (!view.notices.empty()) text += '\n';
}

void add_opening(std::string& text, const StepView& view) {
  const Definition& definition = view.program.definition();
  const bool is_resumed = view.render_reason == RenderReason::kRehydrate;
  if (is_resumed && !view.goal.empty()) add_paragraph(text, "Goal: " + view.goal);
  Filler filler = filler_of(view);
  add_list(text, "Preconditions:", filled_lines(filler, definition.preconditions));
  add_list(text, "Throughout:", filled_lines(filler, definition.meta_guidance));
  if (!is_resumed || view.node.depth == 0) {
    add_list(text, "Answer these from what you know; ask a person the rest with `ask`:",
             filled_lines(filler, definition.clarification_prompts));
  }
  add_list(text, "References:", reference_lines(view));
  if (!view.values.empty()) add_paragraph(text, "Context:\n" + view.values);
  add_paragraph(text, view.recall);
}

// A text of one line as it is, anything else as JSON on one line.
std::string item_text(const Value& item) {
  const bool is_line = item.is_string() && printable(item.as_string()) == item.as_string() &&
                       item.as_string().find('\n') == std::string::npos;
  const std::string whole = is_line ? item.as_string() : printable(to_json(item));
  const std::string_view begin = utf8_prefix(whole, kItemBytes);
  return begin.size() == whole.size() ? whole : fmt::format("{}… ({} bytes in total)", begin, whole.size());
}

std::string loop_banner(const StepView& view, const LoopFrame& frame) {
  const StepNo number = view.program.find(frame.loop);
  if (number == kNoStep || view.program.at(number).step->loop() == nullptr) return {};
  const Step& step = *view.program.at(number).step;
  const workflow::Loop& loop = step.loop()->loop;
  std::string rounds = fmt::format("at most {}", loop.max_iterations);
  const auto of = [&](std::int64_t count) {
    rounds = fmt::format("{}", std::min<std::int64_t>(count, loop.max_iterations));
  };
  if (loop.kind == workflow::Loop::Kind::kForEach) {
    const Value* items = workflow::look_up(view.context, loop.items);
    if (items != nullptr && items->is_array()) of(static_cast<std::int64_t>(items->size()));
  } else if (const int* count = std::get_if<int>(&loop.count)) {
    of(*count);
  } else if (const std::string* key = std::get_if<std::string>(&loop.count)) {
    const Value* value = workflow::look_up(view.context, *key);
    if (value != nullptr && value->is_integer()) of(value->as_integer());
  }
  std::string banner =
      fmt::format("{}: iteration {} of {}", workflow::fill_in_line(step.title, view.context, view.braces),
                  frame.iteration + 1, rounds);
  if (repeats(view.program, frame)) banner += ". Keep what the earlier ones produced and add what they missed.";
  if (loop.kind == workflow::Loop::Kind::kForEach) {
    if (const Value* item = view.context.find(loop.item_var)) banner += fmt::format("\nItem: {}", item_text(*item));
  }
  return banner;
}

const FunctionDefinition* find_function(const std::vector<FunctionDefinition>& functions, std::string_view name) {
  const auto found =
      std::find_if(functions.begin(), functions.end(), [&](const FunctionDefinition& one) { return one.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

// The nearest definition: that of the step, of the loops around it from the inside out, or of the workflow.
const FunctionDefinition* function_for(const StepView& view, const Step& step, std::string_view name) {
  if (const FunctionDefinition* own = find_function(step.functions, name)) return own;
  const auto& loops = view.node.position.loops;
  for (auto frame = loops.rbegin(); frame != loops.rend(); ++frame) {
    const StepNo number = view.program.find(frame->loop);
    if (number == kNoStep) continue;
    if (const FunctionDefinition* found = find_function(view.program.at(number).step->functions, name)) return found;
  }
  return find_function(view.program.definition().functions, name);
}

std::string function_line(const FunctionDefinition& function) {
  std::vector<std::string> parameters;
  for (const workflow::FunctionParameter& parameter : function.parameters) {
    std::string text = fmt::format("{}{}: {}", parameter.name, parameter.is_required ? "" : "?", parameter.type);
    if (parameter.choices.is_array()) text += " of " + to_json(parameter.choices);
    if (!parameter.default_value.is_null()) text += " = " + to_json(parameter.default_value);
    parameters.push_back(std::move(text));
  }
  return fmt::format("{}({}): {}", function.name, fmt::join(parameters, ", "), function.definition);
}

std::vector<std::string> function_lines(const StepView& view, const Step& step) {
  std::vector<std::string> names = step.function_references;
  for (const workflow::FunctionCall& call : step.function_calls) {
    if (std::find(names.begin(), names.end(), call.name) == names.end()) names.push_back(call.name);
  }
  std::vector<std::string> lines;
  for (const std::string& name : names) {
    if (const FunctionDefinition* function = function_for(view, step, name)) lines.push_back(function_line(*function));
  }
  for (const workflow::FunctionCall& call : step.function_calls) {
    lines.push_back(fmt::format("Use {} with {}", call.name, to_json(call.args)));
  }
  return lines;
}

std::string interlock_text(const workflow::Interlock& interlock) {
  std::string text;
  if (interlock.writes_declared && interlock.writes.empty()) {
    text = "change no file";
  } else if (interlock.writes_declared) {
    text = fmt::format("change only {}", fmt::join(interlock.writes, ", "));
  }
  if (interlock.commands_read_only) {
    text += fmt::format("{}run only read-only commands", text.empty() ? "" : "; ");
  }
  return text.empty() ? text : fmt::format("Enforced while this step is open: {}.", text);
}

std::string metrics_text(workflow::MetricsProfile profile, bool is_last, bool may_write) {
  constexpr std::string_view kOutcome = "`metrics_outcome` (success|partial|abandoned|error)";
  switch (profile) {
    case workflow::MetricsProfile::kNone:
      return {};
    case workflow::MetricsProfile::kCoding: {
      std::string text;
      if (may_write) text = "If you have committed: all SHAs so far, in full, in context key `metrics_commit_shas`.";
      if (is_last) {
        text += fmt::format(
            "{}Last step: set context keys {}, `metrics_pr_numbers`, `metrics_files_changed`, `metrics_lines_added`, "
            "`metrics_lines_removed`.",
            text.empty() ? "" : " ", kOutcome);
      }
      return text;
    }
    case workflow::MetricsProfile::kReview:
      return is_last ? fmt::format("Last step: set context keys `metrics_pr_numbers` and {}.", kOutcome) : "";
    case workflow::MetricsProfile::kResearch:
    case workflow::MetricsProfile::kDesign:
    case workflow::MetricsProfile::kTicket:
      return is_last ? fmt::format("Last step: set context key {}.", kOutcome) : "";
  }
  return {};
}

void add_own_words(std::string& text, const StepView& view, Filler& filler, const Step& step) {
  text += fmt::format("# {}\n\n", filler.fill_line(step.title));
  text += loop_banners(view);
  if (!step.agent_role.empty()) add_paragraph(text, "Your role: " + filler.fill(step.agent_role));
  add_paragraph(text, filler.fill(step.prompt));
  add_list(text, "Guidance:", filled_lines(filler, step.guidance));
  add_list(text, "Functions:", function_lines(view, step));
  for (const workflow::PromptFragment& fragment : step.fragments) {
    if (fragment.when && !workflow::holds(*fragment.when, view.context)) continue;
    add_paragraph(text, filler.fill(fragment.text));
  }
}

}  // namespace

std::set<std::string, std::less<>> keys_shown_by(const StepView& view) {
  const StepNo number = view.program.find(view.node.position.step);
  if (number == kNoStep) return {};
  std::string text;
  Filler filler = filler_of(view);
  add_own_words(text, view, filler, *view.program.at(number).step);
  return filler.shown_whole();
}

std::string loop_banners(const StepView& view) {
  std::string text;
  for (const LoopFrame& frame : view.node.position.loops) add_paragraph(text, loop_banner(view, frame));
  return text;
}

std::string render_opening(const StepView& view) {
  std::string text;
  add_notices(text, view);
  add_opening(text, view);
  return text;
}

std::string render_step(const StepView& view) {
  std::string text;
  add_notices(text, view);
  const StepNo number = view.program.find(view.node.position.step);
  if (number == kNoStep) return text;
  const ProgramStep& place = view.program.at(number);
  const Step& step = *place.step;

  if (view.render_reason != RenderReason::kAdvance) add_opening(text, view);
  add_paragraph(text, view.results);
  add_paragraph(text, view.iterated);
  Filler filler = filler_of(view);
  add_own_words(text, view, filler, step);
  if (step.ask_for_files) add_paragraph(text, "If you need files that you do not have, first ask for them by name.");
  const std::string checks = requirement_text(view.program, view.node.position, view.context, view.braces);
  if (!checks.empty()) add_paragraph(text, "Checked on delivery:\n" + checks);
  add_paragraph(text, interlock_text(step.interlock));
  const bool may_write = !step.interlock.writes_declared || !step.interlock.writes.empty();
  add_paragraph(text, metrics_text(view.program.definition().metrics, place.is_last, may_write));
  text += "Then continue with the `continueToken` below.\n";
  return text;
}

}  // namespace sb::engine
