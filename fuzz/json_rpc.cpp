// Any bytes as a JSON-RPC message: something is read, malformed input can be answered, and a valid message stays the
// same when written and read again.
#include "net/json_rpc.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.hpp"

namespace {

using namespace sb;
using namespace sb::net;

bool is_id(const Value& id) {
  return id.is_string() || id.is_integer();
}

Value made_again(const RpcMessage& message) {
  struct Maker {
    Value operator()(const RpcRequest& m) const {
      SB_ASSERT(is_id(m.id) && m.params.is_object());
      return rpc_request(m.id, m.method, m.params);
    }
    Value operator()(const RpcNotification& m) const {
      SB_ASSERT(m.params.is_object());
      return rpc_notification(m.method, m.params);
    }
    Value operator()(const RpcResponse& m) const {
      if (const auto* result = std::get_if<Value>(&m.outcome)) {
        SB_ASSERT(is_id(m.id));
        return rpc_result(m.id, *result);
      }
      SB_ASSERT(is_id(m.id) || m.id.is_null());
      return rpc_error(m.id, std::get<RpcError>(m.outcome));
    }
    Value operator()(const Malformed& m) const {
      SB_ASSERT((is_id(m.id) || m.id.is_null()) && !m.error.message.empty());
      return rpc_error(m.id, m.error);
    }
  };
  return std::visit(Maker{}, message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const RpcRead read = read_rpc({reinterpret_cast<const char*>(data), size});
  SB_ASSERT(!read.messages.empty() && (read.is_batch || read.messages.size() == 1));
  for (const RpcMessage& message : read.messages) {
    const std::string text = to_json(made_again(message));
    const RpcRead again = read_rpc(text);
    SB_ASSERT(again.messages.size() == 1 && !std::holds_alternative<Malformed>(again.messages[0]));
    SB_ASSERT(to_json(made_again(again.messages[0])) == text);
  }
  return 0;
}
