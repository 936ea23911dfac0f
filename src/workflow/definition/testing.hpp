// Shared by the tests of definitions: files around one part, and faults as `rule@pointer`.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "workflow/testing.hpp"

namespace sb::workflow {

// A whole workflow with this head (flow YAML, may be empty) and these steps.
inline std::string workflow_text(std::string_view head, std::string_view steps) {
  return fmt::format("{{id: mine, name: Mine, description: Does it, version: 1.0.0, {}{}steps: [{}]}}", head,
                     head.empty() ? "" : ", ", steps);
}

inline constexpr std::string_view kPlainStep = "{id: one, title: One, prompt: Do it.}";

inline std::string with_head(std::string_view head) {
  return workflow_text(head, kPlainStep);
}
inline std::string with_steps(std::string_view steps) {
  return workflow_text("", steps);
}
// One ordinary step with these fields besides its id, title and prompt.
inline std::string with_fields(std::string_view fields) {
  return with_steps(fmt::format("{{id: one, title: One, prompt: Do it., {}}}", fields));
}

// Every fault as `rule@pointer`, separated by a space; empty if there are none.
inline std::string reported(const std::string& text, DefinitionForm form = DefinitionForm::kAuthored) {
  const auto definition = read_definition(document_from(text), form);
  std::string out;
  if (definition) return out;
  for (const Error& fault : definition.error())
    out += fmt::format("{}{}@{}", out.empty() ? "" : " ", fault.rule, fault.location.pointer);
  return out;
}

inline std::string repeat(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace sb::workflow
