#include "inbox/command_effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "base/assert.hpp"
#include "base/document.hpp"
#include "base/files.hpp"
#include "base/path_glob.hpp"
#include "inbox/known_agents.hpp"
#include "inbox/limits.hpp"
#include "inbox/shell_script.hpp"

namespace sb::inbox {
namespace {

using Words = std::span<const ShellWord>;
using Names = std::set<std::string, std::less<>>;

void add_names(Names& names, const Value& list) {
  if (!list.is_array()) return;
  for (const Value& item : list.items()) {
    if (item.is_array()) add_names(names, item);
    if (item.is_string()) names.insert(item.as_string());
  }
}

Names names_in(const Value& list) {
  Names names;
  add_names(names, list);
  return names;
}

struct Subcommands {
  Names options, reads, bare, repository, installs;
};

struct Table {
  std::map<std::string, Names, std::less<>> asks;
  Names reads, writes_all, writes_last, inside, tree, shells;
  std::map<std::string, Names, std::less<>> outputs, wrappers;
  std::map<std::string, Subcommands, std::less<>> subcommands;
};

Table read_table() {
  const auto document = parse_json(data_file("commands.yaml"));
  SB_ASSERT(document.has_value());
  const Value& root = *document;
  Table table;
  add_names(table.reads, root["reads"]);
  add_names(table.reads, root["shell"]);
  table.writes_all = names_in(root["writes_all"]);
  table.writes_last = names_in(root["writes_last"]);
  table.inside = names_in(root["inside"]);
  table.tree = names_in(root["tree"]);
  table.shells = names_in(root["shells"]);
  for (const auto& [name, options] : root["asks"].members()) table.asks.emplace(name, names_in(options));
  for (const auto& [name, options] : root["outputs"].members()) table.outputs.emplace(name, names_in(options));
  for (const auto& [name, options] : root["wrappers"].members()) table.wrappers.emplace(name, names_in(options));
  for (const auto& [name, own] : root["subcommands"].members()) {
    table.subcommands.emplace(name, Subcommands{names_in(own["options"]), names_in(own["reads"]), names_in(own["bare"]),
                                                names_in(own["repository"]), names_in(own["installs"])});
  }
  return table;
}

bool is_option(const ShellWord& word) {
  return word.text.size() > 1 && word.text.front() == '-';
}

// The bytes of `-abc` hold `b`; `--long` has no such letters.
bool has_letter(const ShellWord& word, char letter) {
  return is_option(word) && word.text[1] != '-' && word.text.find(letter, 1) != std::string::npos;
}

bool is_assignment(const ShellWord& word) {
  const std::size_t sign = word.text.find('=');
  if (sign == std::string::npos || sign == 0) return false;
  return std::all_of(word.text.begin(), word.text.begin() + static_cast<std::ptrdiff_t>(sign), [](char c) {
    return c == '_' || c == '+' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}

std::vector<ShellWord> operands_of(Words arguments) {
  std::vector<ShellWord> operands;
  bool is_behind = false;
  for (const ShellWord& word : arguments) {
    if (!is_behind && word.text == "--") {
      is_behind = true;
    } else if (is_behind || !is_option(word)) {
      operands.push_back(word);
    }
  }
  return operands;
}

class Classifier {
 public:
  explicit Classifier(const Table& table) : table_(table) {}

  void add(std::string_view line, int depth) {
    const ShellScript script = read_shell(line);
    for (const ShellCommand& command : script.commands) {
      if (!command.outputs.empty()) add_paths("a redirection", command.outputs);
      add_command(command.words, depth + (command.depth > 0 ? 1 : 0), command.depth);
    }
    if (!script.unclear.empty()) add_unknown("the command line", script.unclear);
  }

  std::vector<CommandEffect> found;

 private:
  void add_unknown(std::string_view name, std::string why = {}) {
    found.push_back({Effect::kUnknown, std::string(name), {}, false, std::move(why)});
  }
  void add_effect(Effect effect, std::string name) { found.push_back({effect, std::move(name), {}, false, {}}); }
  void add_paths(std::string_view name, const std::vector<ShellWord>& words) {
    CommandEffect effect{Effect::kPaths, std::string(name), {}, table_.inside.contains(name), {}};
    for (const ShellWord& word : words) {
      if (word.is_known && is_harmless_file(word.text)) continue;
      const bool is_absolute = word.text.starts_with('/');
      Target target{word.text, word.is_known && (is_absolute || is_place_known_), word.is_pattern};
      if (!is_absolute && !place_.empty()) target.path = join_path(place_, word.text);
      effect.targets.push_back(std::move(target));
    }
    if (!effect.targets.empty()) found.push_back(std::move(effect));
  }

  void add_command(Words words, int depth, int shell_depth) {
    if (depth > limits::kShellCommands) return add_unknown("the command line", "it is nested too deep");
    while (!words.empty() && is_assignment(words.front())) {
      const std::string& text = words.front().text;
      if (text.starts_with("PATH=") || text.starts_with("LD_") || text.starts_with("GIT_")) {
        return add_unknown(text.substr(0, text.find('=')), "it changes what a command means");
      }
      words = words.subspan(1);
    }
    if (words.empty()) return;
    if (!words.front().is_known) return add_unknown(words.front().text, "its name is not written out");
    const std::string name = base_name(words.front().text);
    const Words arguments = words.subspan(1);
    if (name == "cd" || name == "pushd" || name == "popd") return follow(arguments, name, shell_depth);
    if (is_only_asked(name, arguments)) return;
    if (add_special(name, arguments, depth)) return;
    if (const auto own = table_.subcommands.find(name); own != table_.subcommands.end()) {
      return add_subcommand(name, own->second, arguments);
    }
    if (const auto own = table_.wrappers.find(name); own != table_.wrappers.end()) {
      return add_wrapped(name, own->second, arguments, depth, shell_depth);
    }
    add_listed(name, arguments);
  }

  // For its version or its help.
  bool is_only_asked(const std::string& name, Words arguments) const {
    if (arguments.size() != 1 || !arguments.front().is_known) return false;
    const std::string& text = arguments.front().text;
    const auto own = table_.asks.find(name);
    return text == "--version" || text == "--help" || (own != table_.asks.end() && own->second.contains(text));
  }

  void follow(Words arguments, std::string_view name, int shell_depth) {
    const auto operands = operands_of(arguments);
    const bool is_told = name == "cd" && operands.size() == 1 && operands.front().is_known &&
                         !operands.front().is_pattern && operands.front().text != "-" && shell_depth == 0;
    if (!is_told) {
      is_place_known_ = false;
    } else if (operands.front().text.starts_with('/')) {
      place_ = operands.front().text;
      is_place_known_ = true;
    } else {
      place_ = place_.empty() ? operands.front().text : join_path(place_, operands.front().text);
    }
  }

  void add_listed(const std::string& name, Words arguments) {
    const auto operands = operands_of(arguments);
    if (table_.reads.contains(name)) {
      const auto own = table_.outputs.find(name);
      if (own != table_.outputs.end()) add_outputs(name, own->second, arguments);
    } else if (table_.writes_all.contains(name)) {
      add_paths(name, operands);
    } else if (table_.writes_last.contains(name)) {
      add_copies(name, arguments, operands);
    } else if (table_.tree.contains(name)) {
      add_effect(Effect::kTree, name);
    } else {
      add_unknown(name);
    }
  }

  // The last operand, or what -t names, is written.
  void add_copies(const std::string& name, Words arguments, const std::vector<ShellWord>& operands) {
    std::vector<ShellWord> written;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      constexpr std::string_view kLong = "--target-directory=";
      if (arguments[i].text == "-t" && i + 1 < arguments.size()) written.push_back(arguments[i + 1]);
      if (arguments[i].text.starts_with(kLong)) written.push_back(rest_of(arguments[i], kLong.size()));
    }
    if (written.empty() && !operands.empty()) written.push_back(operands.back());
    add_paths(name, written);
  }

  static ShellWord rest_of(const ShellWord& word, std::size_t from) {
    return {word.text.substr(from), word.is_known, word.is_pattern};
  }

  void add_outputs(const std::string& name, const Names& options, Words arguments) {
    std::vector<ShellWord> written;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& text = arguments[i].text;
      for (const std::string& option : options) {
        const bool is_long = option.starts_with("--");
        // `-o x`, `-ox`, and `-uo x` of letters joined.
        const std::size_t end = is_long ? (text.starts_with(option + "=") ? option.size() : 0)
                                : has_letter(arguments[i], option.back()) ? text.find(option.back(), 1)
                                                                          : 0;
        if (text == option || (end != 0 && end + 1 == text.size())) {
          if (i + 1 < arguments.size()) written.push_back(arguments[i + 1]);
        } else if (end != 0) {
          written.push_back(rest_of(arguments[i], end + 1));
        }
      }
    }
    if (!written.empty()) add_paths(name, written);
  }

  void add_subcommand(const std::string& name, const Subcommands& own, Words arguments) {
    bool is_elsewhere = false;  // git -C
    while (!arguments.empty() && is_option(arguments.front()) && !own.reads.contains(arguments.front().text)) {
      const bool takes_value = own.options.contains(arguments.front().text);
      // git -c can name a program that is then run.
      if (name == "git" && arguments.front().text == "-c") return add_unknown("git -c");
      is_elsewhere = is_elsewhere || takes_value;
      arguments = arguments.subspan(std::min<std::size_t>(takes_value ? 2 : 1, arguments.size()));
    }
    const std::string first = arguments.empty() ? "" : arguments.front().text;
    const std::string called = first.empty() ? name : fmt::format("{} {}", name, first);
    if (!arguments.empty() && !arguments.front().is_known) return add_unknown(called);
    const auto is_in = [&](const Names& names) {
      if (names.contains(first)) return true;
      return std::any_of(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end(),
                         [&](const ShellWord& word) { return names.contains(first + " " + word.text); });
    };
    const bool is_bare = arguments.size() == 1 && own.bare.contains(first);
    if (is_bare || is_in(own.reads)) {
      if (first == "grep" && has_prefix(arguments, "-O")) return add_unknown("git grep -O");
      return name == "git" ? add_outputs(called, {"--output"}, arguments) : void();
    }
    if (is_in(own.repository)) return add_effect(Effect::kRepository, called);
    if (is_in(own.installs)) return add_effect(Effect::kInstalls, called);
    if (name == "git") return add_git(called, first, arguments, is_elsewhere);
    add_unknown(called);
  }

  void add_git(const std::string& called, std::string_view first, Words arguments, bool is_elsewhere) {
    auto operands = operands_of(arguments.empty() ? arguments : arguments.subspan(1));
    for (ShellWord& word : operands) word.is_known = word.is_known && !is_elsewhere;
    if (first == "rm" || first == "mv") return add_paths(called, operands);
    add_effect(Effect::kTree, called);
  }

  void add_wrapped(const std::string& name, const Names& with_value, Words arguments, int depth, int shell_depth) {
    bool has_duration = name == "timeout";
    while (!arguments.empty()) {
      const ShellWord& word = arguments.front();
      if (name == "env" && is_assignment(word)) return add_command(arguments, depth + 1, shell_depth);
      if (name == "command" && (word.text == "-v" || word.text == "-V")) return;
      if (word.text == "-S" || word.text.starts_with("--split-string")) return add_unknown(name);
      if (is_option(word)) {
        arguments = arguments.subspan(std::min<std::size_t>(with_value.contains(word.text) ? 2 : 1, arguments.size()));
      } else if (has_duration) {
        has_duration = false;
        arguments = arguments.subspan(1);
      } else {
        break;
      }
    }
    if (name == "xargs" && arguments.empty()) return;  // echo
    // What xargs adds to the command nobody has written out.
    std::vector<ShellWord> words(arguments.begin(), arguments.end());
    if (name == "xargs") words.push_back({"(what xargs reads)", false, false});
    add_command(words, depth + 1, shell_depth);
  }

  bool add_special(const std::string& name, Words arguments, int depth) {
    if (table_.shells.contains(name)) return add_shell(name, arguments, depth), true;
    if (name == "eval") return add_eval(arguments, depth), true;
    if (name == "find") return add_find(arguments, depth), true;
    if (name == "fd" || name == "fdfind") return add_fd(name, arguments), true;
    if (name == "sed") return add_sed(arguments), true;
    if (name == "awk" || name == "gawk" || name == "mawk") return add_awk(name, arguments), true;
    if (name == "perl" || name == "ruby") return add_in_place(name, arguments), true;
    if (name == "tar") return add_tar(arguments), true;
    if (name == "dd") return add_dd(arguments), true;
    if (name == "curl") return add_curl(arguments), true;
    if (name == "wget") return add_effect(Effect::kTree, name), true;
    if (name == "uniq") return add_uniq(arguments), true;
    if (name == "yq") return add_yq(arguments), true;
    if (name == "rg" && has_prefix(arguments, "--pre")) return add_unknown("rg --pre"), true;
    return false;
  }

  static bool has_prefix(Words arguments, std::string_view prefix) {
    return std::ranges::any_of(arguments, [&](const ShellWord& word) { return word.text.starts_with(prefix); });
  }

  void add_shell(const std::string& name, Words arguments, int depth) {
    for (std::size_t i = 0; i < arguments.size() && is_option(arguments[i]); ++i) {
      if (!has_letter(arguments[i], 'c')) continue;
      if (i + 1 >= arguments.size()) return;
      if (!arguments[i + 1].is_known) return add_unknown(name + " -c", "what it runs is not written out");
      return add_nested(arguments[i + 1].text, depth);
    }
    add_unknown(name, "what it runs stands elsewhere");
  }

  void add_eval(Words arguments, int depth) {
    std::string line;
    for (const ShellWord& word : arguments) {
      if (!word.is_known) return add_unknown("eval", "what it runs is not written out");
      line += word.text + " ";
    }
    add_nested(line, depth);
  }

  void add_nested(std::string_view line, int depth) {
    if (depth >= limits::kShellCommands) return add_unknown("the command line", "it is nested too deep");
    add(line, depth + 1);
  }

  void add_find(Words arguments, int depth) {
    std::vector<ShellWord> places;
    for (const ShellWord& word : arguments) {
      if (is_option(word) || word.text == "(" || word.text == "!") break;
      places.push_back(word);
    }
    if (places.empty()) places.push_back({".", true, false});
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& text = arguments[i].text;
      if (text == "-delete") add_paths("find -delete", places);
      if (text.starts_with("-fprint") || text == "-fls") {
        if (i + 1 < arguments.size()) add_paths("find " + text, {arguments[i + 1]});
      }
      if (text != "-exec" && text != "-execdir" && text != "-ok" && text != "-okdir") continue;
      std::vector<ShellWord> words;
      for (++i; i < arguments.size() && arguments[i].text != ";" && arguments[i].text != "+"; ++i) {
        words.push_back(arguments[i]);
        if (words.back().text.find("{}") != std::string::npos) words.back().is_known = false;
      }
      add_command(words, depth + 1, 0);
    }
  }

  void add_fd(const std::string& name, Words arguments) {
    const bool runs = std::ranges::any_of(arguments, [](const ShellWord& word) {
      return word.text.starts_with("--exec") || has_letter(word, 'x') || has_letter(word, 'X');
    });
    if (runs) add_unknown(name + " --exec");
  }

  void add_sed(Words arguments) {
    bool is_in_place = false, has_script = false;
    std::vector<ShellWord> operands;
    std::string script;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const ShellWord& word = arguments[i];
      is_in_place = is_in_place || has_letter(word, 'i') || word.text.starts_with("--in-place");
      if (word.text == "-e" || word.text == "--expression" || word.text == "-f" || word.text == "--file") {
        has_script = true;
        if (i + 1 < arguments.size()) script += arguments[++i].text + "\n";
      } else if (!is_option(word)) {
        operands.push_back(word);
      }
    }
    if (!has_script && !operands.empty()) {
      script += operands.front().text;
      operands.erase(operands.begin());
    }
    if (is_in_place) return add_paths("sed -i", operands);
    if (writes_by_script(script)) add_unknown("sed", "its script seems to write or run something");
  }

  // `w file` and `e` of sed, alone or behind a substitution.
  static bool writes_by_script(std::string_view script) {
    for (std::size_t i = 0; i + 1 < script.size(); ++i) {
      if (script[i] != 'w' && script[i] != 'e') continue;
      const char before = i == 0 ? '\n' : script[i - 1];
      const bool is_command = std::string_view("\n;{/|#0123456789$gpI ").find(before) != std::string_view::npos;
      if (is_command && script[i + 1] == ' ') return before != ' ' || script[i] == 'w';
    }
    return false;
  }

  void add_awk(const std::string& name, Words arguments) {
    for (const ShellWord& word : arguments) {
      const std::string& text = word.text;
      if (text == "inplace" || text == "-f" || text.starts_with("--file")) return add_unknown(name);
      const std::size_t print = text.find("print");
      const bool writes = print != std::string::npos && text.find('>', print) != std::string::npos;
      if (writes || text.find("system(") != std::string::npos || text.find("| \"") != std::string::npos ||
          text.find("|\"") != std::string::npos) {
        return add_unknown(name, "its program seems to write or run something");
      }
    }
  }

  void add_in_place(const std::string& name, Words arguments) {
    const bool is_in_place =
        std::ranges::any_of(arguments, [](const ShellWord& word) { return has_letter(word, 'i'); });
    if (!is_in_place) return add_unknown(name);
    auto operands = operands_of(arguments);
    if (!operands.empty()) operands.erase(operands.begin());
    add_paths(name + " -i", operands);
  }

  void add_tar(Words arguments) {
    const std::string first = arguments.empty() ? "" : arguments.front().text;
    const bool lists = (!first.starts_with("--") && first.find('t') != std::string::npos &&
                        first.find_first_of("xcru") == std::string::npos) ||
                       has_prefix(arguments, "--list");
    if (!lists) add_effect(Effect::kTree, "tar");
  }

  void add_dd(Words arguments) {
    std::vector<ShellWord> written;
    for (const ShellWord& word : arguments) {
      if (word.text.starts_with("of=")) written.push_back(rest_of(word, 3));
    }
    if (!written.empty()) add_paths("dd", written);
  }

  void add_curl(Words arguments) {
    std::vector<ShellWord> written;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& text = arguments[i].text;
      if (text == "-O" || text == "--remote-name" || text == "-J") return add_effect(Effect::kTree, "curl " + text);
      if ((text == "-o" || text == "--output" || text == "-D" || text == "-c") && i + 1 < arguments.size()) {
        written.push_back(arguments[++i]);
      } else if (text == "-X" || text.starts_with("--request") || text.starts_with("-d") ||
                 text.starts_with("--data") || text.starts_with("-F") || text.starts_with("--form") ||
                 text.starts_with("-T") || text.starts_with("--upload") || text.starts_with("--json") ||
                 text.starts_with("-K")) {
        add_unknown("curl " + text, "it sends something");
      }
    }
    std::erase_if(written, [](const ShellWord& word) { return word.text == "-" || word.text == "/dev/null"; });
    if (!written.empty()) add_paths("curl", written);
  }

  void add_uniq(Words arguments) {
    std::vector<ShellWord> plain;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& text = arguments[i].text;
      if (text == "-f" || text == "-s" || text == "-w") {
        ++i;
      } else {
        plain.push_back(arguments[i]);
      }
    }
    const auto operands = operands_of(plain);
    if (operands.size() > 1) add_paths("uniq", {operands.back()});
  }

  void add_yq(Words arguments) {
    const bool is_in_place = std::ranges::any_of(arguments, [](const ShellWord& word) {
      return has_letter(word, 'i') || word.text == "--inplace" || word.text == "--in-place";
    });
    if (!is_in_place) return;
    auto operands = operands_of(arguments);
    if (operands.size() > 1) operands.erase(operands.begin());
    add_paths("yq -i", operands);
  }

  const Table& table_;
  std::string place_;  // where `cd` has led, relative to where the line runs; or absolute
  bool is_place_known_ = true;
};

}  // namespace

std::vector<CommandEffect> effects_of(std::string_view command_line) {
  static const Table table = read_table();
  Classifier classifier(table);
  classifier.add(command_line, 0);
  return std::move(classifier.found);
}

}  // namespace sb::inbox
