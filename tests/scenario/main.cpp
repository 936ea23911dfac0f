// scenario_runner [--programs DIR] [--filter TEXT] [--list-requirements] FILE...
//
// Runs the scenarios of the files, two at a time; scenario.hpp describes the format. Exit codes: 0 all passed, 1 one
// failed, 2 a file is invalid or no scenario matches.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <mutex>
#include <thread>

#include "base/files.hpp"
#include "scenario/scenario.hpp"
#include "started/sandbox.hpp"

namespace {

using sb::scenario::Scenario;

struct Named {
  std::string file;
  Scenario scenario;
};

bool load(const std::string& path, std::vector<Named>& all) {
  const auto document = sb::load_document(sb::SystemFiles(), path);
  if (!document) {
    fmt::print(stderr, "{}\n", document.error().to_string());
    return false;
  }
  auto scenarios = sb::scenario::read_scenarios(*document);
  if (!scenarios) {
    for (const sb::Error& fault : scenarios.error()) fmt::print(stderr, "{}\n", fault.to_string());
    return false;
  }
  for (Scenario& scenario : *scenarios) all.push_back({sb::base_name(path), std::move(scenario)});
  return true;
}

void list_requirements(const std::vector<Named>& all) {
  std::vector<std::string> lines;
  for (const auto& [file, scenario] : all) {
    for (const std::string& id : scenario.requirements)
      lines.push_back(fmt::format("{} {}: {}", id, file, scenario.name));
  }
  std::ranges::sort(lines);
  for (const std::string& line : lines) fmt::print("{}\n", line);
}

#ifdef __has_feature
constexpr bool kIsSanitized = __has_feature(address_sanitizer);
#else
constexpr bool kIsSanitized = false;
#endif

// Reports scenarios that cannot run here, and takes them out.
std::size_t skip(std::vector<Named>& all) {
  const bool asks = std::ranges::any_of(all, [](const Named& named) { return named.scenario.needs_sandbox; });
  const std::string why_no_sandbox = asks ? sb::test_program::why_no_sandbox() : std::string();
  const auto why_not = [&](const Named& named) -> std::string {
    if (named.scenario.needs_low_limits && kIsSanitized) return "sanitizers need more memory and open files";
    return named.scenario.needs_sandbox ? why_no_sandbox : std::string();
  };
  for (const Named& named : all) {
    const std::string why = why_not(named);
    if (!why.empty()) fmt::print("SKIPPED {}: {}\n  {}\n", named.file, named.scenario.name, why);
  }
  return std::erase_if(all, [&](const Named& named) { return !why_not(named).empty(); });
}

int run_all(std::vector<Named> all, const std::string& programs) {
  const std::size_t skipped = skip(all);
  std::atomic<std::size_t> next = 0;
  std::atomic<std::size_t> failed = 0;
  std::mutex printing;
  const auto work = [&] {
    for (std::size_t i = next++; i < all.size(); i = next++) {
      const auto failure = sb::scenario::run_scenario(all[i].scenario, programs);
      if (!failure) continue;
      ++failed;
      const std::lock_guard hold(printing);
      fmt::print("FAILED {}: {}\n{}\n", all[i].file, all[i].scenario.name, *failure);
    }
  };
  std::thread other(work);
  work();
  other.join();
  fmt::print("{} passed, {} failed{}\n", all.size() - failed, failed.load(),
             skipped > 0 ? fmt::format(", {} skipped", skipped) : "");
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a program may end before it has read all of its input
  CLI::App app{"Runs scenarios against the built programs", "scenario_runner"};
  std::string programs = ".";
  std::string filter;
  bool only_list = false;
  std::vector<std::string> files;
  app.add_option("--programs", programs, "Folder with signalbox and signalbox-hook");
  app.add_option("--filter", filter, "Only scenarios with this text in their name or requirement ids");
  app.add_flag("--list-requirements", only_list, "Print which scenario covers which requirement; run nothing");
  app.add_option("files", files, "Scenario files")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  std::vector<Named> all;
  bool is_good = true;
  for (const std::string& file : files) is_good = load(file, all) && is_good;
  if (!is_good) return 2;
  std::erase_if(all, [&](const Named& named) {
    const auto& ids = named.scenario.requirements;
    return named.scenario.name.find(filter) == std::string::npos && std::ranges::find(ids, filter) == ids.end();
  });
  if (all.empty()) {
    fmt::print(stderr, "no scenario matches\n");
    return 2;
  }
  if (only_list) {
    list_requirements(all);
    return 0;
  }
  return run_all(all, programs);
}
