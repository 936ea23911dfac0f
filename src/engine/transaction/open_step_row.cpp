#include "engine/transaction/open_step_row.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "base/text/printable.hpp"
#include "base/text/unicode.hpp"
#include "engine/advance/advance.hpp"
#include "engine/state/rows.hpp"
#include "guard/limits.hpp"

namespace sb::engine {
namespace {

constexpr std::string_view kHandoff = "wr.shaping_handoff";
constexpr std::string_view kOutOfScope = "outOfScope";
// Hooks may print these next to the token and the title.
constexpr std::size_t kRequiredOutputBytes = 300;
constexpr std::size_t kTitleBytes = 120;
constexpr std::size_t kGoalBytes = 160;
constexpr std::size_t kScopeEntryBytes = 512;

// Each once. A long sentence is replaced by the paths it names: the row is written with every step. None is left out;
// how many there can be follows from the size of a context and of an artifact.
void add_entries(std::vector<std::string>& all, const std::vector<std::string>& entries) {
  std::set<std::string, std::less<>> known(all.begin(), all.end());
  for (const std::string& entry : entries) {
    const bool is_long = entry.size() > kScopeEntryBytes;
    for (std::string& one : is_long ? guard::paths_named(entry) : std::vector{entry}) {
      if (known.insert(one).second) all.push_back(std::move(one));
    }
  }
}

// A list of sentences, or one.
void add_entries(std::vector<std::string>& all, const Value& entries) {
  std::vector<std::string> texts;
  if (entries.is_string()) texts.push_back(entries.as_string());
  if (!entries.is_array()) return add_entries(all, texts);
  for (const Value& entry : entries.items()) {
    if (entry.is_string()) texts.push_back(entry.as_string());
  }
  add_entries(all, texts);
}

std::string names_at(const Value& items, std::string_view member) {
  std::string names;
  if (!items.is_array()) return names;
  for (const Value& item : items.items()) {
    const std::string name = item.is_string() ? item.as_string() : item.string_at(member).value_or("");
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  return names;
}

// Without keys that are needed only if a certain step comes next.
Value certain_captures(const Value& wanted) {
  Value captures = wanted["captures"];
  if (captures.is_array()) {
    std::erase_if(captures.items(), [](const Value& capture) { return capture.find("ifNext") != nullptr; });
  }
  return captures;
}

std::string required_output_text(const Program& program, const Position& position, const Value& context) {
  const Value wanted = requirements(program, position, context);
  std::string text;
  const auto add = [&](std::string_view what, const std::string& names) {
    if (names.empty()) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : "; ", what, names);
  };
  if (wanted["notes"] == Value(true)) text = "notes";
  add("an artifact for", names_at(wanted["contracts"], ""));
  add("the assessment", names_at(wanted["assessments"], "id"));
  add("context keys", names_at(certain_captures(wanted), "key"));
  if (wanted["criteria"].is_array() && wanted["criteria"].size() > 0) {
    add("and", fmt::format("{} more checks", wanted["criteria"].size()));
  }
  return shortened(text, kRequiredOutputBytes);
}

// Counts the steps that are delivered or answered, not the loops around them.
std::pair<int, int> place_of(const Program& program, std::string_view step) {
  int number = 0, of = 0;
  const StepNo here = program.find(step);
  for (StepNo at = 0; at < program.size(); ++at) {
    if (program.at(at).body != kNoStep) continue;
    ++of;
    if (at <= here) number = of;
  }
  return {number, of};
}

}  // namespace

Result<OpenStepFacts> facts_of(store::Snapshot& snapshot, const Program& program, const Node& node,
                               const Value& context) {
  OpenStepFacts facts;
  if (node.kind == NodeKind::kEnd) return facts;
  facts.required_output = required_output_text(program, node.position, context);
  add_entries(facts.out_of_scope, context[kOutOfScope]);
  if (context.is_object()) {
    for (const Value::Member& member : context.members()) {
      if (member.value.string_at("kind") == kHandoff) add_entries(facts.out_of_scope, member.value[kOutOfScope]);
    }
  }
  if (const auto handoff = node.artifacts.find(std::string(kHandoff)); handoff != node.artifacts.end()) {
    add_entries(facts.out_of_scope, SB_TRY(read_json_blob(snapshot, handoff->second))[kOutOfScope]);
  }
  return facts;
}

std::optional<guard::OpenStep> open_step_of(const Program& program, const Summary& summary, const Node& tip,
                                            OpenStepFacts facts) {
  const bool is_over = summary.status == SessionStatus::kComplete || summary.status == SessionStatus::kStopped;
  if (is_over || tip.kind == NodeKind::kEnd || summary.workspace.empty()) return std::nullopt;
  guard::OpenStep open;
  open.session = summary.id;
  open.workspace = summary.workspace;
  open.workflow = summary.workflow_id;
  open.goal = shortened(one_line(printable(shortened(summary.goal, kGoalBytes))), kGoalBytes + 3);
  open.step = tip.position.step;
  open.title = shortened(tip.title, kTitleBytes);
  std::tie(open.number, open.of) = place_of(program, open.step);
  const workflow::Interlock& interlock = program.step(open.step).interlock;
  if (interlock.writes_declared) open.writes = interlock.writes;
  open.commands_read_only = interlock.commands_read_only;
  open.out_of_scope = std::move(facts.out_of_scope);
  add_entries(open.out_of_scope, summary.out_of_scope);
  open.context = tip.context;
  if (const auto& isolation = program.definition().isolation; isolation && isolation->mode == "blind") {
    open.visible = isolation->inputs;
  }
  open.required_output = std::move(facts.required_output);
  if (tip.waiting) {
    open.waiting = to_string(tip.waiting->what);
    open.decision = tip.waiting->decision;
  } else if (tip.kind == NodeKind::kChildren) {
    open.waiting = "children";
  }
  open.parent = summary.parent_session;
  open.is_autonomous = summary.is_autonomous;
  open.at = summary.updated_at;
  return open;
}

}  // namespace sb::engine
