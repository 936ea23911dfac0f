// Any bytes as a contract, and any schema against any value: parsed or rejected, and checked within limits.
#include "workflow/check/contract.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "workflow/schema/json_schema.hpp"
#include "workflow/schema/mismatches.hpp"

namespace {

// The input up to the first NUL is a schema, the rest a value.
void check_pair(const std::string& text) {
  const std::size_t cut = text.find('\0');
  if (cut == std::string::npos) return;
  const auto schema = sb::parse_json(std::string_view(text).substr(0, cut));
  const auto value = sb::parse_json(std::string_view(text).substr(cut + 1));
  if (!schema || !value) return;
  const auto compiled = sb::workflow::JsonSchema::compile(*schema);
  if (!compiled) {
    SB_ASSERT(!compiled.error().message.empty());
    return;
  }
  const auto violations = compiled->check(*value);
  SB_ASSERT(violations.size() <= sb::workflow::kMaxSchemaViolations);
  for (const auto& violation : violations) SB_ASSERT(!violation.message.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_pair(text);
  const auto document = sb::parse_document("fuzz", text);
  if (!document) return 0;
  const auto contract = sb::workflow::read_contract(*document);
  if (contract) {
    SB_ASSERT(violations(*contract, contract->example).empty());
  } else {
    SB_ASSERT(!contract.error().empty());
  }
  return 0;
}
