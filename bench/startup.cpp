// Wall time from exec to exit of programs that hosts and shell scripts call often, compared with an empty shell and an
// empty node in the same run: the ratio says more than the milliseconds of any one machine.
//
//   bench_startup [RUNS]
//
// The programs take turns, so that a load spike affects all of them. Prints the minimum, the median and the 90th
// percentile in milliseconds, and the median as a multiple of `bash -c :`. Targets: signalbox-hook 5 ms under any of
// its names, signalbox flow step and pref --check 10 ms.
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/document/document.hpp"

namespace {

namespace fs = std::filesystem;

struct Subject {
  std::string name;
  std::vector<std::string> argv;
  std::string input = "/dev/null";
  std::vector<double> times_ms = {};
};

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (std::string& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

// Nothing if it could not be started or did not exit with 0.
std::optional<double> run_ms(Subject& subject, std::vector<std::string>& environment, const std::string& output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, subject.input.c_str(), O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const auto begin = std::chrono::steady_clock::now();
  pid_t pid = 0;
  int status = -1;
  const bool is_started = posix_spawnp(&pid, subject.argv[0].c_str(), &actions, nullptr, pointers(subject.argv).data(),
                                       pointers(environment).data()) == 0;
  if (is_started) ::waitpid(pid, &status, 0);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  posix_spawn_file_actions_destroy(&actions);
  return is_started && status == 0 ? std::optional(took.count()) : std::nullopt;
}

std::string read(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const fs::path& path, std::string_view text) {
  std::ofstream(path) << text;
}

double at(const std::vector<double>& sorted, double part) {
  return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(part * static_cast<double>(sorted.size())))];
}

// A planned prompt and the call that asks it, an open session and calls restricted by it, a flow's first state, and
// links under the other names.
std::vector<Subject> prepare(const fs::path& root, std::vector<std::string>& environment) {
  const std::string programs = SB_PROGRAMS;
  const std::string signalbox = programs + "/signalbox";
  const std::string hook = programs + "/signalbox-hook";
  const fs::path flow = root / "flow.yaml", decision = root / "decision.yaml", out = root / "out";
  write(flow,
        "flow: release\nsteps:\n  - {key: branch, instruction: \"Which branch?\", options: [main, hotfix]}\n"
        "  - {key: env, instruction: \"Which environment?\", options: [staging, production]}\n");
  write(decision, "decision: branch\ninstruction: Which branch?\noptions: [main, release, hotfix]\n");
  Subject render{"", {signalbox, "render", "--def", decision, "--host", "ask_user_question"}};
  (void)run_ms(render, environment, out);
  write(root / "event.json", fmt::format(R"({{"session_id":"s","cwd":"{}","hook_event_name":"PreToolUse",)"
                                         R"("tool_name":"AskUserQuestion","tool_use_id":"t","tool_input":{}}})",
                                         root.string(), read(out)));
  write(root / "unmarked.json",
        fmt::format(R"({{"session_id":"s","cwd":"{}","hook_event_name":"PreToolUse","tool_name":"AskUserQuestion",)"
                    R"("tool_input":{{"questions":[{{"question":"Which?","options":["x","y"]}}]}}}})",
                    root.string()));
  Subject session{"", {signalbox, "session", "start", "wr.coding-task", "--goal", "Measure", "--workspace", root}};
  (void)run_ms(session, environment, out);
  const auto event_of = [&](std::string_view rest) {
    return fmt::format(R"({{"session_id":"s","cwd":"{}",{}}})", root.string(), rest);
  };
  write(root / "edit.json",
        event_of(R"("hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"src/a.cpp"})"));
  write(root / "bash.json", event_of(R"("hook_event_name":"PreToolUse","tool_name":"Bash",)"
                                     R"("tool_input":{"command":"git log --oneline | head -5 && rm -rf build"})"));
  write(root / "started.json", event_of(R"("hook_event_name":"SessionStart","source":"compact")"));
  Subject start{"", {signalbox, "flow", "start", "--def", flow}};
  (void)run_ms(start, environment, out);
  const auto first = sb::parse_json(read(out));
  const std::string state = first ? first->string_at("state").value_or("") : "";
  for (const char* name : {"gstack-question-preference", "gstack-question-log"}) fs::create_symlink(hook, root / name);
  const std::string record =
      R"({"skill":"bench","question_id":"bench-q","question_summary":"Which?","user_choice":"x","tool_use_id":"t"})";
  return {
      {"bash -c :", {"bash", "-c", ":"}},
      {"node -e 0", {"node", "-e", "0"}},
      {"signalbox-hook, planned question", {hook}, root / "event.json"},
      {"signalbox-hook, question without a marker", {hook}, root / "unmarked.json"},
      {"signalbox-hook, an edit while a step is open", {hook}, root / "edit.json"},
      {"signalbox-hook, a command while a step is open", {hook}, root / "bash.json"},
      {"signalbox-hook, the step after a compaction", {hook}, root / "started.json"},
      {"signalbox-hook statusline", {hook, "statusline"}, root / "started.json"},
      {"gstack-question-preference --check", {root / "gstack-question-preference", "--check", "bench-q"}},
      {"gstack-question-log (duplicate)", {root / "gstack-question-log", record}},
      {"signalbox pref --check", {signalbox, "pref", "--check", "bench-q"}},
      {"signalbox flow step", {signalbox, "flow", "step", "--def", flow, "--state", state, "--input", "1"}},
      {"signalbox --version", {signalbox, "--version"}},
  };
}

}  // namespace

int main(int argc, char** argv) {
  const int runs = argc > 1 ? std::max(1, std::atoi(argv[1])) : 100;
  std::string pattern = (fs::temp_directory_path() / "sb-startup-XXXXXX").string();
  if (!::mkdtemp(pattern.data())) return 1;
  const fs::path root = fs::canonical(pattern);
  fs::current_path(root);
  std::vector<std::string> environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + root.string(),
                                          "SIGNALBOX_HOME=" + (root / "home").string(),
                                          "GSTACK_HOME=" + (root / "gstack").string(), "GSTACK_PROJECT_SLUG=bench"};
  std::vector<Subject> subjects = prepare(root, environment);
  for (int i = 0; i < runs; ++i) {
    for (Subject& subject : subjects) {
      if (const auto took = run_ms(subject, environment, "/dev/null")) subject.times_ms.push_back(*took);
    }
  }
  fmt::print("{:<44} {:>8} {:>8} {:>8} {:>8}\n", "from exec to exit, ms", "min", "median", "p90", "x bash");
  double bash_ms = 0;
  for (Subject& subject : subjects) {
    if (subject.times_ms.empty()) {
      fmt::print("{:<44} {:>8}\n", subject.name, "not run");
      continue;
    }
    std::ranges::sort(subject.times_ms);
    const double median = at(subject.times_ms, 0.5);
    if (bash_ms == 0) bash_ms = median;
    fmt::print("{:<44} {:>8.2f} {:>8.2f} {:>8.2f} {:>8.1f}\n", subject.name, subject.times_ms.front(), median,
               at(subject.times_ms, 0.9), median / bash_ms);
  }
  std::error_code ignored;
  fs::remove_all(root, ignored);
  return 0;
}
