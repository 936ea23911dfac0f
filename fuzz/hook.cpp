// Any bytes as a hook event, and any bytes as each member of one: the hook exits 0, prints nothing to stderr, and
// prints nothing or one JSON object to stdout. The step interlock judges any bytes and returns.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "base/text/unicode.hpp"
#include "guard/interlock.hpp"
#include "hook/hook_program.hpp"

namespace {

void fire(const std::string& input, const sb::Environment& environment) {
  sb::FakeFiles files;
  files.contents()["/gs/projects/app/question-preferences.json"] = R"({"a":"never-ask","b":"ask-only-for-one-way"})";
  files.contents()["/sb/stop-projects.json"] = R"({"user":["/"]})";
  sb::FakeClock clock;
  sb::FakeRandom random;
  sb::FakeProcess process{[](const sb::Command&) { return sb::ProcessResult{}; }};
  sb::FakeStreams streams(input);
  const int code = sb::hook::run_program("signalbox-hook", {}, {files, clock, random, process, environment, streams});
  SB_ASSERT(code == 0);
  SB_ASSERT(streams.errors.empty());
  if (streams.output.empty()) return;
  const auto answer = sb::parse_json(streams.output);
  SB_ASSERT(answer.has_value() && answer->is_object());
}

// As a command line, as a path and as a glob, under each kind of step.
void judge(const std::string& text) {
  sb::guard::OpenStep step;
  step.session = "s-1";
  step.workspace = "/w";
  step.out_of_scope = sb::guard::paths_named(text);
  const auto resolve = [](const std::string& path) { return sb::guard::PathForms{{"/w/" + path}, ""}; };
  for (const bool is_read_only : {false, true}) {
    for (const auto& writes : {std::vector<std::string>{}, std::vector<std::string>{text, "src/**"}}) {
      step.writes = writes;
      step.commands_read_only = is_read_only;
      (void)sb::guard::refuse_edit({step}, resolve(text));
      (void)sb::guard::refuse_command({step}, text, "/tmp", resolve);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const sb::Environment environment(
      {{"SIGNALBOX_HOME", "/sb"}, {"GSTACK_HOME", "/gs"}, {"GSTACK_PROJECT_SLUG", "app"}, {"PWD", "/w"}});
  const std::string text(reinterpret_cast<const char*>(data), size);
  fire(text, environment);
  if (!sb::is_utf8(text)) return 0;
  using sb::Value;
  const Value question = Value::object({{"question", text},
                                        {"options", Value(Value::Array{Value(text), Value("x (recommended)")})},
                                        {"multiSelect", size % 2 == 0}});
  Value event = Value::object({{"cwd", "/w"},
                               {"session_id", text},
                               {"tool_use_id", text},
                               {"tool_name", "AskUserQuestion"},
                               {"last_assistant_message", text},
                               {"tool_input", Value::object({{"questions", Value(Value::Array{question})}})},
                               {"tool_response", Value::object({{"answers", Value::object({{text, text}})}})}});
  for (const char* name : {"PreToolUse", "PostToolUse", "Stop", "SessionStart", "UserPromptSubmit", "SessionEnd"}) {
    event.set("hook_event_name", name);
    fire(sb::to_json(event), environment);
  }
  judge(text);
  return 0;
}
