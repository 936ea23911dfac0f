// Scans the added lines of a diff for secrets.
#include <fmt/format.h>

#include <algorithm>

#include "agent/secrets/redact.hpp"
#include "agent/secrets/secret_patterns.hpp"
#include "agent/tools/plain_text.hpp"
#include "base/text/unicode.hpp"
#include "pipeline/delivery/steps.hpp"
#include "pipeline/limits.hpp"

namespace sb::pipeline {
namespace {

constexpr std::size_t kFindings = 50;
constexpr std::size_t kShortestKnown = 6;  // a shorter value would match everywhere

// Of more than kFindings the rest is dropped, and one further finding says so.
void add_finding(std::vector<DeliveryFinding>& findings, DeliveryFinding finding) {
  if (findings.size() > kFindings) return;
  if (findings.size() == kFindings) {
    finding = {"critical", fmt::format("there are more secrets; these are the first {}", kFindings), "", "secret"};
  }
  findings.push_back(std::move(finding));
}

// Consecutive added lines as one text: a key may span several.
struct Added {
  std::string file, text;
  std::vector<std::pair<std::size_t, std::int64_t>> lines = {};  // where each begins, and its number

  std::int64_t line_at(std::size_t place) const {
    std::int64_t number = 0;
    for (const auto& [begin, line] : lines) {
      if (begin <= place) number = line;
    }
    return number;
  }
};

class Scanner {
 public:
  Scanner(const std::vector<std::string>& known, std::vector<DeliveryFinding>& findings)
      : known_(known), findings_(findings) {}

  void take(std::string_view diff);

 private:
  void line(std::string_view text);
  void flush();
  void look_at(const Added& added);
  void look_for_known(const Added& added);
  void report(std::int64_t line, std::string_view kind);

  agent::SecretPatterns patterns_;
  const std::vector<std::string>& known_;
  std::vector<DeliveryFinding>& findings_;
  Added added_ = {};
  std::int64_t number_ = 0;
  std::int64_t old_left_ = 0, new_left_ = 0;  // remaining lines of the hunk: a line may look like a header
};

void Scanner::report(std::int64_t line, std::string_view kind) {
  std::string summary = fmt::format("{}:{} adds what looks like a secret ({})", added_.file, line, kind);
  const bool is_reported =
      std::ranges::any_of(findings_, [&](const DeliveryFinding& one) { return one.summary == summary; });
  if (!is_reported) add_finding(findings_, {"critical", std::move(summary), added_.file, "secret"});
}

void Scanner::look_for_known(const Added& added) {
  for (const std::string& value : known_) {
    if (value.size() < kShortestKnown) continue;
    for (auto at = added.text.find(value); at != std::string::npos && findings_.size() <= kFindings;
         at = added.text.find(value, at + value.size())) {
      report(added.line_at(at), "a configured secret");
    }
  }
}

void Scanner::look_at(const Added& added) {
  look_for_known(added);
  for (const agent::SecretMatch& place : patterns_.find(agent::as_utf8(added.text))) {
    report(added.line_at(place.begin), place.kind);
  }
}

// UTF-16 and UTF-32 look like ASCII with NULs in between, and base64 is written in lines.
Added without(std::string_view bytes, const Added& added) {
  Added plain{.file = added.file, .text = {}};
  for (std::size_t i = 0; i < added.lines.size(); ++i) {
    const auto& [begin, number] = added.lines[i];
    const std::size_t end = i + 1 < added.lines.size() ? added.lines[i + 1].first : added.text.size();
    plain.lines.emplace_back(plain.text.size(), number);
    std::copy_if(added.text.begin() + static_cast<std::ptrdiff_t>(begin),
                 added.text.begin() + static_cast<std::ptrdiff_t>(end), std::back_inserter(plain.text),
                 [&](char c) { return bytes.find(c) == bytes.npos; });
  }
  return plain;
}

void Scanner::flush() {
  if (added_.text.empty()) return;
  look_at(added_);
  if (added_.text.find('\0') != std::string::npos) look_at(without(std::string_view("\0", 1), added_));
  if (added_.lines.size() > 1) look_for_known(without("\r\n", added_));
  added_.text.clear();
  added_.lines.clear();
}

// `@@ -12,3 +14,5 @@`: the number after `sign`, and the count.
std::pair<std::int64_t, std::int64_t> range_of(std::string_view head, char sign) {
  std::size_t at = head.find(sign, 2);
  std::int64_t numbers[2] = {0, 1};
  for (int i = 0; i < 2 && at < head.size(); ++i) {
    numbers[i] = 0;
    for (++at; at < head.size() && head[at] >= '0' && head[at] <= '9'; ++at) {
      numbers[i] = std::min<std::int64_t>(numbers[i] * 10 + (head[at] - '0'), 1LL << 40);
    }
    if (at >= head.size() || head[at] != ',') break;
  }
  return {numbers[0], numbers[1]};
}

void Scanner::line(std::string_view text) {
  if (old_left_ <= 0 && new_left_ <= 0) {
    if (text.starts_with("@@ ")) {
      flush();
      old_left_ = range_of(text, '-').second;
      std::tie(number_, new_left_) = range_of(text, '+');
    } else if (text.starts_with("+++ ")) {
      flush();
      text.remove_prefix(4);
      if (text.starts_with("b/")) text.remove_prefix(2);
      if (text.ends_with('\t')) text.remove_suffix(1);  // git appends a tab to names with spaces
      added_.file = shown(text);
    }
    return;
  }
  if (text.starts_with('+')) {
    added_.lines.emplace_back(added_.text.size(), number_++);
    added_.text += text.substr(1);
    added_.text += '\n';
    --new_left_;
  } else if (text.starts_with('-')) {
    --old_left_;
  } else if (!text.starts_with('\\')) {
    flush();
    ++number_, --old_left_, --new_left_;
  }
}

void Scanner::take(std::string_view diff) {
  while (!diff.empty()) {
    const std::size_t end = std::min(diff.find('\n'), diff.size());
    line(diff.substr(0, end));
    diff.remove_prefix(std::min(end + 1, diff.size()));
  }
  flush();
}

}  // namespace

std::vector<DeliveryFinding> scan_secrets(std::string_view diff, const std::vector<std::string>& known) {
  std::vector<DeliveryFinding> findings;
  const std::vector<std::string> forms = agent::secret_forms(known);
  Scanner(forms, findings).take(diff);
  return findings;
}

namespace steps {
namespace {

// A file name is delivered like its content.
void scan_names(const std::vector<Change>& changes, const std::vector<std::string>& known,
                std::vector<DeliveryFinding>& findings) {
  const agent::SecretPatterns patterns;
  for (const Change& change : changes) {
    if (change.status != 'A' && change.status != 'R') continue;
    const bool has_known = std::ranges::any_of(known, [&](const std::string& value) {
      return value.size() >= kShortestKnown && change.path.find(value) != std::string::npos;
    });
    const auto places = patterns.find(agent::as_utf8(change.path));
    if (!has_known && places.empty()) continue;
    const std::string name = visible_text(change.path, known);
    const std::string kind(has_known ? std::string_view("a configured secret") : places.front().kind);
    add_finding(findings, {"critical", fmt::format("the name {} contains what looks like a secret ({})", name, kind),
                           name, "secret"});
  }
}

}  // namespace

Result<DeliveryStepResult> secrets(const Job& job) {
  Git git = SB_TRY(job.git());
  const std::string tree = job.fact(DeliveryStep::kScope, "tree");
  if (!SB_TRY(has_tree(job, git, tree))) return tree_lost();
  const auto diff_words = [&](std::vector<std::string> paths) {
    std::vector<std::string> words = {"diff-tree",
                                      "-r",
                                      "-p",
                                      "--no-renames",
                                      "--unified=0",
                                      "--text",
                                      "--no-ext-diff",
                                      "--no-textconv",
                                      "--no-color",
                                      "--src-prefix=a/",
                                      "--dst-prefix=b/",
                                      job.spec.parent,
                                      tree,
                                      "--"};
    words.insert(words.end(), paths.begin(), paths.end());
    return words;
  };
  DeliveryStepResult done{.facts = Value::object({{"tree", tree}})};
  const std::vector<Change> changes = SB_TRY(git.changes_between(job.spec.parent, tree));
  // File by file, so that the total size does not matter.
  std::int64_t scanned = 0;
  const auto whole = git.run(GitCall{.words = diff_words({}), .max_bytes = limits::kDiffBytes});
  if (whole) {
    scanned = static_cast<std::int64_t>(whole->output.size());
    done.findings = scan_secrets(whole->output, job.parts.secrets);
  } else if (whole.error().code != ErrorCode::kLimit) {
    return std::unexpected(whole.error());
  } else {
    for (const Change& change : changes) {
      const auto part = git.run(GitCall{.words = diff_words({change.path}), .max_bytes = limits::kDiffBytes * 16});
      if (!part && part.error().code == ErrorCode::kLimit) {
        done.findings.push_back({"major", fmt::format("{} is too large to be scanned for secrets", shown(change.path)),
                                 shown(change.path), "too_large"});
        continue;
      }
      if (!part) return std::unexpected(part.error());
      scanned += static_cast<std::int64_t>(part->output.size());
      for (DeliveryFinding& finding : scan_secrets(part->output, job.parts.secrets)) {
        add_finding(done.findings, std::move(finding));
      }
    }
  }
  scan_names(changes, agent::secret_forms(job.parts.secrets), done.findings);
  done.passed = done.findings.empty();
  done.facts.set("scanned", scanned);
  return done;
}

}  // namespace steps
}  // namespace sb::pipeline
