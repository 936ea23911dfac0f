// The files behind the checks; see judges.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
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

constexpr std::size_t kMostFolders = 32;  // that one script names

bool is_of_node(std::string_view path) {
  constexpr std::array<std::string_view, 6> kEnds = {".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"};
  return std::ranges::any_of(kEnds, [&](std::string_view end) { return path.ends_with(end); });
}

bool is_of_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c & 0x80) != 0 ||
         std::string_view("_-./+@%~").find(c) != std::string_view::npos;
}

struct Word {
  std::string_view text;
  int command = 0;           // of its line: `a && b | c` are three
  char before = ' ';         // the byte before it
  bool is_captured = false;  // in `$(…)` or backticks
  bool is_variable = false;  // the name of one
  bool is_open() const { return is_captured || is_variable || text.starts_with('-') || text.starts_with('+'); }
};

// `$`, then a name, a digit or a sign.
std::size_t end_of_variable(std::string_view line, std::size_t at) {
  std::size_t end = at + 1;
  while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_')) ++end;
  return end;
}

// `has_backticks`: they capture output, as in a shell.
std::vector<Word> words_of(std::string_view line, bool has_backticks) {
  std::vector<Word> words;
  int depth = 0, command = 0;
  bool is_quoted = false, is_braced = false;
  for (std::size_t at = 0; at < line.size();) {
    const char before = at > 0 ? line[at - 1] : ' ';
    const bool is_name = before == '$';
    std::size_t end = is_name ? end_of_variable(line, at - 1) : at;
    while (!is_name && end < line.size() && is_of_word(line[end])) ++end;
    if (end > at) {
      words.push_back({line.substr(at, end - at), command, before, depth > 0 || is_quoted, is_name || is_braced});
      at = end;
      continue;
    }
    const char c = line[at++];
    if (c == '`' && has_backticks) is_quoted = !is_quoted;
    if (c == '(' && (depth > 0 || before == '$')) ++depth;
    if (c == ')' && depth > 0) --depth;
    if (c == '{' && before == '$') is_braced = true;
    if (c == '}') is_braced = false;
    if ((c == ';' || c == '|' || c == '&') && depth == 0) ++command;
  }
  return words;
}

constexpr std::string_view kNone;

// The nearest word before it in its command whose text is known; none: empty.
std::string_view known_before(const std::vector<Word>& words, std::size_t at) {
  for (std::size_t back = at; back > 0 && words[back - 1].command == words[at].command; --back) {
    const Word& word = words[back - 1];
    if (!word.is_captured && !word.is_variable) return word.text;
  }
  return kNone;
}

bool is_one_of(std::string_view list, std::string_view word) {
  const auto all = blank_separated(list);
  return !word.empty() && std::ranges::find(all, word) != all.end();
}

bool is_first(const std::vector<Word>& words, std::size_t at) {
  return at == 0 || words[at - 1].command != words[at].command;
}

bool interprets(const std::vector<Word>& words, std::size_t at) {
  const std::string name = base_name(words[at].text);
  if (name == "." && !is_first(words, at)) return false;  // a folder
  return std::ranges::find(kInterpreters, name) != kInterpreters.end();
}

// `sh -e lint`, `bash -o pipefail lint`, `env A=1 lint`, `. "$DIR/lint"`: no other word is in between.
bool is_interpreted(const std::vector<Word>& words, std::size_t at) {
  for (std::size_t back = at; back > 0 && words[back - 1].command == words[at].command;) {
    // In PHP, a dot comes between a folder and a name.
    if (interprets(words, back - 1) || (back == at && words[back - 1].text == ".")) return true;
    const bool is_value = words[back - 1].before == '=';
    const bool is_setting = back > 1 && words[back - 2].text.starts_with('-') && words[back - 2].text.ends_with('o');
    if (!words[back - 1].is_open() && !is_value && !is_setting) return false;
    back -= (is_value || is_setting) && back > 1 ? 2 : 1;
  }
  return false;
}

// `--config strict.json`, `awk -f rules.awk`
bool is_named_by_option(const std::vector<Word>& words, std::size_t at) {
  const std::string_view option = known_before(words, at);
  if (std::ranges::any_of(kFileOptions, [&](auto one) { return option.starts_with(one); })) return true;
  if (option != "-f") return false;
  return std::ranges::any_of(words, [&](const Word& word) {
    return word.command == words[at].command && is_one_of(kProgramsWithFile, base_name(word.text));
  });
}

// A script, after an interpreter with a few words in between: `sh "$(dirname "$0")/lint.sh"`.
bool is_script_near(const std::vector<Word>& words, std::size_t at) {
  const bool is_script = std::ranges::any_of(kScriptEnds, [&](auto end) { return words[at].text.ends_with(end); });
  for (std::size_t back = 1; is_script && back <= 4 && back <= at; ++back) {
    if (interprets(words, at - back)) return true;
  }
  return false;
}

bool is_of_tests(std::string_view path) {
  const auto parts = split(path, '/');
  return std::ranges::any_of(parts, [](std::string_view part) { return is_one_of(kTestFolders, part); });
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
      SB_TRY(look_at(check.run, "", fmt::format("the check {}", shown(check.name))));
    }
    while (!open_.empty() && followed_ < limits::kJudgeScripts) {
      const Script script = std::move(open_.front());
      open_.pop_front();
      ++followed_;
      SB_TRY(look_at(commands_in(script.path, script.text), script.path, script.why));
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

  // What is read at the moment, and what was found in it.
  struct Text {
    std::string path;  // empty: a command
    std::string why;
    std::vector<std::string> folders = {};  // from which its paths may be meant
    std::set<std::string> programs = {};
    std::vector<Named> named = {};

    bool is_command() const { return path.empty(); }
    std::string folder() const { return folder_of(path); }
  };

  Status look_at(const std::string& text, const std::string& path, const std::string& why) {
    Text in{.path = path, .why = why, .folders = {""}};
    if (!in.folder().empty()) in.folders.push_back(in.folder());
    add_patterns(text, in);
    const bool has_backticks = !is_of_node(path);
    for (const std::string_view line : lines_of(text)) look_at_line(words_of(line, has_backticks), in);
    for (const std::string& program : in.programs) add_drivers(program, in);
    return take(in.named, why, in.is_command());
  }

  void look_at_line(const std::vector<Word>& words, Text& in) {
    const bool includes = !words.empty() && is_one_of("include -include sinclude", words[0].text);
    const bool has_plugins =
        std::ranges::any_of(words, [](const Word& word) { return is_one_of("pytest py.test addopts", word.text); });
    add_folders_run(words, in);
    for (std::size_t i = 0; i < words.size() && in.named.size() < limits::kJudgeNames; ++i) {
      const std::string_view word = words[i].text, before = known_before(words, i);
      if (words[i].is_variable) continue;
      in.programs.insert(std::string(base_name(word)));
      add_folder(words[i], before, in);
      if (is_one_of("PYTHONPATH pythonpath", before)) add_module_folders({path_named(word, "")}, in.why);
      if (base_name(word).starts_with("py")) add_module_folders(in.folders, in.why);
      if (before == "-m" || (before == "-p" && has_plugins)) add_module(word, in);
      const bool is_run =
          includes || is_interpreted(words, i) || is_named_by_option(words, i) || is_script_near(words, i);
      add_named(words[i], is_run, in);
    }
  }

  void add_named(const Word& word, bool is_run, Text& in) {
    const bool is_like_path = is_run || word.text.find_first_of("/.") != word.text.npos;
    const std::size_t usual = in.is_command() || in.folder().empty() ? 1 : 2;
    for (std::size_t i = 0; i < in.folders.size() && (i < usual || is_like_path); ++i) {
      std::string path = path_named(word.text, in.folders[i]);
      // What a script compares the output of is what it tests, unless it is beside the script.
      const bool is_tested =
          word.is_captured && !in.is_command() && (in.folder().empty() || !path.starts_with(in.folder() + "/"));
      if (!path.empty() && !is_tested) in.named.push_back({std::move(path), is_run});
    }
  }

  // `cd web`, `make -C web`, `DIR=web`, `$ROOT/web`
  static void add_folder(const Word& word, std::string_view before, Text& in) {
    const bool is_after_variable = word.before == '_' || word.before == ')' || word.before == '}' ||
                                   word.before == '"' || std::isalnum(static_cast<unsigned char>(word.before));
    const bool is_rest =
        is_after_variable && word.text.starts_with('/') && base_name(word.text).find('.') == std::string::npos;
    if (!is_one_of(kFolderWords, before) && word.before != '=' && !is_rest) return;
    for (const std::string& from : {std::string(), in.folder()}) {
      const std::string folder = path_named(word.text, from);
      const bool is_known = std::ranges::find(in.folders, folder) != in.folders.end();
      if (folder.empty() || is_known || in.folders.size() >= kMostFolders) continue;
      in.folders.push_back(folder);
      // A file of the same name there continues this one: Makefile, CMakeLists.txt.
      if (!in.is_command()) in.named.push_back({join_path(folder, base_name(in.path)), true});
    }
  }

  // `run-parts ci.d`, `find ci -exec sh {} ;`, `find ci | xargs sh`
  void add_folders_run(const std::vector<Word>& words, const Text& in) {
    bool runs_found = false;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      const bool is_shell = is_one_of("sh bash dash zsh", base_name(words[i + 1].text));
      const bool only_checks = i + 2 < words.size() && is_one_of("-n -c", words[i + 2].text);
      runs_found = runs_found || (is_one_of("-exec -execdir xargs", words[i].text) && is_shell && !only_checks);
    }
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      const bool is_parts = base_name(words[i].text) == "run-parts";
      if (!is_parts && !(words[i].text == "find" && runs_found)) continue;
      for (std::size_t k = i + 1; k < words.size() && words[k].command == words[i].command; ++k) {
        if (words[k].text.starts_with('-') && !is_parts) break;
        const std::string folder = path_named(words[k].text, "");
        if (!words[k].is_open() && !folder.empty() && !is_of_tests(folder)) found_.below.emplace(folder, in.why);
      }
    }
  }

  // Python and pytest look in the current folder, and in those of tests.
  void add_module_folders(const std::vector<std::string>& folders, const std::string& why) {
    for (const std::string& folder : folders) found_.module_folders.emplace(folder, why);
    for (const char* folder : {"test", "tests", "src"}) found_.module_folders.emplace(folder, why);
  }

  // Of Python: `-m tools.lint`.
  static void add_module(std::string_view name, Text& in) {
    std::string path(name);
    std::ranges::replace(path, '.', '/');
    for (const std::string& folder : in.folders) {
      const std::string from = folder.empty() ? "" : folder + "/";
      for (std::size_t at = path.find('/'); at != path.npos; at = path.find('/', at + 1))
        in.named.push_back({from + path.substr(0, at) + "/__init__.py", true});
      for (const char* end : {".py", "/__init__.py", "/__main__.py"}) in.named.push_back({from + path + end, true});
    }
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

  // `for script in ci/*.sh`. What a script goes through may also be what it tests.
  void add_patterns(const std::string& text, const Text& in) {
    for (const std::string_view line : lines_of(text)) {
      const bool is_loop = in.is_command() || trimmed(line).starts_with("for ");
      for (std::string_view word : split(line, ' ')) {
        word = trimmed(word, "\"'`;()&|\t\r");
        if (is_loop && word.find('*') < word.find('$')) add_pattern(word, in);
      }
    }
  }

  void add_pattern(std::string_view word, const Text& in) {
    const auto ends_like = [&](std::string_view end) { return word.ends_with(end); };
    if (!std::ranges::any_of(kScriptEnds, ends_like)) return;
    for (const std::string& folder : in.folders) {
      const std::string glob = path_named(word, folder);
      const bool is_of_shell = word.ends_with("sh") && glob.find('/') < glob.find('*') && !is_of_tests(glob);
      if (!glob.empty() && (in.is_command() || is_of_shell)) found_.globs.emplace(glob, in.why);
    }
  }

  void add_drivers(const std::string& program, Text& in) {
    static const auto drivers = [] {
      std::multimap<std::string_view, std::string_view> by_program;
      for (const Driver& driver : kDrivers) {
        for (const std::string_view name : blank_separated(driver.programs)) by_program.emplace(name, driver.globs);
      }
      return by_program;
    }();
    const auto [first, last] = drivers.equal_range(program);
    for (auto at = first; at != last; ++at) {
      for (const std::string_view glob : blank_separated(at->second)) {
        found_.globs.emplace(fmt::format("**/{}", glob), fmt::format("{} runs {}", in.why, program));
        if (glob.find_first_of("*?") != glob.npos) continue;
        for (const std::string& folder : in.folders) in.named.push_back({path_named(glob, folder), true});
      }
    }
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
  std::set<std::string> seen_;
  std::size_t followed_ = 0;
};

}  // namespace

Result<JudgeFiles> files_of_checks(const std::vector<ProjectCheck>& checks, const ReadEntries& read) {
  return Search(read).run(checks);
}

}  // namespace sb::pipeline
