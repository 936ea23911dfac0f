// For the tests of delivery: a temporary repository with a bare remote, and the operations of a run.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/fakes.hpp"
#include "pipeline/delivery/delivery.hpp"
#include "pipeline/forge/local_forge.hpp"

namespace sb::pipeline {

inline std::string describe(const Error& error) {
  return error.to_string();
}

class GitFixture {
 public:
  explicit GitFixture(std::map<std::string, std::string, std::less<>> more = {}) {
    std::string pattern = "/var/tmp/sb-delivery-XXXXXX";  // not /tmp: a check gets its own /tmp
    directory = std::filesystem::canonical(::mkdtemp(pattern.data()));
    more["PATH"] = ::getenv("PATH");
    more["HOME"] = directory + "/home";
    environment = Environment(std::move(more));
    std::filesystem::create_directories(directory + "/home/.sb");
    sh("git init -q --bare -b main remote.git && git init -q -b main repo");
    put("repo/README.md", "# Shop\n");
    put("repo/src/price.txt", "100\n");
    put("repo/src/other.txt", "other\n");
    sh("cd repo && git remote add origin ../remote.git && git add -A && " + commit("first") +
       " && git push -q origin main");
  }
  ~GitFixture() {
    std::error_code error;
    std::filesystem::remove_all(directory, error);
  }
  GitFixture(const GitFixture&) = delete;

  static std::string commit(const std::string& subject) {
    return "git -c user.name=Ada -c user.email=ada@example.org commit -q -m '" + subject + "'";
  }
  // The output without the last line break; fails the test when the command fails.
  std::string sh(const std::string& command, int expected = 0) {
    const auto exit = process.run({.argv = {"sh", "-c", command},
                                   .directory = directory,
                                   .environment = std::map<std::string, std::string>{{"PATH", ::getenv("PATH")},
                                                                                     {"HOME", directory + "/home"},
                                                                                     {"LC_ALL", "C.UTF-8"}},
                                   .merge_stderr = true});
    EXPECT_TRUE(exit) << command;
    EXPECT_EQ(exit->code, expected) << command << "\n" << exit->output;
    std::string output = exit->output;
    while (output.ends_with('\n')) output.pop_back();
    return output;
  }
  void put(const std::string& path, const std::string& bytes) {
    const std::filesystem::path whole = std::filesystem::path(directory) / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole, std::ios::binary) << bytes;
  }
  std::string read(const std::string& path) {
    std::ifstream file(directory + "/" + path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string repo() const { return directory + "/repo"; }
  std::string in_remote(const std::string& ref) {
    return sh("git -C remote.git rev-parse -q --verify " + ref + " || true");
  }

  WorkTreeSpec tree_spec(const std::string& run = "run1") const {
    return {.repository = repo(), .place = directory + "/trees", .run = run};
  }
  WorkTree tree(const std::string& run = "run1") {
    const auto made = make_work_tree(seams, tree_spec(run));
    EXPECT_TRUE(made) << (made ? "" : describe(made.error()));
    return made.value_or(WorkTree{});
  }
  DeliverySpec spec(const WorkTree& tree, const std::string& run = "run1") const {
    DeliverySpec spec{.run = run, .session = "sess_1", .goal = "Raise the price"};
    spec.tree = tree;
    spec.repository = repo();
    spec.check_place = directory + "/check-trees";
    spec.parent = tree.base_commit;
    spec.at = 1'700'000'000'000;
    spec.files_changed = {"src/price.txt"};
    spec.title = "Raise the price";
    spec.body = "It is too low.";
    spec.type = "fix", spec.scope = "shop", spec.subject = "raise the price";
    return spec;
  }
  HomeDirectories homes() const { return {directory + "/home/.sb", directory + "/home/.sb", directory + "/home/.sb"}; }
  DeliveryParts parts(Forge& forge) {
    return {.seams = seams, .forge = forge, .run_check = make_check_runner(seams, homes())};
  }
  std::unique_ptr<Forge> local_forge() { return make_local_forge(seams, repo(), "origin"); }

  std::string directory;
  SystemFiles files;
  FakeClock clock;
  FakeRandom random;
  SystemProcess process;
  Environment environment;
  FakeStreams streams;
  Seams seams{files, clock, random, process, environment, streams};
};

inline constexpr DeliveryStep kAllSteps[] = {
    DeliveryStep::kHead,   DeliveryStep::kScope,   DeliveryStep::kChecks,  DeliveryStep::kSecrets,
    DeliveryStep::kCommit, DeliveryStep::kPush,    DeliveryStep::kRequest, DeliveryStep::kRequestChecks,
    DeliveryStep::kMerge,  DeliveryStep::kConfirm, DeliveryStep::kClose};

inline DeliveryStepResult must(Result<DeliveryStepResult> done) {
  EXPECT_TRUE(done) << (done ? "" : describe(done.error()));
  return done ? std::move(*done) : DeliveryStepResult{.passed = false};
}

// All steps up to and including `last`, with their facts kept as the coordinator keeps them.
inline Value deliver_through(const DeliverySpec& spec, DeliveryParts& parts, DeliveryStep last, int times = 1) {
  Value facts = Value::object();
  for (const DeliveryStep step : kAllSteps) {
    DeliveryStepResult done;
    for (int i = 0; i < times; ++i) done = must(deliver(step, spec, facts, parts));
    EXPECT_TRUE(done.passed) << to_string(step) << ": " << (done.findings.empty() ? "" : done.findings.front().summary);
    facts.set(to_string(step), done.facts);
    if (step == last) break;
  }
  return facts;
}

}  // namespace sb::pipeline
