#include "guard/shell/command_effects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/files.hpp"
#include "base/text/path_glob.hpp"
#include "guard/limits.hpp"
#include "guard/patch_paths.hpp"
#include "guard/shell/command_programs.hpp"
#include "guard/shell/command_table.hpp"

namespace sb::guard {
namespace {

using Subcommands = CommandTable::Subcommands;

// The variable an assignment sets, if it changes the meaning of commands. A pager that is `cat` runs nothing.
std::optional<std::string> identifying_variable(const ShellWord& word) {
  const std::size_t sign = word.text.find_first_of("+=");
  const std::string name = word.text.substr(0, sign);
  const std::string value = word.text.substr(std::min(word.text.find('='), word.text.size() - 1) + 1);
  if (name.ends_with("PAGER") && word.is_known && (value == "cat" || value.empty())) return std::nullopt;
  const bool is_telling = std::ranges::any_of(command_table().environment,
                                              [&](const std::string& glob) { return glob_covers(glob, name); });
  return is_telling ? std::optional(name) : std::nullopt;
}

class Classifier {
 public:
  void add(std::string_view line, int depth) {
    const ShellScript script = read_shell(line);
    std::vector<EffectList::WorkingFolder> around;  // the folders of the enclosing shells
    std::vector<int> shells;
    for (const ShellCommand& command : script.commands) {
      std::size_t common = 0;
      while (common < std::min(shells.size(), command.shells.size()) && shells[common] == command.shells[common]) {
        ++common;
      }
      if (common < shells.size()) effects_.place = around[common];
      around.resize(common);
      around.resize(command.shells.size(), effects_.place);
      shells = command.shells;
      std::vector<ShellWord> documents;
      for (const std::size_t at : command.documents) documents.push_back(script.documents[at]);
      documents_.swap(documents);
      add_one(command, depth);
      documents_.swap(documents);
    }
    if (!around.empty()) effects_.place = around.front();
    if (!script.unclear.empty()) effects_.add_unknown("the command line", script.unclear);
  }

  std::vector<CommandEffect> take() { return std::move(effects_.found); }

 private:
  void add_unknown(std::string_view name, std::string why = {}) { effects_.add_unknown(name, std::move(why)); }

  void add_one(const ShellCommand& command, int depth) {
    effects_.add_paths(kRedirection, command.outputs);
    const EffectList::WorkingFolder before = effects_.place;
    add_command(command.words, depth + (command.shells.empty() ? 0 : 1));
    if (command.is_in_pipe) effects_.place = before;
  }

  // The program a word names; nothing when it is a file that only has the same name.
  std::optional<std::string> program_of(const std::string& text) const {
    if (text.find('/') == std::string::npos) return text;
    const bool is_absolute = text.starts_with('/');
    if (!is_absolute && (!effects_.place.is_known || !effects_.place.folder.starts_with('/'))) return std::nullopt;
    const std::string path = is_absolute ? text : join_path(effects_.place.folder, text);
    if (("/" + path + "/").find("/../") != std::string::npos) return std::nullopt;
    const std::string normal = lexically_normal(path);
    if (!command_table().folders.contains(parent_path(normal))) return std::nullopt;
    return base_name(normal);
  }

  void add_command(WordSpan words, int depth) {
    if (depth > limits::kShellCommands) return add_unknown("the command line", "it is nested too deeply");
    while (!words.empty() && is_assignment(words.front())) {
      if (const auto variable = identifying_variable(words.front())) {
        add_unknown(*variable, "it changes the meaning of commands");
      }
      words = words.subspan(1);
    }
    if (words.empty()) return;
    const std::string& text = words.front().text;
    if (!words.front().is_known) return add_unknown(text, "its name is not literal");
    const auto program = program_of(text);
    if (!program) return add_unknown(text, "it is a local file, not the program of that name");
    add_named(*program, words.subspan(1), depth);
  }

  void add_named(const std::string& name, WordSpan arguments, int depth) {
    const CommandTable& table = command_table();
    if (name == "cd" || name == "pushd" || name == "popd") return follow(arguments, name);
    if (is_only_asked(name, arguments)) return;
    if (table.shells.contains(name)) return add_shell(name, arguments, depth);
    if (table.patches.contains(name)) return add_patch(name, arguments);
    if (name == "eval") return add_eval(arguments, depth);
    if (name == "find") return add_find(arguments, depth);
    if (sets_variables(name)) return add_variables(name, arguments);
    if (const auto own = table.subcommands.find(name); own != table.subcommands.end()) {
      return add_subcommand(name, own->second, arguments);
    }
    if (const auto own = table.wrappers.find(name); own != table.wrappers.end()) {
      return add_wrapped(name, own->second, arguments, depth);
    }
    if (const auto own = table.runners.find(name); own != table.runners.end()) {
      add_unknown(name);
      return add_wrapped(name, own->second, arguments, depth);
    }
    if (!add_program(effects_, name, arguments)) add_listed(effects_, name, arguments);
  }

  // Whether it only asks for version or help.
  static bool is_only_asked(const std::string& name, WordSpan arguments) {
    if (arguments.size() != 1 || !arguments.front().is_known) return false;
    const std::string& text = arguments.front().text;
    return text == "--version" || text == "--help" || CommandTable::of(command_table().asks, name).contains(text);
  }

  void follow(WordSpan arguments, std::string_view name) {
    const auto operands = parse_arguments(arguments, {}).operands;
    const bool is_known_folder = name != "popd" && operands.size() == 1 && operands.front().is_known &&
                                 !operands.front().is_pattern && operands.front().text != "-";
    EffectList::WorkingFolder& place = effects_.place;
    if (!is_known_folder) {
      place.is_known = false;
    } else if (operands.front().text.starts_with('/')) {
      place = {operands.front().text, true};
    } else {
      place.folder = place.folder.empty() ? operands.front().text : join_path(place.folder, operands.front().text);
    }
  }

  static bool sets_variables(std::string_view name) {
    return name == "export" || name == "declare" || name == "typeset" || name == "readonly" || name == "local" ||
           name == "read";
  }

  void add_variables(const std::string& name, WordSpan arguments) {
    for (const ShellWord& word : arguments) {
      const bool is_set = is_assignment(word) || (name == "read" && !is_option(word));
      const auto variable = is_set ? identifying_variable(word) : std::nullopt;
      if (variable) add_unknown(fmt::format("{} {}", name, *variable), "it changes the meaning of commands");
    }
  }

  // Whether `first`, alone or with an option or the next operand, is listed.
  static bool is_in(const NameSet& names, const std::string& first, WordSpan behind, const NameSet& with_value) {
    if (names.contains(first)) return true;
    const CommandArguments own = parse_arguments(behind, with_value);
    if (!own.operands.empty() && names.contains(first + " " + own.operands.front().text)) return true;
    return std::ranges::any_of(
        behind, [&](const ShellWord& word) { return is_option(word) && names.contains(first + " " + word.text); });
  }

  void add_subcommand(const std::string& name, const Subcommands& own, WordSpan arguments) {
    const CommandArguments all = parse_arguments(arguments, {});
    if (const CommandOption* other = find_option(all, CommandTable::of(command_table().not_with, name))) {
      return add_unknown(fmt::format("{} {}", name, other->word.substr(0, other->word.find('='))));
    }
    bool is_elsewhere = false;  // git -C
    while (!arguments.empty() && is_option(arguments.front()) && !own.reads.contains(arguments.front().text) &&
           !own.installs.contains(arguments.front().text)) {
      const bool takes_value = own.options.contains(arguments.front().text);
      // git -c can name a program to run.
      if (name == "git" && arguments.front().text == "-c") return add_unknown("git -c");
      is_elsewhere = is_elsewhere || takes_value || arguments.front().text.starts_with("--work-tree");
      arguments = arguments.subspan(std::min<std::size_t>(takes_value ? 2 : 1, arguments.size()));
    }
    const std::string first = arguments.empty() ? "" : arguments.front().text;
    const std::string called = first.empty() ? name : fmt::format("{} {}", name, first);
    if (!arguments.empty() && !arguments.front().is_known) return add_unknown(called);
    const WordSpan behind = arguments.empty() ? arguments : arguments.subspan(1);
    const auto is_listed = [&](const NameSet& names) { return is_in(names, first, behind, own.options); };
    const bool is_bare = arguments.size() == 1 && own.bare.contains(first);
    if (is_bare || is_listed(own.reads)) return add_reading(name, called, first, behind);
    if (is_listed(own.repository)) return effects_.add(Effect::kRepository, called);
    if (is_listed(own.installs)) return effects_.add(Effect::kInstalls, called);
    if (is_listed(own.outside)) return effects_.add(Effect::kOutside, called);
    if (is_listed(own.tree)) return effects_.add(Effect::kTree, called);
    if (is_listed(own.paths)) return add_subcommand_paths(name, called, behind);
    if (name == "git") return add_git(called, first, behind, is_elsewhere);
    add_unknown(called);
  }

  void add_reading(const std::string& name, const std::string& called, std::string_view first, WordSpan behind) {
    const CommandArguments own = parse_arguments(behind, command_table().valued(name));
    if (name == "git" && first == "grep" && find_option(own, {"-O"}) != nullptr) return add_unknown("git grep -O");
    // `ext::COMMAND` is a remote served by a command.
    const bool goes_out = name == "git" && (first == "ls-remote" || first == "remote");
    if (goes_out && std::ranges::any_of(own.operands, [](const ShellWord& word) {
          return word.text.find("::") != std::string::npos;
        })) {
      return add_unknown(called, "it names a program to run");
    }
    effects_.add_paths(called, outputs_among(name, own));
  }

  // The given files, or the folder it runs in.
  void add_subcommand_paths(const std::string& name, const std::string& called, WordSpan behind) {
    const CommandArguments own = parse_arguments(behind, command_table().valued(name));
    if (find_option(own, {"--check", "--diff"}) != nullptr) return add_unknown(called);
    effects_.add_paths(called, own.operands.empty() ? std::vector<ShellWord>{{".", true, false}} : own.operands);
  }

  void add_git(const std::string& called, std::string_view first, WordSpan behind, bool is_elsewhere) {
    CommandArguments own = parse_arguments(behind, {});
    for (ShellWord& word : own.operands) word.is_known = word.is_known && !is_elsewhere;
    if (first == "rm" || first == "mv") return effects_.add_paths(called, own.operands, own);
    const bool is_branch_alone = (first == "checkout" && only_makes_branch(behind, {"-b", "-B"})) ||
                                 (first == "switch" && only_makes_branch(behind, {"-c", "-C", "--create"}));
    effects_.add(is_branch_alone ? Effect::kRepository : Effect::kTree, called);
  }

  // A new branch at the checked-out commit does not change files.
  static bool only_makes_branch(WordSpan behind, const NameSet& making) {
    const CommandArguments own = parse_arguments(behind, making);
    const bool is_made = std::ranges::all_of(own.options, [&](const CommandOption& option) {
      return making.contains(option.name) || option.name == "-q" || option.name == "--quiet";
    });
    const bool starts_here =
        std::ranges::all_of(own.operands, [](const ShellWord& word) { return word.text == "HEAD" && word.is_known; });
    const CommandOption* made = find_option(own, making);
    return is_made && starts_here && made != nullptr && made->value && made->value->is_known;
  }

  void add_wrapped(const std::string& name, const NameSet& with_value, WordSpan arguments, int depth) {
    const EffectList::WorkingFolder before = effects_.place;
    bool has_duration = name == "timeout";
    while (!arguments.empty()) {
      const ShellWord& word = arguments.front();
      if (is_assignment(word) && (name == "env" || name == "sudo" || name == "doas")) break;
      if (name == "command" && (word.text == "-v" || word.text == "-V")) return;
      if (word.text.starts_with("-S") || word.text.starts_with("--split-string")) return add_unknown(name);
      if (word.text.starts_with("-C") || word.text.starts_with("--chdir")) effects_.place.is_known = false;
      if (is_option(word)) {
        arguments = arguments.subspan(std::min<std::size_t>(with_value.contains(word.text) ? 2 : 1, arguments.size()));
      } else if (has_duration) {
        has_duration = false;
        arguments = arguments.subspan(1);
      } else {
        break;
      }
    }
    if (!arguments.empty() || name != "xargs") {  // which runs echo by default
      std::vector<ShellWord> words(arguments.begin(), arguments.end());
      // The words xargs adds to the command are unknown.
      if (name == "xargs") words.push_back({"(what xargs reads)", false, false});
      add_command(words, depth + 1);
    }
    if (name != "command" && name != "builtin") effects_.place = before;
  }

  void add_shell(const std::string& name, WordSpan arguments, int depth) {
    if (find_option(parse_arguments(arguments, {}), CommandTable::of(command_table().not_with, "bash")) != nullptr) {
      return add_unknown(name, "it reads a file first");
    }
    for (std::size_t i = 0; i < arguments.size() && is_option(arguments[i]); ++i) {
      if (arguments[i].text.starts_with("--") || arguments[i].text.find('c') == std::string::npos) continue;
      if (i + 1 >= arguments.size()) return;
      if (!arguments[i + 1].is_known) return add_unknown(name + " -c", "the command it runs is not literal");
      const EffectList::WorkingFolder before = effects_.place;
      add_nested(arguments[i + 1].text, depth);
      effects_.place = before;
      return;
    }
    add_unknown(name, "the command it runs is in a file");
  }

  void add_eval(WordSpan arguments, int depth) {
    std::string line;
    for (const ShellWord& word : arguments) {
      if (!word.is_known) return add_unknown("eval", "the command it runs is not literal");
      line += word.text + " ";
    }
    add_nested(line, depth);
  }

  void add_nested(std::string_view line, int depth) {
    if (depth >= limits::kShellCommands) return add_unknown("the command line", "it is nested too deeply");
    add(line, depth + 1);
  }

  // The patch is its argument or a here-document. One that cannot be read may change any file.
  void add_patch(const std::string& name, WordSpan arguments) {
    std::vector<ShellWord> patches(arguments.begin(), arguments.end());
    patches.insert(patches.end(), documents_.begin(), documents_.end());
    std::vector<ShellWord> written;
    for (const ShellWord& patch : patches) {
      const auto paths = patch.is_known ? paths_of_patch(patch.text) : std::nullopt;
      if (!paths) return effects_.add(Effect::kTree, name);
      for (const std::string& path : *paths) written.push_back({path, true, false});
    }
    if (written.empty()) return effects_.add(Effect::kTree, name);
    effects_.add_paths(name, written);
  }

  void add_find(WordSpan arguments, int depth) {
    std::vector<ShellWord> places;
    for (const ShellWord& word : arguments) {
      if (is_option(word) || word.text == "(" || word.text == "!") break;
      places.push_back(word);
    }
    if (places.empty()) places.push_back({".", true, false});
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::string& text = arguments[i].text;
      if (text == "-delete") effects_.add_paths("find -delete", places);
      if (text.starts_with("-fprint") || text == "-fls") {
        if (i + 1 < arguments.size()) effects_.add_paths("find " + text, {arguments[i + 1]});
      }
      if (text != "-exec" && text != "-execdir" && text != "-ok" && text != "-okdir") continue;
      const std::size_t from = i + 1;
      for (++i; i < arguments.size() && arguments[i].text != ";" && arguments[i].text != "+"; ++i) {
      }
      const WordSpan command = arguments.subspan(from, i - from);
      const EffectList::WorkingFolder before = effects_.place;
      if (text.ends_with("dir")) effects_.place.is_known = false;
      add_found(command, places, depth);
      effects_.place = before;
    }
  }

  // The command of `find -exec`: run for anything below the places.
  void add_found(WordSpan command, const std::vector<ShellWord>& places, int depth) {
    const bool names_them = std::ranges::any_of(command, [](const ShellWord& word) { return word.text == "{}"; });
    for (const ShellWord& place : places) {
      std::vector<ShellWord> words(command.begin(), command.end());
      for (ShellWord& word : words) {
        if (word.text == "{}") {
          word = place;
        } else if (word.text.find("{}") != std::string::npos) {
          word.is_known = false;
        }
      }
      const std::size_t before = effects_.found.size();
      add_command(words, depth + 1);
      for (std::size_t i = before; names_them && i < effects_.found.size(); ++i) effects_.found[i].is_recursive = true;
      if (!names_them) return;
    }
  }

  EffectList effects_;
  std::vector<ShellWord> documents_;  // of the command at hand
};

}  // namespace

std::vector<CommandEffect> effects_of(std::string_view command_line) {
  Classifier classifier;
  classifier.add(command_line, 0);
  return classifier.take();
}

}  // namespace sb::guard
