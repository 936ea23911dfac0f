#include "decision/declaration/written_profile.hpp"

#include <fmt/format.h>

#include "base/assert.hpp"
#include "base/document/document.hpp"

namespace sb::decision {

Profiles with_written_profile(std::string_view name) {
  constexpr std::string_view kText = R"(
inherits: interaction
text:
  instruction_max_words: 0
  option_max_words: 0
  one_sentence: false
  sections_allowed: [context, safety_notice]
)";
  auto document =
      parse_document(fmt::format("{} profile", name), fmt::format("profile: {}{}", name, kText), Syntax::kYaml);
  SB_ASSERT(document);
  auto made = Profiles::with({*document});
  SB_ASSERT(made);
  return *made;
}

}  // namespace sb::decision
