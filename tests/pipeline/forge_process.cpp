#include "pipeline/forge_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "base/document/document.hpp"

namespace sb::pipeline_tests {

ForgeProcess::ForgeProcess(const std::string& program, const RunFixture& place, const std::vector<std::string>& more)
    : place_(place) {
  std::filesystem::create_directories(place.root() + "/forge");
  std::vector<std::string> words = {program,
                                    "--repository",
                                    place.remote(),
                                    "--state",
                                    place.root() + "/forge",
                                    "--log",
                                    place.root() + "/forge.log"};
  words.insert(words.end(), more.begin(), more.end());
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin", std::string("FORGE_STAND_IN_TOKEN=") + kForgeToken};
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (std::string& text : texts) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
  };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  const int failed =
      ::posix_spawn(&process_, program.c_str(), &actions, nullptr, pointers(words).data(), pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  char byte = 0;
  while (failed == 0 && ::read(ends[0], &byte, 1) == 1 && byte != '\n') url_ += byte;
  ::close(ends[0]);
  if (url_.empty()) throw std::runtime_error("the stand-in for the forge does not start");
}

ForgeProcess::~ForgeProcess() {
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

std::string ForgeProcess::settings() const {
  return fmt::format("forge: {{kind: github, repository: acme/shop, url: \"{}\", token: $FORGE_TOKEN}}\n", url_);
}

Value ForgeProcess::state() const {
  auto value = parse_json(place_.read("forge/state.json"));
  return value ? std::move(*value) : Value();
}

std::size_t ForgeProcess::requests() const {
  const std::string log = place_.read("forge.log");
  return static_cast<std::size_t>(std::ranges::count(log, '\n'));
}

Start ForgeProcess::with_token(std::vector<std::string> arguments) {
  return {.arguments = std::move(arguments), .environment = {std::string("FORGE_TOKEN=") + kForgeToken}};
}

}  // namespace sb::pipeline_tests
