// Contracts: what an artifact of a kind must look like. One file each: schema, help, one valid example.
//
//   contract: wr.contracts.loop_control    # the name that steps refer to
//   kind: wr.loop_control                  # the kind of its artifacts
//   version: 1
//   help: Say whether the loop continues.
//   schema: {...}                          # draft-07
//   example: {kind: wr.loop_control, decision: stop}
//
// Pure; immutable. The engine knows no contract by name except the one that ends loops, the one for assessments and the
// one for gate verdicts.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "base/document/value.hpp"
#include "base/result.hpp"
#include "workflow/schema/json_schema.hpp"

namespace sb::workflow {

inline constexpr std::string_view kLoopControl = "wr.contracts.loop_control";
inline constexpr std::string_view kAssessment = "wr.contracts.assessment";
inline constexpr std::string_view kGateVerdict = "wr.contracts.gate_verdict";

struct Contract {
  std::string ref, kind, help;
  int version = 1;
  JsonSchema schema;
  Value example;
  Value source;      // the file, for pinning
  std::string hash;  // hex: SHA-256 of the canonical source
};

// Faults: unknown fields, a schema that does not compile, an example the schema refuses, an example without the kind.
Checked<Contract> read_contract(const Document& document);

class Contracts {
 public:
  // The built-in ones: those of the format, and our own. Read once, shared.
  static const Contracts& bundled();

  // A later one with the same ref replaces the earlier.
  void add(std::shared_ptr<const Contract> contract);
  const Contract* find(std::string_view ref) const;
  std::vector<const Contract*> all() const;  // sorted by ref
  std::vector<std::string> refs() const;

 private:
  std::map<std::string, std::shared_ptr<const Contract>, std::less<>> by_ref_;
};

// What is wrong with the artifact, for the agent: one line per violation, empty if it is valid.
std::vector<std::string> violations(const Contract& contract, const Value& artifact);

}  // namespace sb::workflow
