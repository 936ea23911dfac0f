// Untrusted workflow files in a project: parsed, and if that succeeds, compiled and read back.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "workflow/compile/builtin_texts.hpp"
#include "workflow/compile/compile.hpp"
#include "workflow/definition/definition.hpp"

namespace {

using namespace sb::workflow;

// The built-in contracts, features and refs, and no other workflow.
class Alone : public ReferenceResolver {
 public:
  const Contract* contract(std::string_view ref) const override { return Contracts::bundled().find(ref); }
  std::vector<std::string> contract_refs() const override { return Contracts::bundled().refs(); }
  const Definition* routine(std::string_view) const override { return nullptr; }
  std::vector<std::string> template_ids() const override { return {}; }
  const Definition* workflow(std::string_view) const override { return nullptr; }
  std::vector<std::string> workflow_ids() const override { return {}; }
  const sb::Value* feature(std::string_view id) const override {
    const auto found = builtin_features().find(id);
    return found == builtin_features().end() ? nullptr : &found->second;
  }
  std::vector<std::string> feature_ids() const override { return {}; }
  const std::string* ref(std::string_view id) const override {
    const auto found = builtin_refs().find(id);
    return found == builtin_refs().end() ? nullptr : &found->second;
  }
  std::vector<std::string> ref_ids() const override { return {}; }
  const std::string* binding(std::string_view, std::string_view) const override { return nullptr; }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto document = sb::parse_document("w.yaml", std::string(reinterpret_cast<const char*>(data), size));
  if (!document) return 0;
  const auto definition = read_definition(*document);
  if (!definition) {
    SB_ASSERT(!definition.error().empty());
    for (const sb::Error& fault : definition.error()) SB_ASSERT(!fault.message.empty() && !fault.rule.empty());
    return 0;
  }
  static const Alone kAlone;
  const auto bundle = compile(*document, *definition, kAlone);
  if (!bundle) {
    SB_ASSERT(!bundle.error().empty());
    return 0;
  }
  for (const auto& compiled : *bundle) {
    const auto again = read_pinned(compiled->pinned);
    SB_ASSERT(again.has_value() && (*again)->hash == compiled->hash);
  }
  return 0;
}
