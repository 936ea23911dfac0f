// Planned prompts: what hosts were asked to show, and their replies.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/document/stored_reader.hpp"
#include "base/text.hpp"
#include "decision/render/render.hpp"
#include "inbox/decision_events.hpp"
#include "inbox/inbox.hpp"

namespace sb::inbox {
namespace {

using store::NewEvent;

std::string prompt_stream(std::string_view nonce) {
  return std::string(kPromptStreams) + std::string(nonce);
}

// DECISION/NONCE of each prompt that waits for an answer.
constexpr std::string_view kDecisionPrompts = "decision-prompts";

std::string decision_prompt_key(std::string_view decision, std::string_view nonce) {
  return fmt::format("{}/{}", decision, nonce);
}

Result<std::vector<std::string>> nonces_of(store::Snapshot& snapshot, std::string_view decision) {
  std::vector<std::string> nonces;
  const std::string prefix = decision_prompt_key(decision, "");
  SB_TRY(store::each_row(snapshot, kDecisionPrompts, {.prefix = prefix},
                         [&](const store::Row& row) { nonces.push_back(row.key.substr(prefix.size())); }));
  return nonces;
}

Status unlist_prompt(store::Transaction& transaction, std::string_view decision, std::string_view nonce) {
  SB_TRY(transaction.remove(kDecisionPrompts, decision_prompt_key(decision, nonce)));
  return transaction.put(kPrompts, nonce, "");
}

// The number of prompts planned in this store.
Result<std::int64_t> next_ordinal(store::Transaction& transaction) {
  const auto row = SB_TRY(transaction.get(kCounters, kPrompts));
  std::int64_t count = 0;
  if (row) {
    const char* end = row->value.data() + row->value.size();
    if (std::from_chars(row->value.data(), end, count).ptr != end) {
      return fail(ErrorCode::kCorrupt, "the count of planned prompts is damaged");
    }
  }
  SB_TRY(transaction.put(kCounters, kPrompts, std::to_string(count + 1)));
  return count + 1;
}

Result<std::optional<PlannedPrompt>> read_prompt(store::Snapshot& snapshot, std::string_view nonce) {
  if (nonce.empty() || nonce.size() > 64) return std::nullopt;
  const auto events = SB_TRY(snapshot.events(prompt_stream(nonce), 1, 2));
  if (events.empty()) return std::nullopt;
  for (const store::Event& event : events) {
    if (event.type != (event.seq == 1 ? "planned" : "closed")) {
      return unknown_event(event.stream, event.seq, event.type);
    }
  }
  PlannedPrompt prompt = SB_TRY(prompt_from(SB_TRY(parse_stored(events.front().payload))));
  if (prompt.nonce != nonce) return fail(ErrorCode::kCorrupt, "a stored prompt has the wrong nonce");
  prompt.planned_at = events.front().time_ms;
  prompt.is_open = events.size() == 1;
  return prompt;
}

Status close_prompt(store::Transaction& transaction, const PlannedPrompt& prompt, const WalkAnswer& answer,
                    TimestampMs now) {
  const auto* given = std::get_if<decision::HostAnswer>(&answer.given);
  const Value payload =
      Value::object({{"options", Value::array(given ? given->option_ids : std::vector<std::string>())},
                     {"principal", answer.from.principal},
                     {"channel", to_string(answer.from.channel)}});
  const std::vector<NewEvent> events{{"closed", now, to_canonical_json(payload)}};
  const store::Head head = SB_TRY(transaction.head(prompt_stream(prompt.nonce)));
  SB_TRY(transaction.append(prompt_stream(prompt.nonce), head, events));
  return unlist_prompt(transaction, prompt.decision, prompt.nonce);
}

// The prompts that showed an earlier question of the same walk.
Status close_others(store::Transaction& transaction, const PlannedPrompt& answered, const WalkAnswer& answer,
                    TimestampMs now) {
  for (const std::string& nonce : SB_TRY(nonces_of(transaction, answered.decision))) {
    const auto prompt = SB_TRY(read_prompt(transaction, nonce));
    if (prompt && prompt->is_open && nonce != answered.nonce) {
      SB_TRY(close_prompt(transaction, *prompt, answer, now));
    }
  }
  return {};
}

Status check_shown(const PlannedPrompt& prompt, const std::vector<std::string>& options) {
  for (const std::string& id : options) {
    if (std::ranges::find(prompt.options, id, &Choice::id) == prompt.options.end()) {
      return fail(ErrorCode::kInvalid, fmt::format("option {} was not shown in this prompt", quote_json(id)));
    }
  }
  return {};
}

// The walk at the page that the prompt shows.
Result<decision::Walk> walk_at(const PlannedPrompt& prompt, const DecisionState& state,
                               const decision::Declaration& declaration) {
  const decision::Host* host = decision::host_named(prompt.host);
  if (host == nullptr) return fail(ErrorCode::kUnsupported, fmt::format("there is no host {}", prompt.host));
  auto walk = SB_TRY(decision::Walk::at(declaration, state.position, decision::cap_of(*host, declaration.profile)));
  const auto moved_on = [&] {
    return fail(ErrorCode::kConflict,
                fmt::format("prompt {} is no longer the open question of {}", prompt.nonce, prompt.decision));
  };
  if (walk.is_held() || !walk.turn_to(prompt.page)) return moved_on();
  const auto shown = render(walk.prompt(), declaration.profile, *host, {.nonce = std::string(kNoncePlaceholder)});
  if (!shown || shown->render_hash != prompt.render_hash) return moved_on();
  return walk;
}

}  // namespace

Status unlist_prompts(store::Transaction& transaction, std::string_view decision) {
  for (const std::string& nonce : SB_TRY(nonces_of(transaction, decision))) {
    SB_TRY(unlist_prompt(transaction, decision, nonce));
  }
  return {};
}

Result<PlannedPrompt> Inbox::plan_prompt(PlannedPrompt prompt) {
  prompt.planned_at = clock_.now_ms();
  return store_.write([&](store::Transaction& transaction) -> Result<PlannedPrompt> {
    PlannedPrompt planned = prompt;
    planned.ordinal = SB_TRY(next_ordinal(transaction));
    planned.nonce = prompt_nonce(planned.fingerprint, planned.render_hash, planned.ordinal);
    replace_all(planned.question, kNoncePlaceholder, planned.nonce);
    const std::vector<NewEvent> events{{"planned", planned.planned_at, to_canonical_json(to_value(planned))}};
    SB_TRY(transaction.append(prompt_stream(planned.nonce), {}, events));
    SB_TRY(transaction.put(kPrompts, planned.nonce, "",
                           fmt::format("open/{:015}/{:015}", planned.planned_at, planned.ordinal)));
    SB_TRY(transaction.put(kDecisionPrompts, decision_prompt_key(planned.decision, planned.nonce), ""));
    return planned;
  });
}

Result<std::optional<PlannedPrompt>> Inbox::find_prompt(std::string_view nonce) {
  return store_.read([&](store::Snapshot& snapshot) { return read_prompt(snapshot, nonce); });
}

Result<std::vector<PlannedPrompt>> Inbox::open_prompts(int limit) {
  return store_.read([&](store::Snapshot& snapshot) -> Result<std::vector<PlannedPrompt>> {
    std::vector<PlannedPrompt> prompts;
    const store::Listing listing{.by = store::Order::kSort, .prefix = "open/", .descending = true, .limit = limit};
    for (const store::Row& row : SB_TRY(snapshot.list(kPrompts, listing))) {
      auto prompt = SB_TRY(read_prompt(snapshot, row.key));
      if (!prompt || !prompt->is_open) continue;
      // A prompt whose question was answered elsewhere is no longer waiting.
      const Result<DecisionState> state = read_state(snapshot, prompt->decision);
      if (state && state->is_open()) prompts.push_back(std::move(*prompt));
    }
    return prompts;
  });
}

Result<std::vector<PlannedPrompt>> Inbox::open_prompts_of(std::string_view decision) {
  return store_.read([&](store::Snapshot& snapshot) -> Result<std::vector<PlannedPrompt>> {
    std::vector<PlannedPrompt> prompts;
    for (const std::string& nonce : SB_TRY(nonces_of(snapshot, decision))) {
      auto prompt = SB_TRY(read_prompt(snapshot, nonce));
      if (prompt && prompt->is_open) prompts.push_back(std::move(*prompt));
    }
    return prompts;
  });
}

Result<std::optional<decision::Rendered>> Inbox::shown(const PlannedPrompt& prompt, const DecisionState& state,
                                                       const decision::Declaration& declaration) const {
  const auto walk = walk_at(prompt, state, declaration);
  if (!walk && walk.error().code == ErrorCode::kConflict) return std::nullopt;
  if (!walk) return std::unexpected(walk.error());
  return SB_TRY(
      render(walk->prompt(), declaration.profile, *decision::host_named(prompt.host), {.nonce = prompt.nonce}));
}

Result<Walked> Inbox::walk_prompt(std::string_view nonce, const decision::Declaration& declaration,
                                  const WalkAnswer& answer) {
  const auto planned = SB_TRY(find_prompt(nonce));
  if (!planned) return fail(ErrorCode::kNotFound, fmt::format("there is no planned prompt {}", quote_json(nonce)));
  const DecisionState now = SB_TRY(load(planned->decision));
  if (!now.is_open()) {
    keep_late(now.id, late_text(answer), answer.from, answer.raw, !answer.reader.empty());
    return no_longer_open(now);
  }
  return store_.write([&](store::Transaction& transaction) -> Result<Walked> {
    const auto prompt = SB_TRY(read_prompt(transaction, nonce));
    if (!prompt || !prompt->is_open)
      return fail(ErrorCode::kConflict, fmt::format("prompt {} is already closed", nonce));
    const DecisionState state = SB_TRY(read_settled(transaction, prompt->decision));
    if (!state.is_open()) return no_longer_open(state);
    if (const auto* given = std::get_if<decision::HostAnswer>(&answer.given)) {
      SB_TRY(check_shown(*prompt, given->option_ids));
    }
    WalkAnswer shown = answer;
    shown.render_hash = prompt->render_hash;
    Walked walked = SB_TRY(walk_in(transaction, state, SB_TRY(walk_at(*prompt, state, declaration)), shown));
    if (walked.turn.kind == decision::WalkTurn::Kind::kAsk && walked.turn.is_same) return walked;
    SB_TRY(close_prompt(transaction, *prompt, answer, clock_.now_ms()));
    const bool has_one_question = state.opened.question.shape == QuestionShape::kDecision;
    if (!has_one_question) SB_TRY(close_others(transaction, *prompt, answer, clock_.now_ms()));
    return walked;
  });
}

}  // namespace sb::inbox
