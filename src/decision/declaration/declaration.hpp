// What may be asked: one decision, a flow of decisions, or a chain (one decision with many independent options).
//
// parse_declaration is strict: unknown names, wrong types and every definition error of the protocol are faults with
// file, line, column and field. The result obeys all rules of its profile, so renderers and state machines never get a
// declaration they would have to adapt.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.hpp"
#include "base/document/document.hpp"
#include "base/document/value.hpp"
#include "base/result.hpp"
#include "decision/declaration/profile.hpp"

namespace sb::decision {

enum class SelectMode { kOne, kMany, kText, kForm, kUrl };
enum class Door { kTwoWay, kOneWay };
enum class Relation { kAlternatives, kIndependent, kUnknown };
enum class OnTimeout { kWait, kPark, kDeny, kDefault };
enum class Bucket { kInclude, kDefer, kCut, kHold };
enum class DecisionKind {
  kChoice,
  kApproval,
  kConfirmation,
  kClarification,
  kRouting,
  kCherryPick,
  kMeta,
  kConflict,
  kFinal,
  kRevise,
  kSecret
};

// Who wrote a declaration. A model may not declare a default, nor that something is less dangerous than it looks: its
// `safe: true` and `door: two-way` do not count.
enum class Author { kModel, kOperator, kWorkflow };

struct Recommendation {
  std::string choice;  // an option id
  std::string reason;
};

// Texts around a question; the profile defines which are allowed and which are required.
struct Sections {
  std::string context, eli10, stakes, kind_note, net, safety_notice;
  std::optional<Recommendation> recommendation;
};

struct Option {
  std::string id;
  std::string label;
  std::string description;
  bool recommended = false;
  bool safe = false;                // does nothing irreversible; never set by a model's declaration
  std::optional<int> completeness;  // 0..10
  std::vector<std::string> pros, cons;
  std::string effort_human, effort_agent;
  std::string preview_format, preview;
  std::string role;
  Value value;
};

// A flat input field of a form.
struct Field {
  enum class Type { kString, kInteger, kNumber, kBoolean };
  std::string key, title, description, format;  // format: email, uri, date, date-time or empty
  Type type = Type::kString;
  bool required = false;
  std::optional<double> minimum, maximum;  // of numbers; of strings, the length
  Value default_value;
};

struct Select {
  SelectMode mode = SelectMode::kOne;
  int min = 1;
  int max = 1;  // of kMany: at most the number of options
};

struct Decision {
  std::string id;
  std::string profile = "interaction";
  std::string locale = "en";
  std::string label;        // D3.2
  std::string question_id;  // gstack's id, where there is one
  std::string skill;
  DecisionKind kind = DecisionKind::kChoice;
  Relation relation = Relation::kUnknown;
  std::string instruction, header, title;
  Sections sections;
  std::vector<Option> options;
  Select select;
  std::vector<Field> fields;  // select form
  std::string url;            // select url
  bool secret = false;
  std::string typed_confirmation;

  Door door = Door::kTwoWay;      // already raised by the keyword net
  bool is_door_declared = false;  // `door: one-way` was declared, not found by the keyword net
  std::string overruled_word;     // found by the keyword net, but `door: two-way` was declared by someone who may
  std::string irreversible_note;
  bool human_approval = false;  // gate: human_approval
  std::string digest;           // of what is approved

  OnTimeout on_timeout = OnTimeout::kWait;
  std::vector<std::string> default_ids;
  std::optional<std::int64_t> deadline_after_ms;  // `deadline: 8h`, from the time of opening
  std::optional<TimestampMs> deadline_at;         // `deadline: 2026-11-15T08:00:00Z`

  const Option* find(std::string_view option_id) const;
  bool needs_signature() const { return door == Door::kOneWay || human_approval; }
};

// A flow's steps are decisions whose id is the step's key.
struct FlowStep {
  Decision decision;
  std::string title;                    // shown in the edit picker; the key if not given
  std::vector<std::string> depends_on;  // keys of earlier steps
  const std::string& key() const { return decision.id; }
};

enum class Confirm { kAuto, kAlways };

struct Flow {
  std::string id;
  std::string profile = "interaction";
  std::string locale = "en";
  Confirm confirm = Confirm::kAuto;
  bool compact_multi = false;   // accept key=1,3
  bool literal_format = false;  // the format hint is always `1 / 2 / 1,3`
  bool command_case_fold = false;
  std::optional<TimestampMs> expires;
  std::vector<FlowStep> steps;
};

struct ChainOption {
  std::string key, label, eli10, description;
  std::optional<Bucket> recommended;  // never kHold
  std::string reason;
  std::vector<std::string> required_keys, conflicting_keys;
  bool shipped = false;  // already present: satisfies every option that requires it
};

struct Chain {
  std::string id;
  std::string skill;
  std::string profile = "gstack";
  std::string locale = "en";
  std::string instruction;  // optional: the overall question
  int number = 1;           // the N of D<N>
  Relation relation = Relation::kUnknown;
  std::optional<TimestampMs> expires;
  std::vector<ChainOption> options;
};

struct Declaration {
  std::variant<Decision, Flow, Chain> what;
  Profile profile;   // resolved, inheritance applied
  Value source;      // normalised: the input of the hash
  std::string hash;  // SHA-256, hex: source, profile, lexicon versions, Unicode version

  const Decision* decision() const { return std::get_if<Decision>(&what); }
  const Flow* flow() const { return std::get_if<Flow>(&what); }
  const Chain* chain() const { return std::get_if<Chain>(&what); }
};

Checked<Declaration> parse_declaration(const Document& document, const Profiles& profiles,
                                       Author author = Author::kOperator);

// Lower-case ASCII slug of any text: NFKD, marks stripped, Cyrillic and Greek transliterated, runs of anything else
// replaced by `-`; `x-` and 8 hex digits of SHA-256 when nothing is left.
std::string slug_of(std::string_view text);

std::string_view to_string(Bucket bucket);  // include, defer, cut, hold
std::string_view to_string(SelectMode mode);
std::string_view to_string(Relation relation);
std::string_view to_string(Door door);
std::string_view to_string(DecisionKind kind);
std::string_view to_string(OnTimeout on_timeout);

}  // namespace sb::decision
