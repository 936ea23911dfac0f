// Reads what people wrote for agents: rule files of the work tree, a soul, and the project's identity (Tier 0), as
// sources for a bundle.
//
// Rule files, in this order: .claude/CLAUDE.md, CLAUDE.md, CLAUDE.local.md, AGENTS.md, .github/AGENTS.md,
// .cursor/rules/*.mdc, .cursorrules, .windsurf/rules/*.md, .firebender/rules/*.mdc, .firebender/AGENTS.md,
// .github/copilot-instructions.md, .continue/rules/*.md. Front matter is removed; its `applies_to` (a name or a list of
// names: task types, workflows, steps; `*` matches anything) limits the file to the work it names. Of several files
// with the same text the first is used.
//
// Everything is read through the fence: a rule file that links out of the work tree is not read. Rules are instructions
// to the agent, so `committed` decides the content of a file: what an earlier agent wrote into the work tree is not an
// instruction. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/context/isolation.hpp"
#include "base/files.hpp"

namespace sb::agent {

struct RuleQuery {
  std::string work_tree;                 // absolute
  std::vector<std::string> hidden = {};  // engine::hidden_paths
  std::string soul = {};                 // the file named in the settings; absolute, or empty
  std::string config_home = {};          // contains the user's soul.md
  std::vector<std::string> tier0 = {};   // globs under the work tree
  // The committed texts of these files at the start of the work, by path; empty: the work tree is unchanged.
  std::function<std::map<std::string, std::string>(const std::vector<std::string>& paths)> committed = {};
  // The names of the work: its phase or task type, its workflow, the ids of its steps.
  std::vector<std::string> work = {};
};

struct RuleSources {
  std::vector<ContextSource> sources;  // keys: soul, rules/PATH, tier0/PATH
  std::vector<std::string> notes;      // what was ignored, and why; for people
};

// The soul is the first that exists: the one named in the settings, the user's, the built-in one.
RuleSources read_rules(const Files& files, const RuleQuery& query);

std::string built_in_soul();

}  // namespace sb::agent
