#include "agent/context/rule_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "agent/limits.hpp"
#include "agent/tools/guarded_files.hpp"
#include "agent/tools/plain_text.hpp"
#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/text/path_glob.hpp"
#include "base/text/unicode.hpp"

namespace sb::agent {
namespace {

constexpr std::array<std::string_view, 12> kRuleFiles = {".claude/CLAUDE.md",
                                                         "CLAUDE.md",
                                                         "CLAUDE.local.md",
                                                         "AGENTS.md",
                                                         ".github/AGENTS.md",
                                                         ".cursor/rules/*.mdc",
                                                         ".cursorrules",
                                                         ".windsurf/rules/*.md",
                                                         ".firebender/rules/*.mdc",
                                                         ".firebender/AGENTS.md",
                                                         ".github/copilot-instructions.md",
                                                         ".continue/rules/*.md"};

bool is_glob(std::string_view text) {
  return text.find_first_of("*?[{") != std::string_view::npos;
}

// The folder a glob begins in: `docs` of `docs/*.md`; empty: the work tree.
std::string folder_of(std::string_view glob) {
  const std::string_view fixed = glob.substr(0, glob.find_first_of("*?[{"));
  const std::size_t slash = fixed.rfind('/');
  return slash == std::string_view::npos ? "" : std::string(fixed.substr(0, slash));
}

struct FrontMatter {
  std::string text;  // after the front matter
  std::vector<std::string> applies_to;
  bool is_scoped = false;
  std::string fault;
};

FrontMatter strip_front_matter(const std::string& whole) {
  FrontMatter matter{.text = whole, .applies_to = {}, .fault = {}};
  const std::string_view text = whole;
  const std::size_t start = text.starts_with("---\n") ? 4 : text.starts_with("---\r\n") ? 5 : 0;
  if (start == 0) return matter;
  std::size_t end = start;  // of the line that closes it
  for (;; end = text.find('\n', end) + 1) {
    const std::string_view line = text.substr(end, text.find('\n', end) - end);
    if (line == "---" || line == "---\r") break;
    if (text.find('\n', end) == std::string_view::npos) return matter;  // never closed: a rule, not front matter
  }
  const std::size_t behind = text.find('\n', end);
  matter.text = behind == std::string_view::npos ? "" : whole.substr(behind + 1);
  const std::string yaml = whole.substr(start, end - start);
  // Editors write values there that are not YAML (`globs: *.ts`); only our own key matters, where it occurs.
  if (yaml.find("applies_to") == std::string::npos) return matter;
  const auto document = parse_document("front matter", yaml);
  const Value* scope = document ? document->root.find("applies_to") : nullptr;
  if (scope && scope->is_string()) matter.applies_to = {scope->as_string()};
  const bool is_list = scope && scope->is_array() && std::ranges::all_of(scope->items(), &Value::is_string);
  if (is_list) {
    for (const Value& name : scope->items()) matter.applies_to.push_back(name.as_string());
  }
  matter.is_scoped = true;
  if (!is_list && !(scope && scope->is_string())) matter.fault = "applies_to is neither a name nor a list of names";
  return matter;
}

bool names_any(const std::vector<std::string>& applies_to, const std::vector<std::string>& work) {
  return std::ranges::any_of(applies_to, [&](const std::string& pattern) {
    return std::ranges::any_of(work, [&](const std::string& name) {
      return name == pattern || (is_glob(pattern) && glob_covers(pattern, name));
    });
  });
}

class RuleReader {
 public:
  RuleReader(const Files& files, const RuleQuery& query)
      : files_(files),
        query_(query),
        fence_({.root = files.canonical(query.work_tree).value_or(query.work_tree), .hidden = query.hidden}) {}

  RuleSources read() {
    add_soul();
    std::vector<std::string> rules, tier0;
    for (const std::string_view pattern : kRuleFiles)
      std::ranges::move(paths_of(std::string(pattern)), std::back_inserter(rules));
    for (const std::string& pattern : query_.tier0) std::ranges::move(paths_of(pattern), std::back_inserter(tier0));
    if (query_.committed) {
      std::vector<std::string> all = rules;
      all.insert(all.end(), tier0.begin(), tier0.end());
      committed_ = query_.committed(all);
    }
    for (const std::string& path : rules) add_rule(path);
    for (const std::string& path : tier0) add_tier0(path);
    return std::move(found_);
  }

 private:
  void note(const std::string& path, std::string_view what) {
    found_.notes.push_back(fmt::format("{}: {}", path, what));
  }

  // Relative to the work tree, sorted.
  std::vector<std::string> paths_of(const std::string& pattern) {
    if (!is_glob(pattern)) return {pattern};
    const std::string folder = folder_of(pattern);
    const auto at = fence_.for_reading(folder.empty() ? fence_.root() : folder);
    std::vector<std::string> paths;
    if (!at) return paths;
    walk_guarded(*at, fence_, {".git", "node_modules"}, {}, [&](const WalkedFile& file) {
      const std::string relative = file.path.substr(fence_.root().size() + 1);
      if (is_within(file.path, fence_.root()) && glob_covers(pattern, relative)) paths.push_back(relative);
    });
    std::ranges::sort(paths);
    if (paths.size() > limits::kRuleFilesEach) {
      note(pattern, fmt::format("matches {} files; only the first {} are used", paths.size(), limits::kRuleFilesEach));
      paths.resize(limits::kRuleFilesEach);
    }
    return paths;
  }

  // The content at the start of the work, not the current one.
  std::optional<std::string> committed_text(const std::string& path) {
    const auto found = committed_.find(path);
    if (found == committed_.end()) {
      if (fence_.for_reading(path)) note(path, "not in the commit that the work started from; ignored");
      return std::nullopt;
    }
    if (found->second.size() <= limits::kRuleFileBytes) return as_utf8(found->second);
    note(path, "too large");
    return fmt::format("(too large to include; read {} yourself)", path);
  }

  std::optional<std::string> text_at(const std::string& path) {
    if (query_.committed) return committed_text(path);
    const auto at = fence_.for_reading(path);
    if (!at) {
      if (at.error().code != ErrorCode::kNotFound) note(path, at.error().message);
      return std::nullopt;
    }
    const auto file = read_guarded(*at, limits::kRuleFileBytes);
    if (!file) {
      note(path, file.error().message);
      // A file that is too large is still mentioned to the agent.
      if (file.error().code == ErrorCode::kLimit) return fmt::format("(too large to include; read {} yourself)", path);
      return std::nullopt;
    }
    return as_utf8(file->bytes);
  }

  void add_rule(const std::string& path) {
    const auto text = text_at(path);
    if (!text) return;
    const FrontMatter matter = strip_front_matter(*text);
    if (!matter.fault.empty()) note(path, matter.fault + "; ignored");
    if (is_blank(matter.text) || (matter.is_scoped && !names_any(matter.applies_to, query_.work))) return;
    if (!taken_.insert(sha256_hex(matter.text)).second) return;
    const std::string scope = matter.is_scoped ? fmt::format(" (for {})", fmt::join(matter.applies_to, ", ")) : "";
    found_.sources.push_back({.key = "rules/" + as_utf8(path),
                              .kind = SourceKind::kRule,
                              .title = as_utf8(path) + scope,
                              .text = matter.text,
                              .priority = 2});
  }

  void add_tier0(const std::string& path) {
    const auto text = text_at(path);
    if (!text && !is_glob(path) && files_.kind(join_path(fence_.root(), path)) == FileKind::kMissing) {
      note(path, "named by tier0, but does not exist");
    }
    if (!text || is_blank(*text) || !taken_tier0_.insert(path).second) return;
    found_.sources.push_back({.key = "tier0/" + as_utf8(path),
                              .kind = SourceKind::kTier0,
                              .title = as_utf8(path),
                              .text = strip_front_matter(*text).text});
  }

  std::optional<std::string> soul_at(const std::string& path) {
    const auto real = files_.canonical(path);
    if (!real) {
      if (!query_.soul.empty() && path == query_.soul) note(path, "named by soul, but does not exist");
      return std::nullopt;
    }
    // The user's own soul file is in a hidden folder; a project's must not point there.
    const bool is_hidden = std::ranges::any_of(query_.hidden, [&](const auto& h) { return is_within(*real, h); });
    if (path == query_.soul && is_hidden && !is_within(path, query_.config_home)) {
      note(path, "not read: agents may not access it");
      return std::nullopt;
    }
    const auto text = files_.read(*real, limits::kRulesBytes);
    if (!text) note(path, text.error().message);
    if (!text || is_blank(as_utf8(*text))) return std::nullopt;
    return strip_front_matter(as_utf8(*text)).text;
  }

  void add_soul() {
    std::optional<std::string> text;
    if (!query_.soul.empty()) text = soul_at(query_.soul);
    if (!text && !query_.config_home.empty()) text = soul_at(join_path(query_.config_home, "soul.md"));
    found_.sources.push_back(
        {.key = "soul", .kind = SourceKind::kRule, .title = "How we work", .text = text.value_or(built_in_soul())});
  }

  const Files& files_;
  const RuleQuery& query_;
  std::map<std::string, std::string> committed_;
  Fence fence_;
  RuleSources found_;
  std::set<std::string> taken_, taken_tier0_;
};

}  // namespace

RuleSources read_rules(const Files& files, const RuleQuery& query) {
  return RuleReader(files, query).read();
}

std::string built_in_soul() {
  return R"(- Make the smallest change that fully solves the problem. No extra rewrites, no unrequested options.
- Before you change code, understand why it is the way it is: the code, its tests and its history usually say.
- Fit in: follow the names, structure, tests and tone of the surrounding files.
- Make mistakes visible: pass errors on or report them, never swallow them; do not call half-done work done.
- Behaviour that matters has a test, and you have seen the test fail without the change.
- If there are two interpretations and the difference matters, ask; otherwise choose one and note the choice.
)";
}

}  // namespace sb::agent
