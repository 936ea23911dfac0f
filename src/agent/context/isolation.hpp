// Selects the context that reaches an agent: sources, modes, and the bundle built from them. Pure.
//
// | mode | what the agent gets |
// |---|---|
// | full | everything |
// | task-only | Tier 0 (unless `tier0: false`) and the task |
// | challenger | Tier 0 and raw inputs; no prior results |
// | blind | only the inputs named in the call |
// | custom | what `include` names without what `exclude` names, of known keys |
// Rules, soul and memory go with Tier 0. The roles `challenger`, `adversarial` and `evaluator` have the mode
// challenger, or blind on request, and cannot get more: anything extra is an error. A reviewer never gets keys marked
// `author_view`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/document/value.hpp"
#include "base/result.hpp"

namespace sb::agent {

enum class IsolationMode { kFull, kTaskOnly, kChallenger, kBlind, kCustom };
std::string_view to_string(IsolationMode mode);
std::optional<IsolationMode> isolation_mode_named(std::string_view name);

enum class SourceKind {
  kTier0,   // project identity: vision, decisions, philosophy
  kRule,    // rule files and soul
  kMemory,  // what was learned before
  kTask,    // goal, ticket
  kRaw,     // raw inputs: a diff, a change request, documents
  kPrior,   // results of earlier phases, and what was made of them
  // What an earlier phase wrote as a basis for later work, such as a pitch: a task for the phase that implements it, a
  // prior result for one that must judge independently.
  kDocument,
};

struct ContextSource {
  std::string key;  // `ticket`, `tier0/VISION.md`, `discovery.keyInvariants`, `coding.confidence`, …
  SourceKind kind = SourceKind::kTask;
  std::string title, text;
  int priority = 1;          // 1 first
  bool author_view = false;  // the author's confidence in it, the author's own view
};

struct ContextSpec {
  std::string role;  // as workflow::to_string(Role); empty: none
  std::optional<IsolationMode> mode = {};
  bool tier0 = true;
  std::vector<std::string> inputs = {}, include = {}, exclude = {};  // keys, or `discovery.*`
};

// The mode of a role, from its default and the request. kForbidden when the request gives a restricted role more;
// kInvalid for unknown keys, with the nearest one.
Result<IsolationMode> isolation_mode_for(const ContextSpec& spec, const std::vector<ContextSource>& known);
bool is_restricted(std::string_view role);
// Whether a mode includes that source for the request's role; `mode` as returned by isolation_mode_for().
bool is_given(IsolationMode mode, const ContextSpec& spec, const ContextSource& source);
// Whether the request is valid, as far as that is known before there are any sources. Errors as isolation_mode_for().
Status check_context_spec(const ContextSpec& spec);
// kForbidden if it would give anything that the other withholds.
Status check_is_narrower(const ContextSpec& spec, const ContextSpec& than);
std::string known_keys();  // all valid context keys, for people

// A named part of the system prompt, with its own budget.
struct Slot {
  std::string name;  // identity, tier0, prior_context, rules, memory, this_turn
  std::size_t budget = 0;
  std::string text = {};
};

struct BundleEntry {
  std::string key, slot, hash;
  std::size_t bytes = 0;
  bool is_omitted = false;  // did not fit; the slot lists its name
};

struct Bundle {
  IsolationMode mode = IsolationMode::kFull;
  std::string role;
  std::vector<Slot> slots;  // always all six, in order; empty text: not sent
  std::vector<BundleEntry> entries;
  std::string hash;     // over the slots' bytes
  Value facts() const;  // for the log: {mode, role, hash, bytes, keys: [{key, slot, bytes, hash, [is_omitted]}]}
  Value to_value() const;
  static Result<Bundle> from(const Value& value);
};

// Whole sources only, in order of priority; what does not fit is listed by name in its slot, also for priority 1.
// prior_context has limits::kPriorContextBytes.
Result<Bundle> make_bundle(const ContextSpec& spec, std::string identity, const std::vector<ContextSource>& sources);

}  // namespace sb::agent
