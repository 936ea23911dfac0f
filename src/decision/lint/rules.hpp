// The names of the rules, and the list that collects findings.
#pragma once

#include <string_view>
#include <vector>

#include "decision/lint/lexicon.hpp"
#include "decision/lint/lint.hpp"
#include "decision/lint/span.hpp"

namespace sb::decision::linting {

namespace rule {
inline constexpr std::string_view kTextBefore = "INT001-TEXT-BEFORE";
inline constexpr std::string_view kLeadingNoise = "INT002-LEADING-NOISE";
inline constexpr std::string_view kTextAfter = "INT003-TEXT-AFTER";
inline constexpr std::string_view kNoInstruction = "INT004-NO-INSTRUCTION";
inline constexpr std::string_view kNotOneSentence = "INT005-NOT-ONE-SENTENCE";
inline constexpr std::string_view kInstructionLong = "INT006-INSTRUCTION-LONG";
inline constexpr std::string_view kOptionLong = "INT007-OPTION-LONG";
inline constexpr std::string_view kTooManyOptions = "INT008-TOO-MANY-OPTIONS";
inline constexpr std::string_view kBlankLine = "INT009-BLANK-LINE";
inline constexpr std::string_view kNumbering = "INT010-NUMBERING";
inline constexpr std::string_view kLabel = "INT011-LABEL";
inline constexpr std::string_view kOther = "INT012-OTHER";
inline constexpr std::string_view kExplanation = "INT013-EXPLANATION";
inline constexpr std::string_view kDupOption = "INT014-DUP-OPTION";
inline constexpr std::string_view kSingleOption = "INT016-SINGLE-OPTION";
inline constexpr std::string_view kMultiBlock = "INT017-MULTI-BLOCK";
inline constexpr std::string_view kSoftOffer = "INT020-SOFT-OFFER";
inline constexpr std::string_view kQuestionNoBlock = "INT021-QUESTION-NO-BLOCK";
inline constexpr std::string_view kInlineChoice = "INT022-INLINE-CHOICE";
inline constexpr std::string_view kProseApproval = "INT023-PROSE-APPROVAL";
inline constexpr std::string_view kNarration = "INT030-NARRATION";
inline constexpr std::string_view kStatus = "INT031-STATUS";
inline constexpr std::string_view kFreeSummary = "INT032-FREE-SUMMARY";
inline constexpr std::string_view kReasoning = "INT033-REASONING";
inline constexpr std::string_view kEventExtra = "INT040-EVENT-EXTRA";
inline constexpr std::string_view kEventUnknown = "INT041-EVENT-UNKNOWN";
inline constexpr std::string_view kOptionDrift = "INT050-OPTION-DRIFT";
inline constexpr std::string_view kOptionDropped = "INT051-OPTION-DROPPED";
inline constexpr std::string_view kOptionInvented = "INT052-OPTION-INVENTED";
inline constexpr std::string_view kConfirmation = "INT060-CONFIRMATION";
inline constexpr std::string_view kRetryFrame = "INT061-RETRY-FRAME";
inline constexpr std::string_view kUEscape = "INT070-U-ESCAPE";
inline constexpr std::string_view kGsHeader = "GS001-HEADER";
inline constexpr std::string_view kGsEli10 = "GS002-ELI10";
inline constexpr std::string_view kGsRecommendation = "GS003-RECOMMENDATION";
inline constexpr std::string_view kGsRecLabel = "GS004-REC-LABEL";
inline constexpr std::string_view kGsCompleteness = "GS005-COMPLETENESS";
inline constexpr std::string_view kGsProsCons = "GS006-PROS-CONS";
inline constexpr std::string_view kGsNet = "GS007-NET";
inline constexpr std::string_view kGsOptionCap = "GS008-OPTION-CAP";
inline constexpr std::string_view kGsDropNarration = "GS009-DROP-NARRATION";
inline constexpr std::string_view kGsSplitBuckets = "GS010-SPLIT-BUCKETS";
inline constexpr std::string_view kGsLabelSeq = "GS012-LABEL-SEQ";
inline constexpr std::string_view kGsHoldContinues = "GS013-HOLD-CONTINUES";
inline constexpr std::string_view kGsFinalEarly = "GS014-FINAL-EARLY";
inline constexpr std::string_view kGsQid = "GS015-QID";
inline constexpr std::string_view kGsMetaMissing = "GS016-META-MISSING";
inline constexpr std::string_view kGsProseNotTool = "GS017-PROSE-NOT-TOOL";
inline constexpr std::string_view kGsAutoSplit = "GS018-AUTO-SPLIT";
inline constexpr std::string_view kGsNonHuman = "GS019-NON-HUMAN";
}  // namespace rule

// Collects findings. A rule fires once per span, and never twice on touching spans.
class Report {
 public:
  explicit Report(const LintContext& context) : context_(context) {}

  // `is_sure`: the rule is exact, or its lexicon is one that blocks.
  void add(std::string_view rule, Span span, std::string_view lexicon = {}, bool is_sure = true);
  bool has(std::string_view rule) const;
  // Whether an offer in this language blocks: by itself, or because the context says so.
  bool blocks_offers(const Lexicon& lexicon) const;
  // No further finding will be reported, so the search can stop.
  bool is_full() const;
  // One span, one rule: removes findings covered by a stronger one; then sorts by position.
  std::vector<Finding> finish();

 private:
  Severity severity(std::string_view rule, std::string_view lexicon, bool is_sure) const;

  const LintContext& context_;
  std::vector<Finding> findings_;
};

}  // namespace sb::decision::linting
