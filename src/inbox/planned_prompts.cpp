// Planned prompts: what hosts were asked to show, and their replies.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/document/stored_reader.hpp"
#include "base/text.hpp"
#include "decision/prompt.hpp"
#include "inbox/decision_events.hpp"
#include "inbox/inbox.hpp"

namespace sb::inbox {
namespace {

using decision::SelectMode;
using store::NewEvent;

std::string prompt_stream(std::string_view nonce) {
  return std::string(kPromptStreams) + std::string(nonce);
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

Status close_prompt(store::Transaction& transaction, const PlannedPrompt& prompt, const HostReply& reply,
                    TimestampMs now) {
  const Value payload = Value::object({{"options", Value::array(reply.options)},
                                       {"principal", reply.from.principal},
                                       {"channel", to_string(reply.from.channel)}});
  const std::vector<NewEvent> events{{"closed", now, to_canonical_json(payload)}};
  const store::Head head = SB_TRY(transaction.head(prompt_stream(prompt.nonce)));
  SB_TRY(transaction.append(prompt_stream(prompt.nonce), head, events));
  return transaction.put(kPrompts, prompt.nonce, "");
}

Status check_shown(const PlannedPrompt& prompt, const std::vector<std::string>& options) {
  for (const std::string& id : options) {
    if (std::ranges::find(prompt.options, id, &Choice::id) == prompt.options.end()) {
      return fail(ErrorCode::kInvalid, fmt::format("option {} was not shown in this prompt", quote_json(id)));
    }
  }
  return {};
}

// The host that relayed it already has the outcome.
std::string reader_of(const HostReply& reply) {
  const std::string_view channel = to_string(reply.from.channel);
  return reply.from.principal.empty() ? std::string(channel) : fmt::format("{} ({})", reply.from.principal, channel);
}

bool is_navigation(const std::string& id) {
  return id == decision::kMoreId || id == decision::kNoneId;
}

// The choice for one part from the replies so far; nothing while a page is missing.
std::optional<std::vector<std::string>> chosen_for(const Part& part, const std::vector<PromptReply>& replies) {
  std::map<int, const PromptReply*> by_page;  // the latest
  int pages = 1;
  for (const PromptReply& reply : replies) {
    if (reply.part != part.key) continue;
    by_page[reply.page] = &reply;
    pages = reply.pages;
  }
  std::vector<std::string> chosen;
  for (const auto& [page, reply] : by_page) {
    for (const std::string& id : reply->options) {
      if (!is_navigation(id) && std::ranges::find(chosen, id) == chosen.end()) chosen.push_back(id);
    }
  }
  if (part.select.mode != SelectMode::kMany) {
    if (chosen.size() != 1) return std::nullopt;
    return chosen;
  }
  for (int page = 1; page <= pages; ++page) {
    if (!by_page.contains(page)) return std::nullopt;
  }
  return chosen;
}

std::optional<AnswerInput> gather(const Question& question, const std::vector<PromptReply>& replies) {
  AnswerInput given;
  for (const Part& part : question.parts) {
    const auto chosen = chosen_for(part, replies);
    if (!chosen) return std::nullopt;
    if (question.shape == QuestionShape::kDecision) {
      given.options = *chosen;
    } else if (part.select.mode == SelectMode::kMany) {
      given.values.set(part.key, Value::array(*chosen));
    } else {
      given.values.set(part.key, chosen->front());
    }
  }
  return given;
}

}  // namespace

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

Result<DecisionState> Inbox::reply(std::string_view nonce, const HostReply& reply) {
  if (const auto planned = SB_TRY(find_prompt(nonce))) SB_TRY(load(planned->decision));
  return store_.write([&](store::Transaction& transaction) -> Result<DecisionState> {
    const auto prompt = SB_TRY(read_prompt(transaction, nonce));
    if (!prompt) return fail(ErrorCode::kNotFound, fmt::format("there is no planned prompt {}", quote_json(nonce)));
    if (!prompt->is_open) return fail(ErrorCode::kConflict, fmt::format("prompt {} is already closed", nonce));
    return reply_in(transaction, *prompt, reply);
  });
}

Result<DecisionState> Inbox::reply_in(store::Transaction& transaction, const PlannedPrompt& prompt,
                                      const HostReply& reply) {
  const TimestampMs now = clock_.now_ms();
  DecisionState state = SB_TRY(read_settled(transaction, prompt.decision));
  if (!state.is_open()) return fail(ErrorCode::kConflict, fmt::format("{} is already closed", state.id));
  if (reply.result != HostResult::kSelected) {
    if (reply.result != HostResult::kDeclined) {
      return append(transaction, state, {no_answer_event(reply.result, reply.from, now)});
    }
    SB_TRY(close_prompt(transaction, prompt, reply, now));
    return append(transaction, state,
                  {closed_event(OutcomeKind::kDeclined, ResolvedBy::kHuman, reply.from, reply.raw, now),
                   consumed_event(reader_of(reply), now)});
  }
  if (reply.options.empty()) {
    return append(transaction, state,
                  {reply.free_text.empty() ? no_answer_event(HostResult::kEmpty, reply.from, now)
                                           : free_text_event(reply.free_text, reply.from, now)});
  }
  SB_TRY(check_shown(prompt, reply.options));
  const bool is_signed = state.opened.question.shape == QuestionShape::kDecision
                             ? needs_signature(state.opened, {.options = reply.options})
                             : state.opened.needs_signature;
  const DecisionFacts facts{is_signed, state.opened.operators.has_value(), state.opened.workspace, state.id};
  SB_TRY(may_answer(facts, reply.from, "", policy_));
  SB_TRY(close_prompt(transaction, prompt, reply, now));

  const PromptReply replied{prompt.nonce, prompt.part, prompt.page, prompt.pages, reply.options};
  std::vector<PromptReply> replies = state.replies;
  replies.push_back(replied);
  std::vector<NewEvent> events{replied_event(replied, now)};
  const auto given = gather(state.opened.question, replies);
  if (given && check_answer(state.opened.question, *given) && check_dependencies(state.opened.question, *given)) {
    const AnswerSubmission submission{.given = *given,
                                      .from = reply.from,
                                      .raw = reply.raw,
                                      .waived = {},
                                      .render_hash = prompt.render_hash,
                                      .resolved_by = reply.resolved_by,
                                      .signature = std::nullopt};
    events.push_back(SB_TRY(answered_event(transaction, state, submission)));
    events.push_back(consumed_event(reader_of(reply), now));
  }
  return append(transaction, state, std::move(events));
}

}  // namespace sb::inbox
