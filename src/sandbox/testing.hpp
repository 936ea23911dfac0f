// A workspace, a home and a sandbox, with real files and processes, for tests of what a command reaches.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/testing/fakes.hpp"
#include "sandbox/enclosed_run.hpp"
#include "sandbox/visible_paths.hpp"

namespace sb::sandbox {

class SandboxFixture {
 public:
  SandboxFixture() {
    std::string pattern = "/var/tmp/sb-sandbox-XXXXXX";  // not /tmp: a command gets its own /tmp
    directory = std::filesystem::canonical(::mkdtemp(pattern.data()));
    workspace = directory + "/user/project";
    homes = {directory + "/user/.sb", directory + "/user/.sb", directory + "/user/.sb"};
    for (const std::string& path : {workspace, homes.state}) std::filesystem::create_directories(path);
    set_environment("/usr/local/bin:/usr/bin:/bin");
  }
  ~SandboxFixture() { std::filesystem::remove_all(directory); }

  void set_environment(const std::string& path) {
    environment = Environment({{"PATH", path}, {"HOME", directory + "/user"}, {"LANG", "C.UTF-8"}});
  }
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(directory + "/" + name).parent_path());
    std::ofstream(directory + "/" + name) << text;
  }
  std::string read(const std::string& path) const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  int shell(const std::string& line) {
    return std::system(("cd '" + directory + "' && (" + line + ") >/dev/null 2>&1").c_str());
  }
  Sandbox found() { return find_sandbox(seams, settings); }

  ProcessResult run(const std::string& line, Place place = {}) {
    const auto result = attempt(line, std::move(place));
    EXPECT_TRUE(result) << (result ? "" : result.error().to_string());
    return result ? *result : ProcessResult{.code = -1, .output = {}, .errors = {}};
  }
  // Why it is not run.
  std::string refused(const std::string& line) {
    const auto result = attempt(line, {});
    EXPECT_FALSE(result) << line;
    return result ? "" : result.error().to_string();
  }
  Result<ProcessResult> attempt(const std::string& line, Place place) {
    const Sandbox sandbox = found();
    if (place.workspace.empty()) place.workspace = workspace;
    for (std::string& path : hidden_paths(files, environment, homes)) place.hidden.push_back(std::move(path));
    Command command{.argv = {"/bin/bash", "-c", line},
                    .environment = clean_environment(environment),
                    .timeout_ms = 60'000,
                    .kill_descendants = true};
    return run_enclosed(seams, homes, sandbox, std::move(place), std::move(command));
  }
  std::string output(const std::string& line) {
    const ProcessResult result = run(line);
    return result.output + result.errors;
  }

  std::string directory, workspace;
  HomeDirectories homes;
  Settings settings;
  Environment environment;
  SystemFiles files;
  SystemClock clock;
  FakeRandom random;
  SystemProcess process;
  FakeStreams streams;
  Seams seams{files, clock, random, process, environment, streams};
};

// For tests of agents: where no sandbox can be made, the configuration in this folder lets them work without one.
inline void allow_no_sandbox(const Seams& seams, const std::string& config_home) {
  static const bool has_sandbox = find_sandbox(seams).works();
  if (has_sandbox) return;
  std::filesystem::create_directories(config_home);
  std::ofstream(config_home + "/config.yaml") << "sandbox: {mode: none}\n";
}

// What must fail in the sandbox, and what must work.
class Doors : public testing::Test {
 protected:
  void SetUp() override {
    if (const Sandbox sandbox = room.found(); !sandbox.works()) GTEST_SKIP() << sandbox.name();
  }
  // The command must fail.
  void closed(const std::string& line) {
    const ProcessResult result = room.run(line);
    EXPECT_NE(result.code, 0) << line << "\n" << result.output << result.errors;
  }
  void open(const std::string& line) {
    const ProcessResult result = room.run(line);
    EXPECT_EQ(result.code, 0) << line << "\n" << result.output << result.errors;
  }
  SandboxFixture room;
};

}  // namespace sb::sandbox
