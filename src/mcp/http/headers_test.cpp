#include "mcp/http/headers.hpp"

#include <gtest/gtest.h>

#include "mcp/http/testing.hpp"

namespace sb::mcp {
namespace {

constexpr const char* kVersion = "2026-07-28";

Value meta() {
  return Value::object({{"io.modelcontextprotocol/protocolVersion", kVersion},
                        {"io.modelcontextprotocol/clientCapabilities", Value::object()}});
}

net::RpcRequest call(Value arguments) {
  return {.id = 1,
          .method = "tools/call",
          .params = Value::object({{"name", "pick"}, {"arguments", std::move(arguments)}, {"_meta", meta()}})};
}

const ParamHeaders& rules() {
  static const ParamHeaders all = param_headers_of(
      Value(Value::Array{Value::object({{"name", "plain"}, {"inputSchema", Value::object({{"type", "object"}})}}),
                         parse_json(R"({"name": "pick", "inputSchema": {"type": "object", "properties": {
          "region": {"type": "string", "x-mcp-header": "Region"}, "count": {"type": "integer", "x-mcp-header": "Count"},
          "deep": {"type": "object", "properties": {"on": {"type": "boolean", "x-mcp-header": "On"}}}}}})")
                             .value()}));
  return all;
}

// 0 if nothing is wrong, otherwise the code.
int fault_with(net::Headers more, const net::RpcRequest& message) {
  net::Headers headers = {{"MCP-Protocol-Version", kVersion}, {"Mcp-Method", message.method}};
  headers.insert(headers.end(), more.begin(), more.end());
  const auto fault = stateless_fault(http_request("POST", headers), message, rules());
  return fault ? fault->code : 0;
}

TEST(StatelessHeaders, MustMatchTheBody) {
  const net::RpcRequest list{.id = 1, .method = "tools/list", .params = Value::object({{"_meta", meta()}})};
  const auto code = [&](net::Headers headers) {
    const auto fault = stateless_fault(http_request("POST", std::move(headers)), list, {});
    return fault ? fault->code : 0;
  };
  EXPECT_EQ(code({{"mcp-protocol-version", kVersion}, {"MCP-METHOD", " tools/list\t"}}), 0);
  EXPECT_EQ(code({{"Mcp-Method", "tools/list"}}), -32020);
  EXPECT_EQ(code({{"MCP-Protocol-Version", "2025-11-25"}, {"Mcp-Method", "tools/list"}}), -32020);
  EXPECT_EQ(code({{"MCP-Protocol-Version", kVersion}}), -32020);
  EXPECT_EQ(code({{"MCP-Protocol-Version", kVersion}, {"Mcp-Method", "TOOLS/LIST"}}), -32020);
  EXPECT_EQ(code({{"MCP-Protocol-Version", kVersion}, {"Mcp-Method", "tools/list"}, {"Mcp-Method", "tools/list"}}),
            -32020);
}

TEST(StatelessHeaders, NameTheTool) {
  EXPECT_EQ(fault_with({{"Mcp-Name", "pick"}}, call(Value::object())), 0);
  EXPECT_EQ(fault_with({{"Mcp-Name", "=?base64?cGljaw==?="}}, call(Value::object())), 0);
  EXPECT_EQ(fault_with({}, call(Value::object())), -32020);
  EXPECT_EQ(fault_with({{"Mcp-Name", "other"}}, call(Value::object())), -32020);
}

TEST(StatelessHeaders, RepeatMarkedArguments) {
  const net::RpcRequest hello = call(Value::object({{"region", "Hello"}}));
  const auto code = [&](const char* region) {
    return fault_with({{"Mcp-Name", "pick"}, {"Mcp-Param-Region", region}}, hello);
  };
  EXPECT_EQ(code("Hello"), 0);
  EXPECT_EQ(code("=?base64?SGVsbG8=?="), 0);
  for (const char* bad : {"=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?SGVsbG8=", "SGVsbG8=", "hello", "",
                          "=?base64?====?=", "=?base64?SGVsbG9=?="}) {
    EXPECT_EQ(code(bad), -32020) << bad;
  }
  EXPECT_EQ(fault_with({{"Mcp-Name", "pick"}}, hello), -32020);
  EXPECT_EQ(fault_with({{"Mcp-Name", "pick"}, {"Mcp-Param-Region", "x"}}, call(Value::object())), -32020);
  const net::RpcRequest literal = call(Value::object({{"region", "=?base64?SGVsbG8="}}));
  EXPECT_EQ(fault_with({{"Mcp-Name", "pick"}, {"Mcp-Param-Region", "=?base64?SGVsbG8="}}, literal), 0);
}

TEST(StatelessHeaders, CompareNumbersAndBooleansByValue) {
  const net::RpcRequest numbers = call(Value::object({{"count", 3}, {"deep", Value::object({{"on", true}})}}));
  const auto code = [&](const char* count, const char* on) {
    return fault_with({{"Mcp-Name", "pick"}, {"Mcp-Param-Count", count}, {"Mcp-Param-On", on}}, numbers);
  };
  EXPECT_EQ(code("3", "true"), 0);
  EXPECT_EQ(code("3.0", "true"), 0);
  EXPECT_EQ(code("4", "true"), -32020);
  EXPECT_EQ(code("3x", "true"), -32020);
  EXPECT_EQ(code("3", "True"), -32020);
}

TEST(StatelessHeaders, RequireACompleteMeta) {
  const auto code = [](const char* params) {
    const net::RpcRequest message{.id = 1, .method = "server/discover", .params = parse_json(params).value()};
    return fault_with({}, message);
  };
  EXPECT_EQ(code("{}"), -32602);
  EXPECT_EQ(code(R"({"_meta": 3})"), -32602);
  EXPECT_EQ(code(R"({"_meta": {"io.modelcontextprotocol/clientCapabilities": {}}})"), -32602);
  EXPECT_EQ(code(R"({"_meta": {"io.modelcontextprotocol/protocolVersion": 7,
                               "io.modelcontextprotocol/clientCapabilities": {}}})"),
            -32602);
  EXPECT_EQ(code(R"({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}})"), -32602);
  EXPECT_EQ(code(R"({"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                               "io.modelcontextprotocol/clientCapabilities": {}}})"),
            0);
}

TEST(Accept, IsParsedLeniently) {
  const auto takes = [](net::Headers headers) {
    return accepts(http_request("POST", std::move(headers)), "text/event-stream");
  };
  EXPECT_TRUE(takes({}));
  EXPECT_TRUE(takes({{"Accept", "application/json, Text/Event-Stream;q=0.5"}}));
  EXPECT_TRUE(takes({{"Accept", "application/json"}, {"Accept", "text/event-stream"}}));
  EXPECT_TRUE(takes({{"Accept", "*/*"}}));
  EXPECT_TRUE(takes({{"Accept", "text/*"}}));
  EXPECT_FALSE(takes({{"Accept", "application/json"}}));
  EXPECT_FALSE(takes({{"Accept", ""}}));
  EXPECT_FALSE(takes({{"Accept", ",,;"}}));
}

TEST(ContentType, MustBeJson) {
  const auto is = [](net::Headers headers) { return is_json(http_request("POST", std::move(headers))); };
  EXPECT_TRUE(is({{"Content-Type", "application/json"}}));
  EXPECT_TRUE(is({{"content-type", "Application/JSON; charset=utf-8"}}));
  EXPECT_FALSE(is({}));
  EXPECT_FALSE(is({{"Content-Type", "text/plain"}}));
  EXPECT_FALSE(is({{"Content-Type", "application/jsonx"}}));
  EXPECT_FALSE(is({{"Content-Type", "application/json"}, {"Content-Type", "text/plain"}}));
}

}  // namespace
}  // namespace sb::mcp
