// The overhead of Signalbox in a run, with a scripted model that answers immediately: time and bytes per model turn and
// per phase, and many concurrent runs.
//
//   bench_pipeline [TURNS] [AT_ONCE]
//
// First a run whose first phase has few turns and one with TURNS more: the difference per turn is the overhead of a
// turn; the time of the short one per phase is the overhead of a phase (including git and the checks of delivery,
// reported separately). Then AT_ONCE programs, each with its own run in one home, with the peak memory of each.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "pipeline/place.hpp"
#include "pipeline/script.hpp"

namespace sb::pipeline_tests {
namespace {

namespace fs = std::filesystem;

std::uintmax_t bytes_in(const std::string& folder) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().filename().string().starts_with("signalbox.db")) {
      bytes += entry.file_size();
    }
  }
  return bytes;
}

std::string reading_turns(int turns) {
  std::string script;
  for (int i = 0; i < turns; ++i) {
    script += Line("discovery")
                  .step("interpret")
                  .call("Read", Value::object({{"file_path", "README.md"}, {"offset", 1}, {"limit", 1 + i}}));
  }
  return script;
}

struct Figures {
  double ms = 0;
  std::uintmax_t bytes = 0;
  long kilobytes = 0;
  bool is_merged = false;
};

Figures one_run(int turns) {
  RunFixture place(SB_PROGRAMS "/signalbox");
  place.configure("limits: {turns: 5000}");
  place.script(reading_turns(turns) + clean_run());
  const ProgramResult ended = place.run_goal("Make the check pass");
  if (ended.code != 0) fmt::print("exit {}: {}{}\n", ended.code, ended.output, ended.errors);
  return {ended.took_ms, bytes_in(place.home()), ended.resident_kilobytes, ended.code == 0};
}

Figures best_of(int count, int turns) {
  Figures best = one_run(turns);
  for (int i = 1; i < count; ++i) {
    if (const Figures again = one_run(turns); again.ms < best.ms) best = again;
  }
  return best;
}

void many(int at_once) {
  std::vector<std::unique_ptr<RunFixture>> places;  // one repository each, one shared home
  for (int i = 0; i < at_once; ++i) places.push_back(std::make_unique<RunFixture>(SB_PROGRAMS "/signalbox"));
  places[0]->script(clean_run());
  const std::string home = "SIGNALBOX_HOME=" + places[0]->home();
  std::vector<ProgramResult> ended(places.size());
  const auto begin = std::chrono::steady_clock::now();
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < places.size(); ++i) {
      threads.emplace_back([&, i] {
        ended[i] = places[i]->run(
            Start{.arguments = {"run", "Make the check pass", "--workspace", places[i]->repository(), "--json"},
                  .environment = {home},
                  .max_seconds = 600});
      });
    }
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::vector<long> sizes;
  int merged = 0;
  for (const ProgramResult& one : ended) {
    sizes.push_back(one.resident_kilobytes);
    merged += one.code == 0;
  }
  std::ranges::sort(sizes);
  fmt::print("{} concurrent runs in one home: {:.0f} ms; {} merged\n", at_once, took.count(), merged);
  for (const ProgramResult& one : ended) {
    if (one.code != 0) fmt::print("  exit {}: {}\n", one.code, one.errors.substr(0, 500));
  }
  fmt::print("  memory per run, KiB: min {}, median {}, max {}\n", sizes.front(), sizes[sizes.size() / 2],
             sizes.back());
}

int run(int turns, int at_once) {
  const Figures small = best_of(3, 0), large = best_of(2, turns);
  if (!small.is_merged || !large.is_merged) return 1;
  fmt::print("a FULL run of 4 phases, 8 turns: {:.0f} ms, {} KiB stored, {} KiB of memory\n", small.ms,
             small.bytes / 1024, small.kilobytes);
  fmt::print("  per phase, including delivery and git: {:.1f} ms, {} KiB\n", small.ms / 4, small.bytes / 4 / 1024);
  fmt::print("with {} turns more: {:.0f} ms, {} KiB stored, {} KiB of memory\n", turns, large.ms, large.bytes / 1024,
             large.kilobytes);
  fmt::print("  per turn: {:.2f} ms, {} bytes\n", (large.ms - small.ms) / turns,
             (static_cast<std::intmax_t>(large.bytes) - static_cast<std::intmax_t>(small.bytes)) / turns);
  many(at_once);
  return 0;
}

}  // namespace
}  // namespace sb::pipeline_tests

int main(int argc, char** argv) {
  const int turns = argc > 1 ? std::atoi(argv[1]) : 100;
  const int at_once = argc > 2 ? std::atoi(argv[2]) : 20;
  return sb::pipeline_tests::run(std::max(turns, 1), std::max(at_once, 1));
}
