#include "agent/context/isolation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "agent/limits.hpp"
#include "agent/tools/plain_text.hpp"
#include "base/crypto.hpp"
#include "base/document/reader.hpp"

namespace sb::agent {
namespace {

constexpr std::array<std::pair<std::string_view, IsolationMode>, 5> kModes = {
    {{"full", IsolationMode::kFull},
     {"task-only", IsolationMode::kTaskOnly},
     {"challenger", IsolationMode::kChallenger},
     {"blind", IsolationMode::kBlind},
     {"custom", IsolationMode::kCustom}}};

// Context keys that are valid even if absent this time: settings may name them although a project has no rule files or
// a run has no pitch.
constexpr std::array<std::pair<std::string_view, SourceKind>, 10> kKeys = {
    {{"goal", SourceKind::kTask},
     {"ticket", SourceKind::kTask},
     {"attempt", SourceKind::kTask},
     {"pitch", SourceKind::kTask},
     {"diff", SourceKind::kRaw},
     {"checks", SourceKind::kRaw},
     {"soul", SourceKind::kRule},
     {"interpretation", SourceKind::kPrior},
     {"degradations", SourceKind::kPrior},
     {"delivery.collateral", SourceKind::kPrior}}};
// Keys that are followed by a path.
constexpr std::array<std::pair<std::string_view, SourceKind>, 3> kPathKeys = {
    {{"tier0/", SourceKind::kTier0}, {"rules/", SourceKind::kRule}, {"memory/", SourceKind::kMemory}}};
constexpr std::array<std::string_view, 7> kPhaseKeys = {"discovery", "shaping", "design", "coding",
                                                        "review",    "fix",     "audit"};
constexpr std::array<std::string_view, 20> kParts = {"implementationConstraints",
                                                     "keyInvariants",
                                                     "keyCodebaseLocations",
                                                     "selectedDirection",
                                                     "rejectedDirections",
                                                     "selectedShape",
                                                     "appetite",
                                                     "keyConstraints",
                                                     "outOfScope",
                                                     "rabbitHoles",
                                                     "validationChecklist",
                                                     "keyDecisions",
                                                     "correctedAssumptions",
                                                     "knownLimitations",
                                                     "filesChanged",
                                                     "findings",
                                                     "result",
                                                     "notes",
                                                     "confidence",
                                                     "retrospective"};

// One empty source for each of them.
const std::vector<ContextSource>& all_known_sources() {
  static const std::vector<ContextSource> all = [] {
    std::vector<ContextSource> sources;
    const auto add = [&](std::string key, SourceKind kind, bool author_view = false) {
      sources.push_back({.key = std::move(key), .kind = kind, .title = {}, .text = {}, .author_view = author_view});
    };
    for (const auto& [key, kind] : kKeys) add(std::string(key), kind);
    for (const auto& [key, kind] : kPathKeys) add(std::string(key), kind);
    for (const std::string_view phase : kPhaseKeys) {
      for (const std::string_view part : kParts) {
        add(fmt::format("{}.{}", phase, part), SourceKind::kPrior, part == "confidence" || part == "retrospective");
      }
    }
    return sources;
  }();
  return all;
}

bool names(const std::string& pattern, const std::string& key) {
  if (!pattern.ends_with('*')) return pattern == key;
  return key.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1));
}

bool any_names(const std::vector<std::string>& patterns, const std::string& key) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) { return names(pattern, key); });
}

bool is_key_with_path(std::string_view pattern) {
  return std::ranges::any_of(kPathKeys, [&](const auto& key) { return pattern.starts_with(key.first); });
}

Status check_keys(const std::vector<std::string>& patterns, const std::vector<ContextSource>& known) {
  for (const std::string& pattern : patterns) {
    const auto is_named = [&](const ContextSource& source) { return names(pattern, source.key); };
    if (is_key_with_path(pattern) || pattern == "identity") continue;
    if (std::ranges::any_of(known, is_named) || std::ranges::any_of(all_known_sources(), is_named)) continue;
    std::vector<std::string> keys;
    for (const ContextSource& source : known) keys.push_back(source.key);
    for (const ContextSource& source : all_known_sources()) keys.push_back(source.key);
    const std::string nearest = nearest_name(pattern, keys);
    return fail(ErrorCode::kInvalid, fmt::format("unknown context key {}", quote_json(pattern.substr(0, 80))),
                nearest.empty() ? known_keys() : fmt::format("Did you mean {}?", nearest));
  }
  return {};
}

Status check_fields(IsolationMode mode, const ContextSpec& spec) {
  const auto misplaced = [&](std::string_view field, std::string_view where) {
    return fail(ErrorCode::kInvalid, fmt::format("mode {} does not allow `{}`", to_string(mode), field),
                fmt::format("Remove it, or use mode {}", where));
  };
  if (mode != IsolationMode::kBlind && !spec.inputs.empty()) return misplaced("inputs", "blind");
  if (mode != IsolationMode::kCustom && !spec.include.empty()) return misplaced("include", "custom");
  if (mode != IsolationMode::kCustom && !spec.exclude.empty()) return misplaced("exclude", "custom");
  if ((mode == IsolationMode::kFull || mode == IsolationMode::kCustom) && !spec.tier0)
    return misplaced("tier0: false", "task-only");
  if (mode == IsolationMode::kCustom && spec.include.empty()) {
    return fail(ErrorCode::kInvalid, "mode custom needs `include`", "List context keys; \"*\" means all");
  }
  return {};
}

Status check_restricted(IsolationMode mode, const ContextSpec& spec, const std::vector<ContextSource>& known) {
  const auto refuse = [&](std::string what) {
    return fail(ErrorCode::kForbidden, fmt::format("the role {} may not get {}", spec.role, what),
                "Its mode is challenger, or blind on request");
  };
  if (mode != IsolationMode::kChallenger && mode != IsolationMode::kBlind)
    return refuse(fmt::format("the mode {}", to_string(mode)));
  if (!spec.include.empty()) return refuse("more by `include`");
  if (!spec.exclude.empty()) return refuse("other context by `exclude`");
  if (mode == IsolationMode::kChallenger && !spec.inputs.empty()) return refuse("more by `inputs`");
  for (const ContextSource& source : known) {
    const bool is_result = source.kind == SourceKind::kPrior || source.kind == SourceKind::kDocument;
    if (is_result && any_names(spec.inputs, source.key)) {
      return refuse(fmt::format("{}, which is a result of earlier work", quote_json(source.key)));
    }
  }
  return {};
}

bool sees_no_author_view(std::string_view role) {
  return role == "reviewer" || is_restricted(role);
}

enum SlotIndex { kIdentity, kTier0Slot, kPriorContext, kRules, kMemorySlot, kThisTurn };

SlotIndex slot_of(SourceKind kind) {
  switch (kind) {
    case SourceKind::kTier0:
      return kTier0Slot;
    case SourceKind::kRule:
      return kRules;
    case SourceKind::kMemory:
      return kMemorySlot;
    case SourceKind::kPrior:
      return kPriorContext;
    case SourceKind::kTask:
    case SourceKind::kRaw:
    case SourceKind::kDocument:
      break;
  }
  return kThisTurn;
}

std::vector<Slot> empty_slots() {
  return {{.name = "identity", .budget = limits::kIdentityBytes},
          {.name = "tier0", .budget = limits::kTier0Bytes},
          {.name = "prior_context", .budget = limits::kPriorContextBytes},
          {.name = "rules", .budget = limits::kRulesBytes},
          {.name = "memory", .budget = limits::kMemoryBytes},
          {.name = "this_turn", .budget = limits::kThisTurnBytes}};
}

constexpr std::array<std::string_view, 6> kHeadings = {"",
                                                       "# What this project is\n",
                                                       "# What earlier phases found\n",
                                                       "# Rules of this project\n",
                                                       "# What was learned here before\n",
                                                       "# The task\n"};

// A project's own rules and identity are instructions; everything else is data, between marks that the text cannot
// contain because they are made of its hash.
std::string rendered(const ContextSource& source, const std::string& text, const std::string& hash) {
  const std::string_view break_after = text.ends_with('\n') ? "" : "\n";
  if (source.kind == SourceKind::kTier0 || source.kind == SourceKind::kRule) {
    return fmt::format("\n## {}\n\n{}{}", source.title, text, break_after);
  }
  const std::string_view mark = std::string_view(hash).substr(0, 16);
  return fmt::format("\n## {}\n\n<data {} key={}>\n{}{}</data {}>\n", source.title, mark, quote_json(source.key), text,
                     break_after, mark);
}

struct Piece {
  const ContextSource* source;
  std::string text, hash;  // text: as in the slot
  std::size_t bytes;       // of the source
  bool is_omitted = false;
};

std::string list_omitted(const std::vector<Piece>& pieces) {
  std::string text;
  for (const Piece& piece : pieces) {
    if (!piece.is_omitted) continue;
    text += fmt::format("- {} ({}, {} bytes)\n", piece.source->key, piece.source->title, piece.bytes);
  }
  return text.empty() ? text : "\nOmitted for lack of space:\n" + text;
}

std::string joined(std::string_view heading, const std::vector<Piece>& pieces) {
  std::string text(heading);
  for (const Piece& piece : pieces) {
    if (!piece.is_omitted) text += piece.text;
  }
  return text + list_omitted(pieces);
}

// Whole pieces in order of priority. The list of omitted names takes space too, so the last pieces may have to go.
std::string fill(std::string_view heading, std::size_t budget, std::vector<Piece>& pieces) {
  std::size_t used = heading.size();
  for (Piece& piece : pieces) {
    piece.is_omitted = used + piece.text.size() > budget;
    if (!piece.is_omitted) used += piece.text.size();
  }
  std::string text = joined(heading, pieces);
  while (text.size() > budget) {
    const auto last =
        std::ranges::find_if(pieces.rbegin(), pieces.rend(), [](const Piece& p) { return !p.is_omitted; });
    if (last == pieces.rend()) break;
    last->is_omitted = true;
    text = joined(heading, pieces);
  }
  return text;
}

std::string hash_of(const std::vector<Slot>& slots) {
  Value all = Value::array();
  for (const Slot& slot : slots) all.push_back(Value::array({slot.name, slot.text}));
  return sha256_hex(to_canonical_json(all));
}

Value to_value(const BundleEntry& entry) {
  Value value = Value::object({{"key", entry.key}, {"slot", entry.slot}, {"bytes", entry.bytes}, {"hash", entry.hash}});
  if (entry.is_omitted) value.set("left_out", true);
  return value;
}

Value entries_of(const Bundle& bundle) {
  Value keys = Value::array();
  for (const BundleEntry& entry : bundle.entries) keys.push_back(to_value(entry));
  return keys;
}

}  // namespace

std::string_view to_string(IsolationMode mode) {
  return std::ranges::find(kModes, mode, &std::pair<std::string_view, IsolationMode>::second)->first;
}

std::optional<IsolationMode> isolation_mode_named(std::string_view name) {
  const auto found = std::ranges::find(kModes, name, &std::pair<std::string_view, IsolationMode>::first);
  return found == kModes.end() ? std::nullopt : std::optional(found->second);
}

std::string known_keys() {
  std::string text = "Known keys:";
  for (const auto& [key, kind] : kKeys) text += fmt::format(" {},", key);
  for (const auto& [key, kind] : kPathKeys) text += fmt::format(" {}PATH,", key);
  return fmt::format("{} and PHASE.PART with the phases {} and the parts {}; a * at the end matches anything", text,
                     fmt::join(kPhaseKeys, ", "), fmt::join(kParts, ", "));
}

Status check_context_spec(const ContextSpec& spec) {
  SB_TRY(isolation_mode_for(spec, all_known_sources()));
  return {};
}

Status check_is_narrower(const ContextSpec& spec, const ContextSpec& than) {
  const auto known = all_known_sources();
  const IsolationMode mode = SB_TRY(isolation_mode_for(spec, known)), kept = SB_TRY(isolation_mode_for(than, known));
  for (const ContextSource& source : known) {
    if (!is_given(mode, spec, source) || is_given(kept, than, source)) continue;
    return fail(ErrorCode::kForbidden,
                fmt::format("it would give {}, which the workflow hides from its agents with mode {}",
                            quote_json(source.key), to_string(kept)),
                "Settings can only restrict it further");
  }
  return {};
}

bool is_restricted(std::string_view role) {
  return role == "challenger" || role == "adversarial" || role == "evaluator";
}

bool is_given(IsolationMode mode, const ContextSpec& spec, const ContextSource& source) {
  if (source.author_view && sees_no_author_view(spec.role)) return false;
  switch (mode) {
    case IsolationMode::kFull:
      return true;
    case IsolationMode::kBlind:
      return any_names(spec.inputs, source.key);
    case IsolationMode::kCustom:
      return any_names(spec.include, source.key) && !any_names(spec.exclude, source.key);
    case IsolationMode::kTaskOnly:
    case IsolationMode::kChallenger:
      break;
  }
  switch (source.kind) {
    case SourceKind::kTier0:
    case SourceKind::kRule:
    case SourceKind::kMemory:
      return spec.tier0;
    case SourceKind::kTask:
      return true;
    case SourceKind::kRaw:
      return mode == IsolationMode::kChallenger;
    case SourceKind::kPrior:
      return false;
    case SourceKind::kDocument:
      return mode == IsolationMode::kTaskOnly && !is_restricted(spec.role);
  }
  return false;
}

Result<IsolationMode> isolation_mode_for(const ContextSpec& spec, const std::vector<ContextSource>& known) {
  const bool restricted = is_restricted(spec.role);
  const IsolationMode mode = spec.mode.value_or(restricted ? IsolationMode::kChallenger : IsolationMode::kFull);
  if (restricted) SB_TRY(check_restricted(mode, spec, known));
  SB_TRY(check_fields(mode, spec));
  for (const auto* patterns : {&spec.inputs, &spec.include, &spec.exclude}) SB_TRY(check_keys(*patterns, known));
  if (!sees_no_author_view(spec.role)) return mode;
  for (const ContextSource& source : known) {
    const bool is_named =
        std::ranges::count(spec.inputs, source.key) + std::ranges::count(spec.include, source.key) > 0;
    if (!source.author_view || !is_named) continue;
    return fail(ErrorCode::kForbidden,
                fmt::format("the role {} may not get {}: it is the author's own view of the work", spec.role,
                            quote_json(source.key)),
                "Remove it");
  }
  return mode;
}

Value Bundle::facts() const {
  std::size_t bytes = 0;
  for (const Slot& slot : slots) bytes += slot.text.size();
  return Value::object(
      {{"mode", to_string(mode)}, {"role", role}, {"hash", hash}, {"bytes", bytes}, {"keys", entries_of(*this)}});
}

Value Bundle::to_value() const {
  Value texts = Value::array();
  for (const Slot& slot : slots) {
    texts.push_back(Value::object({{"name", slot.name}, {"budget", slot.budget}, {"text", slot.text}}));
  }
  return Value::object({{"v", 1},
                        {"mode", to_string(mode)},
                        {"role", role},
                        {"hash", hash},
                        {"slots", std::move(texts)},
                        {"entries", entries_of(*this)}});
}

Result<Bundle> Bundle::from(const Value& value) {
  const auto broken = [](std::string_view what) {
    return fail(ErrorCode::kCorrupt, fmt::format("a stored context bundle is invalid: {}", what));
  };
  if (value["v"] != Value(1)) return broken("its version is not 1");
  Bundle bundle;
  const auto mode = isolation_mode_named(value.string_at("mode").value_or(""));
  if (!mode) return broken("unknown mode");
  bundle.mode = *mode;
  bundle.role = value.string_at("role").value_or("");
  bundle.hash = value.string_at("hash").value_or("");
  bundle.slots = empty_slots();
  const Value& slots = value["slots"];
  if (!slots.is_array() || slots.size() != bundle.slots.size()) return broken("it does not have six slots");
  for (std::size_t i = 0; i < bundle.slots.size(); ++i) {
    const auto text = slots.items()[i].string_at("text");
    const auto name = slots.items()[i].string_at("name");
    if (!text || name != bundle.slots[i].name) return broken(fmt::format("slot {}", bundle.slots[i].name));
    bundle.slots[i].text = *text;
  }
  if (hash_of(bundle.slots) != bundle.hash) return broken("its text does not match its hash");
  const Value& entries = value["entries"];
  if (!entries.is_array()) return broken("it has no entries");
  for (const Value& entry : entries.items()) {
    const Value& bytes = entry["bytes"];
    if (!entry.string_at("key") || !bytes.is_integer()) return broken("an entry");
    bundle.entries.push_back({.key = *entry.string_at("key"),
                              .slot = entry.string_at("slot").value_or(""),
                              .hash = entry.string_at("hash").value_or(""),
                              .bytes = static_cast<std::size_t>(bytes.as_integer()),
                              .is_omitted = entry["left_out"] == Value(true)});
  }
  return bundle;
}

Result<Bundle> make_bundle(const ContextSpec& spec, std::string identity, const std::vector<ContextSource>& sources) {
  Bundle bundle{.mode = SB_TRY(isolation_mode_for(spec, sources)),
                .role = spec.role,
                .slots = empty_slots(),
                .entries = {},
                .hash = {}};
  if (identity.size() > limits::kIdentityBytes) {
    return fail(ErrorCode::kLimit,
                fmt::format("the identity has {} bytes; the limit is {}", identity.size(), limits::kIdentityBytes));
  }
  std::array<std::vector<Piece>, kHeadings.size()> pieces;
  for (const ContextSource& source : sources) {
    if (!is_given(bundle.mode, spec, source)) continue;
    const std::string text = as_utf8(source.text);
    const std::string hash = sha256_hex(text);
    pieces[slot_of(source.kind)].push_back({&source, rendered(source, text, hash), hash, text.size()});
  }
  bundle.slots[kIdentity].text = as_utf8(identity);
  bundle.entries.push_back(
      {.key = "identity", .slot = "identity", .hash = sha256_hex(identity), .bytes = identity.size()});
  for (std::size_t i = kTier0Slot; i < kHeadings.size(); ++i) {
    if (pieces[i].empty()) continue;
    std::ranges::stable_sort(pieces[i], {}, [](const Piece& piece) { return piece.source->priority; });
    Slot& slot = bundle.slots[i];
    slot.text = fill(kHeadings[i], slot.budget, pieces[i]);
    for (const Piece& piece : pieces[i]) {
      bundle.entries.push_back({.key = piece.source->key,
                                .slot = slot.name,
                                .hash = piece.hash,
                                .bytes = piece.bytes,
                                .is_omitted = piece.is_omitted});
    }
  }
  bundle.hash = hash_of(bundle.slots);
  return bundle;
}

}  // namespace sb::agent
