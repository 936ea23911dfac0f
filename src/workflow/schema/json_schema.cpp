#include "workflow/schema/json_schema.hpp"

#include <fmt/format.h>

#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "workflow/schema/mismatches.hpp"
#include "workflow/schema/tree.hpp"

namespace sb::workflow {
namespace {

// A NUL would end the text early in other programs.
bool is_whole(const std::string& text) {
  return text.find('\0') == std::string::npos && is_utf8(text);
}

// The first thing that prevents a value from being checked at all: its depth, its size, bytes that are not text.
std::optional<SchemaViolation> unfit_to_check(const Value& value, int depth, std::size_t& left) {
  if (depth > limits::kDocumentDepth) {
    return SchemaViolation{"", fmt::format("is nested deeper than {} levels", limits::kDocumentDepth)};
  }
  if (left-- == 0) return SchemaViolation{"", fmt::format("has more than {} values", limits::kDocumentNodes)};
  if (value.is_string() && !is_whole(value.as_string()))
    return SchemaViolation{"", "has a text that is not UTF-8 or contains a NUL"};
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (auto unfit = unfit_to_check(value.items()[i], depth + 1, left)) return unfit;
    }
  } else if (value.is_object()) {
    for (const auto& member : value.members()) {
      if (!is_whole(member.name)) return SchemaViolation{"", "has a name that is not UTF-8 or contains a NUL"};
      if (auto unfit = unfit_to_check(member.value, depth + 1, left)) return unfit;
    }
  }
  return std::nullopt;
}

}  // namespace

struct JsonSchema::Rules {
  SchemaTree tree;
};

Result<JsonSchema> JsonSchema::compile(const Value& schema) {
  return JsonSchema(std::make_shared<const Rules>(Rules{SB_TRY(read_schema_tree(schema))}));
}

std::vector<SchemaViolation> JsonSchema::check(const Value& value) const {
  std::size_t nodes = limits::kDocumentNodes;
  if (const auto unfit = unfit_to_check(value, 0, nodes)) return {*unfit};
  return mismatches(*rules_->tree.root, value);
}

}  // namespace sb::workflow
