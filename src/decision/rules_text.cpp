#include "decision/rules_text.hpp"

#include "decision/data.hpp"

namespace sb::decision {

std::string_view rules_section() {
  return data_file("rules/section.md");
}

std::string_view rules_instructions() {
  return data_file("rules/instructions.md");
}

}  // namespace sb::decision
