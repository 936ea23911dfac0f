#include "pipeline/small_flows.hpp"

#include <fmt/format.h>

namespace sb::piped {
namespace {

std::string head(const std::string& id, const std::string& more = {}) {
  return fmt::format("id: {}\nname: {}\ndescription: A phase in little.\nversion: 1.0.0\n{}steps:\n", id, id, more);
}

std::string step(const std::string& id, const std::string& contract = {}) {
  std::string text = fmt::format("  - id: {}\n    title: {}\n    prompt: \"Do {} now.\"\n", id, id, id);
  if (!contract.empty()) text += fmt::format("    outputContract: {{contractRef: {}}}\n", contract);
  return text;
}

std::string contract(const std::string& name) {
  return fmt::format(
      "contract: small.contracts.{0}\nkind: small.{0}\nversion: 1\nhelp: What was found.\nschema:\n  type: object\n"
      "  required: [kind, summary]\n  properties:\n    kind: {{const: small.{0}}}\n    summary: {{type: string}}\n"
      "    findings: {{type: array}}\nexample: {{kind: small.{0}, summary: All is well.}}\n",
      name);
}

}  // namespace

std::vector<SmallFlow> small_flows() {
  const std::string wr = "wr.contracts.";
  std::vector<SmallFlow> flows = {
      {"discovery.yaml",
       head("small.discovery") + step("interpret", wr + "interpretation") + step("hand-off", wr + "discovery_handoff")},
      {"shaping.yaml", head("small.shaping") + step("hand-off", wr + "shaping_handoff")},
      {"design.yaml", head("small.design") + step("hand-off", "small.contracts.design")},
      {"coding.yaml", head("small.coding") + step("build") + step("hand-off", wr + "coding_handoff")},
      {"review.yaml", head("small.review", "role: reviewer\n") + step("verdict", wr + "review_verdict")},
      {"fix.yaml", head("small.fix") + step("mend", wr + "coding_handoff")},
      {"audit.yaml", head("small.audit") + step("audit", "small.contracts.audit")},
      {"contracts/design.yaml", contract("design")},
      {"contracts/audit.yaml", contract("audit")},
  };
  for (const char* phase : {"discovery", "shaping", "coding", "review", "fix"}) {
    flows.push_back({fmt::format("loose-{}.yaml", phase), head(fmt::format("loose.{}", phase)) + step("work")});
  }
  flows.push_back({"silent-shaping.yaml", head("silent.shaping") + step("work") + "    notesOptional: true\n"});
  return flows;
}

}  // namespace sb::piped
