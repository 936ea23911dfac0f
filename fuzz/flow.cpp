// Untrusted flows. The first byte selects what the rest is: a declaration and inputs, a state and inputs, or the
// content of a state, because a fuzzer cannot seal one.
#include "decision/flow/flow.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "base/text/unicode.hpp"
#include "decision/state_blob.hpp"
#include "decision/text_block.hpp"

namespace {

using namespace sb::decision;

constexpr const char* kFlow = R"(flow: release
steps:
  - {key: branch, instruction: Which branch?, options: [main, release, hotfix, a1, b1, c1, d1, e1, f1, g1]}
  - {key: env, instruction: Which ones?, select: many, min: 2, max: 5, options: [a1, b1, c1, d1, e1, f1, g1, h1, i1]}
  - {key: notes, instruction: Write notes?, options: ["Yes", "No"], depends_on: [branch]}
)";

std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return line;
}

sb::Checked<Declaration> declare(std::string_view text) {
  auto document = sb::parse_document("f.yaml", std::string(text));
  if (!document) return std::unexpected(sb::Faults{document.error()});
  return parse_declaration(*document, Profiles::built_in());
}

void play(const Declaration& declaration, FlowOutcome outcome, std::string_view inputs) {
  while (!inputs.empty()) {
    outcome = flow_step(declaration, std::move(outcome.state), take_line(inputs));
    const auto blob = save_flow(declaration, outcome.state, "n", {});
    const bool is_live = outcome.event == FlowEvent::kNone || outcome.event == FlowEvent::kFreeText;
    SB_ASSERT(load_flow(declaration, blob, {}, false).has_value() == is_live);
    if (!is_live) return;
    if (outcome.event == FlowEvent::kNone) SB_ASSERT(parse_response(outcome.output).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  static const Declaration fixed = *declare(kFlow);
  if (data[0] % 3 == 0) {
    const auto split = text.find("\n...\n");
    const auto declaration = declare(text.substr(0, split));
    if (declaration && declaration->flow() && declaration->profile.grammar == Grammar::kStrictNumbers) {
      play(*declaration, flow_begin(*declaration), split == std::string_view::npos ? "" : text.substr(split + 5));
    }
    return 0;
  }
  const auto first = take_line(text);
  auto state = load_flow(fixed, first, {}, true);
  if (auto value = sb::parse_json(first); data[0] % 3 == 2 && value && value->is_object()) {
    value->set("v", 1);
    value->set("kind", "flow");
    value->set("flow", "release");
    value->set("def", fixed.hash);
    state = load_flow(fixed, seal_state(*value, std::nullopt), {}, true);
  }
  if (state)
    play(fixed, flow_resume(fixed, std::move(*state)), text);
  else
    play(fixed, flow_begin(fixed), text);
  return 0;
}
