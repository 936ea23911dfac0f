// Lint throughput on ordinary prose, in scope and out of it.
#include "decision/lint/lint.hpp"

#include <benchmark/benchmark.h>

#include <fstream>
#include <iterator>
#include <string>

#include "base/document/document.hpp"

namespace {

// The ordinary replies of the tests, repeated up to a megabyte.
const std::string& prose() {
  static const std::string text = [] {
    std::ifstream in(SB_SOURCE_DIR "/tests/data/ordinary-replies.jsonl");
    std::string replies, line;
    while (std::getline(in, line)) {
      const auto row = sb::parse_json(line);
      if (row) replies += row->string_at("text").value_or("") + "\n\n";
    }
    if (replies.empty())
      replies = "The cache was stale because the key left out the locale; adding it fixed the test.\n\n";
    std::string all;
    while (all.size() < (1u << 20)) all += replies;
    return all;
  }();
  return text;
}

void lint_with(benchmark::State& state, const sb::decision::LintContext& context) {
  const std::string& text = prose();
  std::size_t findings = 0;
  for (auto _ : state) findings = sb::decision::lint(text, context).size();
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
  state.counters["findings"] = static_cast<double>(findings);
}

void BM_LintOutOfScope(benchmark::State& state) {
  sb::decision::LintContext context;
  context.scope = sb::decision::LintScope::kOut;
  lint_with(state, context);
}
BENCHMARK(BM_LintOutOfScope)->Unit(benchmark::kMillisecond);

void BM_LintBlockingOnly(benchmark::State& state) {
  sb::decision::LintContext context;
  context.scope = sb::decision::LintScope::kOut;
  context.blocking_only = true;
  lint_with(state, context);
}
BENCHMARK(BM_LintBlockingOnly)->Unit(benchmark::kMillisecond);

void BM_LintInScope(benchmark::State& state) {
  lint_with(state, {});
}
BENCHMARK(BM_LintInScope)->Unit(benchmark::kMillisecond);

void BM_LintBlock(benchmark::State& state) {
  const std::string text = "Which environment should get it?\n\n1) Staging\n2) Production\n3) Both";
  for (auto _ : state) benchmark::DoNotOptimize(sb::decision::lint(text, {}));
}
BENCHMARK(BM_LintBlock)->Unit(benchmark::kMicrosecond);

}  // namespace
