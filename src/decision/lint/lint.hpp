// Lint: checks a text that an agent is about to show against the question rules.
//
// Pure and deterministic: same bytes and same context, same findings, ordered by position. Safe to call from several
// threads. In a text that is not UTF-8 every stray byte counts as a non-letter. docs/lint.md lists the rules for users.
//
// The context provides what the text does not show: whether anything is being asked at all (scope), at which point of a
// flow (phase), and what was declared. Without one: in scope, phase ask, profile interaction.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/document/document.hpp"
#include "base/document/reader.hpp"
#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb::decision {

enum class LintScope { kIn, kOut };
enum class LintPhase { kAsk, kRetry, kConfirm, kPostInput, kResult, kEvent };
enum class LintChannel {
  kAgent,     // the agent's text
  kTool,      // a tool's output: never linted
  kQuestion,  // the payload of a question tool: its content counts, its layout does not
};

// The shape of a gstack question; kDeduced derives it from the label.
enum class GstackShape { kDeduced, kBrief, kSplit, kMenu, kFinal, kMeta, kConflict };
enum class GstackEvent { kAsked, kAnswered, kHold, kResume, kReset, kExecuted };

// One line of a chain's log, oldest first.
struct GstackRecord {
  std::string label;  // D3.2
  std::string id;     // the question's id, where known
  GstackEvent event = GstackEvent::kAsked;
  std::string choice;
  std::string resolved_by;     // human, preference, timeout, ...; empty: unknown
  std::optional<int> answers;  // number of answers received; 0 is an empty map
};

struct GstackFacts {
  GstackShape shape = GstackShape::kDeduced;
  int cap = 4;              // options per question of the host
  int options = 0;          // of the parent; 0: unknown
  int conflicts_open = 0;   // neither fixed nor waived
  bool is_prose = false;    // the brief was sent as prose,
  bool tool_works = false;  // although the question tool works
  std::vector<GstackRecord> chain;
};

struct DeclaredOption {
  std::string id;
  std::string label;
};

struct LintContext {
  LintScope scope = LintScope::kIn;
  LintPhase phase = LintPhase::kAsk;
  std::string profile = "interaction";
  LintChannel channel = LintChannel::kAgent;
  std::vector<DeclaredOption> declared;
  std::optional<std::string> previous;  // the block as last shown
  int attempt = 0;                      // of a retry, from 1
  std::map<int, std::string> errors;    // the catalogue: attempt, line
  std::vector<std::string> fields;      // of a confirmation, in order
  std::optional<GstackFacts> gs;

  bool prompt_open = false;               // a planned prompt is open: all rules apply and prose blocks
  std::vector<std::string> block_offers;  // languages besides English and Russian whose offers block
  bool blocking_only = false;             // omit advisory findings; cheaper, since fewer lexicons are read
  bool drops_block = false;               // options dropped because of a cap block under every profile
};

enum class Severity { kBlock, kAdvise };

struct Finding {
  std::string_view rule;  // INT020-SOFT-OFFER
  Severity severity = Severity::kBlock;
  std::size_t start = 0;  // bytes, half open
  std::size_t end = 0;
  std::string_view lexicon;  // version of the lexicon that matched; empty for rules that need none
};

std::vector<Finding> lint(std::string_view text, const LintContext& context);
bool has_blocking(const std::vector<Finding>& findings);
// The first finding that blocks.
std::optional<Finding> first_blocking(const std::vector<Finding>& findings);

// Of a reply that asks nothing by a prompt of ours, as the Stop hook and the loops check it: only what blocks matters,
// and options dropped because of a cap count whatever the profile.
LintContext reply_context(std::vector<std::string> block_offers);

// The languages that may be in `block_offers`, and the reader of that list in a lint context and in the configuration.
std::span<const std::string_view> offer_languages();
std::vector<std::string> read_offer_languages(const Reader& reader);

// For people: what the rule requires, and how to fix a text that breaks it. Asserts that the rule exists.
struct RuleText {
  std::string_view id;
  std::string_view broken;
  std::string_view fix;
};
const RuleText& rule_text(std::string_view rule);
const std::vector<RuleText>& rule_texts();

// Reads a context; every fault names the key, and an unknown key the nearest one.
Checked<LintContext> read_lint_context(const Document& document);

// A text that breaks the rules is sent back at most this many times in a row (AMB-22); then it passes, or the step
// ends, so that nothing loops.
inline constexpr int kMaxRejectionsInRow = 3;
inline bool may_reject_again(int times_in_a_row) {
  return times_in_a_row < kMaxRejectionsInRow;
}

}  // namespace sb::decision
