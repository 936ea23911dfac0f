// What people wrote down for agents: rule files of the work tree, a soul, and the project's identity (Tier 0), as
// sources for a bundle.
//
// Rule files, in this order: .claude/CLAUDE.md, CLAUDE.md, CLAUDE.local.md, AGENTS.md, .github/AGENTS.md,
// .cursor/rules/*.mdc, .cursorrules, .windsurf/rules/*.md, .firebender/rules/*.mdc, .firebender/AGENTS.md,
// .github/copilot-instructions.md, .continue/rules/*.md. Front matter is taken off; its `applies_to` (a name or a list
// of names: task types, workflows, steps; `*` stands for anything) keeps a file from work that it does not name.
// Of several files with the same text the first is taken.
//
// Everything is read behind the fence: a rule file that is a link out of the work tree is not read. Rules speak to the
// agent as instructions, so `committed` has the last word on what a file says: what an earlier agent wrote into the
// work tree instructs nobody. Thread-safe.
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
  std::string soul = {};                 // the file the settings name; absolute, or empty
  std::string config_home = {};          // soul.md of the user is there
  std::vector<std::string> tier0 = {};   // globs under the work tree
  // The texts of those of the files that the work began with, by path; empty: the work tree is as it was.
  std::function<std::map<std::string, std::string>(const std::vector<std::string>& paths)> committed = {};
  // What the work is called: its phase or task type, its workflow, the ids of its steps.
  std::vector<std::string> work = {};
};

struct RuleSources {
  std::vector<ContextSource> sources;  // keys: soul, rules/PATH, tier0/PATH
  std::vector<std::string> notes;      // what was not taken, and why; for people
};

// The soul is the first that is there: the one of the settings, the user's, the built-in one.
RuleSources read_rules(const Files& files, const RuleQuery& query);

std::string built_in_soul();

}  // namespace sb::agent
