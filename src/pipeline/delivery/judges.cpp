#include "pipeline/delivery/judges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <set>

#include "base/document/document.hpp"
#include "base/text.hpp"
#include "base/text/path_glob.hpp"
#include "pipeline/limits.hpp"

namespace sb::pipeline {
namespace {

struct Group {
  std::string_view why;
  std::string_view globs;  // separated by blanks
};

constexpr std::array<Group, 5> kAlways = {{
    {"settings of Signalbox", "signalbox.yaml **/signalbox.yaml .signalbox/**"},
    {"workflow folder", "workflows/** .workrail/**"},
    {"rules for agents",
     "**/CLAUDE.md **/CLAUDE.local.md **/AGENTS.md **/GEMINI.md **/.cursorrules **/.windsurfrules **/.clinerules "
     "**/.claude/** **/.codex/** **/.cursor/** **/.windsurf/** **/.firebender/** **/.continue/** **/.gemini/** "
     "**/.opencode/** **/.roo/** **/opencode.json **/.mcp.json **/.aider.conf.yml **/copilot-instructions.md"},
    {"CI definition",
     ".github/** .gitlab/** .gitlab-ci.yml **/.gitlab-ci.yml .circleci/** .buildkite/** .forgejo/** .gitea/** "
     ".woodpecker/** .woodpecker.yml .woodpecker.yaml .drone.yml .travis.yml .cirrus.yml .appveyor.yml appveyor.yml "
     "azure-pipelines.yml .azure-pipelines/** bitbucket-pipelines.yml Jenkinsfile **/Jenkinsfile* .teamcity/** "
     ".tekton/** cloudbuild.yaml cloudbuild.yml buildspec.yml .semaphore/** CODEOWNERS docs/CODEOWNERS"},
    {"settings of git",
     "**/.gitattributes .gitmodules .githooks/** .husky/** lefthook.yml lefthook.yaml .lefthook/** "
     "**/.pre-commit-config.yaml"},
}};

// Programs, and the files that tell them what to do. Files without `/` count in every folder.
struct Driver {
  std::string_view programs, globs;
};
constexpr std::array kDrivers = {
    Driver{"npm npx yarn pnpm bun bunx node deno",
           "package.json .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pnpm-workspace.yaml bunfig.toml deno.json deno.jsonc "
           "jest.config.* vitest.config.* vite.config.* .mocharc.* karma.conf.* playwright.config.* cypress.config.* "
           "ava.config.* babel.config.* .babelrc* tsconfig*.json .eslintrc* eslint.config.* .eslintignore biome.json*"},
    Driver{"jest vitest mocha eslint tsc prettier biome",
           "package.json jest.config.* vitest.config.* .mocharc.* .eslintrc* eslint.config.* .eslintignore "
           "tsconfig*.json .prettierrc* .prettierignore biome.json*"},
    Driver{"make gmake", "Makefile makefile GNUmakefile *.mk *.mak"},
    Driver{"just", "justfile Justfile .justfile *.just"},
    Driver{"task", "Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml Taskfile.dist.yml Taskfile.dist.yaml"},
    Driver{"cmake ctest ninja", "CMakeLists.txt CMakePresets.json CMakeUserPresets.json *.cmake build.ninja"},
    Driver{"meson", "meson.build meson_options.txt meson.options"},
    Driver{"bazel bazelisk buck2 pants",
           "BUILD BUILD.bazel WORKSPACE WORKSPACE.bazel MODULE.bazel .bazelrc *.bzl BUCK pants.toml"},
    Driver{"cargo", "Cargo.toml build.rs rust-toolchain rust-toolchain.toml clippy.toml .clippy.toml .cargo/**"},
    Driver{"go golangci-lint", "go.mod go.work .golangci.*"},
    Driver{"python python3 pytest py.test tox nox uv poetry hatch pdm pipenv ruff mypy pyright flake8 pylint coverage",
           "pytest.ini conftest.py tox.ini setup.cfg setup.py pyproject.toml noxfile.py .coveragerc mypy.ini .mypy.ini "
           "ruff.toml .ruff.toml .flake8 .pylintrc pyrightconfig.json sitecustomize.py usercustomize.py"},
    Driver{"mvn mvnw", "pom.xml .mvn/**"},
    Driver{"gradle gradlew", "*.gradle *.gradle.kts gradle.properties gradle/** buildSrc/**"},
    Driver{"rake bundle rspec ruby rails",
           "Rakefile *.rake Gemfile .rspec spec_helper.rb rails_helper.rb .rubocop.yml"},
    Driver{"composer phpunit php", "composer.json phpunit.xml phpunit.xml.dist phpstan.neon*"},
    Driver{"dotnet", "*.csproj *.fsproj *.sln Directory.Build.* Directory.Packages.props global.json nuget.config"},
    Driver{"mix", "mix.exs test_helper.exs .credo.exs"},
    Driver{"sbt", "build.sbt project/**"},
    Driver{"swift", "Package.swift"},
    Driver{"zig", "build.zig build.zig.zon"},
    Driver{"nix nix-build nix-shell", "flake.nix flake.lock shell.nix default.nix"},
    Driver{"docker docker-compose podman", "Dockerfile* docker-compose*.yml docker-compose*.yaml compose*.y*ml"},
    Driver{"pre-commit", ".pre-commit-config.yaml"}};

// A word after one of these is run.
constexpr std::array<std::string_view, 22> kInterpreters = {
    "sh",   "bash", "dash", "zsh",  "source",  ".",   "python",  "python3", "node", "deno",    "bun",
    "ruby", "perl", "php",  "exec", "include", "env", "command", "xargs",   "lua",  "Rscript", "pwsh"};

constexpr std::array<std::string_view, 9> kScriptEnds = {".sh", ".bash", ".py", ".js",  ".mjs",
                                                         ".ts", ".rb",   ".pl", ".bats"};

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80) != 0 ||
         std::string_view("_-./+@%~").find(c) != std::string_view::npos;
}

struct Word {
  std::string_view text;
  bool is_captured = false;  // in `$(…)` or backticks
};

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words;
  int depth = 0;
  bool is_quoted = false;
  for (std::size_t at = 0; at < line.size();) {
    std::size_t end = at;
    while (end < line.size() && is_of_word(line[end])) ++end;
    if (end > at) {
      words.push_back({line.substr(at, end - at), depth > 0 || is_quoted});
      at = end;
      continue;
    }
    if (line[at] == '`') is_quoted = !is_quoted;
    if (line[at] == '(' && (depth > 0 || (at > 0 && line[at - 1] == '$'))) ++depth;
    if (line[at] == ')' && depth > 0) --depth;
    ++at;
  }
  return words;
}

std::vector<std::string_view> globs_in(std::string_view list) {
  auto globs = split(list, ' ');
  std::erase(globs, std::string_view());
  return globs;
}

bool covers(std::string_view glob, std::string_view path) {
  return glob_covers(glob, path, GlobCase::kIgnored);
}

// A path of the repository that the word may mean, read from a file in that folder; empty: it leaves the repository.
std::string path_named(std::string_view word, std::string_view folder) {
  while (word.starts_with('/')) word.remove_prefix(1);  // what is left of `$DIR/lint.sh`
  std::string path = lexically_normal(folder.empty() ? std::string(word) : join_path(folder, word));
  return path.empty() || path == "." || path.starts_with("..") ? std::string() : path;
}

// What of a file may run something.
std::string commands_in(const std::string& path, const std::string& text) {
  if (base_name(path) != "package.json") return text;
  const auto parsed = parse_json(text);
  if (!parsed || !(*parsed)["scripts"].is_object()) return text;
  std::string scripts;
  for (const Value::Member& script : (*parsed)["scripts"].members()) {
    if (script.value.is_string()) scripts += script.value.as_string() + "\n";
  }
  return scripts;
}

class Search {
 public:
  explicit Search(const ReadEntries& read) : read_(read) {}

  Result<CheckFiles> run(const std::vector<ProjectCheck>& checks) {
    for (const ProjectCheck& check : checks) {
      // Whatever the command names counts, even what is not there yet.
      SB_TRY(look_at(check.run, "", fmt::format("the check {}", shown(check.name)), true));
    }
    while (!open_.empty() && followed_ < limits::kJudgeScripts) {
      const Script script = std::move(open_.front());
      open_.pop_front();
      ++followed_;
      SB_TRY(look_at(commands_in(script.path, script.text), parent_of(script.path), script.why, false));
    }
    return std::move(found_);
  }

 private:
  struct Script {
    std::string path, text, why;
  };
  static std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
  }

  struct Named {
    std::string path;
    bool is_run = false;
  };

  Status look_at(const std::string& text, const std::string& folder, const std::string& why, bool is_command) {
    std::set<std::string> folders = {"", folder};
    std::vector<Named> named;
    if (is_command) add_patterns(text, why);
    for (const std::string_view line : lines_of(text)) {
      const auto words = words_of(line);
      for (std::size_t i = 0; i < words.size() && named.size() < limits::kJudgeNames; ++i) {
        const std::string_view word = words[i].text, before = i > 0 ? words[i - 1].text : std::string_view();
        SB_TRY(add_drivers(base_name(word), why));
        // What a script compares the output of is what it tests.
        if (words[i].is_captured && !is_command) continue;
        if (before == "cd") folders.insert(path_named(word, ""));
        if (before == "-m") add_module(word, named);
        for (const std::string& each : folders) {
          if (std::string path = path_named(word, each); !path.empty()) named.push_back({path, is_run(words, i)});
        }
      }
    }
    return take(named, why, is_command);
  }

  // `sh lint.sh`; and `sh "$(dirname "$0")/lint.sh"`, where other words are in between.
  static bool is_run(const std::vector<Word>& words, std::size_t at) {
    const auto interprets = [](const Word& word) {
      return std::ranges::find(kInterpreters, base_name(word.text)) != kInterpreters.end();
    };
    if (at > 0 && interprets(words[at - 1])) return true;
    const bool is_script = std::ranges::any_of(kScriptEnds, [&](auto end) { return words[at].text.ends_with(end); });
    for (std::size_t back = 2; is_script && back <= 4 && back <= at; ++back) {
      if (interprets(words[at - back])) return true;
    }
    return false;
  }

  // Of Python: `-m tools.lint`.
  static void add_module(std::string_view name, std::vector<Named>& named) {
    std::string module(name);
    std::ranges::replace(module, '.', '/');
    for (const char* end : {".py", "/__main__.py"}) named.push_back({module + end, true});
  }

  // `for script in ci/*.sh`
  void add_patterns(const std::string& text, const std::string& why) {
    for (std::string_view word : split(text, ' ')) {
      word = trimmed(word, "\"'`;()&|\t\n");
      const bool is_script =
          std::ranges::any_of(kScriptEnds, [&](std::string_view end) { return word.ends_with(end); });
      if (is_script && word.find('*') != word.npos) found_.drivers.emplace(path_named(word, ""), why);
    }
  }

  Status add_drivers(const std::string& program, const std::string& why) {
    if (!programs_.insert(program).second) return {};
    for (const Driver& driver : kDrivers) {
      const auto programs = split(driver.programs, ' ');
      if (std::ranges::find(programs, program) == programs.end()) continue;
      std::vector<Named> named;
      for (const std::string_view glob : globs_in(driver.globs)) {
        const bool is_anywhere = glob.find('/') == glob.npos;
        found_.drivers.emplace(is_anywhere ? fmt::format("**/{}", glob) : std::string(glob),
                               fmt::format("{} runs {}", why, program));
        if (glob.find_first_of("*?") == glob.npos) named.push_back({std::string(glob), true});
      }
      SB_TRY(take(named, why, false));
    }
    return {};
  }

  // The named ones that are files, with the links on the way there.
  Status take(const std::vector<Named>& named, const std::string& why, bool is_command) {
    std::map<std::string, bool> wanted;  // and whether it is run
    for (const Named& each : named) {
      if (is_command) found_.files.emplace(each.path, why);
      wanted[each.path] = wanted[each.path] || each.is_run;
    }
    for (int hops = 0; hops < 8 && !wanted.empty(); ++hops) {
      std::set<std::string> asked;
      for (const auto& [path, is_run] : wanted) {
        for (std::size_t at = path.find('/'); at != path.npos; at = path.find('/', at + 1))
          asked.insert(path.substr(0, at));
        asked.insert(path);
      }
      const auto entries = SB_TRY(read_({asked.begin(), asked.end()}));
      std::map<std::string, bool> next;
      for (const auto& [path, is_run] : wanted) {
        if (auto target = through_link(entries, path, why)) {
          next[*target] = next[*target] || is_run;
          continue;
        }
        const auto entry = entries.find(path);
        if (entry == entries.end() || !(is_command || is_run || entry->second.is_executable)) continue;
        found_.files.emplace(path, why);
        if (seen_.insert(path).second)
          open_.push_back({path, entry->second.text, fmt::format("{} ({})", shown(path), why)});
      }
      wanted = std::move(next);
    }
    return {};
  }

  // The path with the first link on it resolved; the link itself counts.
  std::optional<std::string> through_link(const std::map<std::string, TreeEntry>& entries, const std::string& path,
                                          const std::string& why) {
    for (std::size_t at = path.find('/');; at = path.find('/', at + 1)) {
      const std::string part = path.substr(0, at);
      const auto entry = entries.find(part);
      if (entry != entries.end() && entry->second.is_link) {
        found_.files.emplace(part, why);
        const std::string rest = at == path.npos ? "" : path.substr(at);
        std::string target = path_named(entry->second.text + rest, parent_of(part));
        if (target.empty()) return std::nullopt;
        return target;
      }
      if (at == path.npos) return std::nullopt;
    }
  }

  const ReadEntries& read_;
  CheckFiles found_;
  std::deque<Script> open_;
  std::set<std::string> seen_, programs_;
  std::size_t followed_ = 0;
};

// Why this path judges; empty if it does not.
std::string reason_for(const std::string& path, const JudgePolicy& policy) {
  for (const auto& [file, why] : policy.checks.files) {
    if (equals_ignoring_case(file, path)) return why;
  }
  for (const auto& [glob, why] : policy.checks.drivers) {
    if (covers(glob, path)) return why;
  }
  for (const Group& group : kAlways) {
    for (const std::string_view glob : globs_in(group.globs)) {
      if (covers(glob, path)) return std::string(group.why);
    }
  }
  const auto is_any = [&](const std::vector<std::string>& globs) {
    return std::ranges::any_of(globs, [&](const std::string& glob) { return covers(glob, path); });
  };
  if (is_any(policy.rules)) return "rules for agents";
  return is_any(policy.protected_paths) ? "protected" : "";
}

}  // namespace

Result<CheckFiles> files_of_checks(const std::vector<ProjectCheck>& checks, const ReadEntries& read) {
  return Search(read).run(checks);
}

std::vector<Judge> judges_in(const std::vector<Change>& changes, const JudgePolicy& policy) {
  std::map<std::string, std::string> found;
  for (const Change& change : changes) {
    for (const std::string& path : {change.old_path, change.path}) {
      if (path.empty()) continue;
      if (std::string why = reason_for(path, policy); !why.empty()) found.emplace(path, std::move(why));
    }
  }
  std::vector<Judge> judges;
  for (auto& [file, why] : found) judges.push_back({file, why});
  return judges;
}

}  // namespace sb::pipeline
