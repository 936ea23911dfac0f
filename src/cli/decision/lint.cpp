// `signalbox lint`: checks agent text against the question rules.
#include "decision/lint/lint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/document/document.hpp"
#include "base/limits.hpp"
#include "base/text/unicode.hpp"
#include "cli/command.hpp"
#include "inbox/config.hpp"

namespace sb::cli {
namespace {

using decision::Finding;
using decision::LintContext;

struct LintOptions {
  std::string profile;
  std::string context_file;
  std::string file;
  bool is_jsonl = false;
  bool is_json = false;
};

std::string_view to_string(decision::Severity severity) {
  return severity == decision::Severity::kBlock ? "block" : "advise";
}

LintContext with_languages_of(const LintContext& defaults, LintContext context) {
  if (context.block_offers.empty()) context.block_offers = defaults.block_offers;
  return context;
}

Checked<LintContext> load_context(const Context& context, const LintOptions& options) {
  // What the user's configuration says holds unless the context says it.
  LintContext out;
  const auto homes = sb::homes(context.seams.environment);
  if (homes) {
    auto config = inbox::load_config(context.seams.files, *homes);
    if (!config) return std::unexpected(Faults{std::move(config).error()});
    out.block_offers = std::move(config->block_offers);
  }
  if (!options.context_file.empty()) {
    auto document = load_document(context.seams.files, options.context_file);
    if (!document) return std::unexpected(Faults{document.error()});
    auto read = decision::read_lint_context(*document);
    if (!read) return std::unexpected(std::move(read).error());
    out = with_languages_of(out, std::move(*read));
  }
  if (!options.profile.empty()) out.profile = options.profile;
  return out;
}

Result<std::string> load_text(const Context& context, const std::string& file) {
  if (file.empty() || file == "-") return context.streams().read_input(limits::kLintBytes);
  return context.seams.files.read(file, limits::kLintBytes);
}

// Line and column (in code points, from 1) of a byte offset.
struct Position {
  std::size_t line = 1;
  std::size_t column = 1;
};

Position position_of(std::string_view text, std::size_t at) {
  const auto before = text.substr(0, std::min(at, text.size()));
  const std::size_t line_begin = before.rfind('\n') + 1;  // npos + 1 is 0
  return {static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1,
          count_code_points(before.substr(line_begin)) + 1};
}

void print_for_people(const Context& context, const std::string& name, std::string_view text,
                      const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    const auto& about = decision::rule_text(finding.rule);
    const Position at = position_of(text, finding.start);
    const bool is_advice = finding.severity == decision::Severity::kAdvise;
    context.out(fmt::format("{}:{}:{}: {}{}: {} {}\n", name, at.line, at.column, finding.rule,
                            is_advice ? " (advice)" : "", about.broken, about.fix));
  }
}

void print_json(const Context& context, const std::vector<Finding>& findings) {
  Value list = Value::array();
  for (const Finding& finding : findings) {
    list.push_back(Value::object({{"rule", finding.rule},
                                  {"severity", to_string(finding.severity)},
                                  {"start", finding.start},
                                  {"end", finding.end},
                                  {"lexicon", finding.lexicon.empty() ? Value() : Value(finding.lexicon)}}));
  }
  context.out(to_json(list) + "\n");
}

Result<std::string> utf8_only(std::string name, std::string text) {
  if (is_utf8(text)) return text;
  int line = 1;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (!is_utf8(std::string_view(text).substr(at, end - at))) break;
    at = end + 1;
  }
  return fail(ErrorCode::kInvalid, "the text is not UTF-8", "Save it as UTF-8", {std::move(name), "", line, 1});
}

int run_text(Context& context, const LintOptions& options, const LintContext& lint_context) {
  const std::string name = options.file.empty() || options.file == "-" ? "<stdin>" : options.file;
  auto text = load_text(context, options.file);
  if (text) text = utf8_only(name, std::move(*text));
  if (!text) return report(context, text.error());
  const auto findings = decision::lint(*text, lint_context);
  options.is_json ? print_json(context, findings) : print_for_people(context, name, *text, findings);
  return decision::has_blocking(findings) ? kExitNegative : kExitOk;
}

// One line of --jsonl.
struct Sample {
  std::string text;
  LintContext context;
};

Result<Sample> read_sample(const std::string& name, std::size_t line, std::string json, const LintContext& defaults) {
  const auto at_line = [&](Error error) {
    error.location = {name, error.location.pointer, static_cast<int>(line), 1};
    return std::unexpected(std::move(error));
  };
  auto document = parse_document(name, std::move(json), Syntax::kJson);
  if (!document) return at_line(document.error());
  const Value& root = document->root;
  const Value* text = root.find("text");
  if (!root.is_object() || text == nullptr || !text->is_string()) {
    return at_line({ErrorCode::kInvalid, "the line has no \"text\"", "Write {\"text\": \"…\"}", {}, false});
  }
  Sample sample{text->as_string(), defaults};
  if (const Value* context = root.find("context"); context != nullptr && !context->is_null()) {
    const Document inner{name, to_json(*context), *context};
    auto read = decision::read_lint_context(inner);
    if (!read) return at_line(read.error().front());
    sample.context = with_languages_of(defaults, std::move(*read));
  }
  return sample;
}

Value verdict(const std::vector<Finding>& findings) {
  std::set<std::string_view> rules;
  for (const Finding& finding : findings) rules.insert(finding.rule);
  Value ids = Value::array();
  for (std::string_view id : rules) ids.push_back(id);
  return Value::object({{"rules", ids}, {"blocking", decision::has_blocking(findings)}});
}

int run_lines(Context& context, const LintOptions& options, const LintContext& defaults) {
  const std::string name = options.file.empty() || options.file == "-" ? "<stdin>" : options.file;
  const auto all = load_text(context, options.file);
  if (!all) return report(context, all.error());
  bool any_blocks = false;
  std::size_t number = 0;
  for (std::size_t at = 0; at < all->size();) {
    const std::size_t end = std::min(all->find('\n', at), all->size());
    std::string line = all->substr(at, end - at);
    at = end + 1;
    ++number;
    // One output line per input line: skipping a blank one would shift all that follow.
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      return report(context, Error{ErrorCode::kInvalid,
                                   "the line is blank",
                                   "Remove it, or write {\"text\": \"\"}",
                                   {name, "", static_cast<int>(number), 1},
                                   false});
    }
    const auto sample = read_sample(name, number, std::move(line), defaults);
    if (!sample) return report(context, sample.error());
    const auto findings = decision::lint(sample->text, sample->context);
    any_blocks = any_blocks || decision::has_blocking(findings);
    context.out(to_json(verdict(findings)) + "\n");
  }
  return any_blocks ? kExitNegative : kExitOk;
}

}  // namespace

Action declare_lint(App& app) {
  auto options = std::make_shared<LintOptions>();
  app.add_option("--profile", options->profile, "Profile whose rules apply")->one_of({"interaction", "gstack"});
  app.add_option("--context", options->context_file, "File that describes the text's context (docs/lint.md)");
  app.add_flag("--jsonl", options->is_jsonl,
               "Read one {\"text\", \"context\"?} per line and print one verdict per line");
  app.add_flag("--json", options->is_json, "Print the findings as JSON");
  app.add_option("FILE", options->file, "The text (default: stdin)");
  return [options](Context& context) {
    const auto lint_context = load_context(context, *options);
    if (!lint_context) return report(context, lint_context.error());
    return options->is_jsonl ? run_lines(context, *options, *lint_context) : run_text(context, *options, *lint_context);
  };
}

}  // namespace sb::cli
