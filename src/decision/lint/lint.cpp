#include "decision/lint/lint.hpp"

#include <algorithm>

#include "base/text/unicode.hpp"
#include "decision/lint/brief_text.hpp"
#include "decision/lint/frames.hpp"
#include "decision/lint/payload.hpp"
#include "decision/lint/prose.hpp"
#include "decision/lint/structure.hpp"

namespace sb::decision {
namespace {

using namespace linting;

class Run {
 public:
  Run(std::string_view text, const LintContext& context)
      : text_(text), context_(context), masked_(mask(text)), groups_(Lexicons::groups_in(text)), report_(context) {
    // One trailing line feed is not text.
    body_ = {0, text.size() - (text.ends_with('\n') ? 1 : 0)};
  }

  std::vector<Finding> run() {
    const bool is_asking = context_.scope == LintScope::kIn || context_.prompt_open;
    if (context_.channel == LintChannel::kQuestion) {
      question();
    } else if (!is_asking) {
      ordinary();
    } else if (context_.phase == LintPhase::kResult) {
      prose({.scope = ScopeFilter::kIn});
      if (context_.gs) check_chain(*context_.gs, "", body_, report_);
    } else if (!check_event(text_, context_, report_)) {
      context_.profile == "gstack" ? gstack() : interaction();
    }
    return report_.finish();
  }

 private:
  void prose(ProseRules rules) {
    // Advisory lexicons are not needed when advice is not wanted.
    unsigned wanted = kEnglish | kRussian;
    for (const std::string& language : context_.block_offers) wanted |= Lexicons::group_of(language);
    check_prose(text_, masked_, context_.blocking_only ? groups_ & wanted : groups_, rules, report_);
  }

  void hide(const std::vector<Span>& spans) {
    for (const Span& span : spans) {
      for (std::size_t i = span.begin; i < span.end && i < masked_.prose.size(); ++i) {
        if (masked_.prose[i] != '\n') masked_.prose[i] = masked_.visible[i] = ' ';
      }
    }
  }

  Structure structure(Span within) { return {text_, within, masked_, lexicons_, Limits{}, context_, report_}; }

  // A reply that asks nothing: offers and inline choices, and missing options of a declared set.
  void ordinary() {
    if (!context_.declared.empty()) {
      const auto parsed = parse_blocks(text_, body_, masked_.code);
      for (const Block& block : parsed.blocks) {
        const auto shown = std::count_if(block.options.begin(), block.options.end(), [&](const OptionLine& option) {
          return std::any_of(context_.declared.begin(), context_.declared.end(), [&](const DeclaredOption& declared) {
            return option.text == declared.label || option_head(option.text) == declared.label;
          });
        });
        // A list that shares only one item with the declaration is a different list.
        if (shown >= 2) dropped_only(block);
      }
    }
    prose({.scope = ScopeFilter::kOut, .instruction = instruction()});
    if (context_.gs) check_chain(*context_.gs, "", body_, report_);
  }

  // The line above the options of a reply that ends in a block, or all of one that is a brief; otherwise empty.
  Span instruction() const {
    if (text_.find("ELI10:") != std::string_view::npos) {
      const auto brief = parse_brief(text_);
      if (brief && brief->label) return {brief->body.begin, body_.end};
    }
    if (text_.find("\n1) ") == std::string_view::npos) return {};
    const auto parsed = parse_blocks(text_, body_, masked_.code);
    if (parsed.blocks.size() != 1) return {};
    const Block& block = parsed.blocks.front();
    const bool is_block = block.is_strict && block.options.size() > 1 && !block.before.empty() && block.after.empty();
    return is_block ? block.before.back().span : Span{};
  }

  void dropped_only(const Block& block) {
    Report own(context_);
    check_declared(context_, block.options, own);
    if (own.has(rule::kOptionDropped)) report_.add(rule::kOptionDropped, block.span());
  }

  void question() {
    lexicons_ = Lexicons::built_in().of(groups_);
    const auto payload = read_payload(text_);
    for (const auto& asked : payload) {
      const Structure s = structure(asked.span);
      if (word_units(asked.instruction) > s.limits.instruction_words && context_.profile == "interaction") {
        report_.add(rule::kInstructionLong, asked.span);
      }
      if (context_.profile == "interaction") {
        check_options(s, asked.options);
        if (static_cast<int>(asked.options.size()) > s.limits.options) report_.add(rule::kTooManyOptions, asked.span);
      } else if (static_cast<int>(asked.options.size()) > (context_.gs ? context_.gs->cap : 4)) {
        report_.add(rule::kGsOptionCap, asked.span);
      }
      if (asked.options.size() == 1) report_.add(rule::kSingleOption, asked.span);
      check_declared(context_, asked.options, report_);
    }
  }

  void interaction() {
    lexicons_ = Lexicons::built_in().of(groups_);
    Span within = body_;
    std::vector<Span> question;
    if (is_retry(context_)) {
      within = check_retry(text_, within, context_, report_);
      question.push_back({0, within.begin});
    }
    bool has_block = true;
    if (is_confirmation(text_, within, context_, lexicons_)) {
      question.push_back(check_confirmation(text_, within, context_, report_));
    } else {
      has_block = block(within, question);
    }
    compare_with_previous(within);
    escapes();
    hide(question);
    prose({.questions = !has_block, .silence = true, .scope = ScopeFilter::kIn});
  }

  bool block(Span within, std::vector<Span>& question) {
    const auto parsed = parse_blocks(text_, within, masked_.code);
    // After an input, a list with other markers is a list and not a question.
    const bool is_list = context_.phase == LintPhase::kPostInput && !context_.prompt_open;
    if (parsed.blocks.empty() || (is_list && !parsed.blocks.front().is_strict)) return false;
    const auto spans = check_structure(structure(within), parsed);
    question.insert(question.end(), spans.begin(), spans.end());
    check_declared(context_, parsed.blocks.front().options, report_);
    return true;
  }

  void compare_with_previous(Span within) {
    if (!context_.previous) return;
    std::string_view before = *context_.previous;
    if (before.ends_with('\n')) before.remove_suffix(1);
    if (text_.substr(within.begin, within.size()) != before) report_.add(rule::kOptionDrift, within);
  }

  void gstack() {
    const auto brief = parse_brief(text_);
    escapes();
    if (context_.gs) {
      const Span where = brief ? Span{brief->span.begin, brief->span.begin + brief->label_text.size()} : body_;
      check_chain(*context_.gs, brief ? brief->label_text : "", where, report_);
    }
    if (!brief) return prose({.questions = true, .silence = true, .scope = ScopeFilter::kIn});
    check_brief(text_, *brief, context_, report_);
    check_declared(context_, brief->options, report_);
    hide({brief->body});
    prose({.choices = false, .scope = ScopeFilter::kIn});
  }

  // \uXXXX where a person would read it. (In a JSON payload an escape is a normal way to write a character.)
  void escapes() {
    const std::string& where = masked_.prose;
    for (std::size_t at = where.find("\\u"); at != std::string::npos; at = where.find("\\u", at + 1)) {
      const auto digits = std::string_view(where).substr(at + 2, 4);
      const bool is_escape =
          digits.size() == 4 && digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
      if (is_escape) report_.add(rule::kUEscape, {at, at + 6});
    }
  }

  std::string_view text_;
  const LintContext& context_;
  Masked masked_;
  unsigned groups_;
  Report report_;
  Span body_;
  std::vector<const Lexicon*> lexicons_;
};

// Replaces every byte that is not part of a character by a non-letter.
std::string repaired(std::string_view text) {
  std::string out(text);
  for (std::size_t at = 0; at < out.size();) {
    std::size_t length = 1;
    for (; length <= 4 && at + length <= out.size(); ++length) {
      if (is_utf8(std::string_view(out).substr(at, length))) break;
    }
    if (length <= 4 && at + length <= out.size()) {
      at += length;
    } else {
      out[at++] = '\x1A';
    }
  }
  return out;
}

}  // namespace

std::vector<Finding> lint(std::string_view text, const LintContext& context) {
  if (context.channel == LintChannel::kTool || text.empty()) return {};
  if (is_utf8(text)) return Run(text, context).run();
  const std::string valid = repaired(text);
  return Run(valid, context).run();
}

}  // namespace sb::decision
