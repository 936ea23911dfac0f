// Shared by the tests of the work tree tools: real folders with a work tree, a home with keys, a git repository.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "agent/tools/work_tools.hpp"
#include "base/document/document.hpp"
#include "base/testing/fakes.hpp"
#include "inbox/hidden_paths.hpp"

namespace sb::agent {

class WorkTreeFixture {
 public:
  WorkTreeFixture() {
    std::string pattern = "/var/tmp/sb-tools-XXXXXX";  // not /tmp: a command gets its own /tmp
    directory = std::filesystem::canonical(::mkdtemp(pattern.data()));
    for (const char* name : {"/home/.ssh", "/home/.sb", "/repository", "/elsewhere"}) {
      std::filesystem::create_directories(directory + name);
    }
    environment = Environment({{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                               {"HOME", directory + "/home"},
                               {"LANG", "C.UTF-8"},
                               {"MODEL_KEY", "the-model-key"}});
    write("home/.ssh/id", "the-private-key");
    write("home/.sb/signalbox.db", "the-log");
    write("elsewhere/secret.txt", "the-secret");
    root = directory + "/work";
    std::filesystem::create_directories(root);
    sandbox = sandbox::find_sandbox(seams);
  }
  ~WorkTreeFixture() { std::filesystem::remove_all(directory); }

  WorkTreeAccess place() {
    return {.seams = seams,
            .root = root,
            .readable = {},
            .only = {},
            .sandbox = sandbox,
            .homes = {directory + "/home/.sb", directory + "/home/.sb", directory + "/home/.sb"},
            .hidden = inbox::hidden_paths(files, environment,
                                          {directory + "/home/.sb", directory + "/home/.sb", directory + "/home/.sb"}),
            .steps = {},
            .seen = &seen};
  }
  // Makes the work tree a linked git work tree of a repository with one commit.
  void with_git() {
    std::filesystem::remove_all(root);
    shell(
        "cd repository && git init -q -b main && git config user.name t && git config user.email t@t && "
        "echo one > a.txt && git add -A && git commit -q -m one && git worktree add -q -b work ../work");
  }
  int shell(const std::string& line) {
    return std::system(("cd " + directory + " && (" + line + ") >/dev/null 2>&1").c_str());
  }

  ToolResult call(Tools& tools, const std::string& name, const char* json, ToolRun run = {}) {
    for (const auto& tool : tools) {
      if (tool->declaration().name != name) continue;
      const ToolCall call{"id", name, parse_document("input.json", json)->root};
      const std::string errors = schema_errors(tool->declaration(), call.input);
      if (!errors.empty()) return {.text = errors, .is_error = true};
      return tool->run(call, run);
    }
    return {.text = "no tool " + name, .is_error = true};
  }
  ToolResult call(const std::string& name, const char* json) {
    Tools tools = make_work_tools(place());
    return call(tools, name, json);
  }

  void write(const std::string& name, std::string_view text) {
    std::filesystem::create_directories(std::filesystem::path(directory + "/" + name).parent_path());
    std::ofstream(directory + "/" + name) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(directory + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool has(const std::string& name) const { return std::filesystem::exists(directory + "/" + name); }

  std::string directory, root;
  Environment environment;
  SystemFiles files;
  SystemClock clock;
  FakeRandom random;
  SystemProcess process;
  FakeStreams streams;
  Seams seams{files, clock, random, process, environment, streams};
  sandbox::Sandbox sandbox;
  SeenFiles seen;
};

}  // namespace sb::agent
