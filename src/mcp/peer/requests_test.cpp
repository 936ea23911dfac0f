// Requests that a Service answers, as each revision shows the results.
#include "mcp/peer/requests.hpp"

#include <gtest/gtest.h>

#include "mcp/limits.hpp"
#include "mcp/peer/shapes.hpp"
#include "mcp/testing.hpp"

namespace sb::mcp {
namespace {

class RequestsTest : public ::testing::Test {
 protected:
  HandlerResult answer(std::string_view method, std::string_view params, Revision revision = Revision::k2025_11_25) {
    Call call;
    call.revision = revision;
    return answer_request(service, facts, method, json(params), call);
  }
  Value result(std::string_view method, std::string_view params, Revision revision = Revision::k2025_11_25) {
    const HandlerResult outcome = answer(method, params, revision);
    const auto* error = std::get_if<RpcError>(&outcome);
    EXPECT_TRUE(std::holds_alternative<Value>(outcome)) << (error != nullptr ? error->message : "an Ask");
    return std::holds_alternative<Value>(outcome) ? std::get<Value>(outcome) : Value();
  }
  RpcError error(std::string_view method, std::string_view params, Revision revision = Revision::k2025_11_25) {
    const HandlerResult outcome = answer(method, params, revision);
    EXPECT_TRUE(std::holds_alternative<RpcError>(outcome)) << method << params;
    return std::holds_alternative<RpcError>(outcome) ? std::get<RpcError>(outcome) : RpcError{0, "", {}};
  }

  std::shared_ptr<ScriptedService::Script> script = std::make_shared<ScriptedService::Script>();
  ScriptedService service{script};
  ServerFacts facts;
};

TEST_F(RequestsTest, ReturnsListsInPages) {
  for (const std::size_t count : {limits::kPageItems, limits::kPageItems + 1, 2 * limits::kPageItems}) {
    script->fillers = count;
    std::size_t seen = 0, pages = 0;
    for (Value params = Value::object();; ++pages) {
      const Value page = result("tools/list", to_json(params));
      seen += page["tools"].size();
      EXPECT_LE(page["tools"].size(), limits::kPageItems);
      if (page.find("nextCursor") == nullptr) break;
      params.set("cursor", page["nextCursor"]);
    }
    EXPECT_EQ(seen, count);
    EXPECT_EQ(pages, (count - 1) / limits::kPageItems);
  }
}

TEST_F(RequestsTest, ItemsThatAreAddedAreNeitherRepeatedNorSkipOthers) {
  script->fillers = limits::kPageItems + 1;
  const Value first = result("tools/list", "{}");
  script->fillers = limits::kPageItems + 5;
  const Value second = result("tools/list", R"({"cursor":")" + *first.string_at("nextCursor") + "\"}");
  for (const Value& tool : second["tools"].items()) {
    for (const Value& before : first["tools"].items()) EXPECT_NE(tool["name"], before["name"]);
  }
}

TEST_F(RequestsTest, RejectsForeignCursors) {
  script->fillers = 2 * limits::kPageItems;
  const std::string good = result("tools/list", "{}").string_at("nextCursor").value_or("");
  for (const std::string& cursor : {std::string("\"\""), std::string("7"), std::string("null"), std::string("\"100\""),
                                    std::string("\"dG9vbHMvbGlzdDox\""), "\"" + good + "x\"", std::string("{}")})
    EXPECT_EQ(error("tools/list", R"({"cursor":)" + cursor + "}").code, -32602) << cursor;
  EXPECT_EQ(error("prompts/list", R"({"cursor":")" + good + "\"}").code, -32602) << "of another list";
}

TEST_F(RequestsTest, ReportsAMissingResourceAsTheEraRequires) {
  const RpcError before = error("resources/read", R"({"uri":"test://none"})");
  EXPECT_EQ(before.code, -32002);
  const RpcError now = error("resources/read", R"({"uri":"test://none"})", Revision::k2026_07_28);
  EXPECT_EQ(now.code, -32602);
  EXPECT_EQ(to_json(now.data), R"({"uri":"test://none"})");
  EXPECT_EQ(error("resources/read", "{}").code, -32602);
  EXPECT_EQ(error("resources/read", R"({"uri":["a"]})").code, -32602);
}

TEST_F(RequestsTest, SendsCacheLifetimesInTheStatelessEraOnly) {
  script->resources["test://a"] = "A";
  for (const char* method : {"tools/list", "resources/list", "resources/templates/list", "prompts/list"}) {
    const Value now = result(method, "{}", Revision::k2026_07_28);
    EXPECT_TRUE(now["ttlMs"].is_integer()) << method;
    EXPECT_EQ(now.string_at("cacheScope"), "private") << method;
    EXPECT_EQ(result(method, "{}").find("ttlMs"), nullptr) << method;
  }
  EXPECT_EQ(result("resources/read", R"({"uri":"test://a"})", Revision::k2026_07_28)["ttlMs"], Value(0));
}

TEST_F(RequestsTest, SuggestsTheNearestPrompt) {
  script->prompts["release"] = [](const Value&, Call&) -> HandlerResult { return Value::object(); };
  EXPECT_NE(error("prompts/get", R"({"name":"relase"})").message.find("\"release\""), std::string::npos);
  EXPECT_EQ(error("prompts/get", R"({})").code, -32602);
  EXPECT_EQ(error("prompts/get", R"({"name":"release","arguments":7})").code, -32602);
  EXPECT_EQ(error("prompts/get", R"({"name":"release","arguments":{"a":7}})").code, -32602);
}

TEST_F(RequestsTest, CompletesWithAtMostAHundredValues) {
  const Value whole = result("completion/complete",
                             R"({"ref":{"type":"ref/prompt","name":"many"},"argument":{"name":"a","value":"x"}})");
  EXPECT_EQ(whole["completion"]["values"].size(), 100u);
  EXPECT_EQ(whole["completion"]["total"], Value(150));
  EXPECT_EQ(whole["completion"]["hasMore"], Value(true));
  for (const char* params : {"{}", R"({"ref":{"type":"ref/prompt"},"argument":{"name":"a","value":""}})",
                             R"({"ref":{"type":"ref/other","name":"many"},"argument":{"name":"a","value":""}})",
                             R"({"ref":{"type":"ref/prompt","name":"many"}})",
                             R"({"ref":{"type":"ref/prompt","name":"many"},"argument":{"name":"a"}})",
                             R"({"ref":{"type":"ref/prompt","name":"none"},"argument":{"name":"a","value":""}})",
                             R"({"ref":7,"argument":7})"})
    EXPECT_EQ(error("completion/complete", params).code, -32602) << params;
}

TEST_F(RequestsTest, SupportsOnlyMethodsOfDeclaredCapabilities) {
  ServerFacts all{.info = {}, .has_resources = true, .has_prompts = true, .has_completions = true};
  for (const char* method : {"resources/list", "resources/read", "resources/templates/list", "prompts/list",
                             "prompts/get", "completion/complete"}) {
    EXPECT_FALSE(is_service_method(method, facts)) << method;
    EXPECT_TRUE(is_service_method(method, all)) << method;
  }
  EXPECT_TRUE(is_service_method("tools/list", facts));
  EXPECT_FALSE(is_service_method("tools/", all));
  EXPECT_EQ(to_json(capabilities_of(facts, Revision::k2024_11_05)), R"({"tools":{"listChanged":true}})");
}

TEST(Shapes, RemoveWhatARevisionDoesNotSupport) {
  const Value tool = json(R"({"name":"a","title":"A","description":"d","inputSchema":{"type":"object","title":"kept"},
      "outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"icons":[],"execution":{},"_meta":{}})");
  const auto names = [&](Revision revision) {
    std::string text;
    const Value shaped = adapted_item(tool, revision);
    for (const Value::Member& member : shaped.members()) text += member.name + " ";
    return text;
  };
  EXPECT_EQ(names(Revision::k2024_11_05), "name description inputSchema ");
  EXPECT_EQ(names(Revision::k2025_03_26), "name description inputSchema annotations ");
  EXPECT_EQ(names(Revision::k2025_06_18), "name title description inputSchema outputSchema annotations _meta ");
  EXPECT_EQ(names(Revision::k2025_11_25),
            "name title description inputSchema outputSchema annotations icons execution _meta ");
  EXPECT_EQ(names(Revision::k2026_07_28), "name title description inputSchema outputSchema annotations icons _meta ");
}

TEST(Shapes, ConvertUnsupportedBlocksToText) {
  const Value result = json(R"({"content":[{"type":"audio","data":"","mimeType":"audio/wav"},
      {"type":"resource_link","uri":"test://a","name":"A"},{"type":"text","text":"t"},7],"structuredContent":{"a":1}})");
  EXPECT_EQ(adapted_result(result, Revision::k2025_06_18), result);
  const Value old = adapted_result(result, Revision::k2024_11_05);
  EXPECT_EQ(old.find("structuredContent"), nullptr);
  EXPECT_EQ(old["content"].items()[0].string_at("type"), "text");
  EXPECT_EQ(old["content"].items()[1].string_at("text"), "A: test://a");
  EXPECT_EQ(adapted_result(result, Revision::k2025_03_26)["content"].items()[0].string_at("type"), "audio");
  const Value list = json(R"({"content":[],"structuredContent":[1]})");
  EXPECT_EQ(adapted_result(list, Revision::k2025_11_25).find("structuredContent"), nullptr)
      << "only objects at that time";
  EXPECT_NE(adapted_result(list, Revision::k2026_07_28).find("structuredContent"), nullptr);
}

TEST(Capabilities, AreInterpretedByRevision) {
  const auto read = [](std::string_view text, Revision revision) {
    const ClientCapabilities can = ClientCapabilities::of(json(text), revision);
    return std::string(can.has_form_elicitation ? "f" : "") + (can.has_url_elicitation ? "u" : "") +
           (can.has_sampling ? "s" : "") + (can.has_roots ? "r" : "");
  };
  EXPECT_EQ(read(R"({"elicitation":{}})", Revision::k2025_11_25), "f");
  EXPECT_EQ(read(R"({"elicitation":{"form":{},"url":{}}})", Revision::k2026_07_28), "fu");
  EXPECT_EQ(read(R"({"elicitation":{"url":{}}})", Revision::k2025_11_25), "u");
  EXPECT_EQ(read(R"({"elicitation":{"form":{},"url":{}}})", Revision::k2025_06_18), "f");
  EXPECT_EQ(read(R"({"elicitation":{},"sampling":{},"roots":{}})", Revision::k2025_03_26), "sr");
  EXPECT_EQ(read(R"({"elicitation":true,"sampling":[],"roots":null})", Revision::k2025_11_25), "");
  EXPECT_EQ(read("[]", Revision::k2025_11_25), "");
}

TEST(LogLevels, HaveNamesInOrder) {
  for (int i = 0; i < 8; ++i) EXPECT_EQ(log_level_of(name_of(static_cast<LogLevel>(i))), static_cast<LogLevel>(i));
  EXPECT_EQ(log_level_of("Error"), std::nullopt);
  EXPECT_LT(*log_level_of("info"), *log_level_of("error"));
}

}  // namespace
}  // namespace sb::mcp
