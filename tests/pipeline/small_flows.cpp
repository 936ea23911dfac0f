#include "pipeline/small_flows.hpp"

#include <fmt/format.h>

namespace sb::pipeline_tests {
namespace {

std::string head(const std::string& id, const std::string& more = {}) {
  return fmt::format("id: {}\nname: {}\ndescription: A small phase.\nversion: 1.0.0\n{}steps:\n", id, id, more);
}

// The prompt names the step and the workflow, for models that get nothing else.
std::string step(const std::string& flow, const std::string& id, const std::string& contract = {}) {
  std::string text = fmt::format("  - id: {1}\n    title: {1}\n    prompt: \"Do {1} of {0} now.\"\n", flow, id);
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
  const auto of = [](const std::string& id, const std::vector<std::pair<std::string, std::string>>& steps,
                     const std::string& more = {}) {
    std::string text = head(id, more);
    for (const auto& [name, asked] : steps) text += step(id, name, asked);
    return text;
  };
  std::vector<SmallFlow> flows = {
      {"discovery.yaml",
       of("small.discovery", {{"interpret", wr + "interpretation"}, {"hand-off", wr + "discovery_handoff"}})},
      {"shaping.yaml", of("small.shaping", {{"hand-off", wr + "shaping_handoff"}})},
      {"design.yaml", of("small.design", {{"hand-off", "small.contracts.design"}})},
      {"coding.yaml", of("small.coding", {{"build", ""}, {"hand-off", wr + "coding_handoff"}})},
      {"review.yaml", of("small.review", {{"verdict", wr + "review_verdict"}}, "role: reviewer\n")},
      {"fix.yaml", of("small.fix", {{"fix", wr + "coding_handoff"}})},
      {"audit.yaml", of("small.audit", {{"audit", "small.contracts.audit"}})},
      {"contracts/design.yaml", contract("design")},
      {"contracts/audit.yaml", contract("audit")},
      {"silent-shaping.yaml", of("silent.shaping", {{"work", ""}}) + "    notesOptional: true\n"},
  };
  for (const char* phase : {"discovery", "shaping", "coding", "review", "fix"}) {
    flows.push_back({fmt::format("loose-{}.yaml", phase), of(fmt::format("loose.{}", phase), {{"work", ""}})});
  }
  return flows;
}

}  // namespace sb::pipeline_tests
