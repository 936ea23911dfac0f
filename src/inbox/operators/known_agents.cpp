#include "inbox/operators/known_agents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/assert.hpp"
#include "base/document/document.hpp"

namespace sb::inbox {
namespace {

struct Agent {
  std::string name;
  std::vector<std::string> environment, programs;
};

std::vector<std::string> strings_of(const Value& list) {
  std::vector<std::string> strings;
  for (const Value& item : list.items()) strings.push_back(item.as_string());
  return strings;
}

std::vector<Agent> known_ones() {
  const auto document = parse_document("known-agents.yaml", std::string(data_file("known-agents.yaml")));
  SB_ASSERT(document.has_value());
  std::vector<Agent> agents;
  for (const Value& agent : document->root["agents"].items()) {
    agents.push_back({agent["name"].as_string(), strings_of(agent["environment"]), strings_of(agent["programs"])});
  }
  return agents;
}

// The parent of a process: the second field after the last `)` of its stat, since a name may contain anything.
int parent_of(const Files& files, int pid) {
  const auto stat = files.read(fmt::format("/proc/{}/stat", pid), 4096);
  if (!stat) return 0;
  const std::size_t behind = stat->rfind(") ");
  if (behind == std::string::npos || behind + 4 >= stat->size()) return 0;
  int parent = 0;
  std::from_chars(stat->data() + behind + 4, stat->data() + stat->size(), parent);
  return parent;
}

// The program and, for scripts run by an interpreter, the script: the names of the first words of the command line.
std::vector<std::string> names_of(const Files& files, int pid) {
  std::vector<std::string> names;
  const auto line = files.read(fmt::format("/proc/{}/cmdline", pid), 1 << 20);
  if (!line) return names;
  for (std::size_t at = 0; at < line->size() && names.size() < 2;) {
    const std::size_t end = std::min(line->find('\0', at), line->size());
    std::string name = base_name(line->substr(at, end - at));
    for (const std::string_view ending : {".js", ".mjs", ".py"}) {
      if (name.ends_with(ending)) name.erase(name.size() - ending.size());
    }
    // An interpreter's option is not a script, and the argument of a shell's -c is not a program name.
    if (name == "-c") break;
    if (!name.starts_with("-")) names.push_back(std::move(name));
    at = end + 1;
  }
  // For an ordinary program only its own name counts: `vim claude` is not an agent.
  static constexpr std::string_view kInterpreters[] = {"node", "bun", "deno", "python", "python3"};
  if (!names.empty() && std::ranges::find(kInterpreters, names.front()) == std::end(kInterpreters)) names.resize(1);
  return names;
}

}  // namespace

std::optional<std::string> known_agent(const Files& files, const Environment& environment, int pid) {
  const std::vector<Agent> agents = known_ones();
  for (const Agent& agent : agents) {
    for (const std::string& variable : agent.environment) {
      if (environment.get(variable)) return fmt::format("{} ({} is set)", agent.name, variable);
    }
  }
  constexpr int kMaxAncestors = 64;
  for (int i = 0; i < kMaxAncestors && pid > 1; ++i, pid = parent_of(files, pid)) {
    const std::vector<std::string> names = names_of(files, pid);
    for (const Agent& agent : agents) {
      for (const std::string& program : agent.programs) {
        if (std::ranges::find(names, program) == names.end()) continue;
        return fmt::format("{} (process {} is an ancestor)", agent.name, pid);
      }
    }
  }
  return std::nullopt;
}

}  // namespace sb::inbox
