// Rendering and parsing answers: the target is under 20 µs each.
#include "decision/render/render.hpp"

#include <benchmark/benchmark.h>

#include <cstdlib>

#include "base/document/document.hpp"
#include "decision/classify.hpp"
#include "decision/render/host_answer.hpp"

namespace sb::decision {
namespace {

constexpr const char* kPlain =
    "{decision: branch, instruction: Which branch should be released?, options: [main, release, hotfix]}";
constexpr const char* kExplained = R"(
decision: cache
label: D3
profile: gstack
question_id: review-cache
instruction: Which cache should the pages wait in?
sections:
  eli10: The cache keeps copies of pages, and we are about to change where it keeps them.
  stakes: Pages are slow for everyone for an hour.
  recommendation: {choice: redis, reason: it is already deployed and maintained}
  net: Redis unless it must go.
options:
  - {id: redis, label: Redis, recommended: true, completeness: 9, pros: [known to all on call], cons: [a server more]}
  - {id: memory, label: In memory, completeness: 6, pros: [nothing to run beside it], cons: [lost with each restart]}
  - {id: none, label: No cache, completeness: 3, pros: [nothing can go stale], cons: [slow for everyone]}
)";

Declaration declared(const char* yaml) {
  const auto document = parse_document("bench.yaml", yaml, Syntax::kYaml);
  auto declaration = parse_declaration(*document, Profiles::built_in());
  if (!declaration) std::abort();
  return std::move(*declaration);
}

void render_on(benchmark::State& state, const char* yaml, const Host& host) {
  const Declaration declaration = declared(yaml);
  const auto prompts =
      prompts_of(*declaration.decision(), declaration.profile, declaration.hash, cap_of(host, declaration.profile));
  for (auto _ : state) {
    benchmark::DoNotOptimize(render(prompts.front(), declaration.profile, host, {.nonce = "0123456789abcdef"}));
  }
}
BENCHMARK_CAPTURE(render_on, text, kPlain, hosts::kText);
BENCHMARK_CAPTURE(render_on, ask_user_question, kPlain, hosts::kAskUserQuestion);
BENCHMARK_CAPTURE(render_on, request_user_input, kPlain, hosts::kRequestUserInput);
BENCHMARK_CAPTURE(render_on, elicitation, kPlain, hosts::kElicitation);
BENCHMARK_CAPTURE(render_on, brief_explained, kExplained, hosts::kBrief);
BENCHMARK_CAPTURE(render_on, ask_user_question_explained, kExplained, hosts::kAskUserQuestion);
BENCHMARK_CAPTURE(render_on, elicitation_explained, kExplained, hosts::kElicitation);

void read_answer(benchmark::State& state, const Host& host, const char* json) {
  const Declaration declaration = declared(kPlain);
  const auto prompts = prompts_of(*declaration.decision(), declaration.profile, declaration.hash);
  const auto rendered = render(prompts.front(), declaration.profile, host, {.nonce = "0123456789abcdef"});
  const Value given = *parse_json(json);
  for (auto _ : state) benchmark::DoNotOptimize(parse_answer(rendered->shape, given));
}
BENCHMARK_CAPTURE(read_answer, text, hosts::kText, R"("2")");
BENCHMARK_CAPTURE(read_answer, ask_user_question, hosts::kAskUserQuestion,
                  R"({"answers":{"Which branch should be released? <sb:0123456789abcdef>":"release"}})");
BENCHMARK_CAPTURE(read_answer, elicitation, hosts::kElicitation, R"({"action":"accept","content":{"choice":"main"}})");

void classify_line(benchmark::State& state, std::string line) {
  const std::vector<std::string> labels = {"main", "release", "hotfix"};
  const std::vector<std::string> commands = {"abort", "cancel"};
  const InputContext question{.option_count = 3,
                              .select = {},
                              .labels = labels,
                              .pending_keys = {},
                              .other_keys = {},
                              .commands = commands,
                              .command_case_fold = false};
  for (auto _ : state) benchmark::DoNotOptimize(classify(line, question));
}
BENCHMARK_CAPTURE(classify_line, selection, "2");
BENCHMARK_CAPTURE(classify_line, near_selection, "I choose option 2, please");
BENCHMARK_CAPTURE(classify_line, free_text, "use port 8080 and restart the proxy when it is done");

}  // namespace
}  // namespace sb::decision
