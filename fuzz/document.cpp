// Any bytes as a JSON or YAML document: parsed or rejected, and a parsed document survives being written as JSON.
#include "base/document/document.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const sb::Syntax syntax : {sb::Syntax::kAuto, sb::Syntax::kJson, sb::Syntax::kYaml}) {
    const auto document = sb::parse_document("fuzz", text, syntax);
    if (!document) {
      SB_ASSERT(!document.error().message.empty());
      continue;
    }
    const std::string json = sb::to_json(document->root);
    const auto again = sb::parse_json(json);
    SB_ASSERT(again.has_value());
    SB_ASSERT(sb::to_json(*again) == json);
  }
  return 0;
}
