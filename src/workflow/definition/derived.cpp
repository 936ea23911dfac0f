// What is derived from a delivery: keys that Signalbox counts itself, and contracts that a step narrows.
#include <fmt/format.h>

#include "workflow/definition/definition_readers.hpp"

namespace sb::workflow {
namespace {

std::shared_ptr<const JsonSchema> schema_of(Fields& fields, std::string_view name) {
  const auto reader = fields.get(name);
  if (!reader) return nullptr;
  auto compiled = JsonSchema::compile(reader->value());
  if (compiled) return std::make_shared<const JsonSchema>(std::move(*compiled));
  Error error = compiled.error();
  error.rule = "bad_schema";
  reader->adopt(std::move(error));
  return nullptr;
}

}  // namespace

std::vector<Narrowing> narrowings_of(Fields& fields) {
  std::vector<Narrowing> narrowings;
  if (!fields.has("narrow")) return narrowings;
  for (const Reader& item : items_of(fields, "narrow", {.min_items = 1, .max_items = 10})) {
    Narrowing narrowing;
    Fields inner = item.fields();
    if (!item.value().is_object()) continue;
    narrowing.when = condition_of(inner, "when");
    narrowing.schema = schema_of(inner, "schema");
    if (const auto source = inner.get("schema")) narrowing.source = source->value();
    narrowing.message = text_of(inner, "message", 1, 512);
    if (finish(inner, {"schema", "message"}) && narrowing.schema) narrowings.push_back(std::move(narrowing));
  }
  return narrowings;
}

std::vector<DerivedCount> counts_of(Fields& fields) {
  std::vector<DerivedCount> counts;
  const auto reader = fields.get("counts");
  if (!reader) return counts;
  reader->fields();
  if (!reader->value().is_object()) return counts;
  for (const auto& [key, value] : reader->value().members()) {
    const Reader part = reader->at(value);
    if (!is_name(key) || key.size() > 64) {
      fault(part, "bad_name", fmt::format("\"{}\" is not a valid context key", key.substr(0, 80)),
            "Use at most 64 letters, digits and underscores, not starting with a digit");
    }
    DerivedCount count{.key = key};
    Fields inner = part.fields();
    if (!value.is_object()) continue;
    count.of = text_of(inner, "of", 1, 128);
    count.where = condition_of(inner, "where");
    finish(inner, {"of"});
    counts.push_back(std::move(count));
  }
  return counts;
}

}  // namespace sb::workflow
