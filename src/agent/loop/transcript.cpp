#include "agent/loop/transcript.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/document/stored_reader.hpp"
#include "base/limits.hpp"

namespace sb::agent {
namespace {

Value text_block(std::string text) {
  return Value::object({{"type", "text"}, {"text", std::move(text)}});
}

Usage operator-(Usage all, const Usage& part) {
  all.input -= part.input;
  all.output -= part.output;
  all.cache_read -= part.cache_read;
  all.cache_write -= part.cache_write;
  return all;
}

WorkResult work_result_from(StoredReader& stored) {
  WorkResult ended;
  ended.state = end_state_named(stored.optional_string("state")).value_or(EndState::kInternalError);
  ended.reason = stored.optional_string("reason");
  return ended;
}

}  // namespace

Status Transcript::follow(const LoggedEvent& event, const Blob& blob) {
  seq_ = event.seq;
  StoredReader stored(event.payload, event_name("an agent's log", event.seq, event.type));
  SB_TRY(stored.done());
  SB_TRY(follow(event, stored, blob));
  return stored.done();
}

Status Transcript::follow(const LoggedEvent& event, StoredReader& stored, const Blob& blob) {
  const std::string& type = event.type;
  const bool is_own = type != "steered" && !type.ends_with("_asked") && type != "taken_over" && type != "retried";
  if (is_own) was_retried_ = false;
  if (is_own) awaited_ = type == "awaiting" ? stored.optional_string("decision") : "";
  if (is_own) has_suspended_ = type == "awaiting" || type == "parked";
  wait_.follow(event);
  if (!is_own || type == "steer_seen") people_.push_back(event);
  if (type == "began") {
    bundle_ = stored.optional_string("bundle");
    place_ = stored.optional_string("place");
    auto made = parse_json(SB_TRY(blob(bundle_)), kLogBounds);
    if (!made) return fail(ErrorCode::kCorrupt, "the first event of an agent's log is invalid");
    restart(made->string_at("first").value_or(""));
  } else if (type == "turn") {
    return turn(stored, blob);
  } else if (type == "discarded") {
    usage_ += usage_from(stored.any("usage"));
    cost_ += stored.optional_integer("cost");
    worked_ms_ += stored.optional_integer("ms");
    ++discarded_;
  } else if (type == "setback") {
    usage_ += usage_from(stored.any("usage"));
    cost_ += stored.optional_integer("cost");
  } else if (type == "tool_started") {
    const std::string id = stored.optional_string("call");
    for (TurnCall& call : calls_) {
      if (call.call.id != id) continue;
      call.has_started = true;
      call.token = stored.optional_string("token");
      call.decision = stored.optional_string("decision");
    }
  } else if (type == "tool_ended") {
    return tool_ended(stored, blob);
  } else if (type == "nudged") {
    said_.push_back(stored.optional_string("text"));
    const std::string why = stored.optional_string("why");
    if (why == "repeating") was_warned_of_repeating_ = true;
    if (why == "moved") place_ = stored.optional_string("place");
  } else if (type == "compacted" || (type == "recovered" && stored.has("text"))) {
    if (stored.has("place")) place_ = stored.optional_string("place");
    restart(SB_TRY(blob(stored.optional_string("text"))));
  } else if (type == "child_began") {
    begun_children_.insert(stored.optional_string("child"));
  } else if (type == "child_ended") {
    children_[stored.optional_string("child")] = {usage_from(stored.any("usage")), stored.optional_integer("cost")};
  } else if (type == "steered") {
    unseen_.emplace_back(event.seq, stored.optional_string("text"));
  } else if (type == "steer_seen") {
    const std::int64_t upto = stored.optional_integer("upto");
    for (const auto& [seq, text] : unseen_) {
      if (seq <= upto) said_.push_back(fmt::format("Message from the person supervising this work:\n{}", text));
    }
    std::erase_if(unseen_, [&](const auto& each) { return each.first <= upto; });
  } else if (type == "ended") {
    ended_ = work_result_from(stored);
  } else if (type == "retried") {
    retried();
  }
  return {};
}

void Transcript::restart(std::string text) {
  messages_.clear();
  made_by_.clear();
  results_.clear();
  calls_.clear();
  said_ = {std::move(text)};
  discarded_ = 0;
  size_in_tokens_ = 0;
  turns_in_step_ = 0;
  early_stops_ = cut_replies_ = repeats_ = 0;
  was_warned_of_repeating_ = false;
  repeated_.clear();
}

void Transcript::retried() {
  ended_.reset();
  was_retried_ = true;
  turn_before_ = turn_;
  usage_before_ = usage();
  cost_before_ = micro_cents();
  worked_ms_ = 0;
  advances_ = early_stops_ = cut_replies_ = repeats_ = 0;
  was_warned_of_repeating_ = false;
}

Status Transcript::turn(StoredReader& stored, const Blob& blob) {
  const auto value = parse_json(SB_TRY(blob(stored.optional_string("reply"))), kLogBounds);
  if (!value) return fail(ErrorCode::kCorrupt, "a reply in an agent's log is invalid");
  ModelReply reply = SB_TRY(reply_from(*value));
  // An agent program keeps its own conversation, and runs the calls in it.
  if (stored.has("bytes")) reply.content.clear();
  std::vector<Message> before = conversation();
  if (before.size() > messages_.size()) messages_.push_back(std::move(before.back()));
  results_.clear();
  said_.clear();
  calls_.clear();
  turn_ = stored.optional_small("turn");
  discarded_ = 0;
  ++turns_in_step_;
  usage_ += usage_from(stored.any("usage"));
  cost_ += stored.optional_integer("cost");
  worked_ms_ += stored.optional_integer("ms");
  stop_ = reply.stop;
  for (const Value& block : reply.content) {
    if (block.string_at("type") != "tool_use") continue;
    calls_.push_back(
        {.call = {block.string_at("id").value_or(""), block.string_at("name").value_or(""), block["input"]}});
  }
  cut_replies_ = stop_ == StopReason::kMaxTokens && calls_.empty() ? cut_replies_ + 1 : 0;
  early_stops_ = stop_ != StopReason::kMaxTokens && calls_.empty() ? early_stops_ + 1 : 0;
  const std::int64_t total_tokens = reply.usage.total();
  size_in_tokens_ = total_tokens;
  if (const std::string by = stored.optional_string("by"); !by.empty()) made_by_[messages_.size()] = by;
  messages_.push_back({Message::From::kAssistant, std::move(reply.content)});
  if (total_tokens == 0) {
    std::size_t bytes = 0;
    for (const Message& message : messages_) bytes += to_json(Value(message.content)).size();
    size_in_tokens_ = static_cast<std::int64_t>(bytes / 4);
  }
  return {};
}

Status Transcript::tool_ended(StoredReader& stored, const Blob& blob) {
  // Of an agent program, whose conversation is not here.
  const bool is_program_call = stored.optional_boolean("led");
  const std::string id = stored.optional_string("call");
  if (is_program_call) calls_.push_back({.call = {id, stored.optional_string("tool"), Value()}});
  const auto call = std::ranges::find_if(calls_, [&](const TurnCall& each) { return each.call.id == id; });
  if (call == calls_.end()) {
    return fail(ErrorCode::kCorrupt, fmt::format("an agent's log ends a call {} that was not started", quote_json(id)));
  }
  call->has_ended = true;
  if (!is_program_call)
    results_[id] = Value::object({{"type", "tool_result"},
                                  {"tool_use_id", id},
                                  {"content", SB_TRY(blob(stored.optional_string("result")))},
                                  {"is_error", stored.optional_boolean("error")}});
  worked_ms_ += stored.optional_integer("ms");
  StoredReader facts(stored.optional_object("facts"), "the facts of a call");
  if (facts.has("path") && facts.has("hash")) seen_files_.emplace_back(facts.string("path"), facts.string("hash"));
  if (facts.has("place")) place_ = facts.string("place");
  if (facts.optional_boolean("advanced")) {
    ++advances_;
    turns_in_step_ = 0;
    refusals_ = 0;
  }
  if (facts.optional_boolean("refused")) ++refusals_;
  if (!is_program_call) count_repeats(*call, stored.optional_string("result"));
  return facts.done();
}

// A call with a new result was not a repetition.
void Transcript::count_repeats(const TurnCall& call, std::string_view result) {
  const std::string now =
      sha256_hex(fmt::format("{}\n{}\n{}", call.call.name, to_canonical_json(call.call.input), result));
  if (now != repeated_) was_warned_of_repeating_ = false;
  repeats_ = now == repeated_ ? repeats_ + 1 : 1;
  repeated_ = now;
}

std::vector<Message> Transcript::messages(std::string_view model) const {
  std::vector<Message> all = conversation();
  for (const auto& [at, by] : made_by_) {
    if (by == model) continue;
    std::erase_if(all[at].content, [](const Value& block) {
      const std::string type = block.string_at("type").value_or("");
      return type != "text" && type != "tool_use";
    });
    if (all[at].content.empty()) all[at].content.push_back(text_block("[no text]"));
  }
  return all;
}

std::vector<Message> Transcript::conversation() const {
  std::vector<Message> all = messages_;
  Message next;
  for (const TurnCall& call : calls_) {
    if (const auto found = results_.find(call.call.id); found != results_.end()) next.content.push_back(found->second);
  }
  for (const std::string& text : said_) next.content.push_back(text_block(text));
  if (!next.content.empty()) all.push_back(std::move(next));
  return all;
}

bool Transcript::has_open_calls() const {
  return std::ranges::any_of(calls_, [](const TurnCall& call) { return !call.has_ended; });
}

std::optional<WorkResult> Transcript::must_wait(std::string_view model, TimestampMs now_ms) const {
  if (!wait_.is_retry_after || wait_.until <= now_ms || wait_.model != model) return std::nullopt;
  WorkResult ended{.state = EndState::kOutage, .reason = wait_.reason};
  ended.retry_at_ms = wait_.until;
  ended.is_retry_after = true;
  return ended;
}

Usage Transcript::usage() const {
  Usage all = usage_;
  for (const auto& [child, used] : children_) all += used.first;
  return all;
}

std::int64_t Transcript::micro_cents() const {
  std::int64_t all = cost_;
  for (const auto& [child, used] : children_) all += used.second;
  return all;
}

Usage Transcript::spent() const {
  return usage() - usage_before_;
}

}  // namespace sb::agent
