// No input or failure makes the hook break its host.
#include "hook/hook_program.hpp"

#include "base/limits.hpp"
#include "hook/testing.hpp"

namespace sb::hook {
namespace {

using testing::HasSubstr;

using Unbreakable = HookFixture;

TEST_F(Unbreakable, BadInputIsSilentAndLogged) {
  const std::string nul("{\"a\":\"\0\"}", 9);
  const std::vector<std::string> inputs = {"",
                                           " \n",
                                           "{",
                                           "[]",
                                           "null",
                                           "42",
                                           "\"text\"",
                                           nul,
                                           "{\"a\":\"\xff\xfe\"}",
                                           "{\"hook_event_name\":\"Stop\",\"hook_event_name\":\"Stop\"}",
                                           std::string(100'000, '['),
                                           std::string(200'000, '{'),
                                           "{}{}"};
  for (const std::string& input : inputs) {
    (void)files_.remove(home() + "/hook-errors.log");
    const RunResult ran = fire(input);
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.output, "");
    EXPECT_EQ(ran.errors, "");
    EXPECT_THAT(errors(), HasSubstr(" signalbox-hook ")) << input.substr(0, 40);
  }
}

TEST_F(Unbreakable, UnderGstacksNamesFailuresAreLoggedWhereGstackLogsThem) {
  for (const char* name : {"question-preference-hook", "question-log-hook"}) {
    FakeStreams streams("not json");
    EXPECT_EQ(run_program(name, {}, seams(streams)), 0);
    EXPECT_EQ(streams.output, "");
    EXPECT_THAT(read(root_ + "/gs/hook-errors.log"), HasSubstr(std::string(name) + ": stdin parse failed"));
  }
  EXPECT_EQ(errors(), "");
}

TEST_F(Unbreakable, UnderGstacksNamesAnEventWithoutANameIsTheirs) {
  Value event = before(call({question("Which?", {"a1", "b1"})}));
  event.erase("hook_event_name");
  FakeStreams streams(to_json(event));
  EXPECT_EQ(run_program("question-log-hook", {}, seams(streams)), 0);
  ASSERT_EQ(records().size(), 1u);
  EXPECT_EQ(records()[0].string_at("user_choice"), "__unknown__");
}

TEST_F(Unbreakable, AnOversizedEventIsSilentAndLogged) {
  Value event = before(call({question("Which?", {"a1", "b1"})}));
  event.set("padding", std::string(limits::kHookEventBytes, 'x'));
  EXPECT_EQ(fire(event).output, "");
  EXPECT_THAT(errors(), HasSubstr("longer than"));
}

TEST_F(Unbreakable, MembersOfAnyTypeAreTolerated) {
  const std::vector<std::string> values = {
      "null",
      "1",
      "\"x\"",
      "[]",
      "{}",
      "[[]]",
      "{\"questions\":[null,1,[],{}]}",
      "{\"questions\":{\"a\":1}}",
      "{\"questions\":[{\"question\":1,\"options\":[1,null,{}],\"multiSelect\":\"y\"}]}"};
  for (const char* name : {"PreToolUse", "PostToolUse", "Stop"}) {
    for (const char* member : {"session_id", "cwd", "tool_name", "tool_input", "tool_response", "tool_use_id",
                               "last_assistant_message", "hook_event_name", "prompt_id"}) {
      for (const std::string& value : values) {
        Value event = after(call({question("Which?", {"a1", "b1"})}), Value::object());
        event.set("hook_event_name", name);
        event.set(member, parse_json(value).value());
        const RunResult ran = fire(event);
        EXPECT_EQ(ran.code, 0);
        EXPECT_EQ(ran.output, "") << name << " " << member << " " << value;
        EXPECT_EQ(ran.errors, "");
      }
    }
  }
}

TEST_F(Unbreakable, ACorruptStoreIsSilentAndLogged) {
  const Plan planned = plan(kBranch);
  corrupt_store();
  EXPECT_EQ(fire(before(planned.input)).output, "");
  EXPECT_NE(errors(), "");
}

TEST_F(Unbreakable, ABadConfigurationIsSilentAndLogged) {
  const Plan planned = plan(kBranch);
  (void)files_.write_atomic(home() + "/config.yaml", "strict: [");
  EXPECT_EQ(fire(before(planned.input)).output, "");
  EXPECT_THAT(errors(), HasSubstr("config.yaml"));
}

TEST_F(Unbreakable, WithoutAHomeItIsSilent) {
  environment_ = Environment();
  const RunResult ran = fire(before(call({question("Which? <gstack-qid:a>", {"a (recommended)", "b"})})));
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.output, "");
  EXPECT_EQ(ran.errors, "");
}

TEST_F(Unbreakable, AHomeThatIsAFileIsSilent) {
  auto variables = environment_.all();
  variables["SIGNALBOX_HOME"] = root_ + "/file";
  variables["GSTACK_HOME"] = root_ + "/file";
  (void)files_.write_atomic(root_ + "/file", "");
  environment_ = Environment(variables);
  const Value input = call({question("Which? <gstack-qid:a>", {"a (recommended)", "b"})});
  for (const Value& event :
       {before(input), after(input, answered(input, "b")), stop("Let me know if you want more.")}) {
    const RunResult ran = fire(event);
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.output, "");
  }
}

TEST_F(Unbreakable, ReadingCreatesNoFiles) {
  (void)fire(before(call({question("Which?", {"a1", "b1"})})));
  (void)fire(stop("Done."));
  EXPECT_EQ(files_.kind(home()), FileKind::kMissing);
  EXPECT_EQ(files_.kind(root_ + "/gs"), FileKind::kMissing);
}

TEST_F(Unbreakable, TheErrorLogIsBounded) {
  (void)files_.make_directories(home());
  std::string old;
  while (old.size() < (1u << 20) + 5'000) old += "2026-01-01T00:00:00.000Z signalbox-hook an old line\n";
  (void)files_.write_atomic(home() + "/hook-errors.log", old);
  (void)fire(std::string("{"));
  const std::string now = errors();
  EXPECT_LT(now.size(), 600'000u);
  EXPECT_TRUE(now.starts_with("2026-01-01T"));
  EXPECT_THAT(now.substr(now.size() - 200), HasSubstr("unexpected end of JSON"));
}

TEST(UnbreakableOnAFullDisk, AQuestionThatCannotBeRecordedIsAskedSilently) {
  FakeFiles files;
  files.contents()["/gs/projects/app/question-preferences.json"] = R"({"ship-a":"never-ask"})";
  FakeClock clock;
  FakeRandom random;
  FakeProcess process{[](const Command&) { return ProcessResult{}; }};
  const Environment environment(
      {{"SIGNALBOX_HOME", "/sb"}, {"GSTACK_HOME", "/gs"}, {"GSTACK_PROJECT_SLUG", "app"}, {"PWD", "/w"}});
  files.set_space(0);
  FakeStreams streams(
      R"json({"hook_event_name":"PreToolUse","cwd":"/w","tool_name":"AskUserQuestion","tool_use_id":"t","tool_input":
      {"questions":[{"question":"Q <gstack-qid:ship-a>","options":["x (recommended)","y"],
      "multiSelect":false}]}})json");
  EXPECT_EQ(run_program("signalbox-hook", {}, {files, clock, random, process, environment, streams}), 0);
  EXPECT_EQ(streams.output, "");
  EXPECT_EQ(streams.errors, "");
}

// Payloads as Claude Code 2 sends them: our own in tests/data, and a shared file of recorded ones where it exists.
class Payloads : public Unbreakable {
 protected:
  void expect_silence(const std::string& path) {
    const Value payloads = parse_json(read(path)).value();
    for (const Value::Member& member : payloads.members()) {
      const RunResult ran = fire(member.value);
      EXPECT_EQ(ran.output, "") << member.name;
      EXPECT_EQ(ran.code, 0);
    }
    const Value last = records().back();
    EXPECT_EQ(last.string_at("user_choice"), "Red");
    EXPECT_EQ(last.string_at("source"), "hook");
    EXPECT_EQ(errors(), "");
  }
};

TEST_F(Payloads, OfOurOwnPassSilently) {
  expect_silence(SB_SOURCE_DIR "/tests/data/claude-code-events.json");
}

TEST_F(Payloads, ThatAreSharedPassSilently) {
  const std::string shared = SB_SOURCE_DIR "/../shared/samples/claude-code-hook-payloads.json";
  if (files_.kind(shared) != FileKind::kFile) GTEST_SKIP() << "there is no " << shared;
  expect_silence(shared);
}

}  // namespace
}  // namespace sb::hook
