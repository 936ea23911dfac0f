#include "workflow/check/contract.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/limits.hpp"

namespace sb::workflow {
namespace {

// Every fault of a contract file as one string each: `/pointer message`.
std::vector<std::string> faults_of(std::string text) {
  const auto document = parse_document("c.yaml", std::move(text));
  if (!document) return {document.error().message};
  const auto contract = read_contract(*document);
  std::vector<std::string> lines;
  if (contract) return lines;
  for (const Error& fault : contract.error()) lines.push_back(fault.location.pointer + " " + fault.message);
  return lines;
}

const char* const kGood = R"(contract: acme.contracts.ticket
kind: acme.ticket
version: 2
help: Name the ticket.
schema:
  {type: object, required: [kind, id], properties: {kind: {const: acme.ticket}, id: {type: string, pattern: "^T-[0-9]+$"}}}
example: {kind: acme.ticket, id: T-12}
)";

TEST(Contract, IsReadFromItsFile) {
  const auto document = parse_document("c.yaml", kGood);
  const auto contract = read_contract(*document);
  ASSERT_TRUE(contract);
  EXPECT_EQ(contract->ref, "acme.contracts.ticket");
  EXPECT_EQ(contract->kind, "acme.ticket");
  EXPECT_EQ(contract->version, 2);
  EXPECT_EQ(contract->help, "Name the ticket.");
  EXPECT_EQ(contract->hash.size(), 64u);
  EXPECT_EQ(contract->source, document->root);
}

TEST(Contract, HashDependsOnTheContentAndNotOnTheSyntax) {
  const auto yaml = read_contract(*parse_document("c.yaml", kGood));
  const auto json = read_contract(*parse_document("c.json", to_pretty_json(parse_document("c.yaml", kGood)->root)));
  std::string changed = kGood;
  changed.replace(changed.find("Name"), 4, "Give");
  ASSERT_TRUE(yaml && json);
  EXPECT_EQ(yaml->hash, json->hash);
  EXPECT_NE(yaml->hash, read_contract(*parse_document("c.yaml", changed))->hash);
}

TEST(Contract, FaultsHaveMessageAndPointer) {
  struct Row {
    const char *cut, *put, *says;
  } rows[] = {
      {"version: 2\n", "", " \"version\" is missing"},
      {"version: 2", "version: two", "/version expected an integer, found a string"},
      {"version: 2", "version: 0", "/version 0 is out of range"},
      {"help: Name the ticket.\n", "", " \"help\" is missing"},
      {"help: Name the ticket.", "help: \"\"", "/help the help is empty"},
      {"kind: acme.ticket\n", "", " \"kind\" is missing"},
      {"contract: acme.contracts.ticket", "contract: \"a b\"", "/contract \"a b\" is not a valid name"},
      {"contract: acme.contracts.ticket", "contract: [a]", "/contract expected a string, found a list"},
      {"version: 2", "version: 2\nhelpp: x", "/helpp unknown key \"helpp\""},
      {"type: object", "type: objekt", "/schema/type \"objekt\" is not a type"},
      {"required:", "requires:", "/schema/requires \"requires\" is not a keyword of JSON Schema draft-07"},
      {"pattern: \"^T-[0-9]+$\"", "pattern: \"(\"",
       "/schema/properties/id/pattern the pattern `(` does not compile: missing closing parenthesis at character 1"},
      {"{type: string, pattern: \"^T-[0-9]+$\"}", "{$ref: ticket.json}",
       "/schema/properties/id/$ref $ref \"ticket.json\" points outside the schema"},
      {"{type: string, pattern: \"^T-[0-9]+$\"}", "{$ref: \"https://example.com/t.json#/x\"}",
       "/schema/properties/id/$ref $ref \"https://example.com/t.json#/x\" points outside the schema"},
      {"T-12", "12", "/example/id in the example, /id must be a string, not 12"},
      {", id: T-12", "", "/example/id in the example, /id is missing; it is a string"},
      {"{kind: acme.ticket, id: T-12}", "{id: T-12}", "/example the example does not have kind \"acme.ticket\""},
      {"{kind: acme.ticket, id: T-12}", "7", "/example the example does not have kind \"acme.ticket\""},
      {"\nkind: acme.ticket", "\nkind: acme.other", "/example the example does not have kind \"acme.other\""},
  };
  for (const Row& row : rows) {
    std::string text = kGood;
    const auto at = text.find(row.cut);
    ASSERT_NE(at, std::string::npos) << row.cut;
    const auto faults = faults_of(text.replace(at, std::string_view(row.cut).size(), row.put));
    ASSERT_EQ(faults.size(), 1u) << row.put << ": " << (faults.empty() ? "" : faults[0]);
    EXPECT_EQ(faults[0], row.says);
  }
}

TEST(Contract, FaultsHaveLineAndColumn) {
  std::string text = kGood;
  text.replace(text.find("T-12"), 4, "X-12");
  const auto contract = read_contract(*parse_document("c.yaml", text));
  ASSERT_FALSE(contract);
  EXPECT_EQ(contract.error()[0].location.file, "c.yaml");
  EXPECT_EQ(contract.error()[0].location.line, 7);
  EXPECT_GT(contract.error()[0].location.column, 1);
}

TEST(Contract, BadFilesAreRefused) {
  EXPECT_EQ(faults_of("[]").size(), 1u);
  EXPECT_EQ(faults_of("contract: [").size(), 1u);
  EXPECT_EQ(faults_of("{}").size(), 6u);  // one per field
  const std::string big = std::string(kGood) + "# " + std::string(limits::kWorkflowBytes, 'x') + "\n";
  ASSERT_EQ(faults_of(big).size(), 1u);
  EXPECT_NE(faults_of(big)[0].find("a contract may have"), std::string::npos);
  std::string wordy = kGood;
  wordy.replace(wordy.find("Name the ticket."), 16, std::string(limits::kContractHelpBytes + 1, 'x'));
  EXPECT_EQ(faults_of(wordy)[0], "/help the string has 1025 bytes; at most 1024 are allowed");
}

TEST(Contracts, ALaterOneReplacesTheEarlier) {
  Contracts contracts = Contracts::bundled();
  const std::size_t count = contracts.all().size();
  std::string text = kGood;
  text.replace(text.find("acme.contracts.ticket"), 21, "wr.contracts.loop_control");
  contracts.add(std::make_shared<const Contract>(*read_contract(*parse_document("c.yaml", text))));
  EXPECT_EQ(contracts.all().size(), count);
  EXPECT_EQ(contracts.find(kLoopControl)->kind, "acme.ticket");
  EXPECT_EQ(Contracts::bundled().find(kLoopControl)->kind, "wr.loop_control");
}

TEST(BundledContracts, AreThoseOfTheFormatAndOurOwn) {
  const std::vector<std::string> expected = {"wr.contracts.assessment",
                                             "wr.contracts.audit_report",
                                             "wr.contracts.child_outcome",
                                             "wr.contracts.coding_handoff",
                                             "wr.contracts.coordinator_signal",
                                             "wr.contracts.design_handoff",
                                             "wr.contracts.differentiation_handoff",
                                             "wr.contracts.discovery_handoff",
                                             "wr.contracts.gate_verdict",
                                             "wr.contracts.interpretation",
                                             "wr.contracts.loop_control",
                                             "wr.contracts.review_verdict",
                                             "wr.contracts.shaping_handoff"};
  EXPECT_EQ(Contracts::bundled().refs(), expected);
  EXPECT_EQ(Contracts::bundled().find("wr.contracts.nothing"), nullptr);
}

TEST(BundledContracts, AcceptTheirOwnExample) {
  for (const Contract* contract : Contracts::bundled().all()) {
    EXPECT_TRUE(violations(*contract, contract->example).empty()) << contract->ref;
    EXPECT_EQ("wr.contracts." + contract->kind.substr(3), contract->ref);
    EXPECT_LE(contract->help.size(), 400u) << contract->ref;
    EXPECT_EQ(contract->version, 1);
  }
}

// Removes each required member, at every depth of the example, and expects a violation that names it.
void remove_each(const Contract& contract, const Value& schema, Value& example, const Value& at,
                 const std::string& where) {
  for (const Value& name : schema["required"].is_array() ? schema["required"].items() : Value::Array{}) {
    Value without = at;
    without.erase(name.as_string());
    Value whole = without;
    if (!where.empty()) {
      whole = example;
      whole.find(where)->items()[0] = without;
    }
    const auto lines = violations(contract, whole);
    const std::string pointer = (where.empty() ? "" : "/" + where + "/0") + "/" + name.as_string();
    EXPECT_TRUE(std::ranges::any_of(lines, [&](const auto& line) { return line.starts_with(pointer + " is missing"); }))
        << contract.ref << " without " << pointer;
  }
}

TEST(BundledContracts, ReportEachMissingRequiredMember) {
  for (const Contract* contract : Contracts::bundled().all()) {
    Value example = contract->example;
    remove_each(*contract, contract->source["schema"], example, example, "");
    for (const auto& member : contract->source["schema"]["properties"].members()) {
      const Value* list = example.find(member.name);
      if (!list || !list->is_array() || list->size() == 0 || !list->items()[0].is_object()) continue;
      remove_each(*contract, member.value["items"], example, list->items()[0], member.name);
    }
  }
}

TEST(BundledContracts, AreStrictAboutUnknownMembers) {
  for (const Contract* contract : Contracts::bundled().all()) {
    Value artifact = contract->example;
    artifact.set("surplus", 1);
    const auto lines = violations(*contract, artifact);
    ASSERT_EQ(lines.size(), 1u) << contract->ref;
    EXPECT_TRUE(lines[0].starts_with("the artifact has an unknown member \"surplus\"")) << lines[0];
  }
}

struct Change {
  const char* ref;
  const char* pointer;  // of a top-level member, or one level below
  Value value;
  const char* says;  // empty: it is accepted
};

Value lines(std::size_t count, std::size_t length = 5) {
  Value list = Value::array();
  for (std::size_t i = 0; i < count; ++i) list.push_back(std::string(length, 'x'));
  return list;
}

Value objects(std::size_t count, const Value& one) {
  Value list = Value::array();
  for (std::size_t i = 0; i < count; ++i) list.push_back(one);
  return list;
}

TEST(BundledContracts, EnforceTheLimitsOfTheFormatAtTheEdgeAndOnePast) {
  const Value corrected = Value::object({{"assumed", "a"}, {"actual", "b"}});
  const Value rejected = Value::object({{"direction", "a"}, {"reason", "b"}});
  const Value location = Value::object({{"path", "a"}, {"relevance", "b"}});
  const Change changes[] = {
      {"loop_control", "decision", "continue", ""},
      {"loop_control", "decision", "maybe", "/decision must be one of \"continue\", \"stop\", not \"maybe\""},
      {"loop_control", "loopId", std::string(64, 'x'), ""},
      {"loop_control", "loopId", std::string(65, 'x'), "/loopId must have at most 64 characters, not 65"},
      {"loop_control", "loopId", "", "/loopId must not be empty"},
      {"loop_control", "metadata", Value::object({{"reason", std::string(1024, 'x')}, {"confidence", 100}}), ""},
      {"loop_control", "metadata", Value::object({{"reason", std::string(1025, 'x')}}),
       "/metadata/reason must have at most 1024 characters, not 1025"},
      {"loop_control", "metadata", Value::object({{"confidence", 101}}),
       "/metadata/confidence must be at most 100, not 101"},
      {"assessment", "dimensions",
       Value::object({{"a", Value::object({{"level", "x"}, {"rationale", std::string(512, 'x')}})}}), ""},
      {"assessment", "dimensions",
       Value::object({{"a", Value::object({{"level", "x"}, {"rationale", std::string(513, 'x')}})}}),
       "/dimensions/a/rationale must have at most 512 characters, not 513"},
      {"assessment", "dimensions", Value::object({{"a", 5}}), "/dimensions/a must be a string or an object, not 5"},
      {"assessment", "dimensions", Value::object({{"a", Value::object()}}),
       "/dimensions/a/level is missing; it is a string"},
      {"assessment", "dimensions", Value::object(), "/dimensions must have at least 1 member, not 0"},
      {"assessment", "assessmentId", std::string(65, 'x'), "/assessmentId must have at most 64 characters, not 65"},
      {"assessment", "summary", std::string(1025, 'x'), "/summary must have at most 1024 characters, not 1025"},
      {"coordinator_signal", "signalKind", "approval_needed", ""},
      {"coordinator_signal", "signalKind", "aproval_needed",
       "/signalKind must be one of \"progress\", \"finding\", \"data_needed\", \"approval_needed\", \"blocked\", not "
       "\"aproval_needed\"; did you mean \"approval_needed\"?"},
      {"coordinator_signal", "payload", "x", "/payload must be an object, not \"x\""},
      {"coordinator_signal", "sessionId", "s1", ""},
      {"review_verdict", "verdict", "clean", ""},
      {"review_verdict", "findings", Value::array(), ""},
      {"review_verdict", "findings",
       objects(1, Value::object({{"severity", "nit"}, {"summary", "s"}, {"file", "a.cpp"}})), ""},
      {"review_verdict", "findings",
       objects(1, Value::object({{"severity", "major"}, {"summary", "s"}, {"cause", "missing_upstream_context"}})), ""},
      {"review_verdict", "findings", objects(1, Value::object({{"summary", "s"}})),
       "/findings/0/severity is missing; it is one of \"critical\", \"major\", \"minor\", \"nit\""},
      {"review_verdict", "confidence", 0.9, "/confidence must be one of \"high\", \"medium\", \"low\", not 0.9"},
      {"discovery_handoff", "keyInvariants", lines(12, 200), ""},
      {"discovery_handoff", "keyInvariants", lines(13), "/keyInvariants must have at most 12 items, not 13"},
      {"discovery_handoff", "keyInvariants", lines(1, 201),
       "/keyInvariants/0 must have at most 200 characters, not 201"},
      {"discovery_handoff", "rejectedDirections", objects(5, rejected), ""},
      {"discovery_handoff", "rejectedDirections", objects(6, rejected),
       "/rejectedDirections must have at most 5 items, not 6"},
      {"discovery_handoff", "implementationConstraints", lines(9),
       "/implementationConstraints must have at most 8 items, not 9"},
      {"discovery_handoff", "keyCodebaseLocations", objects(10, location), ""},
      {"discovery_handoff", "keyCodebaseLocations", objects(11, location),
       "/keyCodebaseLocations must have at most 10 items, not 11"},
      {"discovery_handoff", "designDocPath", "", ""},
      {"discovery_handoff", "version", 2, "/version must be 1, not 2"},
      {"shaping_handoff", "selectedShape", std::string(200, 'x'), ""},
      {"shaping_handoff", "selectedShape", std::string(201, 'x'),
       "/selectedShape must have at most 200 characters, not 201"},
      {"shaping_handoff", "appetite", std::string(101, 'x'), "/appetite must have at most 100 characters, not 101"},
      {"shaping_handoff", "keyConstraints", lines(9), "/keyConstraints must have at most 8 items, not 9"},
      {"shaping_handoff", "rabbitHoles", lines(7), "/rabbitHoles must have at most 6 items, not 7"},
      {"shaping_handoff", "outOfScope", lines(7), "/outOfScope must have at most 6 items, not 7"},
      {"shaping_handoff", "validationChecklist", lines(10, 200), ""},
      {"shaping_handoff", "validationChecklist", lines(11), "/validationChecklist must have at most 10 items, not 11"},
      {"shaping_handoff", "rabbitHoles", lines(2, 201),
       "/rabbitHoles/0 must have at most 200 characters, not 201|/rabbitHoles/1 must have at most 200 characters, not "
       "201"},
      {"coding_handoff", "keyDecisions", lines(9), "/keyDecisions must have at most 8 items, not 9"},
      {"coding_handoff", "knownLimitations", lines(7), "/knownLimitations must have at most 6 items, not 7"},
      {"coding_handoff", "testsAdded", lines(11), "/testsAdded must have at most 10 items, not 11"},
      {"coding_handoff", "filesChanged", lines(20, 300), ""},
      {"coding_handoff", "filesChanged", lines(1, 301), "/filesChanged/0 must have at most 300 characters, not 301"},
      {"coding_handoff", "branchName", "fix/retry", ""},
      {"coding_handoff", "correctedAssumptions", objects(6, corrected), ""},
      {"coding_handoff", "correctedAssumptions", objects(7, corrected),
       "/correctedAssumptions must have at most 6 items, not 7"},
      {"gate_verdict", "rationale", std::string(20, 'x'), ""},
      {"gate_verdict", "rationale", std::string(19, 'x'), "/rationale must have at least 20 characters, not 19"},
      {"gate_verdict", "verdict", "approve",
       "/verdict must be one of \"approved\", \"rejected\", \"uncertain\", not \"approve\"; did you mean "
       "\"approved\"?"},
      {"differentiation_handoff", "schemaVersion", "1.0.1", "/schemaVersion must be \"1.0.0\", not \"1.0.1\""},
      {"differentiation_handoff", "validationChecklist", lines(11),
       "/validationChecklist must have at most 10 items, not 11"},
      {"differentiation_handoff", "shapingHandoff", "x", "/shapingHandoff must be an object, not \"x\""},
      {"interpretation", "taskType", "bug",
       "/taskType must be one of \"targeted_fix\", \"feature\", \"refactor\", \"architectural\", not \"bug\""},
      {"interpretation", "clarifyingQuestion", Value(), ""},
      {"interpretation", "ambiguityLevel", "unclear",
       "/ambiguityLevel must be one of \"clear\", \"uncertain\", \"ambiguous\", not \"unclear\"; did you mean "
       "\"clear\"?"},
      {"child_outcome", "outcome", "stopped", ""},
      {"child_outcome", "outcome", "alive", "/outcome must be one of \"dead\", \"stopped\", not \"alive\""},
      {"child_outcome", "reason", std::string(1025, 'x'), "/reason must have at most 1024 characters, not 1025"},
  };
  for (const Change& change : changes) {
    const Contract* contract = Contracts::bundled().find(std::string("wr.contracts.") + change.ref);
    ASSERT_NE(contract, nullptr) << change.ref;
    Value artifact = contract->example;
    artifact.set(change.pointer, change.value);
    std::string says;
    for (const std::string& line : violations(*contract, artifact)) says += (says.empty() ? "" : "|") + line;
    EXPECT_EQ(says, change.says) << change.ref << " " << change.pointer;
  }
}

// §6: for a missing verdict the help text exceeded its own limit, and a contract without a validator could never pass.
TEST(Pain3, EveryHelpTextFitsNextToItsExample) {
  for (const Contract* contract : Contracts::bundled().all()) {
    EXPECT_LE(contract->help.size(), 400u) << contract->ref;
    EXPECT_LE(to_json(contract->example).size(), 1'200u) << contract->ref;
  }
}
TEST(Pain4, DifferentiationCanBeHandedOver) {
  const Contract* contract = Contracts::bundled().find("wr.contracts.differentiation_handoff");
  EXPECT_TRUE(violations(*contract, contract->example).empty());
}
TEST(DoBetter, OneRegistryEntryIsSchemaValidatorAndHelp) {
  for (const Contract* contract : Contracts::bundled().all()) {
    EXPECT_FALSE(contract->help.empty());
    EXPECT_FALSE(violations(*contract, Value::object({{"kind", contract->kind}})).empty()) << contract->ref;
    EXPECT_FALSE(violations(*contract, Value()).empty()) << contract->ref;
  }
}

}  // namespace
}  // namespace sb::workflow
