#include "cli/help/completion_script.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>

#include "base/text.hpp"

namespace sb::cli {
namespace {

// Calls `visit` for a command and everything below it.
void for_each(const CommandTree& command, const std::function<void(const CommandTree&)>& visit) {
  visit(command);
  for (const CommandTree& sub : command.subcommands) for_each(sub, visit);
}

// All commands as the subcommands of `signalbox`.
CommandTree whole(const std::vector<CommandTree>& commands) {
  CommandTree tree{.name = "signalbox", .summary = "", .example = "", .guide = ""};
  tree.options = {{.names = {"--help"}, .help = "Show the commands"},
                  {.names = {"--version"}, .help = "Show the version"}};
  tree.subcommands = commands;
  return tree;
}

std::string last_word(const std::string& name) {
  return name.substr(name.rfind(' ') + 1);
}

// What can follow a command.
struct Candidate {
  std::string word, help;
};

std::vector<Candidate> candidates(const CommandTree& command) {
  std::vector<Candidate> all;
  for (const CommandTree& sub : command.subcommands) all.push_back({last_word(sub.name), sub.summary});
  for (const OptionFacts& option : command.options) {
    if (option.is_positional) {
      for (const std::string& choice : option.choices) all.push_back({choice, option.help});
    } else {
      all.push_back({option.names.back(), option.help});
    }
  }
  if (command.name != "signalbox") all.push_back({"--help", "Show the help"});
  return all;
}

std::string words(const std::vector<Candidate>& all) {
  std::vector<std::string> names;
  for (const Candidate& candidate : all) names.push_back(candidate.word);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string single_quoted(std::string text) {
  replace_all(text, "'", "'\\''");
  return "'" + text + "'";
}

// The shell pattern of every command: "signalbox mcp"|"signalbox mcp install"|…
std::string known_commands(const CommandTree& tree) {
  std::vector<std::string> names;
  for_each(tree, [&](const CommandTree& command) { names.push_back("\"" + command.name + "\""); });
  return fmt::format("{}", fmt::join(names, "|"));
}

// `case` branches for options with known values: the command and the option before the cursor.
std::string value_branches(const CommandTree& tree) {
  std::string text;
  for_each(tree, [&](const CommandTree& command) {
    for (const OptionFacts& option : command.options) {
      if (option.is_positional || option.choices.empty()) continue;
      text += fmt::format("    \"{} {}\") words=\"{}\" ;;\n", command.name, option.names.back(),
                          fmt::join(option.choices, " "));
    }
  });
  return text;
}

}  // namespace

std::string bash_completion(const std::vector<CommandTree>& commands) {
  const CommandTree tree = whole(commands);
  std::string text = fmt::format(R"(# Completion of signalbox for bash.
_signalbox() {{
  local command=signalbox words= word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$command $word" in
      {}) command="$command $word" ;;
    esac
  done
  case "$command" in
)",
                                 known_commands(tree));
  for_each(tree, [&](const CommandTree& command) {
    text += fmt::format("    \"{}\") words=\"{}\" ;;\n", command.name, words(candidates(command)));
  });
  text += "  esac\n  case \"$command ${COMP_WORDS[COMP_CWORD-1]}\" in\n" + value_branches(tree);
  return text +
         "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n"
         "complete -o default -F _signalbox signalbox\n";
}

std::string zsh_completion(const std::vector<CommandTree>& commands) {
  const CommandTree tree = whole(commands);
  std::string text = fmt::format(R"(#compdef signalbox
# Completion of signalbox for zsh.
_signalbox() {{
  local command=signalbox word
  local -a all
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$command $word" in
      {}) command="$command $word" ;;
    esac
  done
  case "$command ${{words[CURRENT-1]}}" in
)",
                                 known_commands(tree));
  for_each(tree, [&](const CommandTree& command) {
    for (const OptionFacts& option : command.options) {
      if (option.is_positional || option.choices.empty()) continue;
      text += fmt::format("    \"{} {}\") compadd -- {}; return ;;\n", command.name, option.names.back(),
                          fmt::join(option.choices, " "));
    }
  });
  text += "  esac\n  case \"$command\" in\n";
  for_each(tree, [&](const CommandTree& command) {
    std::vector<std::string> rows;
    for (const Candidate& candidate : candidates(command)) {
      std::string help = candidate.help;
      replace_all(help, ":", "\\:");
      rows.push_back(single_quoted(candidate.word + ":" + help));
    }
    text += fmt::format("    \"{}\") all=({}) ;;\n", command.name, fmt::join(rows, " "));
  });
  return text + "  esac\n  _describe signalbox all\n  _files\n}\n\n_signalbox \"$@\"\n";
}

std::string fish_completion(const std::vector<CommandTree>& commands) {
  const CommandTree tree = whole(commands);
  std::vector<std::string> names;
  for_each(tree, [&](const CommandTree& command) { names.push_back(single_quoted(command.name)); });
  std::string text = fmt::format(R"(# Completion of signalbox for fish.
function __signalbox_command
  set -l command signalbox
  for word in (commandline -opc)[2..-1]
    contains -- "$command $word" {}; and set command "$command $word"
  end
  echo $command
end

)",
                                 fmt::join(names, " "));
  for_each(tree, [&](const CommandTree& command) {
    const std::string here =
        fmt::format("complete -c signalbox -n 'test (__signalbox_command) = \"{}\"'", command.name);
    for (const CommandTree& sub : command.subcommands) {
      text += fmt::format("{} -f -a {} -d {}\n", here, last_word(sub.name), single_quoted(sub.summary));
    }
    for (const OptionFacts& option : command.options) {
      const std::string choices = single_quoted(fmt::format("{}", fmt::join(option.choices, " ")));
      if (option.is_positional) {
        if (!option.choices.empty()) text += fmt::format("{} -f -a {}\n", here, choices);
        continue;
      }
      text += fmt::format("{} -l {} -d {}", here, option.names.back().substr(2), single_quoted(option.help));
      if (!option.value.empty()) text += option.choices.empty() ? " -r" : " -x -a " + choices;
      text += '\n';
    }
  });
  return text;
}

}  // namespace sb::cli
