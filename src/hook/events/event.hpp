// The parts we read of a hook event of Claude Code or Codex, and the questions of a question tool's call. Pure.
//
// Reading is lenient: unknown members are ignored, and missing ones or ones of the wrong type count as empty. The
// content is untrusted: ids from an event are data, and become part of a path only through gstack::path_component.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"
#include "decision/render/hosts.hpp"

namespace sb::hook {

enum class EventKind { kPreToolUse, kPostToolUse, kStop, kSessionStart, kUserPromptSubmit, kSessionEnd, kOther };

struct HookEvent {
  EventKind kind = EventKind::kOther;
  std::string session;
  std::string subagent;    // the subagent that acts, where the host distinguishes them
  std::string transcript;  // the file the host keeps of the conversation; may be empty
  std::string source;      // of SessionStart: startup, resume, clear or compact
  std::string directory;   // the host's working directory; empty when not given
  std::string prompt;      // the id of the user message the agent works on; Codex calls it the turn
  std::string said;        // of UserPromptSubmit: that message
  std::string tool;
  std::string tool_use_id;
  Value tool_input;
  Value tool_response;
  std::string last_message;  // of Stop: the agent's last message
  bool is_codex = false;
};

// kInvalid when it is not a JSON object. A tool's event without `hook_event_name` is what is expected, or else
// PostToolUse if it has a response and PreToolUse if not.
Result<HookEvent> read_event(std::string_view json, EventKind expected = EventKind::kOther);
Result<HookEvent> event_of(Value root, EventKind expected = EventKind::kOther);

// The host whose question tool the event is about, or that the conversation has.
const decision::Host& host_of(const HookEvent& event);
// Who is recorded as having passed the answer on.
std::string_view principal_of(const HookEvent& event);

// AskUserQuestion, the host's own or an MCP server's replacement, and Codex's request_user_input.
bool is_question_tool(std::string_view tool);
// start_workflow or continue_workflow of an MCP server.
bool is_workflow_tool(std::string_view tool);
// ask of an MCP server.
bool is_ask_tool(std::string_view tool);

struct CallOption {
  std::string label;
  std::string description;
};

// The value of `multiSelect`; only JSON true and false count.
enum class MultiSelect { kAbsent, kFalse, kTrue, kUnclear };

struct CallQuestion {
  std::string text;
  std::string header;
  std::vector<CallOption> options;
  MultiSelect multi_select = MultiSelect::kAbsent;
  std::vector<std::string> strings;  // every string in it, at any depth, including previews and unknown members
  std::string id = {};               // Codex's name for it, by which it answers
  // The questions after it with the same planned marker: where the host has no multi-select, one per option.
  std::vector<CallQuestion> rows = {};

  bool is_many() const { return multi_select == MultiSelect::kTrue; }
};

// In the order of the call. A malformed question is kept with an empty text, so that a caller that must check every
// question does not miss it.
std::vector<CallQuestion> questions_of(const Value& tool_input);

// Whether the call already contains answers. Before the person was asked, only the model can have written them.
bool has_answers(const Value& tool_input);

// The ids of `<gstack-qid:ID>`, in lower case and in order. `is_clear` is false when something looks like such a marker
// but is malformed.
struct GstackMarkers {
  std::vector<std::string> ids;
  bool is_clear = true;
};
GstackMarkers gstack_markers_in(std::string_view text);

// The text as a person reads it: without markers of either kind, runs of blanks as one space.
std::string without_markers(std::string_view text);

// The options the question recommends, without "(recommended)": those whose label ends in `(recommended)`, and those
// named by a line `Recommendation: CHOICE because REASON`. More than one means that the recommendation is unclear, and
// so does a line that names something that is not an option.
std::vector<std::string> recommended_in(const CallQuestion& question);

}  // namespace sb::hook
