// One hook event of Claude Code, as far as it is looked at, and the questions of a question tool's call. Pure.
//
// Reading is lenient: a host may add what it likes, and what is missing or of another kind counts as empty. Nothing of
// it is believed: ids from an event are data, and become part of a path only through gstack::path_component.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb::hook {

enum class EventKind { kPreToolUse, kPostToolUse, kStop, kSessionStart, kUserPromptSubmit, kSessionEnd, kOther };

struct HookEvent {
  EventKind kind = EventKind::kOther;
  std::string session;
  std::string subagent;   // the agent inside it that acts, where the host tells them apart
  std::string directory;  // where the host works; empty when it does not say
  std::string prompt;     // the id of the user's message the agent works on
  std::string tool;
  std::string tool_use_id;
  Value tool_input;
  Value tool_response;
  std::string last_message;  // of Stop: what the agent said last
};

// kInvalid when it is no JSON object.
Result<HookEvent> read_event(std::string_view json);

// AskUserQuestion, the host's own or a server's stand-in for it.
bool is_question_tool(std::string_view tool);
// Edit, Write, MultiEdit, NotebookEdit, Bash.
bool is_changing_tool(std::string_view tool);
// A server's start_workflow or continue_workflow.
bool is_workflow_tool(std::string_view tool);

struct CallOption {
  std::string label;
  std::string description;
};

// What `multiSelect` of a question says; only the two words of JSON say anything.
enum class MultiSelect { kAbsent, kFalse, kTrue, kUnclear };

struct CallQuestion {
  std::string text;
  std::string header;
  std::vector<CallOption> options;
  MultiSelect multi_select = MultiSelect::kAbsent;
  std::vector<std::string> strings;  // every string in it, at any depth: previews and members nobody knows, too

  bool is_many() const { return multi_select == MultiSelect::kTrue; }
};

// In the order of the call. One that is not what it should be stands there with an empty text: whatever wants to be
// sure of every question of a call must not overlook it.
std::vector<CallQuestion> questions_of(const Value& tool_input);

// Whether the call brings answers along. Before the person was asked only the model can have written them.
bool has_answers(const Value& tool_input);

// The ids of `<gstack-qid:ID>`, in lower case and in order. `is_clear` is false when there is anything that looks like
// such a marker and is none.
struct GstackMarkers {
  std::vector<std::string> ids;
  bool is_clear = true;
};
GstackMarkers gstack_markers_in(std::string_view text);

// The text as a person reads it: without markers of either kind, runs of blanks as one space.
std::string without_markers(std::string_view text);

// The options the question recommends, without their mark: those whose label ends in `(recommended)`, and those that a
// line `Recommendation: CHOICE because REASON` names. More than one means it is not clear, and so it is when a line
// beside them names what is no option.
std::vector<std::string> recommended_in(const CallQuestion& question);

}  // namespace sb::hook
