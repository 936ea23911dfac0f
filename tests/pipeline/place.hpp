// The environment for one test of a run: its own home, a git repository whose `./check` fails, a bare remote, a
// scripted model and small workflows for the phases. The program is the real one, started as a user starts it.
//
// Threads: run() from any; the rest from one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "started/program.hpp"

namespace sb::pipeline_tests {

using test_program::ProgramResult;
using test_program::Start;  // an empty directory is the repository
using test_program::start_program;

class RunFixture {
 public:
  explicit RunFixture(std::string program);
  ~RunFixture();
  RunFixture(const RunFixture&) = delete;
  RunFixture& operator=(const RunFixture&) = delete;

  const std::string& root() const { return root_; }
  std::string home() const { return root_ + "/home"; }
  std::string repository() const { return root_ + "/repo"; }
  std::string remote() const { return root_ + "/remote.git"; }
  const std::string& program() const { return program_; }
  const std::vector<std::string>& environment() const { return environment_; }
  void keep() { is_kept_ = true; }  // for inspection

  // The user's config.yaml: the scripted model, the small workflows, and these lines. Later keys of the same name
  // replace earlier ones: `configure("merge: ask")`.
  void configure(const std::string& lines = {});
  void script(const std::string& lines);
  void write(const std::string& path, const std::string& text, bool is_executable = false) const;  // under root
  std::string read(const std::string& path) const;                                                 // empty: missing
  bool exists(const std::string& path) const;
  // In the repository, committed and pushed.
  void commit(const std::string& path, const std::string& text, bool is_executable = false) const;

  ProgramResult run(std::vector<std::string> arguments) const { return run(Start{.arguments = std::move(arguments)}); }
  ProgramResult run(Start start) const;
  // `signalbox run GOAL --workspace REPO --json …`
  ProgramResult run_goal(const std::string& goal, std::vector<std::string> more = {}) const;
  // With these bytes as the ticket.
  ProgramResult run_with_ticket(const std::string& goal, const std::string& ticket,
                                std::vector<std::string> more = {}) const;
  ProgramResult resume(const std::string& run = "last", std::vector<std::string> more = {}) const;
  // The run as `runs show --json` prints it; null when it does not.
  Value shown(const std::string& run = "last") const;
  // Its events as `runs export` prints them, those of type `type` when one is given.
  std::vector<Value> events(const std::string& type = {}, const std::string& run = "last") const;
  std::string run_id() const;  // of the last; empty: there is none
  // The open questions for people.
  std::vector<Value> open_decisions() const;
  ProgramResult answer(const std::string& decision, const std::string& choice) const;
  // Answers the one open question of the run, then resumes it.
  ProgramResult answer_and_resume(const std::string& choice) const;

  // The output without its last line feed; nothing when git fails.
  std::optional<std::string> git(const std::string& directory, std::vector<std::string> words) const;
  // Of the remote: the number of commits of `main` after the first; the text of a file there.
  int delivered_commits(const std::string& branch = "main") const;
  std::string delivered(const std::string& path, const std::string& branch = "main") const;
  std::vector<std::string> remote_branches() const;
  // Of the repository: in addition to the user's own and to those in which checks run.
  std::vector<std::string> work_trees() const;

 private:
  std::string root_, program_;
  std::vector<std::string> environment_;
  std::string extra_;
  bool is_kept_ = false;
};

}  // namespace sb::pipeline_tests
