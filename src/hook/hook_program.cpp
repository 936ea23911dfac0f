#include "hook/hook_program.hpp"

#include <exception>

#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "gstack/programs.hpp"
#include "hook/events/client_events.hpp"
#include "hook/events/event_answers.hpp"
#include "hook/host_input.hpp"
#include "hook/statusline.hpp"

namespace sb::hook {
namespace {

// Input beyond this size is not read to the end.
constexpr int kMostReads = 64;

// The host may still be writing the event; exiting before reading it would break its pipe.
Result<std::string> read_all(Streams& streams) {
  auto input = streams.read_input(limits::kHookEventBytes);
  for (int i = 0; i < kMostReads && !input && input.error().code == ErrorCode::kLimit; ++i) {
    auto rest = streams.read_input(limits::kHookEventBytes);
    if (rest || rest.error().code != ErrorCode::kLimit) break;
  }
  return input;
}

Result<std::string> answer_to(const HookEvent& event, const HookContext& hook_context) {
  switch (event.kind) {
    case EventKind::kPreToolUse:
      return is_question_tool(event.tool) ? before_question(event, hook_context) : before_change(event, hook_context);
    case EventKind::kPostToolUse:
      if (is_workflow_tool(event.tool)) return after_workflow(event, hook_context);
      if (is_ask_tool(event.tool)) return after_ask(event, hook_context);
      return is_question_tool(event.tool) ? after_question(event, hook_context) : "";
    case EventKind::kStop:
      return at_stop(event, hook_context);
    case EventKind::kSessionStart:
      return at_session_start(event, hook_context);
    case EventKind::kUserPromptSubmit:
      return at_prompt(event, hook_context);
    case EventKind::kSessionEnd:
      return at_session_end(event, hook_context);
    case EventKind::kOther:
      return "";
  }
  return "";
}

// What an event without a name is under this name of the program.
EventKind expected_kind(std::string_view program) {
  if (program == gstack::kQuestionPreferenceHook) return EventKind::kPreToolUse;
  if (program == gstack::kQuestionLogHook) return EventKind::kPostToolUse;
  return EventKind::kOther;
}

// `client`: whose event it is; null where it has Claude Code's form.
Result<std::string> answer(std::string_view program, const ClientEvents* client, const Seams& seams, ErrorLog& log) {
  const std::string input = SB_TRY(read_all(seams.streams));
  if (input.find_first_not_of(" \t\r\n") == std::string::npos) {
    return fail(ErrorCode::kInvalid, "the event is empty");
  }
  auto root = parse_json(input);
  if (root && client != nullptr) root = event_from(*client, std::move(*root));
  const auto event = root ? event_of(std::move(*root), expected_kind(program)) : std::unexpected(root.error());
  if (!event) return fail(event.error().code, "stdin parse failed: " + event.error().to_string());
  const std::string text = SB_TRY(answer_to(*event, {seams, log}));
  return client == nullptr ? text : answer_for(*client, text);
}

// Never breaks the host: on any failure the output is empty.
void run_hook(std::string_view program, const std::vector<std::string>& arguments, const Seams& seams) {
  ErrorLog log(seams, program);
  try {
    const bool has_client = arguments.size() == 2 && arguments.front() == "--client";
    const ClientEvents* client = has_client ? find_client_events(arguments.back()) : nullptr;
    if (has_client && client == nullptr) return log.add("unknown client " + arguments.back());
    const auto text = answer(program, client, seams, log);
    if (!text) return log.add(text.error());
    if (!text->empty()) seams.streams.out(*text + "\n");
    if (const Status written = seams.streams.flush(); !written) log.add(written.error());
  } catch (const std::exception& error) {
    log.add(error.what());
  }
}

}  // namespace

bool is_compatible_name(std::string_view program) {
  return program == gstack::kQuestionPreferenceProgram || program == gstack::kQuestionLogProgram;
}

bool is_hook_name(std::string_view program) {
  return expected_kind(program) != EventKind::kOther;
}

int run_program(std::string_view program, const std::vector<std::string>& arguments, const Seams& seams) {
  if (program == gstack::kQuestionPreferenceProgram) return gstack::run_question_preference(program, arguments, seams);
  if (program == gstack::kQuestionLogProgram) return gstack::run_question_log(program, arguments, seams);
  if (arguments.size() == 1 && arguments.front() == "--version") {
    seams.streams.out("signalbox-hook " SIGNALBOX_VERSION "\n");
    return seams.streams.flush() ? 0 : 3;
  }
  if (arguments.size() == 1 && arguments.front() == "statusline") {
    run_statusline(seams);
    return 0;
  }
  run_hook(program, arguments, seams);
  return 0;
}

int run_process(std::string_view program, const std::vector<std::string>& arguments, const Seams& seams) {
  if (is_compatible_name(program)) return run_program(program, arguments, seams);
  HostStreams streams(seams.streams, seams.clock);
  return run_program(program, arguments,
                     {seams.files, seams.clock, seams.random, seams.process, seams.environment, streams});
}

}  // namespace sb::hook
