#include "net/json_rpc.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/document/document.hpp"
#include "net/limits.hpp"

namespace sb::net {
namespace {

using testing::HasSubstr;

// Describes what was read in one line: `request 1 ping {}`, `malformed null -32700`, …
std::string describe(const RpcMessage& message) {
  struct Teller {
    std::string operator()(const RpcRequest& m) const {
      return "request " + to_json(m.id) + " " + m.method + " " + to_json(m.params);
    }
    std::string operator()(const RpcNotification& m) const {
      return "notification " + m.method + " " + to_json(m.params);
    }
    std::string operator()(const RpcResponse& m) const {
      if (const auto* result = std::get_if<Value>(&m.outcome))
        return "result " + to_json(m.id) + " " + to_json(*result);
      const auto& error = std::get<RpcError>(m.outcome);
      return "error " + to_json(m.id) + " " + std::to_string(error.code) + " " + error.message + " " +
             to_json(error.data);
    }
    std::string operator()(const Malformed& m) const {
      return "malformed " + to_json(m.id) + " " + std::to_string(m.error.code);
    }
  };
  return std::visit(Teller{}, message);
}

std::string describe(std::string_view bytes) {
  const RpcRead read = read_rpc(bytes);
  std::string out = read.is_batch ? "batch: " : "";
  for (std::size_t i = 0; i < read.messages.size(); ++i) out += (i == 0 ? "" : "; ") + describe(read.messages[i]);
  return out;
}

TEST(JsonRpc, ReadsAllMessageKinds) {
  const std::pair<const char*, const char*> table[] = {
      {R"({"jsonrpc":"2.0","id":1,"method":"ping"})", "request 1 ping {}"},
      {R"( {"method":"a/b","params":{"x":[1]},"id":"k","jsonrpc":"2.0"} )", R"(request "k" a/b {"x":[1]})"},
      {R"({"jsonrpc":"2.0","id":0,"method":"ping","params":null})", "request 0 ping {}"},
      {R"({"jsonrpc":"2.0","id":"","method":"ping"})", "request \"\" ping {}"},
      {R"({"jsonrpc":"2.0","id":-7,"method":"ping"})", "request -7 ping {}"},
      {R"({"jsonrpc":"2.0","id":1e3,"method":"ping"})", "request 1000 ping {}"},
      {R"({"jsonrpc":"2.0","method":"n"})", "notification n {}"},
      {R"({"jsonrpc":"2.0","method":"n","params":{"a":1},"more":2})", R"(notification n {"a":1})"},
      {R"({"jsonrpc":"2.0","id":3,"result":{"a":null}})", R"(result 3 {"a":null})"},
      {R"({"jsonrpc":"2.0","id":"3","error":{"code":-32602,"message":"no","data":[1]}})", R"(error "3" -32602 no [1])"},
      {R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}})", "error null -32700 no null"},
      {R"({"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}})", "error null 1 no null"},
      {R"([{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"n"}])",
       "batch: request 1 ping {}; notification n {}"},
  };
  for (const auto& [bytes, expected] : table) EXPECT_EQ(describe(bytes), expected) << bytes;
}

TEST(JsonRpc, ReportsMalformedMessagesUnderTheRightId) {
  const std::pair<std::string, const char*> table[] = {
      {"", "malformed null -32700"},
      {"nonsense", "malformed null -32700"},
      {R"({"jsonrpc":"2.0","id":1,"method":"pi)", "malformed 1 -32700"},
      {R"({"jsonrpc":"2.0","id":"k","method":"m","params":{"id":2,"x":1e400}})", "malformed \"k\" -32700"},
      {R"({"id":-4,"method":"m","params":{"a":1,"a":2}})", "malformed -4 -32700"},
      {R"({"id":1,"result":{"a":1,"a":2}})", "malformed null -32700"},
      {R"({"method":"id","params":{"a":1,"a":2}})", "malformed null -32700"},
      {R"({"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"})", "malformed null -32700"},
      {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", "malformed 1 -32700"},
      {std::string("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\0b\"}", 39), "malformed 1 -32700"},
      {R"({"jsonrpc":"2.0","id":1,"id":2,"method":"ping"})", "malformed null -32700"},
      {"17", "malformed null -32600"},
      {"null", "malformed null -32600"},
      {R"("ping")", "malformed null -32600"},
      {"{}", "malformed null -32600"},
      {R"({"id":1,"method":"ping"})", "malformed 1 -32600"},
      {R"({"jsonrpc":"1.0","id":1,"method":"ping"})", "malformed 1 -32600"},
      {R"({"jsonrpc":2.0,"id":1,"method":"ping"})", "malformed 1 -32600"},
      {R"({"jsonrpc":"2.0","id":1})", "malformed 1 -32600"},
      {R"({"jsonrpc":"2.0","id":1,"method":17})", "malformed 1 -32600"},
      {R"({"jsonrpc":"2.0","id":1,"method":"a","result":{}})", "malformed 1 -32600"},
      {R"({"jsonrpc":"2.0","id":1,"method":"a","params":[1]})", "malformed 1 -32602"},
      {R"({"jsonrpc":"2.0","id":1,"method":"a","params":"{}"})", "malformed 1 -32602"},
      {R"({"jsonrpc":"2.0","id":null,"method":"a"})", "malformed null -32600"},
      {R"({"jsonrpc":"2.0","id":1.5,"method":"a"})", "malformed null -32600"},
      {R"({"jsonrpc":"2.0","id":1e300,"method":"a"})", "malformed null -32600"},
      {R"({"jsonrpc":"2.0","id":18446744073709551615,"method":"a"})", "malformed null -32600"},
      {R"({"jsonrpc":"2.0","id":{},"method":"a"})", "malformed null -32600"},
      {R"({"jsonrpc":"2.0","id":true,"method":"a"})", "malformed null -32600"},
      // Never under the id of a response: that would answer another request.
      {R"({"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}})", "malformed null -32600"},
      {R"({"jsonrpc":"2.0","id":1,"error":"bad"})", "malformed null -32600"},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":"1","message":""}})", "malformed null -32600"},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":99999999999,"message":""}})", "malformed null -32600"},
      {R"({"jsonrpc":"2.0","result":{}})", "malformed null -32600"},
      {R"({"id":1,"result":{}})", "malformed null -32600"},
      {"[]", "malformed null -32600"},
      {"[1]", "batch: malformed null -32600"},
      {R"([[],{"jsonrpc":"2.0","id":1,"method":"ping"}])", "batch: malformed null -32600; request 1 ping {}"},
  };
  for (const auto& [bytes, expected] : table) EXPECT_EQ(describe(bytes), expected) << bytes;
}

// What JavaScript produces for a text that was cut in the middle of a character.
TEST(JsonRpc, ReplacesHalfASurrogatePair) {
  const std::pair<const char*, const char*> table[] = {
      {R"("cut \ud83d")", "cut \xef\xbf\xbd"},         {R"("\ude00 cut")", "\xef\xbf\xbd cut"},
      {R"("\uD83D\uDE00")", "\xf0\x9f\x98\x80"},       {R"("\ud83d\ud83d\ude00")", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
      {R"("\\ud83d \ud83d")", "\\ud83d \xef\xbf\xbd"},
  };
  for (const auto& [text, expected] : table) {
    const RpcRead read = read_rpc(fmt::format(R"({{"jsonrpc":"2.0","id":1,"method":"m","params":{{"t":{}}}}})", text));
    const auto* request = std::get_if<RpcRequest>(&read.messages.front());
    ASSERT_NE(request, nullptr) << text;
    EXPECT_EQ(request->params.string_at("t"), expected) << text;
  }
}

TEST(JsonRpc, EnforcesItsLimits) {
  const auto nested = [](int depth) {
    return R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"x":)" + std::string(depth, '[') +
           std::string(depth, ']') + "}}";
  };
  EXPECT_THAT(describe(nested(limits::kMessageDepth - 2)), HasSubstr("request 1 a"));
  EXPECT_EQ(describe(nested(limits::kMessageDepth - 1)), "malformed 1 -32600");

  const auto long_one = [](std::size_t bytes) {
    std::string text = R"({"jsonrpc":"2.0","id":1,"method":"a","params":{"x":""}})";
    text.insert(text.size() - 3, bytes - text.size(), 'x');
    return text;
  };
  EXPECT_THAT(describe(long_one(limits::kMessageBytes)), HasSubstr("request 1 a"));
  EXPECT_EQ(describe(long_one(limits::kMessageBytes + 1)), "malformed 1 -32600");

  const auto batch = [](std::size_t count) {
    std::string text = "[";
    for (std::size_t i = 0; i < count; ++i) text += R"({"jsonrpc":"2.0","method":"n"},)";
    text.back() = ']';
    return read_rpc(text).messages.size();
  };
  EXPECT_EQ(batch(limits::kBatchMessages), limits::kBatchMessages);
  EXPECT_EQ(batch(limits::kBatchMessages + 1), 1u);
}

TEST(JsonRpc, BuildsMessagesThatReadBack) {
  EXPECT_EQ(to_json(rpc_request("a", "ping", {})), R"({"jsonrpc":"2.0","id":"a","method":"ping"})");
  EXPECT_EQ(to_json(rpc_notification("n", Value::object({{"x", 1}}))),
            R"({"jsonrpc":"2.0","method":"n","params":{"x":1}})");
  EXPECT_EQ(to_json(rpc_result(7, Value::object())), R"({"jsonrpc":"2.0","id":7,"result":{}})");
  EXPECT_EQ(to_json(rpc_error(7, {-32601, "no such method"})),
            R"({"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no such method"}})");
  // In both schemas the id is optional and never null.
  EXPECT_EQ(to_json(rpc_error({}, {-32700, "not JSON", Value::array()})),
            R"({"jsonrpc":"2.0","error":{"code":-32700,"message":"not JSON","data":[]}})");
  EXPECT_EQ(describe(to_json(rpc_error({}, {-32700, "not JSON"}))), "error null -32700 not JSON null");
}

}  // namespace
}  // namespace sb::net
