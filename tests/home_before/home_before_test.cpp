// A home that an older program wrote, opened by this one: everything in it is listed and shown, what waited continues,
// and what was signed is still valid. tests/data/home-before/README.md says what is in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>

#include "base/document/document.hpp"
#include "started/program.hpp"
#include "started/sandbox.hpp"

namespace sb::test_program {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr const char* kArchive = SB_SOURCE_DIR "/tests/data/home-before/home.tar.gz";

std::string text_at(const Value& value, std::string_view name) {
  return value.string_at(name).value_or("");
}

std::string said(const ProgramResult& ended) {
  return ended.output + ended.errors;
}

class HomeBefore : public ::testing::Test {
 protected:
  HomeBefore() {
    std::string pattern = (fs::temp_directory_path() / "sb-before-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root_ = fs::canonical(pattern);
    const ProgramResult unpacked = start_program(
        "tar", {"PATH=/usr/bin:/bin"}, {.arguments = {"-xzf", kArchive, "--no-same-owner"}, .directory = root_});
    if (unpacked.code != 0) throw std::runtime_error(unpacked.errors);
    std::ifstream file(root_ + "/tokens.json");
    tokens_ = *parse_json(std::string(std::istreambuf_iterator<char>(file), {}));
  }
  ~HomeBefore() override {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }

  static std::vector<std::string> environment(const std::string& ann, const std::string& home) {
    return {"PATH=/usr/bin:/bin",
            "HOME=" + ann,
            "SIGNALBOX_HOME=" + ann + "/" + home,
            "SIGNALBOX_WORKFLOWS=" + ann + "/flows",
            "GSTACK_PROJECT_SLUG=shop",
            "LC_ALL=C.UTF-8",
            "TERM=dumb",
            "GIT_CONFIG_NOSYSTEM=1"};
  }

  ProgramResult run(std::vector<std::string> arguments, const std::string& input = {},
                    const std::string& home = ".sb") const {
    return start_program(SB_PROGRAM, environment(root_, home),
                         {.arguments = std::move(arguments), .input = input, .directory = root_});
  }

  // Like `run`, with the folder at its original path, /home/ann. Needs a sandbox.
  ProgramResult run_in_place(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = {"--dev-bind", "/", "/", "--tmpfs", "/home", "--bind", root_, "/home/ann"};
    words.insert(words.end(), {"--ro-bind", SB_PROGRAM, "/home/ann/signalbox", "--chdir", "/home/ann/shop"});
    words.insert(words.end(), {"--", "/home/ann/signalbox"});
    words.insert(words.end(), arguments.begin(), arguments.end());
    return start_program("bwrap", environment("/home/ann", ".sb"), {.arguments = words, .directory = root_});
  }

  Value json(std::vector<std::string> arguments, const std::string& home = ".sb") const {
    arguments.push_back("--json");
    const ProgramResult ended = run(arguments, {}, home);
    auto value = parse_json(ended.output);
    EXPECT_TRUE(value) << said(ended);
    return value ? *value : Value();
  }

  Value continue_session(const std::string& token, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"session", "continue", token, "--json"});
    const ProgramResult ended = run(more);
    EXPECT_TRUE(ended.last().is_object()) << said(ended);
    return ended.last();
  }

  std::string token(const std::string& name) const { return text_at(tokens_, name); }

  // Every decision by its declared id.
  std::map<std::string, Value> decisions() const {
    std::map<std::string, Value> all;
    const Value list = json({"inbox", "list", "--all"});
    for (const Value& each : list["decisions"].items()) all[text_at(each, "asked")] = each;
    return all;
  }

  std::string root_;
  Value tokens_;
};

TEST_F(HomeBefore, ListsAndShowsEverySession) {
  const Value listed = json({"session", "list", "--all"});
  EXPECT_EQ(listed["total"], Value(18));
  const Value& list = listed["sessions"];
  EXPECT_EQ(list.size(), 18u);
  std::map<std::string, std::string> statuses;
  for (const Value& each : list.items()) {
    const std::string id = text_at(each, "sessionId");
    statuses[id] = text_at(each, "status");
    const ProgramResult shown = run({"session", "show", id});
    EXPECT_EQ(shown.code, 0) << said(shown);
    EXPECT_THAT(shown.output, AllOf(HasSubstr(id), HasSubstr(text_at(each, "workflowId"))));
    EXPECT_EQ(run({"session", "export", id}).code, 0) << id;
  }
  EXPECT_EQ(statuses[token("finished")], "complete");
  EXPECT_EQ(statuses[token("gated")], "waiting");
  EXPECT_EQ(statuses[token("parent")], "waiting") << "for its child";
  for (const char* open : {"blocked", "forked", "checked"}) EXPECT_EQ(statuses[token(open)], "open") << open;
}

TEST_F(HomeBefore, VerifiesItsSessions) {
  const ProgramResult verified = run({"session", "verify", "--all"});
  EXPECT_EQ(verified.code, 0) << said(verified);
  EXPECT_THAT(verified.output, HasSubstr("18 sessions"));
  EXPECT_EQ(run({"session", "verify", "--all"}, {}, "demo/home").code, 0);
}

TEST_F(HomeBefore, ShowsWhatStepsDelivered) {
  const ProgramResult first = run({"session", "show", token("finished"), "--node", "1"});
  EXPECT_THAT(first.output, AllOf(HasSubstr("Two slices."), HasSubstr("slices")));
  const ProgramResult second = run({"session", "show", token("finished"), "--node", "2"});
  EXPECT_THAT(second.output, AllOf(HasSubstr("Built both."), HasSubstr("wr.loop_control")));
}

TEST_F(HomeBefore, ContinuesTheSessionAtAGate) {
  const Value waiting = continue_session(token("gated_token"));
  ASSERT_EQ(text_at(waiting, "kind"), "awaiting_decision") << to_json(waiting);
  EXPECT_THAT(text_at(waiting, "text"), HasSubstr("A draft of the letter."));
  EXPECT_EQ(run({"inbox", "answer", text_at(waiting["decision"], "id"), "approve"}).code, 0);
  const Value next = continue_session(token("gated_token"));
  ASSERT_EQ(text_at(next["pending"], "stepId"), "send") << to_json(next);
  EXPECT_EQ(text_at(continue_session(text_at(next, "continueToken"), {"--note", "Sent."}), "kind"), "complete");
}

TEST_F(HomeBefore, ContinuesTheBlockedAndTheForkedSession) {
  const Value refused = continue_session(token("blocked_token"), {"--note", "Still none."});
  EXPECT_EQ(text_at(refused, "kind"), "blocked");
  const std::string again = text_at(refused, "retryContinueToken");
  const Value next = continue_session(again, {"--note", "Now.", "--context", R"(slices=["a"])"});
  EXPECT_EQ(text_at(next["pending"], "stepId"), "build") << to_json(next);
  const Value forked =
      continue_session(token("forked_token"), {"--note", "Built it.", "--artifact", root_ + "/control.json"});
  EXPECT_EQ(text_at(forked, "kind"), "complete") << to_json(forked);
}

TEST_F(HomeBefore, ContinuesTheChildAndThenItsParent) {
  const Value built = continue_session(token("child_token"), {"--note", "Planned.", "--context", R"(slices=["a"])"});
  const Value child =
      continue_session(text_at(built, "continueToken"), {"--note", "Built.", "--artifact", root_ + "/control.json"});
  EXPECT_EQ(text_at(child, "kind"), "complete") << to_json(child);
  const Value parent = continue_session(token("parent_token"));
  ASSERT_EQ(text_at(parent["pending"], "stepId"), "after") << to_json(parent);
  EXPECT_EQ(text_at(continue_session(text_at(parent, "continueToken"), {"--note", "Done."}), "kind"), "complete");
}

TEST_F(HomeBefore, ListsAndShowsEveryDecision) {
  auto all = decisions();
  EXPECT_THAT(all, SizeIs(11));
  for (const auto& [name, decision] : all) {
    EXPECT_THAT(decision["warnings"].items(), IsEmpty()) << name;
    const Value shown = json({"inbox", "show", text_at(decision, "decision")});
    EXPECT_EQ(text_at(shown, "state"), text_at(decision, "state")) << name;
  }
  for (const char* open : {"colour", "undone", "drop-more", "gate-draft-1-1"}) {
    EXPECT_EQ(text_at(all[open], "state"), "open") << open;
  }
  EXPECT_EQ(to_json(all["env"]["options"]), R"(["staging"])");
  EXPECT_EQ(to_json(all["env"]["free_texts"]), R"(["it is Friday"])");
  EXPECT_EQ(to_json(all["release"]["values"]), R"({"branch":"main","env":["staging","production"]})");
  EXPECT_EQ(to_json(all["chat"]["values"]), R"({"E1":"include","E2":"cut"})");
  EXPECT_EQ(text_at(all["gone"], "outcome"), "declined");
  EXPECT_EQ(text_at(all["drop-table"], "outcome"), "answered") << "its signature is checked when it is read";
  EXPECT_EQ(text_at(all["drop-table"], "principal"), "ann");
}

TEST_F(HomeBefore, AnswersTheOpenDecisions) {
  EXPECT_EQ(run({"inbox", "answer", "colour", "red"}).code, 0);
  EXPECT_NE(run({"inbox", "answer", "drop-more", "drop"}, "wrong\n").code, 0);
  const ProgramResult with_key = run({"inbox", "answer", "drop-more", "drop"}, "correct horse\n");
  EXPECT_EQ(with_key.code, 0) << said(with_key);
  auto all = decisions();
  EXPECT_EQ(to_json(all["colour"]["options"]), R"(["red"])");
  EXPECT_EQ(to_json(all["drop-more"]["options"]), R"(["drop"])");
  EXPECT_EQ(text_at(all["drop-more"], "principal"), "ann");
}

// The older program rendered the question for a client; the answer comes through this program's hook.
TEST_F(HomeBefore, AcceptsTheAnswerToAPlannedPrompt) {
  const Value& call = tokens_["planned"];
  Value answers = Value::object();
  answers.set(text_at(call["questions"].items().front(), "question"), "green");
  const Value event =
      Value::object({{"session_id", "x"},
                     {"cwd", root_},
                     {"hook_event_name", "PostToolUse"},
                     {"tool_name", "AskUserQuestion"},
                     {"tool_input", call},
                     {"tool_response", Value::object({{"questions", call["questions"]}, {"answers", answers}})},
                     {"tool_use_id", "t1"}});
  const ProgramResult fired =
      start_program(SB_HOOK, environment(root_, ".sb"), {.input = to_json(event), .directory = root_});
  EXPECT_EQ(fired.code, 0) << said(fired);
  EXPECT_EQ(to_json(decisions()["colour"]["options"]), R"(["green"])");
}

TEST_F(HomeBefore, ListsAndShowsEveryRun) {
  std::map<std::string, std::string> statuses;
  const Value list = json({"runs", "list"});
  for (const Value& each : list["runs"].items()) statuses[text_at(each, "run")] = text_at(each, "status");
  EXPECT_EQ(statuses,
            (std::map<std::string, std::string>{
                {token("finished_run"), "merged"}, {token("interrupted"), "running"}, {token("waiting"), "waiting"}}));
  for (const auto& [id, status] : statuses) {
    const ProgramResult shown = run({"runs", "show", id});
    EXPECT_EQ(shown.code, 0) << said(shown);
    EXPECT_THAT(shown.output, HasSubstr("Write the "));
    EXPECT_EQ(text_at(json({"runs", "show", id}), "status"), status);
    EXPECT_GE(json_lines(run({"runs", "export", id}).output).size(), 9u);
  }
  EXPECT_EQ(text_at(json({"runs", "show", token("finished_run")}), "outcome"), "merged");
}

TEST_F(HomeBefore, ShowsTheDemonstration) {
  const Value shown = json({"runs", "show", "last"}, "demo/home");
  EXPECT_EQ(text_at(shown, "outcome"), "merged");
  const Value listed = json({"session", "list", "--all"}, "demo/home");
  const Value& sessions = listed["sessions"];
  std::vector<std::string> workflows;
  for (const Value& each : sessions.items()) workflows.push_back(text_at(each, "workflowId"));
  EXPECT_THAT(workflows, UnorderedElementsAre("wr.discovery", "wr.shaping", "wr.coding-task", "wr.mr-review"));
  for (const Value& each : sessions.items()) {
    EXPECT_EQ(run({"session", "log", text_at(each, "sessionId")}, {}, "demo/home").code, 0);
  }
}

TEST_F(HomeBefore, KeepsPreferencesAndTokens) {
  EXPECT_EQ(run({"pref", "--check", "ship-voice"}).output, "AUTO_DECIDE\n");
  EXPECT_EQ(run({"serve", "token", "revoke", "ada"}).code, 0);
  EXPECT_EQ(run({"serve", "token", "revoke", "ada"}).code, 2) << "only once";
}

// With the project, its remote and the work trees at their original paths.
class HomeInPlace : public HomeBefore {
 protected:
  void SetUp() override {
    if (const std::string& why = why_no_sandbox(); !why.empty()) GTEST_SKIP() << why;
  }

  std::string delivered(const std::string& path) const {
    return start_program(
               "git", {"PATH=/usr/bin:/bin", "HOME=" + root_},
               {.arguments = {"-c", "safe.directory=*", "show", "main:" + path}, .directory = root_ + "/shop.git"})
        .output;
  }

  // Answers the question that the run waits for with `merge`, and resumes it.
  void expect_merge(const std::string& id) {
    std::string decision;
    for (const auto& [name, each] : decisions()) {
      if (name.starts_with("merge-" + id) && text_at(each, "state") == "open") decision = text_at(each, "decision");
    }
    const ProgramResult answered = run_in_place({"inbox", "answer", decision, "merge"});
    EXPECT_EQ(answered.code, 0) << said(answered);
    const ProgramResult merged = run_in_place({"runs", "resume", id, "--json"});
    EXPECT_EQ(merged.code, 0) << said(merged);
    EXPECT_EQ(text_at(merged.last(), "outcome"), "merged");
  }
};

TEST_F(HomeInPlace, ReadsItsConfiguration) {
  const ProgramResult checked = run_in_place({"config", "check"});
  EXPECT_EQ(checked.code, 0) << said(checked);
}

TEST_F(HomeInPlace, MergesTheRunThatWaited) {
  expect_merge(token("waiting"));
  EXPECT_EQ(delivered("price-3.txt"), "42\n");
}

TEST_F(HomeInPlace, ResumesTheInterruptedRun) {
  const ProgramResult resumed = run_in_place({"runs", "resume", token("interrupted"), "--json"});
  EXPECT_EQ(resumed.code, 1) << said(resumed);
  EXPECT_EQ(text_at(resumed.last(), "question"), "merge") << said(resumed);
  expect_merge(token("interrupted"));
  EXPECT_EQ(delivered("price-2.txt"), "42\n");
}

TEST_F(HomeInPlace, RunsTheCommandThatWasTrusted) {
  const ProgramResult built =
      run_in_place({"session", "continue", token("checked_token"), "--note", "Built.", "--json"});
  ASSERT_EQ(built.code, 0) << said(built);
  const ProgramResult verified =
      run_in_place({"session", "continue", text_at(built.last(), "continueToken"), "--note", "Looked.", "--json"});
  EXPECT_EQ(text_at(verified.last(), "kind"), "complete") << said(verified);
}

}  // namespace
}  // namespace sb::test_program
