#include "hook/events/event.hpp"

#include <algorithm>

#include "base/document/document.hpp"
#include "base/text.hpp"
#include "base/text/unicode.hpp"
#include "decision/preference.hpp"
#include "decision/render/render.hpp"
#include "gstack/log_text.hpp"

namespace sb::hook {
namespace {

constexpr std::string_view kQuestionTool = "AskUserQuestion";
constexpr std::string_view kCodexQuestionTool = "request_user_input";
constexpr std::string_view kGstackMarker = "<gstack-qid:";
constexpr std::string_view kOurMarker = "<sb:";
constexpr std::size_t kLongestMarker = 96;

// The next position of `wanted` (lower case) in any case.
std::size_t find_folded(std::string_view text, std::string_view wanted, std::size_t from) {
  const auto found =
      std::ranges::search(text.substr(std::min(from, text.size())), wanted, {}, [](char c) { return to_lower(c); });
  return found.empty() ? std::string_view::npos : static_cast<std::size_t>(found.begin() - text.begin());
}

EventKind kind_of(std::string_view name) {
  if (name == "PreToolUse") return EventKind::kPreToolUse;
  if (name == "PostToolUse") return EventKind::kPostToolUse;
  if (name == "Stop") return EventKind::kStop;
  if (name == "SessionStart") return EventKind::kSessionStart;
  if (name == "UserPromptSubmit") return EventKind::kUserPromptSubmit;
  if (name == "SessionEnd") return EventKind::kSessionEnd;
  return EventKind::kOther;
}

std::string text_at(const Value& object, std::string_view name) {
  return object.string_at(name).value_or("");
}

// gstack's hooks also accept a call of a tool whose event has no name.
EventKind kind_of_unnamed(const Value& root, EventKind expected) {
  if (text_at(root, "tool_name").empty()) return EventKind::kOther;
  if (expected != EventKind::kOther) return expected;
  return root.find("tool_response") ? EventKind::kPostToolUse : EventKind::kPreToolUse;
}

CallOption option_of(const Value& value) {
  if (value.is_string()) return {value.as_string(), ""};
  const std::string label = text_at(value, "label");
  const std::string description = text_at(value, "description");
  return {label.empty() ? description : label, description};
}

MultiSelect multi_select_of(const Value& question) {
  const Value* value = question.find("multiSelect");
  if (!value) return MultiSelect::kAbsent;
  if (!value->is_bool()) return MultiSelect::kUnclear;
  return value->as_bool() ? MultiSelect::kTrue : MultiSelect::kFalse;
}

void gather_strings(const Value& value, std::vector<std::string>& strings) {
  if (value.is_string()) strings.push_back(value.as_string());
  if (value.is_array()) {
    for (const Value& item : value.items()) gather_strings(item, strings);
  }
  if (value.is_object()) {
    for (const Value::Member& member : value.members()) gather_strings(member.value, strings);
  }
}

bool is_row_of(const CallQuestion& first, const CallQuestion& question) {
  const auto nonces = decision::nonces_in(first.text);
  return nonces.size() == 1 && nonces == decision::nonces_in(question.text);
}

// The end of the marker that begins at `at`, or npos when there is none.
std::size_t end_of_marker(std::string_view text, std::size_t at, std::size_t head) {
  const std::size_t end = text.substr(0, at + kLongestMarker).find('>', at + head);
  if (end == std::string_view::npos) return end;
  const std::string_view inner = text.substr(at + head, end - at - head);
  const bool is_name = !inner.empty() && std::ranges::all_of(inner, [](char c) {
    return (to_lower(c) >= 'a' && to_lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
  return is_name ? end + 1 : std::string_view::npos;
}

bool is_word(char c) {
  return (to_lower(c) >= 'a' && to_lower(c) <= 'z') || (c >= '0' && c <= '9') || (static_cast<unsigned char>(c) & 0x80);
}

// The choices of the lines `Recommendation: …`, each without its reason (GAP-7).
std::vector<std::string> recommendation_lines(std::string_view text) {
  constexpr std::string_view kHead = "recommendation:";
  std::vector<std::string> choices;
  for (std::size_t at = find_folded(text, kHead, 0); at != std::string_view::npos;
       at = find_folded(text, kHead, at + kHead.size())) {
    const std::size_t begin = at + kHead.size();
    std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
    line = line.substr(0, find_folded(line, " because ", 0));
    std::string choice = to_lower(gstack::without_recommended_mark(line));
    while (choice.ends_with('.') || choice.ends_with(',')) choice.pop_back();
    if (!choice.empty()) choices.push_back(std::move(choice));
  }
  return choices;
}

// The label equals the choice or begins with it as a word: `A` names `A) Include` but not `Apply`.
bool is_named_by(std::string_view label, std::string_view choice) {
  const std::string folded = to_lower(label);
  return folded.starts_with(choice) && (folded.size() == choice.size() || !is_word(folded[choice.size()]));
}

}  // namespace

Result<HookEvent> read_event(std::string_view json, EventKind expected) {
  return event_of(SB_TRY(parse_json(json)), expected);
}

Result<HookEvent> event_of(Value root, EventKind expected) {
  if (!root.is_object()) return fail(ErrorCode::kInvalid, "the event is not a JSON object");
  HookEvent event;
  event.kind =
      root.find("hook_event_name") ? kind_of(text_at(root, "hook_event_name")) : kind_of_unnamed(root, expected);
  event.session = text_at(root, "session_id");
  event.subagent = text_at(root, "agent_id");
  event.transcript = text_at(root, "transcript_path");
  event.source = text_at(root, "source");
  event.directory = text_at(root, "cwd");
  event.prompt = text_at(root, root.find("turn_id") ? "turn_id" : "prompt_id");
  event.said = text_at(root, "prompt");
  event.tool = text_at(root, "tool_name");
  event.tool_use_id = text_at(root, "tool_use_id");
  event.last_message = text_at(root, "last_assistant_message");
  event.is_codex = root.find("turn_id") != nullptr || event.tool == kCodexQuestionTool;
  if (Value* input = root.find("tool_input")) event.tool_input = std::move(*input);
  if (Value* response = root.find("tool_response")) event.tool_response = std::move(*response);
  return event;
}

bool is_workflow_tool(std::string_view tool) {
  return tool.starts_with("mcp__") && (tool.ends_with("__start_workflow") || tool.ends_with("__continue_workflow"));
}

bool is_ask_tool(std::string_view tool) {
  return tool.starts_with("mcp__") && tool.ends_with("__ask");
}

const decision::Host& host_of(const HookEvent& event) {
  const bool asks_in_codex = is_question_tool(event.tool) ? event.tool == kCodexQuestionTool : event.is_codex;
  return asks_in_codex ? decision::hosts::kRequestUserInput : decision::hosts::kAskUserQuestion;
}

std::string_view principal_of(const HookEvent& event) {
  return event.is_codex ? "codex" : "claude-code";
}

bool is_question_tool(std::string_view tool) {
  if (tool == kQuestionTool || tool == kCodexQuestionTool) return true;
  constexpr std::string_view kServer = "mcp__";
  constexpr std::string_view kEnd = "__AskUserQuestion";
  return tool.size() > kServer.size() + kEnd.size() && tool.starts_with(kServer) && tool.ends_with(kEnd);
}

std::vector<CallQuestion> questions_of(const Value& tool_input) {
  std::vector<CallQuestion> questions;
  Value list = tool_input["questions"];
  // The host also accepts the list encoded as a string.
  if (list.is_string()) list = parse_json(list.as_string()).value_or(Value());
  if (!list.is_array()) return questions;
  for (const Value& item : list.items()) {
    CallQuestion question{text_at(item, "question"), text_at(item, "header"), {}, multi_select_of(item), {}};
    gather_strings(item, question.strings);
    if (item["options"].is_array()) {
      for (const Value& option : item["options"].items()) question.options.push_back(option_of(option));
    }
    question.id = text_at(item, "id");
    const bool is_row = !questions.empty() && is_row_of(questions.back(), question);
    (is_row ? questions.back().rows : questions).push_back(std::move(question));
  }
  return questions;
}

bool has_answers(const Value& tool_input) {
  for (const std::string_view name : {"answers", "annotations"}) {
    const Value& given = tool_input[name];
    const bool is_empty = given.is_null() || ((given.is_object() || given.is_array()) && given.size() == 0);
    if (!is_empty) return true;
  }
  return false;
}

GstackMarkers gstack_markers_in(std::string_view text) {
  GstackMarkers markers;
  for (std::size_t at = find_folded(text, kGstackMarker, 0); at != std::string_view::npos;
       at = find_folded(text, kGstackMarker, at + 1)) {
    const std::size_t end = end_of_marker(text, at, kGstackMarker.size());
    const std::size_t begin = at + kGstackMarker.size();
    std::string id = end == std::string_view::npos ? "" : to_lower(text.substr(begin, end - 1 - begin));
    if (decision::is_question_id(id)) {
      markers.ids.push_back(std::move(id));
    } else {
      markers.is_clear = false;
    }
  }
  return markers;
}

std::string without_markers(std::string_view text) {
  std::string out;
  bool is_gap = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const std::size_t head = find_folded(rest.substr(0, kGstackMarker.size()), kGstackMarker, 0) == 0
                                 ? kGstackMarker.size()
                             : rest.starts_with(kOurMarker) ? kOurMarker.size()
                                                            : 0;
    const std::size_t end = head ? end_of_marker(text, at, head) : std::string_view::npos;
    if (end != std::string_view::npos) {
      is_gap = true;
      at = end;
      continue;
    }
    const std::size_t begin = at;
    if (is_space(next_code_point(text, at))) {
      is_gap = true;
      continue;
    }
    if (is_gap && !out.empty()) out += ' ';
    is_gap = false;
    out += text.substr(begin, at - begin);
  }
  return out;
}

std::vector<std::string> recommended_in(const CallQuestion& question) {
  std::vector<std::string> found, plain, strays;
  for (const CallOption& option : question.options) {
    plain.push_back(gstack::without_recommended_mark(option.label));
    const std::string& label = plain.back();
    if (label.size() < option.label.size() &&
        to_lower(option.label).find("(recommended)", label.size()) != std::string::npos)
      found.push_back(label);
  }
  for (const std::string& choice : recommendation_lines(question.text)) {
    std::vector<std::string> exact, named;
    for (const std::string& label : plain) {
      if (to_lower(label) == choice) exact.push_back(label);
      if (is_named_by(label, choice)) named.push_back(label);
    }
    if (named.empty()) strays.push_back(choice);
    for (const std::string& label : exact.empty() ? named : exact) {
      if (std::ranges::find(found, label) == found.end()) found.push_back(label);
    }
  }
  if (!found.empty()) found.insert(found.end(), strays.begin(), strays.end());
  return found;
}

}  // namespace sb::hook
