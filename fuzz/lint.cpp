// Lint over any bytes: the first byte picks a context, the rest is the text. Findings must lie inside the text.
#include "decision/lint/lint.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sb::decision;
  if (size == 0) return 0;
  LintContext context;
  context.scope = data[0] & 1 ? LintScope::kOut : LintScope::kIn;
  context.phase = static_cast<LintPhase>((data[0] >> 1) % 6);
  if (data[0] & 16) context.profile = "gstack";
  if (data[0] & 32) context.channel = LintChannel::kQuestion;
  if (data[0] & 64) context.declared = {{"main", "main"}, {"dev", "dev"}, {"x", "Ё"}};
  if (data[0] & 128) {
    context.attempt = 1;
    context.errors = {{1, "Invalid input."}};
    context.previous = "Which?\n\n1) main\n2) dev";
    context.gs = GstackFacts{};
  }
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto findings = lint(text, context);
  for (const Finding& finding : findings) {
    SB_ASSERT(finding.start <= finding.end && finding.end <= text.size());
    SB_ASSERT(!rule_text(finding.rule).broken.empty());
  }
  SB_ASSERT(lint(text, context).size() == findings.size());
  return 0;
}
