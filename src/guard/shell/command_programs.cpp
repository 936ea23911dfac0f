#include "guard/shell/command_programs.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "base/files.hpp"
#include "guard/shell/command_table.hpp"
#include "guard/shell/script_effects.hpp"

namespace sb::guard {
namespace {

using ShellWords = std::vector<ShellWord>;

CommandArguments taken(const std::string& name, WordSpan arguments) {
  return parse_arguments(arguments, command_table().valued(name));
}

bool is_output_stream(const ShellWord& word) {
  return word.is_known && word.text == "-";
}

const ShellWord kHere{".", true, false};

void add_script(EffectList& effects, const std::string& name, const ScriptEffects& script) {
  if (script.runs) effects.add_unknown(name, "its script runs a command");
  if (!script.is_clear) effects.add_unknown(name, "its script cannot be analyzed");
  ShellWords written;
  for (const std::string& path : script.written) {
    written.push_back({path.empty() ? "(what its script names)" : path, !path.empty(), false});
  }
  effects.add_paths(name, written);
}

void add_sed(EffectList& effects, const std::string& name, WordSpan arguments) {
  CommandArguments own = taken(name, arguments);
  std::string script;
  bool has_script = false;
  for (const CommandOption& option : own.options) {
    if (is_named(option, "-f") || is_named(option, "--file")) {
      return effects.add_unknown("sed -f", "its script is in a file");
    }
    if (!is_named(option, "-e") && !is_named(option, "--expression")) continue;
    has_script = true;
    if (option.value) script += option.value->text + "\n";
  }
  const bool is_in_place = find_option(own, {"-i", "--in-place"}) != nullptr;
  // `sed -i '' …` on other systems: no suffix for the backup.
  if (is_in_place && !own.operands.empty() && own.operands.front().text.empty()) {
    own.operands.erase(own.operands.begin());
  }
  if (!has_script && !own.operands.empty()) {
    script += own.operands.front().text;
    own.operands.erase(own.operands.begin());
  }
  add_script(effects, "sed", effects_of_sed(script));
  if (is_in_place) effects.add_paths("sed -i", own.operands);
}

void add_awk(EffectList& effects, const std::string& name, WordSpan arguments) {
  CommandArguments own = parse_arguments(arguments, command_table().valued("awk"));
  std::string program;
  bool has_program = false, is_in_place = false;
  for (const CommandOption& option : own.options) {
    const bool loads = find_option({{option}, {}}, {"-i", "--include"}) != nullptr;
    const bool is_kept = find_option({{option}, {}}, {"-F", "--field-separator", "-v", "--assign"}) != nullptr;
    if (is_named(option, "-e") || is_named(option, "--source")) {
      has_program = true;
      if (option.value) program += option.value->text + "\n";
    } else if (loads && option.value && option.value->text == "inplace") {
      is_in_place = true;
    } else if (!is_kept) {
      return effects.add_unknown(name + " " + option.name);
    }
  }
  if (!has_program && !own.operands.empty()) {
    program += own.operands.front().text;
    own.operands.erase(own.operands.begin());
  }
  add_script(effects, name, effects_of_awk(program));
  if (is_in_place) effects.add_paths(name + " -i inplace", own.operands);
}

void add_in_place(EffectList& effects, const std::string& name, WordSpan arguments) {
  CommandArguments own = taken(name, arguments);
  if (find_option(own, {"-i"}) == nullptr) return effects.add_unknown(name);
  if (find_option(own, {"-e", "-E"}) == nullptr && !own.operands.empty()) own.operands.erase(own.operands.begin());
  effects.add_paths(name + " -i", own.operands);
}

void add_fd(EffectList& effects, const std::string& name, WordSpan arguments) {
  if (find_option(parse_arguments(arguments, {}), {"-x", "-X", "--exec", "--exec-batch"}) != nullptr) {
    effects.add_unknown(name + " --exec");
  }
}

void add_tar(EffectList& effects, const std::string&, WordSpan arguments) {
  const std::string first = arguments.empty() ? "" : arguments.front().text;
  const bool is_letters = !first.starts_with("--");
  const CommandArguments own = parse_arguments(arguments, {});
  const bool lists = (is_letters && first.find('t') != std::string::npos) || find_option(own, {"--list"}) != nullptr;
  const bool changes = (is_letters && first.find_first_of("xcruAI") != std::string::npos) ||
                       find_option(own, {"-x",
                                         "-c",
                                         "-r",
                                         "-u",
                                         "-A",
                                         "-I",
                                         "-F",
                                         "--to-command",
                                         "--use-compress-program",
                                         "--checkpoint-action",
                                         "--info-script",
                                         "--new-volume-script",
                                         "--rsh-command",
                                         "--delete",
                                         "--extract",
                                         "--get",
                                         "--create",
                                         "--append",
                                         "--update",
                                         "--index-file"}) != nullptr;
  if (!lists || changes) effects.add(Effect::kTree, "tar");
}

void add_dd(EffectList& effects, const std::string& name, WordSpan arguments) {
  ShellWords written;
  for (const ShellWord& word : arguments) {
    if (word.text.starts_with("of=")) written.push_back(suffix_of(word, 3));
  }
  effects.add_paths(name, written);
}

void add_curl(EffectList& effects, const std::string& name, WordSpan arguments) {
  const CommandArguments own = taken(name, arguments);
  if (const CommandOption* saves = find_option(own, {"-O", "--remote-name", "--remote-name-all", "-J"})) {
    return effects.add(Effect::kTree, "curl " + saves->name);
  }
  if (const CommandOption* sends = find_option(own, CommandTable::of(command_table().not_with, name))) {
    effects.add_unknown("curl " + sends->name, "it sends something");
  }
  for (const CommandOption& option : own.options) {
    if (!is_named(option, "-X") && !is_named(option, "--request")) continue;
    const std::string method = option.value ? option.value->text : "";
    if (method != "GET" && method != "HEAD") effects.add_unknown("curl " + option.name, "it sends something");
  }
  ShellWords written = outputs_among(name, own);
  std::erase_if(written, is_output_stream);
  effects.add_paths(name, written);
}

// Saves the download unless told to print it.
void add_wget(EffectList& effects, const std::string& name, WordSpan arguments) {
  const CommandArguments own = taken(name, arguments);
  const NameSet& others = CommandTable::of(command_table().not_with, name);
  const bool is_printed = find_option(own, {"-O", "--output-document", "--spider"}) != nullptr;
  if (!is_printed || find_option(own, {"-b", "--background"}) != nullptr) return effects.add(Effect::kTree, name);
  if (const CommandOption* other = find_option(own, others)) effects.add_unknown("wget " + other->name);
  ShellWords written = outputs_among(name, own);
  std::erase_if(written, is_output_stream);
  effects.add_paths(name, written);
}

void add_yq(EffectList& effects, const std::string&, WordSpan arguments) {
  CommandArguments own = parse_arguments(arguments, {});
  if (find_option(own, {"-i", "--inplace", "--in-place"}) == nullptr) return;
  if (own.operands.size() > 1) own.operands.erase(own.operands.begin());
  effects.add_paths("yq -i", own.operands);
}

// `date +%F` prints, `date 11151200` sets.
void add_date(EffectList& effects, const std::string& name, WordSpan arguments) {
  const CommandArguments own = taken(name, arguments);
  const bool is_set =
      find_option(own, {"-s", "--set"}) != nullptr ||
      std::ranges::any_of(own.operands, [](const ShellWord& word) { return !word.text.starts_with('+'); });
  if (is_set) effects.add_unknown(name, "it may set the clock");
}

void add_hostname(EffectList& effects, const std::string& name, WordSpan arguments) {
  const CommandArguments own = parse_arguments(arguments, {});
  if (!own.operands.empty() || find_option(own, {"-F", "--file", "-b", "--boot"}) != nullptr) {
    effects.add_unknown(name, "it may set the name");
  }
}

void add_unzip(EffectList& effects, const std::string& name, WordSpan arguments) {
  const CommandArguments own = parse_arguments(arguments, {});
  const bool reads = find_option(own, {"-l", "-v", "-t", "-z", "-Z", "-p", "-c"}) != nullptr;
  if (!reads || find_option(own, {"-d", "-x", "-o", "-n", "-u", "-f"}) != nullptr) effects.add(Effect::kTree, name);
}

// Pagers run the text after a plus sign.
bool has_pager_command(const std::string& name, WordSpan arguments) {
  return (name == "less" || name == "more") &&
         std::ranges::any_of(arguments, [](const ShellWord& word) { return word.text.starts_with('+'); });
}

// `uniq IN OUT`
void add_second(EffectList& effects, const std::string& name, const NameSet& with_value, WordSpan arguments) {
  ShellWords plain;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (with_value.contains(arguments[i].text)) {
      ++i;
    } else {
      plain.push_back(arguments[i]);
    }
  }
  const CommandArguments own = parse_arguments(plain, {});
  if (own.operands.size() > 1) effects.add_paths(name, {own.operands.back()});
}

// The operands that are files.
ShellWords files_among(const std::string& name, const CommandArguments& own) {
  ShellWords files = own.operands;
  const CommandTable& table = command_table();
  const auto given_by = table.leading.find(name);
  const bool has_leading = given_by != table.leading.end() && find_option(own, given_by->second) == nullptr;
  // A non-literal operand may expand to several words.
  if (has_leading && !files.empty() && files.front().is_known) files.erase(files.begin());
  const ShellWords outputs = outputs_among(name, own);
  files.insert(files.end(), outputs.begin(), outputs.end());
  return files;
}

// The last operand, or the one named by -t, is written.
void add_copies(EffectList& effects, const std::string& name, const CommandArguments& own) {
  ShellWords written = outputs_among(name, own);
  const bool makes_folders = name == "install" && find_option(own, {"-d", "--directory"}) != nullptr;
  if (makes_folders) written = own.operands;
  if (written.empty() && name == "ln" && own.operands.size() == 1) {
    const ShellWord& only = own.operands.front();
    written.push_back({base_name(only.text), only.is_known, only.is_pattern, only.is_list});
  }
  if (written.empty() && !own.operands.empty()) written.push_back(own.operands.back());
  effects.add_paths(name, written);
}

}  // namespace

ShellWords outputs_among(const std::string& name, const CommandArguments& arguments) {
  ShellWords written;
  const NameSet& names = CommandTable::of(command_table().outputs, name);
  for (const CommandOption& option : arguments.options) {
    if (option.value && find_option({{option}, {}}, names) != nullptr) written.push_back(*option.value);
  }
  return written;
}

bool add_program(EffectList& effects, const std::string& name, WordSpan arguments) {
  using Add = void (*)(EffectList&, const std::string&, WordSpan);
  static const std::map<std::string, Add, std::less<>> kPrograms = {
      {"fd", add_fd},         {"fdfind", add_fd},   {"sed", add_sed},          {"gsed", add_sed},      {"awk", add_awk},
      {"gawk", add_awk},      {"mawk", add_awk},    {"nawk", add_awk},         {"perl", add_in_place}, {"tar", add_tar},
      {"ruby", add_in_place}, {"dd", add_dd},       {"curl", add_curl},        {"wget", add_wget},     {"yq", add_yq},
      {"date", add_date},     {"unzip", add_unzip}, {"hostname", add_hostname}};
  const auto found = kPrograms.find(name);
  if (found == kPrograms.end()) return false;
  found->second(effects, name, arguments);
  return true;
}

void add_listed(EffectList& effects, const std::string& name, WordSpan arguments) {
  const CommandTable& table = command_table();
  const CommandArguments own = taken(name, arguments);
  const auto with = table.writes_with.find(name);
  const auto without = table.writes_without.find(name);
  const bool rewrites = (with != table.writes_with.end() && find_option(own, with->second) != nullptr) ||
                        (without != table.writes_without.end() && find_option(own, without->second) == nullptr);
  if (const CommandOption* other = find_option(own, CommandTable::of(table.not_with, name))) {
    effects.add_unknown(name + " " + other->name);
  } else if (has_pager_command(name, arguments)) {
    effects.add_unknown(name + " +");
  } else if (rewrites) {
    effects.add_paths(name, own.operands.empty() ? ShellWords{kHere} : own.operands);
  } else if (table.reads.contains(name)) {
    effects.add_paths(name, outputs_among(name, own));
  } else if (table.writes_all.contains(name)) {
    effects.add_paths(name, files_among(name, own), own);
  } else if (table.writes_last.contains(name)) {
    add_copies(effects, name, own);
  } else if (const auto second = table.writes_second.find(name); second != table.writes_second.end()) {
    add_second(effects, name, second->second, arguments);
  } else if (table.tree.contains(name)) {
    effects.add(Effect::kTree, name);
  } else {
    effects.add_unknown(name);
  }
}

}  // namespace sb::guard
