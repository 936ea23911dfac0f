#include "decision/lint/rules.hpp"

#include <algorithm>
#include <tuple>

#include "base/assert.hpp"

namespace sb::decision {

const std::vector<RuleText>& rule_texts() {
  using namespace linting;
  static const std::vector<RuleText> table = {
      {rule::kTextBefore, "There is text before the instruction.",
       "Start with the instruction; put the rest elsewhere."},
      {rule::kLeadingNoise, "The text does not start with the instruction's first character.",
       "Remove the space, markup or emoji at the start."},
      {rule::kTextAfter, "There is text after the last option.", "End with the last option."},
      {rule::kNoInstruction, "The options have no instruction.", "Write one sentence, a blank line, then the options."},
      {rule::kNotOneSentence, "The instruction is more than one sentence.", "Keep only the question."},
      {rule::kInstructionLong, "The instruction is too long.", "Use at most 15 words."},
      {rule::kOptionLong, "An option is too long.", "Use at most 5 words."},
      {rule::kTooManyOptions, "There are too many options for one question.", "Ask in steps of at most 7; drop none."},
      {rule::kBlankLine, "Instruction and options are not separated by exactly one blank line.",
       "Put one empty line before the first option and none between options."},
      {rule::kNumbering, "Options are not numbered 1) 2) 3).", "Number them from 1 as `1) text`, one per line."},
      {rule::kLabel, "The question contains a label such as \"Answer:\".", "Remove the label."},
      {rule::kOther, "An option stands for \"something else\".", "Remove it; people can always type free text."},
      {rule::kExplanation, "An option contains an explanation.", "Keep only its name."},
      {rule::kDupOption, "Two options read the same.", "Keep one, or name the difference."},
      {rule::kSingleOption, "A single option is not a choice.", "Ask yes or no, or add real alternatives."},
      {rule::kMultiBlock, "The text asks two questions.", "Ask one; ask the next one after the answer."},
      {rule::kSoftOffer, "An action is offered in prose.",
       "Ask with an instruction and numbered options, or leave it out."},
      {rule::kQuestionNoBlock, "A question is asked without options.", "Give it numbered options, or do not ask."},
      {rule::kInlineChoice, "A choice is written inline.", "Put each option on its own line as `1) text`."},
      {rule::kProseApproval, "Approval or confirmation is asked for in prose.",
       "Ask with an instruction and numbered options, so that the answer is recorded."},
      {rule::kNarration, "The text announces what will be done.", "Do it; show the result."},
      {rule::kStatus, "The text reports a status.", "Show the result itself."},
      {rule::kFreeSummary, "The text summarizes what was done.", "Show the result itself."},
      {rule::kReasoning, "The text contains reasoning.", "Remove it."},
      {rule::kEventExtra, "An event code is not the only text.", "Print the code and nothing else."},
      {rule::kEventUnknown, "This is not an event code.", "Use FLOW_CANCEL or STEP_ABORT."},
      {rule::kOptionDrift, "The options differ from those declared or last shown.",
       "Show the same words in the same order."},
      {rule::kOptionDropped, "A declared option is missing.", "Show every declared option."},
      {rule::kOptionInvented, "An option was not declared.", "Show only declared options, with their declared labels."},
      {rule::kConfirmation, "The confirmation is not in its fixed form.",
       "Write `Summary:`, one `- field: value` line per field, a blank line, then `1) Confirm`, `2) Restart`, "
       "`3) Edit specific step`."},
      {rule::kRetryFrame, "A retry does not start with the fixed error line.",
       "Write the catalogue's line for this attempt, a blank line, then the same block."},
      {rule::kUEscape, "A character is written as \\uXXXX.", "Write the character itself."},
      {rule::kGsHeader, "The brief has no `D<N> — title` line.", "Start with the decision's number and title."},
      {rule::kGsEli10, "The brief has no `ELI10:` section.", "Explain it in plain words after `ELI10:`."},
      {rule::kGsRecommendation, "The recommendation is missing or gives no reason.",
       "Write `Recommendation: <choice> because <reason>`; a split child recommends Include, Defer or Cut."},
      {rule::kGsRecLabel, "Not exactly one option is marked `(recommended)`.", "Mark one option, the recommended one."},
      {rule::kGsCompleteness, "The brief needs either completeness scores or the kind note.",
       "Write `Completeness:` with a score per option, or the note that options differ in kind."},
      {rule::kGsProsCons, "Pros and cons are too few or too short.",
       "Give each option at least two \xE2\x9C\x85 and one \xE2\x9D\x8C of 40 characters or more."},
      {rule::kGsNet, "The brief has no `Net:` line.", "End with `Net:` and the trade-off in one line."},
      {rule::kGsOptionCap, "There are more options than the host can show.", "Page or split them; drop none."},
      {rule::kGsDropNarration, "The text talks about dropping options.", "Ask about every option instead."},
      {rule::kGsSplitBuckets, "A split question does not offer its fixed choices in order.",
       "Offer A) Include, B) Defer, C) Cut, D) Hold."},
      {rule::kGsLabelSeq, "D-labels are out of order, used twice, or the final one is missing.",
       "Ask D<N>.1, D<N>.2, … in order, then D<N>.final."},
      {rule::kGsHoldContinues, "The chain continues after a Hold.",
       "Wait until the person continues or names an option."},
      {rule::kGsFinalEarly, "The final question comes too early.", "Settle every option and conflict first."},
      {rule::kGsQid, "The question's id is malformed, or a split child's lacks -split-.",
       "Use lower-case words joined by `-`, at most 64 characters, `<skill>-split-<option>` for a child."},
      {rule::kGsMetaMissing, "A chain of more than 6 options starts without D<N>.0.", "Ask D<N>.0 first."},
      {rule::kGsProseNotTool, "The brief is prose although the question tool works.", "Ask through the tool."},
      {rule::kGsAutoSplit, "A split question was decided without a person.", "Ask the person."},
      {rule::kGsNonHuman, "A decision that no person made was executed.", "Treat silence as no answer; ask again."},
  };
  return table;
}

const RuleText& rule_text(std::string_view id) {
  const auto& table = rule_texts();
  const auto found = std::find_if(table.begin(), table.end(), [&](const RuleText& row) { return row.id == id; });
  SB_ASSERT(found != table.end());
  return *found;
}

std::optional<Finding> first_blocking(const std::vector<Finding>& findings) {
  const auto found = std::ranges::find(findings, Severity::kBlock, &Finding::severity);
  return found == findings.end() ? std::nullopt : std::optional(*found);
}

bool has_blocking(const std::vector<Finding>& findings) {
  return first_blocking(findings).has_value();
}

}  // namespace sb::decision

namespace sb::decision::linting {

namespace {

// More findings than this are not useful, and a hostile text must not make a report larger than itself.
constexpr std::size_t kMostFindings = 1000;

}  // namespace

Severity Report::severity(std::string_view rule, std::string_view lexicon, bool is_sure) const {
  // A question that a lexicon knows asks for leave to act.
  const bool asks_leave = rule == rule::kQuestionNoBlock && !lexicon.empty();
  const bool is_offer =
      rule == rule::kSoftOffer || rule == rule::kInlineChoice || rule == rule::kProseApproval || asks_leave;
  if (rule == rule::kGsProseNotTool || !is_sure) return Severity::kAdvise;
  if (rule == rule::kGsDropNarration) {
    return context_.drops_block || context_.profile == "gstack" ? Severity::kBlock : Severity::kAdvise;
  }
  if (context_.scope == LintScope::kOut && !context_.prompt_open) {
    return is_offer || rule == rule::kOptionDropped ? Severity::kBlock : Severity::kAdvise;
  }
  const bool is_prose_rule = rule == rule::kQuestionNoBlock || rule == rule::kNarration || rule == rule::kStatus ||
                             rule == rule::kFreeSummary || rule == rule::kReasoning;
  const bool prose_blocks = context_.phase == LintPhase::kPostInput || context_.prompt_open;
  return is_prose_rule && !asks_leave && !prose_blocks ? Severity::kAdvise : Severity::kBlock;
}

void Report::add(std::string_view rule, Span span, std::string_view lexicon, bool is_sure) {
  const Severity level = severity(rule, lexicon, is_sure);
  if (context_.blocking_only && level == Severity::kAdvise) return;
  if (is_full()) return;
  const std::size_t near = findings_.size() - std::min<std::size_t>(findings_.size(), 32);
  for (std::size_t i = near; i < findings_.size(); ++i) {
    Finding& f = findings_[i];
    const bool touches = span.begin <= f.end && f.start <= span.end;
    if (f.rule != rule || !touches) continue;
    // Lexicons of two languages may match the same phrase; the one that blocks is reported.
    if (level == Severity::kBlock && f.severity == Severity::kAdvise) {
      f.severity = level;
      f.lexicon = lexicon;
    }
    return;
  }
  findings_.push_back({rule, level, span.begin, span.end, lexicon});
}

bool Report::blocks_offers(const Lexicon& lexicon) const {
  return lexicon.blocks || std::ranges::find(context_.block_offers, lexicon.language) != context_.block_offers.end();
}

bool Report::is_full() const {
  return findings_.size() >= kMostFindings;
}

bool Report::has(std::string_view rule) const {
  return std::any_of(findings_.begin(), findings_.end(), [&](const Finding& f) { return f.rule == rule; });
}

std::vector<Finding> Report::finish() {
  const auto covers = [](std::string_view strong, std::string_view weak) {
    if (weak == rule::kQuestionNoBlock) {
      return strong == rule::kSoftOffer || strong == rule::kInlineChoice || strong == rule::kProseApproval;
    }
    if (weak == rule::kProseApproval) return strong == rule::kSoftOffer || strong == rule::kInlineChoice;
    if (weak == rule::kNarration) return strong == rule::kSoftOffer;
    if (weak == rule::kTextBefore) return strong == rule::kLabel;
    return false;
  };
  std::vector<Finding> strong_ones;
  for (const Finding& f : findings_) {
    const bool is_strong = f.rule == rule::kSoftOffer || f.rule == rule::kInlineChoice ||
                           f.rule == rule::kProseApproval || f.rule == rule::kLabel;
    if (is_strong) strong_ones.push_back(f);
  }
  const auto is_covered = [&](const Finding& weak) {
    // Drift concerns the list as a whole, so a missing or added option covers it wherever it is.
    if (weak.rule == rule::kOptionDrift) return has(rule::kOptionDropped) || has(rule::kOptionInvented);
    return std::any_of(strong_ones.begin(), strong_ones.end(), [&](const Finding& strong) {
      return covers(strong.rule, weak.rule) && Span{strong.start, strong.end}.overlaps({weak.start, weak.end});
    });
  };
  std::vector<Finding> kept;
  for (const Finding& f : findings_) {
    if (!is_covered(f)) kept.push_back(f);
  }
  std::stable_sort(kept.begin(), kept.end(), [](const Finding& a, const Finding& b) {
    return std::tuple(a.start, a.end, a.rule) < std::tuple(b.start, b.end, b.rule);
  });
  return kept;
}

}  // namespace sb::decision::linting
