#include "mcp/peer/shapes.hpp"

#include <fmt/format.h>

namespace sb::mcp {

namespace {

void shape_block(Value& block, Revision revision) {
  if (!block.is_object()) return;
  const auto type = block.string_at("type");
  if (type == "resource_link" && revision < Revision::k2025_06_18) {
    const std::string name = block.string_at("name").value_or("");
    const std::string uri = block.string_at("uri").value_or("");
    block = Value::object({{"type", "text"}, {"text", name.empty() ? uri : fmt::format("{}: {}", name, uri)}});
  } else if (type == "audio" && revision < Revision::k2025_03_26) {
    const std::string kind = block.string_at("mimeType").value_or("audio");
    block = Value::object(
        {{"type", "text"}, {"text", fmt::format("({}: not supported by this client's protocol version)", kind)}});
  }
  if (revision < Revision::k2025_06_18) block.erase("_meta");
}

}  // namespace

Value adapted_item(Value item, Revision revision) {
  if (!item.is_object()) return item;
  if (revision < Revision::k2025_03_26 && item.find("inputSchema") != nullptr) item.erase("annotations");
  if (revision < Revision::k2025_06_18) {
    for (const char* name : {"title", "outputSchema", "_meta"}) item.erase(name);
    if (Value* arguments = item.find("arguments"); arguments != nullptr && arguments->is_array())
      for (Value& argument : arguments->items())
        if (argument.is_object()) argument.erase("title");
  }
  if (revision < Revision::k2025_11_25) item.erase("icons");
  if (revision != Revision::k2025_11_25) item.erase("execution");
  return item;
}

Value adapted_result(Value result, Revision revision) {
  if (!result.is_object()) return result;
  if (Value* structured = result.find("structuredContent")) {
    // Before the stateless era it is an object or absent.
    const bool is_known = has_structured_content(revision) && (is_stateless(revision) || structured->is_object());
    if (!is_known) result.erase("structuredContent");
  }
  if (revision >= Revision::k2025_06_18) return result;
  if (Value* content = result.find("content"); content != nullptr && content->is_array())
    for (Value& block : content->items()) shape_block(block, revision);
  if (Value* messages = result.find("messages"); messages != nullptr && messages->is_array())
    for (Value& message : messages->items())
      if (Value* block = message.find("content")) shape_block(*block, revision);
  return result;
}

Value adapted_info(Value info, Revision revision) {
  if (!info.is_object()) return info;
  if (revision < Revision::k2025_06_18) info.erase("title");
  if (revision < Revision::k2025_11_25)
    for (const char* name : {"icons", "websiteUrl", "description"}) info.erase(name);
  return info;
}

Value adapted_question(Value params, Revision revision) {
  if (params.is_object() && revision < Revision::k2025_11_25 && params.string_at("mode") == "form")
    params.erase("mode");
  return params;
}

}  // namespace sb::mcp
