// Kills a run at every commit of its store and resumes it: the result must equal that of an undisturbed run.
//
//   faults_kill_run --program build/release/signalbox --library build/release/tests/libkill_at.so
//                   [--stride 1] [--only before:17] [--at-once 2] [--keep]
//
// The commits are counted in a clean run: a FULL one with a review that finds something, so that there are two commits
// to deliver, and a base that advances meanwhile. At each it is killed just before the commit is written (its events
// have happened and are not recorded) and just after it is on disk. `--stride 7` takes every seventh of these; the seed
// chooses the first. Exits 1 with its findings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "faults/driver.hpp"
#include "pipeline/place.hpp"
#include "pipeline/script.hpp"

namespace sb::faults {
namespace {

using pipeline_tests::Line;
using pipeline_tests::ProgramResult;

constexpr const char* kGoal = "Make the check pass";
constexpr int kLeastBoundaries = 80;
constexpr int kMostResumes = 4;

// The last call of an agent on a file: whatever was interrupted, the file is correct after it.
std::string confirmed(const std::string& workflow, const std::string& text, int mark) {
  return Line(workflow)
      .call("Bash", Value::object(
                        {{"command", fmt::format("printf '{}' > answer.txt; echo done-$(({} + 1))", text, mark - 1)}}))
      .repeat();
}

// A session killed before its first step is submitted starts again, so most replies can be given again; the
// conversation shows which one is due.
std::string script() {
  using namespace pipeline_tests;
  const auto write = [](const char* text) { return Value::object({{"file_path", "answer.txt"}, {"content", text}}); };
  return lines({
      Line("discovery").step("interpret").complete(long_notes(), {interpretation()}).repeat(),
      Line("discovery").step("hand-off").complete(long_notes(), {discovery_handoff()}).repeat(),
      Line("shaping").call("Read", Value::object({{"file_path", "check"}})),
      Line("shaping").call("Bash", Value::object({{"command", "ls"}})),
      Line("shaping").call("Glob", Value::object({{"pattern", "*"}})),
      Line("shaping").complete(long_notes(), {shaping_handoff()}).repeat(),
      Line("coding").step("hand-off").complete(long_notes(), {coding_handoff()}).repeat(),
      Line("coding").when_contains("done-42").complete(long_notes()).repeat(),
      Line("coding").call("Read", Value::object({{"file_path", "README.md"}})).call("Write", write("right\n")),
      confirmed("coding", "right\\n", 42),
      Line("review").when_contains("Fixed as found.").complete(long_notes(), {verdict("clean")}).repeat(),
      Line("review").complete(long_notes(), {verdict("minor", {finding("minor", "It is not tidy.")})}).repeat(),
      Line("fix")
          .when_contains("done-43")
          .complete(long_notes(), {coding_handoff({"answer.txt"}, {"Fixed as found."})})
          .repeat(),
      Line("fix").call("Read", Value::object({{"file_path", "answer.txt"}})),
      Line("fix").call("Write", write("right\nand tidy\n")),
      confirmed("fix", "right\\nand tidy\\n", 43),
  });
}

// Everything observable about a finished run, except times and names that differ per run.
struct Result {
  std::string outcome, tree, branches, commits;
  std::size_t work_trees = 0, requests = 0, phases = 0;
  std::int64_t events = 0;
  std::string faults;  // faults of this run alone

  bool operator==(const Result& other) const {
    return outcome == other.outcome && tree == other.tree && branches == other.branches && commits == other.commits &&
           work_trees == other.work_trees && requests == other.requests && phases == other.phases;
  }
  std::string text() const {
    return fmt::format("outcome {}, tree {}, branches [{}], commits [{}], {} work trees, {} requests, {} phases",
                       outcome, tree, branches, commits, work_trees, requests, phases);
  }
};

std::string without_run_id(std::string text, const std::string& run) {
  for (std::size_t at; !run.empty() && (at = text.find(run)) != std::string::npos;) text.replace(at, run.size(), "RUN");
  return text;
}

// Commits of the same second come in any order.
std::string sorted_lines(const std::string& text) {
  std::multiset<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return fmt::format("{}", fmt::join(lines, "|"));
}

void check_sessions(const pipeline_tests::RunFixture& place, std::string& faults) {
  const auto listed = place.run({"session", "list", "--all", "--limit", "10000", "--json"});
  const auto value = listed.last();
  const Value* sessions = value.is_array() ? &value : value.find("sessions");
  if (sessions == nullptr || sessions->size() == 0) {
    faults += "cannot list sessions; ";
    return;
  }
  for (const Value& session : sessions->items()) {
    const std::string id = session.string_at("sessionId").value_or("");
    const std::string status = session.string_at("status").value_or("");
    if (status != "complete") faults += fmt::format("session {} is {}; ", id, status);
    const ProgramResult verified = place.run({"session", "verify", id});
    if (verified.code != 0) faults += fmt::format("verify {}: {}{}; ", id, verified.output, verified.errors);
  }
}

Result look(const pipeline_tests::RunFixture& place) {
  Result result;
  const Value run = place.shown();
  const std::string id = place.run_id();
  result.outcome = run.string_at("outcome").value_or("none");
  result.events = static_cast<std::int64_t>(place.events().size());
  result.phases = place.events("phase_ended").size();
  result.tree = place.git(place.remote(), {"rev-parse", "main^{tree}"}).value_or("none");
  result.commits =
      sorted_lines(without_run_id(place.git(place.remote(), {"log", "--format=%s", "main"}).value_or("none"), id));
  result.branches =
      without_run_id(place.git(place.remote(), {"for-each-ref", "--format=%(refname)"}).value_or("none"), id);
  std::ranges::replace(result.branches, '\n', '|');
  result.work_trees = place.work_trees().size();
  const std::string_view mark = "refs/signalbox/requests/";
  for (std::size_t at = result.branches.find(mark); at != std::string::npos; at = result.branches.find(mark, at + 1)) {
    ++result.requests;
  }
  if (const auto status = place.git(place.repository(), {"status", "--porcelain"}); status != "") {
    result.faults += fmt::format("the user's work tree is not clean: {}; ", status.value_or("no status"));
  }
  if (place.events("ended").size() != 1) result.faults += "it did not end exactly once; ";
  if (place.run({"runs", "list", "--json"}).output.find(id) == std::string::npos) result.faults += "it is not listed; ";
  check_sessions(place, result.faults);
  return result;
}

// A hook of the remote: another push comes first, once, when the run's branch arrives.
constexpr const char* kMovesBase = R"(#!/bin/sh
[ -e moved ] && exit 0
while read old new ref; do
  case $ref in refs/heads/signalbox/*) touch moved ;; esac
done
[ -e moved ] || exit 0
export GIT_INDEX_FILE=$PWD/moved-index
git read-tree main
git update-index --add --cacheinfo 100644,$(echo theirs | git hash-object -w --stdin),theirs.txt
commit=$(git -c user.name=Ada -c user.email=ada@example.org commit-tree -p main -m Theirs $(git write-tree))
git update-ref refs/heads/main $commit
)";

void prepare(pipeline_tests::RunFixture& place) {
  place.script(script());
  place.write("remote.git/hooks/post-receive", kMovesBase, true);
}

class KillRun {
 public:
  KillRun(std::string program, std::string library, bool is_kept)
      : program_(std::move(program)), library_(std::filesystem::absolute(library)), is_kept_(is_kept) {}

  // Of a clean run: its result, and the number of commits.
  bool learn() {
    pipeline_tests::RunFixture place(program_);
    prepare(place);
    const std::string count = place.root() + "/count";
    const ProgramResult ended = run_goal(place, {"LD_PRELOAD=" + library_, "KILL_COUNT=" + count});
    commits_ = std::atol(place.read("count").c_str());
    clean_ = look(place);
    fmt::print("a clean run: {} events of the run, {} boundaries; {}\n", clean_.events, commits_, clean_.text());
    if (ended.code != 0 || clean_.outcome != "merged" || !clean_.faults.empty()) {
      fmt::print("FAILED: the clean run ended with {}: {}\n{}{}\n", ended.code, clean_.faults, ended.output,
                 ended.errors);
      return false;
    }
    if (commits_ < kLeastBoundaries) fmt::print("FAILED: fewer than {} boundaries\n", kLeastBoundaries);
    return commits_ >= kLeastBoundaries;
  }

  std::vector<std::string> all_moments() const {
    std::vector<std::string> moments;
    for (long i = 1; i <= commits_; ++i) {
      moments.push_back(fmt::format("before:{}", i));
      moments.push_back(fmt::format("after:{}", i));
    }
    return moments;
  }

  void kill_at(const std::string& moment, Problems& findings) {
    pipeline_tests::RunFixture place(program_);
    if (is_kept_) place.keep();
    prepare(place);
    ProgramResult ended = run_goal(place, {"LD_PRELOAD=" + library_, "KILL_AT=" + moment});
    if (!ended.was_killed && ended.code != 0) return report(findings, place, moment, "it ended by itself", ended);
    if (ended.was_killed) ++kills_;
    for (int i = 0; i < kMostResumes && ended.code != 0; ++i) ended = continue_session(place);
    if (ended.code != 0) return report(findings, place, moment, "it cannot be resumed", ended);
    const Result result = look(place);
    if (!result.faults.empty()) report(findings, place, moment, result.faults, ended);
    if (!(result == clean_)) report(findings, place, moment, "it ended differently: " + result.text(), ended);
  }

  int kills() const { return kills_; }

 private:
  static ProgramResult run_goal(const pipeline_tests::RunFixture& place, std::vector<std::string> environment) {
    return place.run(pipeline_tests::Start{.arguments = {"run", kGoal, "--workspace", place.repository(), "--json"},
                                           .environment = std::move(environment)});
  }

  // Killed before the run was opened, it is started again.
  static ProgramResult continue_session(const pipeline_tests::RunFixture& place) {
    return place.shown().is_object() ? place.resume() : run_goal(place, {});
  }

  static void report(Problems& findings, const pipeline_tests::RunFixture& place, const std::string& moment,
                     const std::string& what, const ProgramResult& ended) {
    findings.add(fmt::format("killed {} ({}): {}\n  exit {}: {}\n  {}", moment, place.root(), what, ended.code,
                             ended.output.substr(ended.output.size() - std::min<std::size_t>(ended.output.size(), 600)),
                             ended.errors.substr(0, 1500)));
  }

  std::string program_, library_;
  bool is_kept_;
  long commits_ = 0;
  Result clean_;
  std::atomic<int> kills_ = 0;
};

int run(KillRun& killing, std::size_t stride, const std::string& only, std::uint64_t seed, int at_once) {
  if (!killing.learn()) return 1;
  std::vector<std::string> moments = killing.all_moments();
  if (!only.empty()) moments = {only};
  std::vector<std::string> chosen;
  for (std::size_t i = only.empty() ? seed % stride : 0; i < moments.size(); i += stride) chosen.push_back(moments[i]);
  fmt::print("seed {}: {} of {} moments\n", seed, chosen.size(), moments.size());
  Problems findings;
  std::atomic<std::size_t> next = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < at_once; ++i) {
      threads.emplace_back([&] {
        for (std::size_t at; (at = next++) < chosen.size();) killing.kill_at(chosen[at], findings);
      });
    }
  }
  fmt::print("{} kills, {} findings\n", killing.kills(), findings.count());
  // A few moments may not occur, when one poll finds two things; hardly any.
  if (only.empty() && killing.kills() * 10 < static_cast<int>(chosen.size()) * 9) {
    fmt::print("too few of the moments occurred\n");
    return 1;
  }
  return findings.count() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sb::faults

int main(int argc, char** argv) {
  CLI::App app("Kills a run at every commit of its store and checks whether it ends the same");
  std::string program, library, only;
  std::size_t stride = 1;
  std::uint64_t seed = std::random_device{}();
  int at_once = 2;
  bool keep = false;
  app.add_option("--program", program, "The signalbox to run")->required();
  app.add_option("--library", library, "The library that kills it")->required();
  app.add_option("--stride", stride, "Take every Nth moment")->check(CLI::PositiveNumber);
  app.add_option("--only", only, "One moment, such as before:17");
  app.add_option("--seed", seed, "Chooses the first moment");
  app.add_option("--at-once", at_once, "Parallel runs");
  app.add_flag("--keep", keep, "Leave the folders in place");
  CLI11_PARSE(app, argc, argv);
  sb::faults::KillRun killing(program, library, keep);
  return sb::faults::run(killing, stride, only, seed, at_once);
}
