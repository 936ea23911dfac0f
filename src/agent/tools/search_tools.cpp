// The Glob and Grep tools.
#include <fmt/format.h>

#include <algorithm>

#include "agent/limits.hpp"
#include "agent/tools/guarded_files.hpp"
#include "agent/tools/plain_text.hpp"
#include "agent/tools/work_tool_parts.hpp"
#include "base/text/path_glob.hpp"
#include "base/text/pattern.hpp"
#include "base/text/unicode.hpp"

namespace sb::agent {
namespace {

constexpr std::size_t kMatchLineBytes = 500;  // shown of a line that was found

const std::vector<std::string>& skipped_folders() {
  static const std::vector<std::string> names = {".git", "node_modules", "dist", "build"};
  return names;
}

// Reports progress and checks for cancellation, but not at every file.
std::function<bool()> keep_searching(const ToolRun& run) {
  return [&run, count = 0]() mutable {
    if (++count % 256 != 0) return true;
    if (run.on_output) run.on_output({});
    return !run.should_continue || run.should_continue();
  };
}

// Relative to where the search began. A glob without a slash matches names at any depth.
bool is_wanted(const std::string& glob, const std::string& relative) {
  if (glob.empty()) return true;
  if (glob.find('/') == std::string::npos) return glob_covers(glob, base_name(relative));
  return glob_covers(glob, relative);
}

std::string relative_to(const std::string& path, const std::string& start) {
  return path.size() > start.size() ? path.substr(start == "/" ? 1 : start.size() + 1) : path;
}

Result<FencedPath> start_of(const WorkToolParts& parts, const ToolCall& call) {
  const std::string given = text_of(call, "path");
  return parts.fence.for_reading(given.empty() ? parts.place.root : given);
}

class Glob final : public Tool {
 public:
  explicit Glob(SharedParts parts) : parts_(std::move(parts)) {}
  const ToolDeclaration& declaration() const override { return declaration_; }
  bool only_reads(const ToolCall&) const override { return true; }
  std::string what(const ToolCall& call) const override { return parts_->text(text_of(call, "pattern")); }

  ToolResult run(const ToolCall& call, const ToolRun& run) override {
    const auto at = start_of(*parts_, call);
    if (!at) return from_error(at.error());
    std::string pattern = text_of(call, "pattern");
    if (is_within(pattern, at->path())) pattern = relative_to(pattern, at->path());
    std::vector<WalkedFile> found;
    const WalkResult end =
        walk_guarded(*at, parts_->fence, skipped_folders(), keep_searching(run), [&](WalkedFile file) {
          if (is_wanted(pattern, relative_to(file.path, at->path()))) found.push_back(std::move(file));
        });
    std::ranges::stable_sort(found, std::ranges::greater(), &WalkedFile::modified_ns);
    std::string text;
    for (std::size_t i = 0; i < std::min(found.size(), limits::kGlobResults); ++i) {
      text += parts_->relative(found[i].path) + "\n";
    }
    if (found.empty()) text = "No file matches.\n";
    if (found.size() > limits::kGlobResults) {
      text += fmt::format("[{} files match; these are the {} changed last]\n", found.size(), limits::kGlobResults);
    }
    if (!end.is_whole) text += "[search incomplete: too many files. Give a path]\n";
    return tool_success(parts_->redactor.clean(text));
  }

 private:
  SharedParts parts_;
  ToolDeclaration declaration_ = {
      .name = "Glob",
      .description =
          "Finds files by name (`**/*.cpp`, `src/**`), last modified first, at most 100. Skips folders named "
          ".git, node_modules, dist and build.",
      .input_schema = schema_of(R"({"type": "object", "additionalProperties": false, "required": ["pattern"],
        "properties": {"pattern": {"type": "string", "minLength": 1},
                       "path": {"type": "string", "description": "a folder; default: the work tree"}}})")};
};

std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

enum class Output { kContent, kFiles, kCount };

// The results of a search so far, up to its limit.
class GrepMatches {
 public:
  GrepMatches(Output output, std::size_t limit, std::size_t context)
      : output_(output), limit_(limit), context_(context) {}

  bool is_full() const { return shown_ >= limit_ || text_.size() >= limits::kToolResultBytes; }
  void add(const std::string& name, const std::vector<std::string_view>& lines, const std::vector<std::size_t>& hits) {
    if (hits.empty()) return;
    ++files_;
    matches_ += hits.size();
    if (is_full()) return;
    if (output_ == Output::kContent) return add_lines(name, lines, hits);
    ++shown_;
    text_ += output_ == Output::kFiles ? name + "\n" : fmt::format("{}:{}\n", name, hits.size());
  }
  std::string text() && {
    if (files_ == 0) return "No match.\n";
    if (is_full()) {
      text_ += fmt::format("[cut after {}; {} matches in {} files]\n", shown_, matches_, files_);
    } else if (output_ == Output::kCount) {
      text_ += fmt::format("[{} matches in {} files]\n", matches_, files_);
    }
    return std::move(text_);
  }

 private:
  void add_lines(const std::string& name, const std::vector<std::string_view>& lines,
                 const std::vector<std::size_t>& hits) {
    std::size_t next = 0;  // the first line not shown yet
    for (const std::size_t hit : hits) {
      const std::size_t from = std::max(next, hit > context_ ? hit - context_ : 0);
      if (context_ > 0 && next > 0 && from > next) text_ += "--\n";
      for (std::size_t i = from; i <= std::min(hit + context_, lines.size() - 1); ++i) {
        if (is_full()) return;
        const bool is_hit = std::ranges::binary_search(hits, i);
        const bool is_long = lines[i].size() > kMatchLineBytes;
        text_ += fmt::format("{}{}{}{}{}{}\n", name, is_hit ? ':' : '-', i + 1, is_hit ? ':' : '-',
                             utf8_prefix(lines[i], kMatchLineBytes), is_long ? "…" : "");
        ++shown_;
        next = i + 1;
      }
    }
  }

  const Output output_;
  const std::size_t limit_, context_;
  std::size_t shown_ = 0, files_ = 0, matches_ = 0;
  std::string text_;
};

class Grep final : public Tool {
 public:
  explicit Grep(SharedParts parts) : parts_(std::move(parts)) {}
  const ToolDeclaration& declaration() const override { return declaration_; }
  bool only_reads(const ToolCall&) const override { return true; }
  std::string what(const ToolCall& call) const override { return parts_->text(text_of(call, "pattern")); }

  ToolResult run(const ToolCall& call, const ToolRun& run) override {
    const auto at = start_of(*parts_, call);
    if (!at) return from_error(at.error());
    const unsigned flags = Pattern::kFast | (flag_of(call, "-i") ? Pattern::kIgnoreCase : Pattern::kNone);
    const auto pattern = Pattern::compile(text_of(call, "pattern"), flags);
    if (!pattern) return tool_error(pattern.error().message + ". " + pattern.error().remedy + ".");
    const std::string mode = text_of(call, "output_mode");
    const Output output = mode == "content" ? Output::kContent : mode == "count" ? Output::kCount : Output::kFiles;
    GrepMatches findings(output, static_cast<std::size_t>(number_of(call, "head_limit", limits::kGrepLines)),
                         static_cast<std::size_t>(number_of(call, "context", 0)));
    Search search{*pattern, text_of(call, "glob"), findings, {}, false};
    const WalkResult end = walk_files(*at, search, keep_searching(run));
    std::string text = std::move(findings).text();
    if (!search.too_large.empty())
      text += fmt::format("[too large to search: {}]\n", fmt::join(search.too_large, ", "));
    if (search.gave_up) text += "[the pattern is too expensive for some lines; they were skipped]\n";
    if (!end.is_whole) text += "[search incomplete: too many files. Give a path or a glob]\n";
    return tool_success(elide_middle(parts_->redactor.clean(text), limits::kToolResultBytes));
  }

 private:
  struct Search {
    const Pattern& pattern;
    std::string glob;
    GrepMatches& findings;
    std::vector<std::string> too_large;
    bool gave_up;
  };

  WalkResult walk_files(const FencedPath& at, Search& search, const std::function<bool()>& should_continue) const {
    const std::size_t base = at.base.size() + (at.base == "/" ? 0 : 1);
    // The path is a file, not a folder: the walk finds nothing below it.
    const auto file = read_guarded(at, limits::kGrepFileBytes);
    if (file) look(file->bytes, at.path(), search);
    if (!file && file.error().code == ErrorCode::kLimit) search.too_large.push_back(parts_->relative(at.path()));
    if (file || file.error().code == ErrorCode::kLimit) return {};
    return walk_guarded(at, parts_->fence, skipped_folders(), should_continue, [&](const WalkedFile& walked) {
      if (!is_wanted(search.glob, relative_to(walked.path, at.path()))) return;
      if (walked.size > limits::kGrepFileBytes) {
        if (search.too_large.size() < 10) search.too_large.push_back(parts_->relative(walked.path));
        return;
      }
      const auto held = read_guarded({at.base, walked.path.substr(base)}, limits::kGrepFileBytes);
      if (held) look(held->bytes, walked.path, search);
    });
  }

  void look(const std::string& bytes, const std::string& path, Search& search) const {
    if (std::string_view(bytes).substr(0, 8'192).find('\0') != std::string_view::npos) return;
    std::string text = as_utf8(bytes);
    if (hits_in(lines_in(text), search).empty()) return;
    // Redact the whole file, then search: a secret must not be found by searching for it either.
    text = parts_->redactor.clean(text);
    const std::vector<std::string_view> lines = lines_in(text);
    search.findings.add(parts_->relative(path), lines, hits_in(lines, search));
  }

  static std::vector<std::size_t> hits_in(const std::vector<std::string_view>& lines, Search& search) {
    std::vector<std::size_t> hits;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const auto match = search.pattern.matches(lines[i]);
      if (!match) search.gave_up = true;
      if (match && *match) hits.push_back(i);
    }
    return hits;
  }

  SharedParts parts_;
  ToolDeclaration declaration_ = {
      .name = "Grep",
      .description =
          "Searches the content of files, line by line, with a PCRE2 pattern. output_mode: "
          "files_with_matches (default), content (with line numbers) or count. At most 250 lines.",
      .input_schema = schema_of(R"({"type": "object", "additionalProperties": false, "required": ["pattern"],
        "properties": {
          "pattern": {"type": "string", "minLength": 1},
          "path": {"type": "string", "description": "a file or folder; default: the work tree"},
          "glob": {"type": "string", "description": "only files whose name or path matches"},
          "output_mode": {"enum": ["content", "files_with_matches", "count"]},
          "head_limit": {"type": "integer", "minimum": 1, "maximum": 250},
          "context": {"type": "integer", "minimum": 0, "maximum": 20, "description": "lines around a match"},
          "-i": {"type": "boolean", "description": "ignore case"}}})")};
};

}  // namespace

std::unique_ptr<Tool> make_glob(SharedParts parts) {
  return std::make_unique<Glob>(std::move(parts));
}
std::unique_ptr<Tool> make_grep(SharedParts parts) {
  return std::make_unique<Grep>(std::move(parts));
}

}  // namespace sb::agent
