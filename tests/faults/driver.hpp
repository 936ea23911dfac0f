// Runs the real program as a caller would, and kills it as a crash would.
//
// Thread-safe: any number of calls may run at a time on one place.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "started/program.hpp"

namespace sb::faults {

struct ProgramCall : test_program::ProgramResult {
  // The output, if complete: one line of JSON. Then the caller has its answer, killed or not.
  std::optional<Value> reported() const;
};

// A folder with its own home and a long workflow, removed with everything in it.
class TestHome {
 public:
  // `program`: the signalbox to run.
  explicit TestHome(std::string program);
  ~TestHome();
  TestHome(const TestHome&) = delete;
  TestHome& operator=(const TestHome&) = delete;

  ProgramCall run(std::vector<std::string> arguments, std::optional<std::int64_t> kill_after_us = {}) const;
  ProgramCall start(const std::string& goal, std::optional<std::int64_t> kill_after_us = {}) const;
  // `notes` must be unique: they name the file they are passed in.
  ProgramCall continue_session(const std::string& token, const std::string& notes,
                               std::optional<std::int64_t> kill_after_us = {}) const;

  const std::string& directory() const { return directory_; }
  void keep() { is_kept_ = true; }  // for inspection

 private:
  std::string program_, directory_;
  std::vector<std::string> environment_;
  mutable std::atomic<std::int64_t> files_ = 0;
  bool is_kept_ = false;
};

// Events of a session as `session export` prints them; nothing on failure.
std::optional<std::vector<Value>> exported(const TestHome& place, const std::string& session);

// Ids of all sessions; nothing when listing fails.
std::optional<std::vector<std::string>> listed(const TestHome& place);

// Problems found, by any thread. Prints each once, the first few only.
class Problems {
 public:
  void add(const std::string& problem);
  int count() const { return count_; }

 private:
  std::mutex mutex_;
  std::atomic<int> count_ = 0;
};

}  // namespace sb::faults
