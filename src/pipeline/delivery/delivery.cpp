#include "pipeline/delivery/delivery.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "base/text/path_glob.hpp"
#include "pipeline/delivery/judges.hpp"
#include "pipeline/delivery/outgoing_text.hpp"
#include "pipeline/delivery/steps.hpp"
#include "pipeline/limits.hpp"

namespace sb::pipeline {
namespace steps {
namespace {

constexpr std::size_t kSubjectBytes = 200;
constexpr std::size_t kListedFiles = 500;  // in an event

const Value* fact_value(const Value& before, DeliveryStep step, std::string_view name) {
  const Value* under = before.find(to_string(step));
  if (const Value* value = under ? under->find(name) : nullptr) return value;
  return before.find(name);
}

Value shown_files(const std::vector<Change>& changes, const DeliverySpec& spec) {
  Value files = Value::array();
  for (const Change& change : changes) {
    if (is_internal(change, spec)) continue;
    if (files.size() == kListedFiles) {
      files.push_back(fmt::format("… {} in total", changes.size()));
      break;
    }
    files.push_back(shown(change.path));
  }
  return files;
}

// Restores the entries of `from` for those paths of the index, or removes them where it has none.
Result<std::string> without(const Job& job, Git& git, const std::string& tree, const std::string& from,
                            const std::vector<std::string>& paths, const std::vector<std::string>& retired) {
  const std::string path_of_index = join_path(job.spec.tree.git_dir, "signalbox-delivery-index");
  const std::map<std::string, std::string> index = {{"GIT_INDEX_FILE", path_of_index}};
  SB_TRY(job.parts.seams.files.remove(path_of_index + ".lock"));  // left by a killed git command
  SB_TRY(git.run({.words = {"read-tree", tree}, .environment = index}));
  std::string input;
  for (const std::string& path : paths) {
    const bool is_retired = std::ranges::find(retired, path) != retired.end();
    const std::string entry = SB_TRY(git.run({"ls-tree", "-z", from, "--", path}));  // MODE TYPE HASH\tPATH\0
    const std::size_t tab = entry.find('\t');
    if (is_retired || tab == std::string::npos) {
      input += fmt::format("0 {:040d}\t", 0) + path + '\0';
    } else {
      input += entry;
    }
  }
  SB_TRY(git.run({.words = {"update-index", "-z", "--index-info"}, .input = input, .environment = index}));
  return without_trailing_newlines(SB_TRY(git.run({.words = {"write-tree"}, .environment = index})).output);
}

std::string subject_of(const DeliverySpec& spec) {
  std::string subject = spec.subject.empty() ? spec.title : spec.subject;
  if (subject.empty()) subject = spec.goal;
  std::string head = one_line(spec.type, 40);
  if (!head.empty() && !spec.scope.empty()) head += "(" + one_line(spec.scope, 60) + ")";
  return (head.empty() ? "" : head + ": ") + subject;
}

std::string message_of(const Job& job, const std::string& subject) {
  const DeliverySpec& spec = job.spec;
  std::string head = one_line(visible_text(subject, job.parts.secrets), kSubjectBytes);
  head = head.empty() ? "Change by run " + spec.run : without_references(head, spec.ticket, job.parts.forge.kind());
  std::string trailers = "Signalbox-Run: " + one_line(spec.run, 128) + "\n";
  if (!spec.session.empty()) trailers += "Signalbox-Session: " + one_line(spec.session, 128) + "\n";
  return head + "\n\n" + trailers;
}

}  // namespace

std::string Job::fact(DeliveryStep step, std::string_view name) const {
  const Value* value = fact_value(before, step, name);
  return value && value->is_string() ? value->as_string() : "";
}

std::int64_t Job::number(DeliveryStep step, std::string_view name) const {
  const Value* value = fact_value(before, step, name);
  return value && value->is_integer() ? value->as_integer() : 0;
}

DeliveryStepResult blocked(DeliveryFinding finding, Value facts) {
  return {.passed = false, .findings = {std::move(finding)}, .facts = std::move(facts)};
}

std::string one_line(std::string_view text, std::size_t max_bytes) {
  std::string line;
  for (const char c : text) {
    const bool is_space = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (is_space && (line.empty() || line.ends_with(' '))) continue;
    line += is_space ? ' ' : c;
  }
  line = shown(line);
  while (line.ends_with(' ')) line.pop_back();
  return shortened(line, max_bytes);
}

Result<DeliveryStepResult> head(const Job& job) {
  Git git = SB_TRY(job.git());
  const auto finding = [&](std::string summary) { return blocked({"critical", std::move(summary), "", "wrong_head"}); };
  const ProcessResult name = SB_TRY(git.run({.words = {"symbolic-ref", "--quiet", "HEAD"}, .accepted_codes = {0, 1}}));
  const std::string on = without_trailing_newlines(name.output);
  if (on != "refs/heads/" + job.spec.tree.branch) {
    return finding(fmt::format("the work tree is on {}, not on the run's branch {}",
                               on.empty() ? "no branch" : shown(on), shown(job.spec.tree.branch)));
  }
  const auto tip = SB_TRY(git.find_commit("HEAD"));
  if (!tip) return finding("the run's branch no longer has a commit");
  if (!SB_TRY(git.is_ancestor(job.spec.parent, *tip))) {
    return finding(fmt::format("the run's branch is at {}, which is not based on {}", *tip, job.spec.parent));
  }
  DeliveryStepResult done{.facts = Value::object({{"head", *tip}, {"branch", job.spec.tree.branch}})};
  if (*tip == job.spec.parent) return done;
  // Commits made by an agent: their content is compared, scanned and committed; the commits themselves are dropped.
  const std::string range = fmt::format("{}..{}", job.spec.parent, *tip);
  const std::string made = SB_TRY(git.run({"rev-list", "--max-count=50", range}));
  Value folded = Value::array();
  for (std::size_t at = 0; at < made.size(); at = made.find('\n', at) + 1) {
    folded.push_back(made.substr(at, made.find('\n', at) - at));
  }
  if (folded.size() > 0) done.facts.set("folded", std::move(folded));
  return done;
}

Result<TreeSnapshot> snapshot_tree(const Job& job, Git& git) {
  TreeSnapshot fixed;
  fixed.snapshot = fixed.tree = SB_TRY(git.snapshot(job.spec.parent));
  fixed.changes = SB_TRY(git.changes_between(job.spec.parent, fixed.snapshot));
  std::vector<std::string> internal;
  for (const Change& change : fixed.changes) {
    if (!is_internal(change, job.spec)) continue;
    internal.push_back(change.path);
    if (!change.old_path.empty()) internal.push_back(change.old_path);
  }
  const std::vector<std::string>& retired = job.spec.retired_paths;
  for (const std::string& path : retired) {
    if (SB_TRY(git.has_object(fixed.snapshot + ":" + path))) internal.push_back(path);
  }
  if (!internal.empty()) fixed.tree = SB_TRY(without(job, git, fixed.snapshot, job.spec.parent, internal, retired));
  return fixed;
}

Result<bool> has_tree(const Job& job, Git& git, const std::string& tree) {
  if (tree.empty()) return false;
  if (SB_TRY(git.has_object(tree + "^{tree}"))) return true;
  // The snapshot was collected as garbage; an unchanged work tree gives it again.
  const auto fixed = snapshot_tree(job, git);
  return fixed && (fixed->tree == tree || fixed->snapshot == tree);
}

DeliveryStepResult tree_lost() {
  return blocked({"critical",
                  "the checked snapshot of the change no longer exists, and the work tree has "
                  "changed since: it must be checked again",
                  "", "tree_lost"});
}

namespace {

constexpr std::size_t kEntriesBytes = std::size_t{64} << 20;

std::vector<ProjectCheck> all_commands(const DeliverySpec& spec) {
  std::vector<ProjectCheck> commands = spec.checks;
  commands.insert(commands.end(), spec.setup.begin(), spec.setup.end());
  return commands;
}

// Files that are too large to be followed have no text.
Result<std::map<std::string, TreeEntry>> entries_at(Git& git, const std::string& commit,
                                                    const std::vector<std::string>& paths) {
  std::map<std::string, TreeEntry> entries;
  if (paths.empty()) return entries;
  GitCall list{.words = {"ls-tree", "-z", "-l", commit, "--"}, .max_bytes = kEntriesBytes};
  list.words.insert(list.words.end(), paths.begin(), paths.end());
  const std::string listed = std::move(SB_TRY(git.run(list)).output);
  for (std::string_view rest = listed; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));  // MODE TYPE HASH SIZE\tPATH
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    const std::size_t tab = std::min(entry.find('\t'), entry.size());
    const auto words = split(entry.substr(0, tab), ' ', 4);
    const std::string path(entry.substr(std::min(tab + 1, entry.size())));
    if (words.size() < 4 || words[1] != "blob" || std::ranges::find(paths, path) == paths.end()) continue;
    TreeEntry found{.text = {}, .is_link = words[0] == "120000", .is_executable = words[0] == "100755"};
    const bool is_small =
        std::strtoull(std::string(trimmed(words[3])).c_str(), nullptr, 10) <= limits::kJudgeScriptBytes;
    if (is_small) found.text = SB_TRY(git.run({"cat-file", "blob", std::string(words[2])}));
    entries.emplace(path, std::move(found));
  }
  return entries;
}

Result<std::vector<ListedFile>> files_at(Git& git, const std::string& commit) {
  const GitCall list{.words = {"ls-tree", "-r", "-z", commit}, .max_bytes = kEntriesBytes};
  const std::string listed = std::move(SB_TRY(git.run(list)).output);
  std::vector<ListedFile> files;
  for (std::string_view rest = listed; !rest.empty();) {
    const std::string_view entry = rest.substr(0, rest.find('\0'));  // MODE TYPE HASH\tPATH
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    const std::size_t tab = entry.find('\t');
    if (tab != entry.npos) files.push_back({std::string(entry.substr(tab + 1)), entry.starts_with("120000")});
  }
  return files;
}

// A file of the change in the place of what `setup` makes would be used by the checks instead of it.
Result<JudgeFiles::Reasons> made_by_setup(const Job& job) {
  JudgeFiles::Reasons made;
  if (job.spec.setup.empty() || !job.spec.checks_trusted) return made;
  for (const std::string& name : SB_TRY(SB_TRY(CheckTree::open(job)).made_names()))
    made.emplace(name, "made by `setup`");
  return made;
}

std::string kept_ref(const Job& job, std::string_view name) {
  return fmt::format("refs/signalbox/{}/{}", name, job.spec.run);
}

// Of the whole change, not only of this round.
Result<Value> judge_facts(const Job& job, Git& git, const std::string& tree) {
  const DeliverySpec& spec = job.spec;
  const std::string base = spec.base.empty() ? spec.tree.base_commit : spec.base;
  std::vector<Change> changes = SB_TRY(git.changes_between(base, tree));
  std::erase_if(changes, [&](const Change& change) { return is_internal(change, spec); });
  JudgePolicy policy{.known = {}, .rules = spec.rule_paths, .protected_paths = spec.protected_paths};
  const ReadEntries read = [&](const std::vector<std::string>& paths) { return entries_at(git, base, paths); };
  if (!changes.empty()) {
    policy.known = SB_TRY(files_of_checks(all_commands(spec), read));
    policy.known.add(SB_TRY(files_of_rules(SB_TRY(files_at(git, base)), read)));
    policy.known.below.merge(SB_TRY(made_by_setup(job)));
  }
  Value judges = Value::array();
  for (const Judge& judge : judges_in(changes, policy)) {
    judges.push_back(Value::object({{"file", shown(judge.file)}, {"why", judge.why}}));
  }
  return judges;
}

// A person may take weeks to answer, and `git gc` removes objects that nothing refers to.
Status save_trees(const Job& job, Git& git, const TreeSnapshot& fixed) {
  std::string input;
  for (const auto& [name, tree] : {std::pair("tree", fixed.tree), std::pair("snapshot", fixed.snapshot)}) {
    const std::string ref = kept_ref(job, name);
    SB_TRY(git.unlock(ref));
    input += fmt::format("update {} {}\n", ref, tree);
  }
  SB_TRY(git.run({"update-ref", "--stdin"}, input));
  return {};
}

}  // namespace

Result<DeliveryStepResult> scope(const Job& job) {
  Git git = SB_TRY(job.git());
  const auto fixed = snapshot_tree(job, git);
  if (!fixed) {  // a repository without a commit cannot even be recorded
    DeliveryStepResult done{.passed = false};
    for (const std::string& path : SB_TRY(git.nested_repositories(job.spec.parent))) {
      done.findings.push_back(repository_finding(path));
    }
    for (const std::string& path : SB_TRY(git.refused_names(job.spec.parent))) {
      done.findings.push_back(git_folder_finding(path));
    }
    if (done.findings.empty()) return std::unexpected(fixed.error());
    return done;
  }
  ScopeReport report = check_scope(fixed->changes, job.spec);
  for (const std::string& path : SB_TRY(git.tampered_submodules(job.spec.parent))) {
    report.blocking.push_back(
        {"critical",
         fmt::format("{0}/.git was not created by git, and git would follow its configuration. If it is your "
                     "own: git submodule absorbgitdirs {0}",
                     shown(path)),
         shown(path), "nested_repository"});
  }
  const Value files = shown_files(fixed->changes, job.spec);
  if (files.size() == 0) report.blocking.push_back({"major", "nothing was changed", "", "nothing_changed"});
  for (DeliveryFinding& finding : SB_TRY(link_findings(job, git, fixed->tree, fixed->changes))) {
    report.blocking.push_back(std::move(finding));
  }
  Value judges = SB_TRY(judge_facts(job, git, fixed->tree));
  SB_TRY(save_trees(job, git, *fixed));
  DeliveryStepResult done{.passed = report.blocking.empty(), .findings = std::move(report.blocking)};
  done.facts = Value::object({{"tree", fixed->tree},
                              {"snapshot", fixed->snapshot},
                              {"files", files},
                              {"collateral", Value::array(report.collateral)},
                              {"unchanged", Value::array(report.unchanged)},
                              {"judges", std::move(judges)}});
  return done;
}

Result<std::string> make_commit(const Job& job, Git& git, const std::vector<std::string>& parents,
                                const std::string& tree, const std::string& subject) {
  const DeliverySpec& spec = job.spec;
  const std::string date = fmt::format("@{} +0000", spec.at / 1000);
  const std::string name = one_line(spec.identity.name, 200), email = one_line(spec.identity.email, 200);
  GitCall call{.words = {"-c", "user.name=" + (name.empty() ? Identity().name : name), "-c",
                         "user.email=" + (email.empty() ? Identity().email : email), "-c", "i18n.commitEncoding=UTF-8",
                         "commit-tree", "--no-gpg-sign", tree},
               .input = message_of(job, subject),
               .environment = {{"GIT_AUTHOR_DATE", date}, {"GIT_COMMITTER_DATE", date}}};
  for (const std::string& parent : parents) call.words.insert(call.words.end(), {"-p", parent});
  return without_trailing_newlines(SB_TRY(git.run(call)).output);
}

Result<std::string> commit_of_round(const Job& job, Git& git, const std::string& tree) {
  return make_commit(job, git, {job.spec.parent}, tree, subject_of(job.spec));
}

Result<DeliveryStepResult> commit(const Job& job) {
  Git git = SB_TRY(job.git());
  const DeliverySpec& spec = job.spec;
  const std::string tree = job.fact(DeliveryStep::kScope, "tree");
  if (!SB_TRY(has_tree(job, git, tree))) return tree_lost();
  if (tree == without_trailing_newlines(SB_TRY(git.run({"rev-parse", "--verify", spec.parent + "^{tree}"})))) {
    return blocked({"major", "nothing was changed", "", "nothing_changed"});
  }
  const std::string hash = SB_TRY(commit_of_round(job, git, tree));
  DeliveryStepResult done{.facts = Value::object({{"commit", hash}, {"parent", spec.parent}, {"tree", tree}})};
  const std::string ref = "refs/heads/" + spec.tree.branch;
  const std::string tip = SB_TRY(git.commit_of(ref));
  done.already_existed = tip == hash;
  if (!done.already_existed) {
    if (!SB_TRY(git.is_ancestor(spec.parent, tip))) {
      return blocked({"critical", fmt::format("the run's branch is at {}, which is not based on {}", tip, spec.parent),
                      "", "wrong_head"});
    }
    SB_TRY(git.unlock(ref));
    SB_TRY(git.run({"update-ref", "-m", "signalbox: deliver", ref, hash, tip}));
  }
  for (const char* name : {"tree", "snapshot"}) SB_TRY(git.run({"update-ref", "-d", kept_ref(job, name)}));
  // The work tree's own index is still at the parent. Only agents and people look at it.
  (void)git.run({"reset", "--quiet", "--mixed"});
  return done;
}

}  // namespace steps

Result<DeliveryStepResult> deliver(DeliveryStep step, const DeliverySpec& spec, const Value& before,
                                   DeliveryParts& parts) {
  const steps::Job job{spec, before, parts};
  if (spec.parent.empty()) return fail(ErrorCode::kInvalid, "the parent commit of the delivery is unknown");
  if (step <= DeliveryStep::kPush) {  // the steps that run git in the work tree
    const auto git = job.git();
    if (!git && git.error().code == ErrorCode::kConflict) {
      return steps::blocked(
          {"critical", fmt::format("{}. {}", git.error().message, git.error().remedy), ".git", "work_tree_changed"});
    }
  }
  switch (step) {
    case DeliveryStep::kHead:
      return steps::head(job);
    case DeliveryStep::kScope:
      return steps::scope(job);
    case DeliveryStep::kChecks:
      return steps::checks(job);
    case DeliveryStep::kSecrets:
      return steps::secrets(job);
    case DeliveryStep::kCommit:
      return steps::commit(job);
    case DeliveryStep::kPush:
      return steps::push(job);
    case DeliveryStep::kRequest:
      return steps::request(job);
    case DeliveryStep::kRequestChecks:
      return steps::request_checks(job);
    case DeliveryStep::kUpdate:
      return steps::update(job);
    case DeliveryStep::kMerge:
      return steps::merge(job);
    case DeliveryStep::kConfirm:
      return steps::confirm(job);
    case DeliveryStep::kClose:
      return steps::close(job);
  }
  return fail(ErrorCode::kInternal, "unknown delivery step");
}

}  // namespace sb::pipeline
