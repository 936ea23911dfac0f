// mutants [--check] [--filter TEXT] [--slice K/N]
//
// Breaks the lines of tests/mutants.yaml one at a time in a copy of the tree (build/mutants) and expects the named test
// to fail. --check only checks that the list still matches the sources. Exit codes: 0 every mutant was killed, 1 one
// survived, 2 the list is invalid or a mutant could not be tested.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <set>

#include "base/files.hpp"
#include "mutants/mutant.hpp"

namespace {

using sb::mutants::Judgement;
using sb::mutants::Mutant;
using sb::mutants::Verdict;

int report(const sb::Faults& faults) {
  for (const sb::Error& fault : faults) fmt::print(stderr, "mutants: {}\n", fault.to_string());
  return 2;
}

int report(const sb::Error& error) {
  fmt::print(stderr, "mutants: {}\n", error.to_string());
  return 2;
}

struct Slice {
  std::size_t first = 0;
  std::size_t step = 0;
};

Slice parse_slice(const std::string& text) {
  Slice slice;
  char rest = 0;
  const bool is_whole = std::sscanf(text.c_str(), "%zu/%zu%c", &slice.first, &slice.step, &rest) == 2;
  return is_whole && slice.first >= 1 && slice.first <= slice.step ? slice : Slice{};
}

std::string valid_slice(const std::string& text) {
  return parse_slice(text).step == 0 ? "must be K/N with K from 1 to N, such as 2/4" : "";
}

void keep_slice(std::vector<Mutant>& mutants, const std::string& text) {
  const Slice slice = parse_slice(text);
  std::vector<Mutant> kept;
  for (std::size_t at = slice.first - 1; at < mutants.size(); at += slice.step) kept.push_back(mutants[at]);
  mutants = std::move(kept);
}

bool configure(const std::string& copy, sb::Process& process) {
  sb::Command command;
  command.argv = {"cmake", "--preset", "release", "-DSIGNALBOX_BENCH=OFF"};
  command.directory = copy;
  const auto exit = process.run(command);
  if (exit && exit->code == 0) return true;
  fmt::print(stderr, "mutants: cannot configure the copy:\n{}\n", exit ? exit->errors : exit.error().to_string());
  return false;
}

// A test that fails anyway proves nothing, so each must pass on the unchanged tree first.
bool all_pass_unbroken(const std::vector<Mutant>& mutants, const std::string& copy, sb::Process& process) {
  std::set<std::string> seen;
  bool all_pass = true;
  for (const Mutant& mutant : mutants) {
    if (!seen.insert(mutant.target + "\n" + mutant.filter + "\n" + mutant.ctest).second) continue;
    const Judgement judgement = sb::mutants::run_named_test(mutant, copy, process);
    if (judgement.verdict == Verdict::kSurvived) continue;
    all_pass = false;
    fmt::print("BROKEN    {}: its test does not pass on the unchanged tree\n{}\n", mutant.requirement,
               judgement.detail);
  }
  return all_pass;
}

int judge_all(const std::vector<Mutant>& mutants, const std::string& copy, sb::Process& process) {
  int killed = 0;
  int survived = 0;
  int broken = 0;
  for (const Mutant& mutant : mutants) {
    const Judgement judgement = sb::mutants::judge(mutant, copy, process);
    const char* word = "killed";
    if (judgement.verdict == Verdict::kKilled) ++killed;
    if (judgement.verdict == Verdict::kSurvived) ++survived, word = "SURVIVED";
    if (judgement.verdict == Verdict::kBroken) ++broken, word = "BROKEN";
    fmt::print("{:<9} {}: {}: {} -> {}\n", word, mutant.requirement, mutant.file, mutant.find, mutant.replace);
    if (judgement.verdict == Verdict::kBroken) fmt::print("{}\n", judgement.detail);
    std::fflush(stdout);
  }
  fmt::print("{} killed, {} survived, {} not tested\n", killed, survived, broken);
  return broken > 0 ? 2 : survived > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Breaks one line at a time and expects the named test to fail", "mutants"};
  bool only_check = false;
  std::string filter;
  std::string slice;
  std::string list = SB_SOURCE_DIR "/tests/mutants.yaml";
  app.add_flag("--check", only_check, "Only check the list against the sources");
  app.add_option("--filter", filter, "Only mutants with this text in their requirement or file");
  app.add_option("--slice", slice, "Only every Nth mutant, from the Kth: 2/4 (for several machines or copies)")
      ->type_name("K/N")
      ->check(valid_slice);
  app.add_option("--list", list, "Another list");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const auto document = sb::load_document(sb::SystemFiles(), list);
  if (!document) return report(document.error());
  auto mutants = sb::mutants::read_mutants(*document);
  if (!mutants) return report(mutants.error());
  const sb::Faults faults = sb::mutants::check_mutants(*mutants, SB_SOURCE_DIR);
  if (!faults.empty()) return report(faults);
  if (only_check) {
    fmt::print("{} mutants match the sources\n", mutants->size());
    return 0;
  }
  std::erase_if(*mutants, [&](const Mutant& mutant) {
    return mutant.requirement.find(filter) == std::string::npos && mutant.file.find(filter) == std::string::npos;
  });
  if (!slice.empty()) keep_slice(*mutants, slice);
  const std::string copy = SB_SOURCE_DIR "/build/mutants";
  if (const auto copied = sb::mutants::copy_tree(SB_SOURCE_DIR, copy); !copied) return report(copied.error());
  sb::SystemProcess process;
  if (!configure(copy, process) || !all_pass_unbroken(*mutants, copy, process)) return 2;
  return judge_all(*mutants, copy, process);
}
