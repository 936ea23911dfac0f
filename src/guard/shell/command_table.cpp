#include "guard/shell/command_table.hpp"

#include "base/assert.hpp"
#include "base/document/document.hpp"
#include "guard/data.hpp"

namespace sb::guard {
namespace {

void add_names(NameSet& names, const Value& list) {
  if (!list.is_array()) return;
  for (const Value& item : list.items()) {
    if (item.is_array()) add_names(names, item);
    if (item.is_string()) names.insert(item.as_string());
  }
}

NameSet names_in(const Value& list) {
  NameSet names;
  add_names(names, list);
  return names;
}

CommandTable::ByProgram by_program(const Value& lists) {
  CommandTable::ByProgram programs;
  for (const auto& [name, list] : lists.members()) programs.emplace(name, names_in(list));
  return programs;
}

CommandTable::Subcommands subcommands_in(const Value& own) {
  return {names_in(own["options"]),  names_in(own["reads"]),   names_in(own["bare"]), names_in(own["repository"]),
          names_in(own["installs"]), names_in(own["outside"]), names_in(own["tree"]), names_in(own["paths"])};
}

CommandTable read_table() {
  const auto document = parse_json(data_file("commands.yaml"));
  SB_ASSERT(document.has_value());
  const Value& root = *document;
  CommandTable table;
  table.folders = names_in(root["folders"]);
  table.environment = names_in(root["environment"]);
  add_names(table.reads, root["reads"]);
  add_names(table.reads, root["shell"]);
  table.writes_all = names_in(root["writes_all"]);
  table.writes_last = names_in(root["writes_last"]);
  table.tree = names_in(root["tree"]);
  table.shells = names_in(root["shells"]);
  table.patches = names_in(root["patches"]);
  table.asks = by_program(root["asks"]);
  table.outputs = by_program(root["outputs"]);
  table.not_with = by_program(root["not_with"]);
  table.values = by_program(root["values"]);
  table.inside = by_program(root["inside"]);
  table.leading = by_program(root["leading"]);
  table.writes_second = by_program(root["writes_second"]);
  table.writes_with = by_program(root["writes_with"]);
  table.writes_without = by_program(root["writes_without"]);
  table.wrappers = by_program(root["wrappers"]);
  table.runners = by_program(root["runners"]);
  for (const auto& [name, own] : root["subcommands"].members()) table.subcommands.emplace(name, subcommands_in(own));
  return table;
}

}  // namespace

const NameSet& CommandTable::of(const ByProgram& list, std::string_view program) {
  static const NameSet kNone;
  const auto found = list.find(program);
  return found == list.end() ? kNone : found->second;
}

NameSet CommandTable::valued(std::string_view program) const {
  NameSet names = of(values, program);
  const NameSet& written = of(outputs, program);
  names.insert(written.begin(), written.end());
  return names;
}

const CommandTable& command_table() {
  static const CommandTable table = read_table();
  return table;
}

}  // namespace sb::guard
