#include "agent/loop/transcript.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/crypto.hpp"
#include "base/document/document.hpp"
#include "base/limits.hpp"

namespace sb::agent {
namespace {

std::int64_t integer(const Value& payload, std::string_view name) {
  const Value& value = payload[name];
  return value.is_integer() ? value.as_integer() : 0;
}

bool is_true(const Value& payload, std::string_view name) {
  return payload[name] == Value(true);
}

std::string text_of(const Value& payload, std::string_view name) {
  return payload.string_at(name).value_or("");
}

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

WorkResult work_result_from(const Value& payload) {
  WorkResult ended;
  ended.state = end_state_named(text_of(payload, "state")).value_or(EndState::kInternalError);
  ended.reason = text_of(payload, "reason");
  return ended;
}

}  // namespace

Status Transcript::follow(const LoggedEvent& event, const Blob& blob) {
  seq_ = event.seq;
  const Value& payload = event.payload;
  const std::string& type = event.type;
  const bool is_own = type != "steered" && !type.ends_with("_asked") && type != "taken_over" && type != "retried";
  if (is_own) was_retried_ = false;
  if (is_own) awaited_ = type == "awaiting" ? text_of(payload, "decision") : "";
  if (is_own) has_suspended_ = type == "awaiting" || type == "parked";
  wait_.follow(event);
  if (!is_own || type == "steer_seen") people_.push_back(event);
  if (type == "began") {
    bundle_ = text_of(payload, "bundle");
    place_ = text_of(payload, "place");
    auto made = parse_json(SB_TRY(blob(bundle_)), kLogBounds);
    if (!made) return fail(ErrorCode::kCorrupt, "the first event of an agent's log is invalid");
    restart(text_of(*made, "first"));
  } else if (type == "turn") {
    return turn(payload, blob);
  } else if (type == "setback") {
    usage_ += usage_from(payload["usage"]);
    cost_ += integer(payload, "cost");
  } else if (type == "tool_started") {
    for (TurnCall& call : calls_) {
      if (call.call.id != text_of(payload, "call")) continue;
      call.has_started = true;
      call.token = text_of(payload, "token");
      call.decision = text_of(payload, "decision");
    }
  } else if (type == "tool_ended") {
    return tool_ended(payload, blob);
  } else if (type == "nudged") {
    said_.push_back(text_of(payload, "text"));
    if (text_of(payload, "why") == "repeating") was_warned_of_repeating_ = true;
    if (text_of(payload, "why") == "moved") place_ = text_of(payload, "place");
  } else if (type == "compacted" || (type == "recovered" && payload.find("text") != nullptr)) {
    if (payload.find("place") != nullptr) place_ = text_of(payload, "place");
    restart(SB_TRY(blob(text_of(payload, "text"))));
  } else if (type == "child_began") {
    begun_children_.insert(text_of(payload, "child"));
  } else if (type == "child_ended") {
    children_[text_of(payload, "child")] = {usage_from(payload["usage"]), integer(payload, "cost")};
  } else if (type == "steered") {
    unseen_.emplace_back(event.seq, text_of(payload, "text"));
  } else if (type == "steer_seen") {
    for (const auto& [seq, text] : unseen_) {
      if (seq <= integer(payload, "upto"))
        said_.push_back(fmt::format("Message from the person supervising this work:\n{}", text));
    }
    std::erase_if(unseen_, [&](const auto& each) { return each.first <= integer(payload, "upto"); });
  } else if (type == "ended") {
    ended_ = work_result_from(payload);
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

Status Transcript::turn(const Value& payload, const Blob& blob) {
  const auto value = parse_json(SB_TRY(blob(text_of(payload, "reply"))), kLogBounds);
  if (!value) return fail(ErrorCode::kCorrupt, "a reply in an agent's log is invalid");
  ModelReply reply = SB_TRY(reply_from(*value));
  std::vector<Message> before = conversation();
  if (before.size() > messages_.size()) messages_.push_back(std::move(before.back()));
  results_.clear();
  said_.clear();
  calls_.clear();
  turn_ = static_cast<int>(integer(payload, "turn"));
  ++turns_in_step_;
  usage_ += usage_from(payload["usage"]);
  cost_ += integer(payload, "cost");
  worked_ms_ += integer(payload, "ms");
  stop_ = reply.stop;
  for (const Value& block : reply.content) {
    if (block.string_at("type") != "tool_use") continue;
    calls_.push_back({.call = {text_of(block, "id"), text_of(block, "name"), block["input"]}});
  }
  cut_replies_ = stop_ == StopReason::kMaxTokens && calls_.empty() ? cut_replies_ + 1 : 0;
  early_stops_ = stop_ != StopReason::kMaxTokens && calls_.empty() ? early_stops_ + 1 : 0;
  const std::int64_t total_tokens = reply.usage.total();
  size_in_tokens_ = total_tokens;
  if (const std::string by = text_of(payload, "by"); !by.empty()) made_by_[messages_.size()] = by;
  messages_.push_back({Message::From::kAssistant, std::move(reply.content)});
  if (total_tokens == 0) {
    std::size_t bytes = 0;
    for (const Message& message : messages_) bytes += to_json(Value(message.content)).size();
    size_in_tokens_ = static_cast<std::int64_t>(bytes / 4);
  }
  return {};
}

Status Transcript::tool_ended(const Value& payload, const Blob& blob) {
  // An agent program keeps its own conversation; only the results count here.
  const bool is_program_call = is_true(payload, "led");
  const std::string id = text_of(payload, "call");
  if (is_program_call) calls_.push_back({.call = {id, text_of(payload, "tool"), Value()}});
  const auto call = std::ranges::find_if(calls_, [&](const TurnCall& each) { return each.call.id == id; });
  if (call == calls_.end()) {
    return fail(ErrorCode::kCorrupt, fmt::format("an agent's log ends a call {} that was not started", quote_json(id)));
  }
  call->has_ended = true;
  if (!is_program_call)
    results_[id] = Value::object({{"type", "tool_result"},
                                  {"tool_use_id", id},
                                  {"content", SB_TRY(blob(text_of(payload, "result")))},
                                  {"is_error", is_true(payload, "error")}});
  worked_ms_ += integer(payload, "ms");
  const Value& facts = payload["facts"];
  if (facts.find("path") != nullptr && facts.find("hash") != nullptr) {
    seen_files_.emplace_back(text_of(facts, "path"), text_of(facts, "hash"));
  }
  if (facts.find("place") != nullptr) place_ = text_of(facts, "place");
  if (is_true(facts, "advanced")) {
    ++advances_;
    turns_in_step_ = 0;
    refusals_ = 0;
  }
  if (is_true(facts, "refused")) ++refusals_;
  if (!is_program_call) count_repeats(*call, payload);
  return {};
}

// A call with a new result was not a repetition.
void Transcript::count_repeats(const TurnCall& call, const Value& payload) {
  const std::string now = sha256_hex(
      fmt::format("{}\n{}\n{}", call.call.name, to_canonical_json(call.call.input), text_of(payload, "result")));
  if (now != repeated_) was_warned_of_repeating_ = false;
  repeats_ = now == repeated_ ? repeats_ + 1 : 1;
  repeated_ = now;
}

std::vector<Message> Transcript::messages(std::string_view model) const {
  std::vector<Message> all = conversation();
  for (const auto& [at, by] : made_by_) {
    if (by == model) continue;
    std::erase_if(all[at].content, [](const Value& block) {
      const std::string type = text_of(block, "type");
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
