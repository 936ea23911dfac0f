#include "engine/command/changed_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text/unicode.hpp"
#include "sandbox/sandbox.hpp"

namespace sb::engine {
namespace {

constexpr std::string_view kOurFolder = ".signalbox/";
constexpr std::int64_t kGitMs = 20'000;
constexpr std::size_t kGitBytes = std::size_t{4} << 20;

using Variables = std::map<std::string, std::string>;

// The entries of its output; nothing if it failed.
std::optional<std::vector<std::string>> run_git(const Seams& seams, const std::string& workspace,
                                                const Variables& variables, std::vector<std::string> words) {
  std::vector<std::string> argv = {
      "git", "-C", workspace, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"};
  argv.insert(argv.end(), words.begin(), words.end());
  const auto exit = seams.process.run(
      {.argv = std::move(argv), .environment = variables, .timeout_ms = kGitMs, .max_output_bytes = kGitBytes});
  // `git config` exits with 1 if it finds nothing.
  const bool is_config = words.front() == "config" && exit && exit->code == 1;
  if (!exit || (exit->code != 0 && !is_config) || exit->timed_out || exit->output_truncated) return std::nullopt;
  std::vector<std::string> entries;
  std::string_view rest = exit->output;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\0'), rest.size());
    entries.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return entries;
}

// With every filter that the configuration has turned off.
std::optional<Variables> without_filters(const Seams& seams, const std::string& workspace) {
  Variables variables = sandbox::clean_environment(seams.environment);
  variables["GIT_OPTIONAL_LOCKS"] = "0";
  // In a partial clone git fetches missing objects, with a command that the repository names.
  variables["GIT_ALLOW_PROTOCOL"] = "none";
  const auto names =
      run_git(seams, workspace, variables, {"config", "--name-only", "-z", "--get-regexp", "^filter\\."});
  if (!names) return std::nullopt;
  const std::set<std::string> each(names->begin(), names->end());
  int count = 0;
  for (const std::string& name : each) {
    variables[fmt::format("GIT_CONFIG_KEY_{}", count)] = name;
    variables[fmt::format("GIT_CONFIG_VALUE_{}", count)] = name.ends_with(".required") ? "false" : "";
    ++count;
  }
  variables["GIT_CONFIG_COUNT"] = std::to_string(count);
  return variables;
}

}  // namespace

std::optional<std::vector<std::string>> changed_files(const Seams& seams, const std::string& workspace,
                                                      const std::string& commit, TimestampMs since) {
  const auto variables = without_filters(seams, workspace);
  if (!variables) return std::nullopt;
  const auto differing = run_git(seams, workspace, *variables,
                                 {"diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv",
                                  "--ignore-submodules=dirty", "--relative", commit, "--", "."});
  if (!differing) return std::nullopt;
  const auto others = run_git(seams, workspace, *variables, {"ls-files", "-z", "--others", "--exclude-standard"});
  if (!others) return std::nullopt;
  std::set<std::string> paths(differing->begin(), differing->end());
  paths.insert(others->begin(), others->end());
  std::erase_if(paths, [&](const std::string& path) {
    const FileStatus status = seams.files.status(join_path(workspace, path));
    const bool is_older = status.kind == FileKind::kFile && status.modified_ns / 1'000'000 < since;
    return is_older || path.starts_with(kOurFolder) || !is_utf8(path);
  });
  return std::vector<std::string>(paths.begin(), paths.end());
}

}  // namespace sb::engine
