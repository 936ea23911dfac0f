// The files behind the checks; see judges.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

#include "base/document/document.hpp"
#include "base/text.hpp"
#include "pipeline/delivery/judge_paths.hpp"
#include "pipeline/delivery/judge_tables.hpp"
#include "pipeline/delivery/judges.hpp"
#include "pipeline/delivery/script_imports.hpp"
#include "pipeline/limits.hpp"

namespace sb::pipeline {
namespace {

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

  Result<JudgeFiles> run(const std::vector<ProjectCheck>& checks) {
    for (const ProjectCheck& check : checks) {
      // Whatever the command names counts, even what is not there yet.
      SB_TRY(look_at(check.run, "", fmt::format("the check {}", shown(check.name)), true));
    }
    while (!open_.empty() && followed_ < limits::kJudgeScripts) {
      const Script script = std::move(open_.front());
      open_.pop_front();
      ++followed_;
      SB_TRY(look_at(commands_in(script.path, script.text), folder_of(script.path), script.why, false));
      SB_TRY(look_at_imports(script));
    }
    return std::move(found_);
  }

 private:
  struct Script {
    std::string path, text, why;
  };
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
        if (base_name(word).starts_with("py")) add_module_folders(folders, why);
        if (before == "-m") add_module(word, named);
        for (const std::string& each : folders) {
          if (std::string path = path_named(word, each); !path.empty()) named.push_back({path, is_run(words, i)});
        }
      }
    }
    return take(named, why, is_command);
  }

  // Python and pytest look in the current folder, and in those of tests.
  void add_module_folders(std::set<std::string> folders, const std::string& why) {
    folders.insert({"test", "tests", "src"});
    for (const std::string& folder : folders) found_.module_folders.emplace(folder, why);
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
    std::string path(name);
    std::ranges::replace(path, '.', '/');
    for (std::size_t at = path.find('/'); at != path.npos; at = path.find('/', at + 1))
      named.push_back({path.substr(0, at) + "/__init__.py", true});
    for (const char* end : {".py", "/__init__.py", "/__main__.py"}) named.push_back({path + end, true});
  }

  // At the root a script imports what it tests.
  Status look_at_imports(const Script& script) {
    const std::string folder = folder_of(script.path);
    if (folder.empty()) return {};
    std::vector<Named> named;
    for (std::string& path : imports_of(script.path, script.text)) {
      if (!path.starts_with(folder + "/") || named.size() == limits::kJudgeNames) continue;
      found_.files.emplace(path, script.why);  // also one that is not there yet, and would be found first
      named.push_back({std::move(path), true});
    }
    return take(named, script.why, false);
  }

  // `for script in ci/*.sh`
  void add_patterns(const std::string& text, const std::string& why) {
    for (std::string_view word : split(text, ' ')) {
      word = trimmed(word, "\"'`;()&|\t\n");
      const bool is_script =
          std::ranges::any_of(kScriptEnds, [&](std::string_view end) { return word.ends_with(end); });
      if (is_script && word.find('*') != word.npos) found_.globs.emplace(path_named(word, ""), why);
    }
  }

  Status add_drivers(const std::string& program, const std::string& why) {
    if (!programs_.insert(program).second) return {};
    for (const Driver& driver : kDrivers) {
      const auto programs = split(driver.programs, ' ');
      if (std::ranges::find(programs, program) == programs.end()) continue;
      std::vector<Named> named;
      for (const std::string_view glob : blank_separated(driver.globs)) {
        found_.globs.emplace(fmt::format("**/{}", glob), fmt::format("{} runs {}", why, program));
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
        if (!seen_.insert(path).second) continue;
        if (path.ends_with(".py")) found_.module_folders.emplace(folder_of(path), why);
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
        std::string target = path_named(entry->second.text + rest, folder_of(part));
        if (target.empty()) return std::nullopt;
        return target;
      }
      if (at == path.npos) return std::nullopt;
    }
  }

  const ReadEntries& read_;
  JudgeFiles found_;
  std::deque<Script> open_;
  std::set<std::string> seen_, programs_;
  std::size_t followed_ = 0;
};

}  // namespace

Result<JudgeFiles> files_of_checks(const std::vector<ProjectCheck>& checks, const ReadEntries& read) {
  return Search(read).run(checks);
}

}  // namespace sb::pipeline
