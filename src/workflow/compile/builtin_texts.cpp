#include "workflow/compile/builtin_texts.hpp"

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "workflow/data.hpp"

namespace sb::workflow {
namespace {

Value builtin(std::string_view name) {
  auto tree = parse_json(data_file(name));
  SB_ASSERT(tree && tree->is_object());
  return std::move(*tree);
}

}  // namespace

const std::map<std::string, Value, std::less<>>& builtin_features() {
  static const auto features = [] {
    std::map<std::string, Value, std::less<>> by_id;
    const Value all = builtin("features.yaml");
    for (const auto& member : all.members()) by_id.emplace(member.name, member.value);
    return by_id;
  }();
  return features;
}

const std::map<std::string, std::string, std::less<>>& builtin_refs() {
  static const auto refs = [] {
    std::map<std::string, std::string, std::less<>> by_id;
    const Value all = builtin("refs.yaml");
    for (const auto& member : all.members()) by_id.emplace(member.name, member.value.as_string());
    return by_id;
  }();
  return refs;
}

}  // namespace sb::workflow
