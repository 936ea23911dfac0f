#include "agent/model/scripted.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "agent/model/script_lines.hpp"
#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "store/sqlite/sqlite_place.hpp"

namespace sb::agent {
namespace {

class ScriptedTest : public testing::Test {
 protected:
  std::unique_ptr<Model> model(const std::string& script, std::shared_ptr<UsedLines> used = {}) {
    files.contents()["/s/replies.jsonl"] = script;
    auto made = make_scripted_model("demo", "/s/replies.jsonl",
                                    {files, clock, used ? used : std::make_shared<UsedLines>(*store), "run-1"});
    EXPECT_TRUE(made) << made.error().to_string();
    return std::move(*made);
  }
  std::string refusal(const std::string& script) {
    files.contents()["/s/replies.jsonl"] = script;
    auto made =
        make_scripted_model("demo", "/s/replies.jsonl", {files, clock, std::make_shared<UsedLines>(*store), "run-1"});
    return made ? "taken" : made.error().to_string();
  }
  static ModelRequest asking(const std::string& text, Requester requester = {}) {
    ModelRequest request;
    request.messages.push_back({Message::From::kUser, {Value::object({{"type", "text"}, {"text", text}})}});
    request.requester = std::move(requester);
    return request;
  }
  static std::string said(const ModelResult& replied) {
    if (!replied) return std::string(to_string(replied.error().kind)) + ": " + replied.error().error.to_string();
    return replied->content.empty() ? "" : replied->content[0].string_at("text").value_or("?");
  }
  // Does what the loop does with the turn.
  void keep(const ModelResult& replied) {
    ASSERT_TRUE(store->write(
        [&](store::Transaction& transaction) { return transaction.put(kScriptUsed, "run-1/" + replied->mark, "{}"); }));
  }

  store::TempSqliteStore place;
  std::unique_ptr<store::Store> store = std::move(*place.open());
  FakeFiles files;
  FakeClock clock;
};

TEST_F(ScriptedTest, ReturnsLinesInOrderAndThenReportsThatNoneIsLeft) {
  auto scripted = model("# a comment\n\n{\"content\": \"one\"}\r\n  {\"content\": \"two\"}");
  std::string heard;
  EXPECT_EQ(said(scripted->reply(asking("x"), [&](auto text) { return heard += text, true; })), "one");
  EXPECT_EQ(heard, "one");
  EXPECT_EQ(said(scripted->reply(asking("x"), {})), "two");
  EXPECT_EQ(said(scripted->reply(asking("x", {.workflow = "wr.w", .step = "s", .turn = 3}), {})),
            "script: /s/replies.jsonl: No unused line of the script matches this request (workflow wr.w, step s, "
            "role none, turn 3). Add a line to the script.");
}

TEST_F(ScriptedTest, ChoosesByRequesterAndContent) {
  auto scripted = model(
      R"({"when": {"role": "reviewer"}, "content": "review"}
{"when": {"workflow": "wr.a", "step": "two"}, "content": "a two"}
{"when": {"contains": ["needle", "a tool"], "lacks": "hay"}, "content": "found"}
{"content": "any", "repeat": true})");
  ModelRequest request = asking("the needle");
  request.tools.push_back({"t", "a tool", Value::object()});
  EXPECT_EQ(said(scripted->reply(request, {})), "found");
  EXPECT_EQ(said(scripted->reply(request, {})), "any");
  EXPECT_EQ(said(scripted->reply(asking("x", {.workflow = "wr.a", .step = "two"}), {})), "a two");
  EXPECT_EQ(said(scripted->reply(asking("x", {.role = "reviewer"}), {})), "review");
  const ModelResult last = scripted->reply(asking("x", {.role = "reviewer"}), {});
  EXPECT_EQ(said(last), "any");
  EXPECT_EQ(last->mark, "") << "never used up, so nothing is stored";
}

TEST_F(ScriptedTest, MatchesToolResultsAndTheSystemText) {
  auto scripted = model(R"({"when": {"contains": "exit 3"}, "content": "result"}
{"when": {"contains": "You are"}, "content": "system"})");
  ModelRequest request = asking("x");
  request.system = {"You are it"};
  EXPECT_EQ(said(scripted->reply(request, {})), "system");
  request.messages.push_back(
      {Message::From::kUser,
       {Value::object({{"type", "tool_result"}, {"tool_use_id", "t"}, {"content", "exit 3"}, {"is_error", true}})}});
  EXPECT_EQ(said(scripted->reply(request, {})), "result");
}

TEST_F(ScriptedTest, AFailedExpectationNamesTheLineAndWhatIsMissing) {
  auto scripted = model("{\"content\": \"ok\", \"expect\": {\"contains\": \"goal\", \"lacks\": [\"secret\"]}}");
  EXPECT_EQ(said(scripted->reply(asking("x"), {})),
            "script: /s/replies.jsonl:1:1: The request does not meet the script's `expect`: \"goal\" is missing.");
  EXPECT_EQ(said(scripted->reply(asking("goal secret"), {})),
            "script: /s/replies.jsonl:1:1: The request does not meet the script's `expect`: \"secret\" must "
            "not occur.");
  EXPECT_EQ(said(scripted->reply(asking("goal"), {})), "ok") << "a line that did not match is not used up";
}

TEST_F(ScriptedTest, FillsInIdsAndTheStopReason) {
  auto scripted =
      model(R"({"content": [{"type": "text", "text": "hi"}, {"type": "tool_use", "name": "Read", "input": {"a": 1}}], )"
            R"("usage": {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 3}})"
            "\n"
            R"({"content": [{"type": "tool_use", "id": "mine", "name": "Read"}], "stop_reason": "max_tokens"})");
  const ModelResult first = scripted->reply(asking("x"), {});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->content[1].string_at("id"), "toolu_1_1");
  EXPECT_EQ(first->stop, StopReason::kToolUse);
  EXPECT_EQ(first->usage, (Usage{.input = 10, .output = 5, .cache_read = 3}));
  const ModelResult second = scripted->reply(asking("x"), {});
  EXPECT_EQ(second->content[0].string_at("id"), "mine");
  EXPECT_EQ(second->stop, StopReason::kMaxTokens);
}

TEST_F(ScriptedTest, ContinuesAfterARestartFromTheStore) {
  const std::string script = "{\"content\": \"one\"}\n{\"content\": \"two\"}";
  keep(model(script)->reply(asking("x"), {}));
  EXPECT_EQ(said(model(script)->reply(asking("x"), {})), "two");
  EXPECT_EQ(said(model(script)->reply(asking("x"), {})), "two") << "that turn was never stored";
}

TEST_F(ScriptedTest, ReturnsTheSameLineForARepeatedTurn) {
  auto scripted = model("{\"content\": \"one\"}\n{\"content\": \"two\"}");
  const ModelRequest first = asking("x", {.session = "s", .turn = 1});
  EXPECT_EQ(said(scripted->reply(first, {})), "one");
  EXPECT_EQ(said(scripted->reply(first, {})), "one");
  EXPECT_EQ(said(scripted->reply(asking("x", {.session = "s", .turn = 2}), {})), "two");
}

TEST_F(ScriptedTest, AnErrorIsUsedUpImmediatelyAndAcrossARestart) {
  const std::string script =
      "{\"error\": {\"kind\": \"overloaded\", \"message\": \"busy\", \"retry_after_ms\": 70}}\n{\"content\": \"two\"}";
  const ModelResult failed = model(script)->reply(asking("x", {.session = "s", .turn = 1}), {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ModelError::Kind::kOverloaded);
  EXPECT_EQ(failed.error().retry_after_ms, 70);
  EXPECT_EQ(failed.error().error.message, "busy");
  EXPECT_EQ(said(model(script)->reply(asking("x", {.session = "s", .turn = 1}), {})), "two");
}

TEST_F(ScriptedTest, ParallelSessionsNeverGetTheSameLine) {
  constexpr int kEach = 50;
  std::string script;
  for (int i = 0; i < 4 * kEach; ++i) script += "{\"content\": \"" + std::to_string(i) + "\"}\n";
  const auto used = std::make_shared<UsedLines>(*store);
  std::vector<std::unique_ptr<Model>> models;
  for (int i = 0; i < 4; ++i) models.push_back(model(script, used));
  std::mutex mutex;
  std::multiset<std::string> got;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int turn = 1; turn <= kEach; ++turn) {
        const auto text = said(models[i]->reply(asking("x", {.session = std::to_string(i), .turn = turn}), {}));
        const std::scoped_lock lock(mutex);
        got.insert(text);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::set(got.begin(), got.end()).size(), 4u * kEach);
}

TEST_F(ScriptedTest, AnInterruptedDelayDoesNotUseUpTheLine) {
  auto scripted = model("{\"content\": \"late\", \"delay_ms\": 60000}");
  ModelRequest request = asking("x");
  int looks = 0;
  request.should_continue = [&] { return ++looks < 5; };
  EXPECT_EQ(said(scripted->reply(request, {})), "stopped: Interrupted.");
  request.should_continue = {};
  EXPECT_EQ(said(scripted->reply(request, [](auto) { return false; })), "stopped: Interrupted.");
  EXPECT_EQ(said(scripted->reply(request, {})), "late");
}

TEST_F(ScriptedTest, RejectsAnInvalidScriptWithFileAndLine) {
  EXPECT_TRUE(refusal("{\"content\": \"a\"}\nnonsense").starts_with("/s/replies.jsonl:2")) << refusal("\nnonsense");
  EXPECT_TRUE(refusal("# c\n\n{\"contents\": \"a\"}").starts_with("/s/replies.jsonl:3"))
      << refusal("{\"contents\": 1}");
  for (const char* line :
       {"{}", "[]", "{\"content\": 1}", "{\"content\": [1]}", "{\"content\": [{\"type\": \"tool_use\"}]}",
        "{\"content\": [{\"type\": \"text\"}]}", "{\"content\": \"a\", \"error\": {\"kind\": \"cut\"}}",
        "{\"error\": {\"kind\": \"over\"}}", "{\"error\": {}}", "{\"content\": \"a\", \"delay_ms\": -1}",
        "{\"content\": \"a\", \"when\": {\"contain\": \"x\"}}", "{\"content\": \"\xff\"}"}) {
    EXPECT_TRUE(refusal(line).starts_with("/s/replies.jsonl:1")) << line << " -> " << refusal(line);
  }
  EXPECT_TRUE(refusal("{\"error\": {\"kind\": \"overload\"}}").contains("Did you mean overloaded?"));
}

TEST(ReplyTest, ConvertsToAValueAndBack) {
  ModelReply reply;
  reply.content = {Value::object({{"type", "thinking"}, {"thinking", "hm"}, {"signature", "s"}}),
                   Value::object({{"type", "tool_use"}, {"id", "i"}, {"name", "n"}, {"input", "no json"}})};
  reply.stop = StopReason::kRefusal;
  reply.usage = {1, 2, 3, 4};
  reply.model = "m";
  reply.mark = "s/1";
  const auto back = reply_from(*parse_json(to_canonical_json(to_value(reply))));
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(to_canonical_json(to_value(*back)), to_canonical_json(to_value(reply)));
  EXPECT_FALSE(reply_from(Value("x")));
  EXPECT_FALSE(reply_from(Value::object({{"content", Value::object()}})));
  EXPECT_FALSE(reply_from(Value::object({{"content", Value(Value::Array{Value::object({{"type", 1}})})}})));
}

}  // namespace
}  // namespace sb::agent
