// Resources, prompts and completion, as a client reads them.
#include "mcp/tools/resources.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "mcp/tools/signalbox_server.hpp"
#include "mcp/tools/testing.hpp"

namespace sb::mcp {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Resources : public ToolFixture {
 protected:
  Value read(const std::string& uri) {
    auto outcome = service->read_resource(uri, call);
    if (!outcome) return {};
    const Value got = std::get<Value>(*outcome);
    EXPECT_EQ(got["contents"].items().front().string_at("uri"), uri);
    return *parse_json(*got["contents"].items().front().string_at("text"));
  }
};

TEST_F(Resources, TagsAndSessionsCanBeRead) {
  EXPECT_THAT(read("workrail://tags")["tags"].items(), Not(IsEmpty()));
  const Value first = start();
  const std::string id = *first.string_at("sessionId");
  const Value session = read("signalbox://session/" + id);
  EXPECT_EQ(session.string_at("workflowId"), "two-steps");
  EXPECT_EQ(session["steps"].items().front().string_at("stepId"), "one");
  EXPECT_EQ(to_json(session).find("ct_"), std::string::npos) << "a token would let its reader advance the session";
  EXPECT_EQ(read("signalbox://session/" + id.substr(0, 12)).string_at("sessionId"), id);
}

TEST_F(Resources, UnknownResourcesAreNotFound) {
  for (const char* uri :
       {"workrail://tag", "signalbox://session/", "signalbox://session/s-nothing", "", "file:///etc"}) {
    EXPECT_FALSE(service->read_resource(uri, call)) << uri;
  }
  EXPECT_FALSE(service->has_resource("file:///etc/passwd"));
}

TEST_F(Resources, FingerprintChangesWithTheContent) {
  const Value first = start();
  const std::string uri = "signalbox://session/" + *first.string_at("sessionId");
  const std::string before = service->fingerprint(uri);
  EXPECT_EQ(service->fingerprint(uri), before);
  line("continue_workflow", R"({"continueToken": ")" + token_of(first) + R"(", "notes": "N", "context": {"size": 1}})");
  EXPECT_NE(service->fingerprint(uri), before);
  EXPECT_EQ(service->fingerprint("signalbox://session/s-none"), service->fingerprint("signalbox://session/s-none"));
}

TEST_F(Resources, SessionIdsAreCompleted) {
  const std::string id = *start().string_at("sessionId");
  const Value reference = Value::object({{"type", "ref/resource"}, {"uri", "signalbox://session/{id}"}});
  EXPECT_THAT(service->complete(reference, "id", id.substr(0, 5), {})->values, ElementsAre(id));
  EXPECT_THAT(service->complete(reference, "id", "x", {})->values, IsEmpty());
  EXPECT_FALSE(service->complete(reference, "ids", "", {}));
}

TEST_F(Resources, CompletionCountsTheSessionsItDoesNotList) {
  for (int i = 0; i < 104; ++i) start();
  start();
  const Value reference = Value::object({{"type", "ref/resource"}, {"uri", "signalbox://session/{id}"}});
  const auto any = service->complete(reference, "id", "", {});
  EXPECT_EQ(any->values.size(), 100u);
  EXPECT_EQ(any->total, 105u);
  EXPECT_EQ(service->complete(reference, "id", "s-", {})->total, 105u);
}

TEST_F(Resources, WorkflowsArePromptsAndTheirIdsAreCompleted) {
  std::vector<std::string> names;
  const Value prompts = service->prompts();
  for (const Value& prompt : prompts.items()) names.push_back(*prompt.string_at("name"));
  EXPECT_THAT(names, Contains("wr.coding-task"));
  EXPECT_THAT(names, Contains("workflow"));
  const Value reference = Value::object({{"type", "ref/prompt"}, {"name", "workflow"}});
  EXPECT_THAT(service->complete(reference, "workflowId", "wr.coding", {})->values, ElementsAre("wr.coding-task"));
  EXPECT_THAT(service->complete(reference, "workflowId", "coding-t", {})->values, ElementsAre("wr.coding-task"));
  EXPECT_FALSE(service->complete(Value::object({{"type", "ref/prompt"}, {"name", "none"}}), "goal", "", {}));
}

TEST_F(Resources, PromptNamesTheToolToCall) {
  const auto text_of_prompt = [&](std::string_view name, const Value& given) {
    const auto outcome = service->get_prompt(name, given, call);
    if (!outcome || !std::holds_alternative<Value>(*outcome)) return std::string();
    return *std::get<Value>(*outcome)["messages"].items().front()["content"].string_at("text");
  };
  const std::string own = text_of_prompt("wr.coding-task", Value::object({{"goal", "Faster"}}));
  EXPECT_THAT(own, HasSubstr("Goal: Faster\nIf the person wrote more"));
  EXPECT_THAT(own, HasSubstr("\"wr.coding-task\""));
  EXPECT_EQ(text_of_prompt("workflow", Value::object({{"workflowId", "wr.coding-task"}, {"goal", "Faster"}})), own);
  EXPECT_THAT(text_of_prompt("wr.coding-task", Value::object()), HasSubstr("if nothing, ask them"));
  EXPECT_FALSE(service->get_prompt("none", Value::object(), call));
  const auto wrong = service->get_prompt("workflow", Value::object({{"workflowId", "wr.coding-tas"}}), call);
  ASSERT_TRUE(wrong && std::holds_alternative<RpcError>(*wrong));
  EXPECT_THAT(std::get<RpcError>(*wrong).message, HasSubstr("wr.coding-task"));
}

TEST_F(Resources, TwoServersOnOneHomeShareTheSealKeyAndUseAStateOnce) {
  const Seams seams{files, clock, random, process, environment, streams};
  const ServerParts one = make_server_parts(seams);
  const ServerParts two = make_server_parts(seams);
  EXPECT_FALSE(std::filesystem::exists(directory + "/own")) << "nothing is opened until it is needed";
  EXPECT_EQ(one.seal_key(), two.seal_key());
  const TimestampMs soon = clock.now_ms() + 1'000;
  EXPECT_TRUE(*one.is_first_use("n1", soon));
  EXPECT_FALSE(*two.is_first_use("n1", soon));
  EXPECT_TRUE(*two.is_first_use("n2", soon + 60'000));
}

TEST_F(Resources, UsedStatesAreForgottenWhenTheyExpire) {
  const Seams seams{files, clock, random, process, environment, streams};
  const ServerParts server = make_server_parts(seams);
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(*server.is_first_use(fmt::format("n{}", i), clock.now_ms() + 1'000));
  clock.sleep_ms(2'000);
  EXPECT_TRUE(*server.is_first_use("later", clock.now_ms() + 1'000));
  const auto home = inbox::Home::open(seams, store::Access::kReadWrite);
  ASSERT_TRUE(home);
  const auto rows =
      (*home)->store().read([](store::Snapshot& snapshot) { return snapshot.list("request-states", {.limit = 100}); });
  EXPECT_EQ(rows->size(), 1u);
}

TEST(ServerParts, InstructionsAreShort) {
  SystemFiles files;
  FakeClock clock;
  FakeRandom random;
  SystemProcess process;
  Environment environment;
  FakeStreams streams;
  const ServerParts parts = make_server_parts({files, clock, random, process, environment, streams});
  EXPECT_LE(parts.facts.instructions.size(), 1'536u);
  EXPECT_THAT(parts.facts.instructions, HasSubstr("continue_workflow"));
}

}  // namespace
}  // namespace sb::mcp
