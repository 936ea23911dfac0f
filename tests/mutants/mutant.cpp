#include "mutants/mutant.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/document/reader.hpp"
#include "base/files.hpp"
#include "tree/test_names.hpp"

namespace sb::mutants {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileBytes = 64u << 20;
constexpr std::int64_t kBuildMs = 20 * 60 * 1000;
constexpr std::int64_t kTestMs = 5 * 60 * 1000;

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

bool is_skipped(const fs::path& name) {
  return name == ".git" || name == "build" || name == ".cache" || name == "node_modules";
}

std::set<fs::path> files_below(const fs::path& root) {
  std::set<fs::path> paths;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::recursive_directory_iterator(); ++entry) {
    if (is_skipped(entry->path().filename())) {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file()) {
      paths.insert(fs::relative(entry->path(), root));
    }
  }
  return paths;
}

bool is_same(const fs::path& a, const fs::path& b) {
  const SystemFiles files;
  const auto left = files.read(a.string(), kFileBytes);
  const auto right = files.read(b.string(), kFileBytes);
  return left && right && *left == *right;
}

// `Suite.Name` of every test in the tree.
std::vector<std::string> tests_in(const std::string& tree) {
  std::vector<std::string> names;
  for (const fs::path& path : files_below(tree)) {
    if (!path.string().ends_with("_test.cpp")) continue;
    const auto text = SystemFiles().read((fs::path(tree) / path).string(), kFileBytes);
    for (const tree::TestName& test : tree::test_names(text.value_or(""))) {
      names.push_back(fmt::format("{}.{}", test.suite, test.name));
    }
  }
  return names;
}

// Whether GoogleTest's filter, which may name several patterns, selects one of the tests.
bool selects(std::string_view filter, const std::vector<std::string>& tests) {
  filter = filter.substr(0, filter.find('-'));
  while (!filter.empty()) {
    const std::size_t end = std::min(filter.find(':'), filter.size());
    std::string pattern(filter.substr(0, end));
    // A test with parameters: Cases/Suite.Name/case.
    pattern.erase(0, pattern.find('/') + 1);
    pattern.erase(std::min(pattern.find('/'), pattern.size()));
    if (std::ranges::any_of(tests, [&](const auto& name) { return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0; }))
      return true;
    filter.remove_prefix(std::min(end + 1, filter.size()));
  }
  return false;
}

// The end of a program's output, which usually has the reason.
std::string tail(const ProcessResult& exit) {
  const std::string all = exit.output + exit.errors;
  return all.substr(all.size() > 1500 ? all.size() - 1500 : 0);
}

std::vector<std::string> targets_of(const Mutant& mutant) {
  if (!mutant.target.empty()) return {mutant.target};
  return {"signalbox", "signalbox-hook", "scenario_runner", "terminal", "test_pipeline_runs"};
}

Result<ProcessResult> build(const Mutant& mutant, const std::string& copy, Process& process) {
  Command command;
  command.argv = {"cmake", "--build", "--preset", "release", "--target"};
  for (const std::string& target : targets_of(mutant)) command.argv.push_back(target);
  command.directory = copy;
  command.timeout_ms = kBuildMs;
  return process.run(command);
}

Command test_command(const Mutant& mutant, const std::string& copy) {
  Command command;
  if (mutant.target.empty()) {
    command.argv = {"ctest", "--test-dir", "build/release", "--no-tests=error", "--output-on-failure",
                    "-R",    mutant.ctest};
  } else {
    const std::string beside = fmt::format("build/release/tests/{}", mutant.target);
    const bool is_beside = fs::exists(fs::path(copy) / beside);
    command.argv = {is_beside ? beside : fmt::format("build/release/{}", mutant.target),
                    "--gtest_filter=" + mutant.filter};
  }
  command.directory = copy;
  command.timeout_ms = kTestMs;
  return command;
}

}  // namespace

Checked<std::vector<Mutant>> read_mutants(const Document& document) {
  Faults faults;
  std::vector<Mutant> mutants;
  for (const Reader& item : Reader(document, faults).items()) {
    Fields fields = item.fields();
    Mutant mutant;
    mutant.requirement = fields.string("requirement", Need::kRequired).value_or("");
    mutant.file = fields.string("file", Need::kRequired).value_or("");
    mutant.find = fields.string("find", Need::kRequired).value_or("");
    mutant.replace = fields.string("replace", Need::kRequired).value_or("");
    mutant.target = fields.string("target").value_or("");
    mutant.filter = fields.string("filter").value_or("");
    mutant.ctest = fields.string("ctest").value_or("");
    const bool is_unit = !mutant.target.empty() && !mutant.filter.empty() && mutant.ctest.empty();
    const bool is_ctest = mutant.target.empty() && mutant.filter.empty() && !mutant.ctest.empty();
    if (!is_unit && !is_ctest) item.fault("no test is named", "Add target and filter, or ctest");
    fields.finish();
    mutants.push_back(std::move(mutant));
  }
  if (!faults.empty()) return std::unexpected(std::move(faults));
  return mutants;
}

Faults check_mutants(const std::vector<Mutant>& mutants, const std::string& tree) {
  Faults faults;
  const std::vector<std::string> tests = tests_in(tree);
  for (const Mutant& mutant : mutants) {
    const auto complain = [&](std::string message, std::string remedy) {
      faults.push_back({ErrorCode::kInvalid, fmt::format("{}: {}", mutant.requirement, message), std::move(remedy),
                        SourceLocation{mutant.file, "", 0, 0}, false});
    };
    const auto text = SystemFiles().read(join_path(tree, mutant.file), kFileBytes);
    if (!text) {
      complain("the file of this mutant cannot be read", "Name the file that has the line now");
    } else if (const auto count = count_of(*text, mutant.find); count != 1) {
      complain(fmt::format("the text to find occurs {} times: {}", count, quote_json(mutant.find)),
               "Write it so that it occurs once");
    }
    if (!mutant.filter.empty() && !selects(mutant.filter, tests)) {
      complain(fmt::format("no test matches {}", mutant.filter), "Name a test that exists");
    }
    if (mutant.find == mutant.replace) complain("this mutant changes nothing", "Break the line");
  }
  return faults;
}

Status copy_tree(const std::string& tree, const std::string& copy) {
  try {
    fs::create_directories(copy);
    const auto wanted = files_below(tree);
    for (const fs::path& path : wanted) {
      const fs::path from = fs::path(tree) / path;
      const fs::path to = fs::path(copy) / path;
      if (is_same(from, to)) continue;
      fs::create_directories(to.parent_path());
      fs::copy_file(from, to, fs::copy_options::overwrite_existing);
    }
    for (const fs::path& path : files_below(copy)) {
      if (!wanted.contains(path)) fs::remove(fs::path(copy) / path);
    }
  } catch (const fs::filesystem_error& error) {
    return fail(ErrorCode::kIo, fmt::format("cannot copy the tree: {}", error.what()));
  }
  return {};
}

Judgement run_named_test(const Mutant& mutant, const std::string& copy, Process& process) {
  const auto built = build(mutant, copy, process);
  if (!built) return {Verdict::kBroken, built.error().to_string()};
  if (built->code != 0) return {Verdict::kBroken, "it does not build:\n" + tail(*built)};
  const auto ran = process.run(test_command(mutant, copy));
  if (!ran) return {Verdict::kBroken, ran.error().to_string()};
  if (ran->code == 127) return {Verdict::kBroken, "there is no such test program:\n" + tail(*ran)};
  if (ran->code != 0 || ran->timed_out) return {Verdict::kKilled, tail(*ran)};
  // GoogleTest passes if a filter matches no test.
  if (!mutant.target.empty() && ran->output.find("[  PASSED  ] 0 tests") != std::string::npos) {
    return {Verdict::kBroken, fmt::format("no test of {} matches {}", mutant.target, mutant.filter)};
  }
  return {Verdict::kSurvived, ""};
}

Judgement judge(const Mutant& mutant, const std::string& copy, Process& process) {
  SystemFiles files;
  const std::string path = join_path(copy, mutant.file);
  const auto text = files.read(path, kFileBytes);
  if (!text) return {Verdict::kBroken, text.error().to_string()};
  std::string broken = *text;
  const auto at = broken.find(mutant.find);
  if (at == std::string::npos) return {Verdict::kBroken, "the text to find is missing"};
  broken.replace(at, mutant.find.size(), mutant.replace);
  if (const auto written = files.write_atomic(path, broken); !written)
    return {Verdict::kBroken, written.error().message};
  Judgement judgement = run_named_test(mutant, copy, process);
  if (const auto restored = files.write_atomic(path, *text); !restored) {
    return {Verdict::kBroken, "cannot restore the file: " + restored.error().message};
  }
  return judgement;
}

}  // namespace sb::mutants
