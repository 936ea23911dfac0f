#include "workflow/check/contract.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.hpp"
#include "base/crypto.hpp"
#include "base/document/reader.hpp"
#include "base/limits.hpp"
#include "workflow/data.hpp"

namespace sb::workflow {
namespace {

constexpr std::string_view kFolder = "contracts/";

bool is_name(std::string_view text) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  };
  const bool is_letter_first =
      !text.empty() && ((text[0] >= 'a' && text[0] <= 'z') || (text[0] >= 'A' && text[0] <= 'Z'));
  return is_letter_first && text.size() <= limits::kStoreNameBytes / 4 && std::ranges::all_of(text, is_allowed);
}

std::string read_name(Fields& fields, std::string_view name) {
  const auto reader = fields.get(name, Need::kRequired);
  auto text = reader ? reader->string() : std::nullopt;
  if (!text) return {};
  if (is_name(*text)) return std::move(*text);
  reader->fault(fmt::format("\"{}\" is not a valid name", text->substr(0, 64)),
                "Use up to 128 letters, digits, dots, dashes and underscores, starting with a letter");
  return {};
}

std::string read_help(Fields& fields) {
  auto help = fields.string("help", Need::kRequired, limits::kContractHelpBytes);
  if (help && help->empty()) fields.get("help")->fault("the help is empty", "Say in a sentence what to send");
  return help.value_or("");
}

std::optional<JsonSchema> read_schema(const Reader& reader, const Document& document, Faults& faults) {
  auto schema = JsonSchema::compile(reader.value());
  if (schema) return std::move(*schema);
  Error fault = std::move(schema).error();
  fault.location = document.location_of(reader.pointer() + fault.location.pointer);
  faults.push_back(std::move(fault));
  return std::nullopt;
}

std::string line_of(const SchemaViolation& violation) {
  return fmt::format("{} {}", violation.pointer.empty() ? "the artifact" : violation.pointer, violation.message);
}

// One fault for each schema violation, with its location in the file.
void check_example(const Reader& example, const Contract& contract, const Document& document, Faults& faults) {
  if (contract.example.string_at("kind") != contract.kind) {
    example.fault(fmt::format("the example does not have kind \"{}\"", contract.kind), "Add it to the example");
    return;
  }
  for (const SchemaViolation& violation : contract.schema.check(contract.example)) {
    SourceLocation place = document.location_of(example.pointer() + violation.pointer);
    faults.push_back({ErrorCode::kInvalid,
                      violation.pointer.empty()
                          ? "the example " + violation.message
                          : fmt::format("in the example, {} {}", violation.pointer, violation.message),
                      "Change the example or the schema", std::move(place), false});
  }
}

}  // namespace

Checked<Contract> read_contract(const Document& document) {
  Faults faults;
  if (document.text.size() > limits::kWorkflowBytes) {
    faults.push_back(
        {ErrorCode::kLimit,
         fmt::format("the file has {} bytes; a contract may have {}", document.text.size(), limits::kWorkflowBytes),
         "Make it smaller", document.location_of(""), false});
    return std::unexpected(std::move(faults));
  }
  const Reader root(document, faults);
  Fields fields = root.fields();
  std::string ref = read_name(fields, "contract");
  std::string kind = read_name(fields, "kind");
  const auto version = fields.integer("version", 1, 1'000'000, Need::kRequired);
  std::string help = read_help(fields);
  const auto schema_reader = fields.get("schema", Need::kRequired);
  auto schema = schema_reader ? read_schema(*schema_reader, document, faults) : std::nullopt;
  const auto example = fields.get("example", Need::kRequired);
  fields.finish();
  if (!faults.empty() || !schema) return std::unexpected(std::move(faults));
  Contract contract{
      std::move(ref),     std::move(kind),  std::move(help), static_cast<int>(*version),
      std::move(*schema), example->value(), document.root,   sha256_hex(to_canonical_json(document.root))};
  check_example(*example, contract, document, faults);
  if (!faults.empty()) return std::unexpected(std::move(faults));
  return contract;
}

const Contracts& Contracts::bundled() {
  static const Contracts contracts = [] {
    Contracts made;
    for (const std::string_view name : bundled::data_names()) {
      if (!name.starts_with(kFolder)) continue;
      const auto document = parse_document(std::string(name), std::string(bundled::data_file(name)), Syntax::kJson);
      SB_ASSERT(document.has_value());
      auto contract = read_contract(*document);
      SB_ASSERT(contract.has_value());
      made.add(std::make_shared<const Contract>(std::move(*contract)));
    }
    return made;
  }();
  return contracts;
}

void Contracts::add(std::shared_ptr<const Contract> contract) {
  std::string ref = contract->ref;
  by_ref_.insert_or_assign(std::move(ref), std::move(contract));
}

const Contract* Contracts::find(std::string_view ref) const {
  const auto found = by_ref_.find(ref);
  return found == by_ref_.end() ? nullptr : found->second.get();
}

std::vector<const Contract*> Contracts::all() const {
  std::vector<const Contract*> contracts;
  for (const auto& [ref, contract] : by_ref_) contracts.push_back(contract.get());
  return contracts;
}

std::vector<std::string> Contracts::refs() const {
  std::vector<std::string> refs;
  for (const auto& [ref, contract] : by_ref_) refs.push_back(ref);
  return refs;
}

std::vector<std::string> violations(const Contract& contract, const Value& artifact) {
  std::vector<std::string> lines;
  for (const SchemaViolation& violation : contract.schema.check(artifact)) lines.push_back(line_of(violation));
  return lines;
}

}  // namespace sb::workflow
